import {
  api,
  ifMatch,
  type Purge,
  type RetentionPolicy,
  type RetentionPreview,
  type RetentionSettings,
  type WithETag,
} from '../api/client.js';

const POLICY = '/retention-policies/{retentionPolicy}';

export async function readPolicy(name: string, signal: AbortSignal): Promise<WithETag<RetentionPolicy>> {
  return api.answer('get', POLICY, { path: { retentionPolicy: name }, signal });
}

/** Writes a policy. @param etag of the policy to replace; undefined if there must be none with this name */
export async function writePolicy(
  name: string,
  settings: RetentionSettings,
  etag: string | undefined,
): Promise<RetentionPolicy> {
  return api.json('put', POLICY, { path: { retentionPolicy: name }, body: settings, headers: ifMatch(etag) });
}

export async function removePolicy(name: string, etag: string): Promise<void> {
  await api.request('delete', POLICY, { path: { retentionPolicy: name }, headers: ifMatch(etag) });
}

export async function previewPolicy(name: string, signal: AbortSignal): Promise<RetentionPreview> {
  return api.json('get', `${POLICY}/preview`, { path: { retentionPolicy: name }, signal });
}

/** Runs a policy. @param etag of the policy that was shown: no other version is run */
export async function runPolicy(name: string, etag: string): Promise<Purge> {
  return api.json('post', `${POLICY}/run`, { path: { retentionPolicy: name }, headers: ifMatch(etag) });
}
