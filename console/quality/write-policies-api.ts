import { api, ifMatch, type Schemas, type WithETag } from '../api/client.js';

export type WritePolicy = Schemas['WritePolicy'];
export type WriteSettings = Omit<Schemas['WritePolicySettings'], 'name'>;

const POLICY = '/write-policies/{writePolicy}';

export function readWritePolicy(name: string, signal: AbortSignal): Promise<WithETag<WritePolicy>> {
  return api.answer('get', POLICY, { path: { writePolicy: name }, signal });
}

/** Writes a policy. @param etag of the policy to replace; undefined if there must be none with this name */
export function putWritePolicy(
  name: string,
  body: WriteSettings,
  etag: string | undefined,
): Promise<WritePolicy> {
  return api.json('put', POLICY, { path: { writePolicy: name }, body, headers: ifMatch(etag) });
}

export async function removeWritePolicy(name: string, etag: string): Promise<void> {
  await api.request('delete', POLICY, { path: { writePolicy: name }, headers: ifMatch(etag) });
}
