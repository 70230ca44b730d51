import {
  call,
  callJson,
  callPage,
  type Page,
  type Purge,
  type RetentionPolicy,
  type RetentionPreview,
  type RetentionSettings,
} from '../api/client.js';

const PATH = 'api/v2/retention-policies';

/** A policy, and the ETag of what was read: a write with it replaces nothing else. */
export interface ReadPolicy {
  readonly policy: RetentionPolicy;
  readonly etag: string;
}

function pathOf(name: string): string {
  return `${PATH}/${encodeURIComponent(name)}`;
}

/** One page of the policies, by name. @param page from 1 on */
export async function listPolicies(
  page: number,
  size: number,
  signal: AbortSignal,
): Promise<Page<RetentionPolicy>> {
  return callPage<RetentionPolicy>(`${PATH}?limit=${size}&offset=${(page - 1) * size}`, signal);
}

export async function readPolicy(name: string, signal: AbortSignal): Promise<ReadPolicy> {
  const response = await call('GET', pathOf(name), { signal });
  return { policy: (await response.json()) as RetentionPolicy, etag: response.headers.get('etag') ?? '' };
}

/** Writes a policy. @param etag of what it replaces; undefined: there must be none of this name */
export async function writePolicy(
  name: string,
  settings: RetentionSettings,
  etag: string | undefined,
): Promise<RetentionPolicy> {
  const headers: Readonly<Record<string, string>> =
    etag === undefined ? { 'if-none-match': '*' } : { 'if-match': etag };
  return callJson('PUT', pathOf(name), { json: settings, headers });
}

export async function removePolicy(name: string, etag: string): Promise<void> {
  await call('DELETE', pathOf(name), { headers: { 'if-match': etag } });
}

export async function previewPolicy(name: string, signal: AbortSignal): Promise<RetentionPreview> {
  return callJson('GET', `${pathOf(name)}/preview`, { signal });
}

/** Runs a policy. @param etag of what was looked at: nothing else is run */
export async function runPolicy(name: string, etag: string): Promise<Purge> {
  return callJson('POST', `${pathOf(name)}/run`, { headers: { 'if-match': etag } });
}

/** The latest runs of a policy, the newest first. */
export async function runsOf(name: string, signal: AbortSignal): Promise<Page<Purge>> {
  return callPage<Purge>(`${pathOf(name)}/runs?limit=20`, signal);
}
