import { allPages, api, ifMatch, type Schemas } from '../api/client.js';

export type Reference = Schemas['Reference'];
export type UpdatedDependent = Schemas['UpdatedDependent'];

/** A reference document as stored by the gateway, and its ETag. */
export interface ReadReference {
  /** JSON. It is sent back unchanged, so that no number in it changes. */
  readonly text: string;
  readonly etag: string;
}

/** Finds the list entry of a document; undefined if the list does not have it. */
export async function findReference(uri: string, signal: AbortSignal): Promise<Reference | undefined> {
  const isIt = (one: Reference) => one.uri === uri;
  return (await allPages((query) => api.page('/references', { query, signal }), isIt)).find(isIt);
}

export async function readReference(uri: string, signal: AbortSignal): Promise<ReadReference> {
  const response = await api.request('get', '/references', { query: { uri }, signal });
  return { text: await response.text(), etag: response.headers.get('etag') ?? '' };
}

/**
 * Creates a new version of each model that was created with an earlier state of a document.
 *
 * @param dryRun writes nothing, and returns what would happen
 * @returns what happens to each outdated model
 * @throws ApiError (412) if the document has changed since it was read
 */
export async function updateDependents(
  uri: string,
  { text, etag }: ReadReference,
  dryRun: boolean,
): Promise<readonly UpdatedDependent[]> {
  const query = { uri, dependents: true, ...(dryRun ? { dryRun } : {}) };
  const asked = { query, body: text, headers: ifMatch(etag) };
  return (await api.json('put', '/references', asked)).dependents ?? [];
}

export async function removeReference(uri: string, etag: string): Promise<void> {
  await api.request('delete', '/references', { query: { uri }, headers: ifMatch(etag) });
}
