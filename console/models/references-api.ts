import { call, callJson, callPage, type Page } from '../api/client.js';
import type { components } from '../api/types.js';
import { apiPath, PAGE_SIZE, pageParams } from './models-api.js';

export type Reference = components['schemas']['Reference'];
export type UpdatedDependent = components['schemas']['UpdatedDependent'];

/** A reference document as the gateway keeps it, and the ETag of what was read. */
export interface ReadReference {
  /** JSON. It is sent back as it came, so that no number in it changes. */
  readonly text: string;
  readonly etag: string;
}

/** A page of the list, by URI. @param page from 1 */
export async function listReferences(
  page: number,
  signal: AbortSignal,
  size = PAGE_SIZE,
): Promise<Page<Reference>> {
  return callPage(apiPath(['references'], pageParams(page, size)), signal);
}

/** What is known of a document besides its content; undefined where the list does not have it. */
export async function findReference(uri: string, signal: AbortSignal): Promise<Reference | undefined> {
  let seen = 0;
  for (let page = 1; ; page += 1) {
    const { items, total } = await listReferences(page, signal, 1000);
    const found = items.find((one) => one.uri === uri);
    seen += items.length;
    if (found !== undefined || seen >= total || items.length === 0) return found;
  }
}

/** The path of a document in the API. */
export function referencePath(uri: string): string {
  return apiPath(['references'], { uri });
}

export async function readReference(uri: string, signal: AbortSignal): Promise<ReadReference> {
  const response = await call('GET', referencePath(uri), { signal });
  return { text: await response.text(), etag: response.headers.get('etag') ?? '' };
}

/**
 * Gives each model that was made with an earlier state of a document a version with it as it is.
 *
 * @param dryRun writes nothing, and says what would become of each
 * @returns what becomes of the models that are outdated
 * @throws ApiError (412) where the document is no longer the one that was read
 */
export async function updateDependents(
  uri: string,
  { text, etag }: ReadReference,
  dryRun: boolean,
): Promise<readonly UpdatedDependent[]> {
  const query = { uri, dependents: 'true', ...(dryRun ? { dryRun: 'true' } : {}) };
  const { dependents } = await callJson<{ readonly dependents: readonly UpdatedDependent[] }>(
    'PUT',
    apiPath(['references'], query),
    { body: text, headers: { 'content-type': 'application/json', 'if-match': etag }, isRead: dryRun },
  );
  return dependents;
}

export async function removeReference(uri: string, etag: string): Promise<void> {
  await call('DELETE', referencePath(uri), { headers: { 'if-match': etag } });
}
