import { allPages, api, onlyIf, pageParams, type Page, type Schemas } from '../api/client.js';
import { PAGE_SIZE } from './models-api.js';

export type Reference = Schemas['Reference'];
export type UpdatedDependent = Schemas['UpdatedDependent'];

/** A reference document as the gateway keeps it, and the ETag of what was read. */
export interface ReadReference {
  /** JSON. It is sent back as it came, so that no number in it changes. */
  readonly text: string;
  readonly etag: string;
}

/** A page of the list, by URI. @param page from 1 */
export async function listReferences(page: number, signal: AbortSignal): Promise<Page<Reference>> {
  return api.page('/references', { query: pageParams(page, PAGE_SIZE), signal });
}

/** What is known of a document besides its content; undefined where the list does not have it. */
export async function findReference(uri: string, signal: AbortSignal): Promise<Reference | undefined> {
  const isIt = (one: Reference) => one.uri === uri;
  return (await allPages((query) => api.page('/references', { query, signal }), isIt)).find(isIt);
}

export async function readReference(uri: string, signal: AbortSignal): Promise<ReadReference> {
  const response = await api.request('get', '/references', { query: { uri }, signal });
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
  const query = { uri, dependents: true, ...(dryRun ? { dryRun } : {}) };
  const asked = { query, body: text, headers: onlyIf(etag) };
  return (await api.json('put', '/references', asked)).dependents ?? [];
}

export async function removeReference(uri: string, etag: string): Promise<void> {
  await api.request('delete', '/references', { query: { uri }, headers: onlyIf(etag) });
}
