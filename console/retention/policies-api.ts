import {
  api,
  onlyIf,
  pageParams,
  type Page,
  type Purge,
  type RetentionPolicy,
  type RetentionPreview,
  type RetentionSettings,
  type Schemas,
  type WithETag,
} from '../api/client.js';

const POLICY = '/retention-policies/{retentionPolicy}';

/** Reads one page of the policies, sorted by name. @param page from 1 */
export async function listPolicies(
  page: number,
  size: number,
  signal: AbortSignal,
): Promise<Page<Schemas['ListedRetentionPolicy']>> {
  return api.page('/retention-policies', { query: pageParams(page, size), signal });
}

export async function readPolicy(name: string, signal: AbortSignal): Promise<WithETag<RetentionPolicy>> {
  return api.answer('get', POLICY, { path: { retentionPolicy: name }, signal });
}

/** Writes a policy. @param etag of the policy to replace; undefined if there must be none with this name */
export async function writePolicy(
  name: string,
  settings: RetentionSettings,
  etag: string | undefined,
): Promise<RetentionPolicy> {
  return api.json('put', POLICY, { path: { retentionPolicy: name }, body: settings, headers: onlyIf(etag) });
}

export async function removePolicy(name: string, etag: string): Promise<void> {
  await api.request('delete', POLICY, { path: { retentionPolicy: name }, headers: onlyIf(etag) });
}

/** Previews settings that are not saved. @param name of the policy that has run, if there is one */
export async function previewSettings(
  name: string | undefined,
  settings: RetentionSettings,
): Promise<RetentionPreview> {
  const body = name === undefined ? settings : { ...settings, name };
  return api.json('post', '/retention-policies/preview', { body, isRead: true });
}

export async function previewPolicy(name: string, signal: AbortSignal): Promise<RetentionPreview> {
  return api.json('get', `${POLICY}/preview`, { path: { retentionPolicy: name }, signal });
}

/** Runs a policy. @param etag of the policy that was shown: no other version is run */
export async function runPolicy(name: string, etag: string): Promise<Purge> {
  return api.json('post', `${POLICY}/run`, { path: { retentionPolicy: name }, headers: onlyIf(etag) });
}

/** Reads the latest runs of a policy, newest first. */
export async function runsOf(name: string, signal: AbortSignal): Promise<Page<Purge>> {
  return api.page(`${POLICY}/runs`, { path: { retentionPolicy: name }, query: { limit: 20 }, signal });
}
