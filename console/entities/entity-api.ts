import { readApiError, unreachableError } from '../../sidecar/client/errors.js';
import { parsed } from '../../sidecar/client/client.js';
import { urlOf, type DataScope, headersOf } from '../api/client.js';

/** Where the broker has an entity. */
export interface EntityScope extends DataScope {
  readonly target?: 'entities' | 'temporal' | undefined;
}

/** Sends a request to the broker through the gateway. @param path below `ngsi-ld/v1/` */
export async function fetchBroker(path: string, place: DataScope, signal?: AbortSignal): Promise<Response> {
  return fetch(urlOf(`ngsi-ld/v1/${path}`), {
    headers: { accept: 'application/json', ...headersOf(place) },
    cache: 'no-store',
    signal: signal ?? null,
  });
}

/** Number of newest instances to read from each attribute's history; some histories have millions. */
const NEWEST = 10;

/**
 * Reads an entity in normalized form, or the newest part of its history. Numbers stay exactly as stored.
 *
 * @throws ApiError if it does not exist, UnreachableError
 */
export async function readEntity(id: string, place: EntityScope, signal?: AbortSignal): Promise<unknown> {
  const isHistory = place.target === 'temporal';
  const path = `${isHistory ? 'temporal/' : ''}entities/${encodeURIComponent(id)}`;
  const answer = await fetchBroker(isHistory ? `${path}?lastN=${NEWEST}` : path, place, signal).catch(
    (error: unknown) => {
      throw signal?.aborted === true ? error : unreachableError(urlOf(''), error, true);
    },
  );
  if (!answer.ok) throw await readApiError(answer);
  return parsed(await answer.text());
}
