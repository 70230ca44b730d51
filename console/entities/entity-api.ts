import { refusalOf, unreachable } from '../../sidecar/client/errors.js';
import { parsed } from '../../sidecar/client/client.js';
import { writeJson } from '../../sidecar/shared/json/lossless-json.js';
import { addressOf, api, ApiError, type DataPlace, headersOf, type Schemas } from '../api/client.js';

/** In which data an entity is. */
export interface EntityPlace extends DataPlace {
  readonly target?: 'entities' | 'temporal' | undefined;
}

/** Asks the broker, through the gateway. @param path below `ngsi-ld/v1/` */
async function askBroker(path: string, place: DataPlace, signal?: AbortSignal): Promise<Response> {
  return fetch(addressOf(`ngsi-ld/v1/${path}`), {
    headers: { accept: 'application/json', ...headersOf(place) },
    cache: 'no-store',
    signal: signal ?? null,
  });
}

/** What the broker answers; undefined if it does not, or refuses: then there is nothing to show. */
export async function askQuietly(path: string, place: DataPlace, signal: AbortSignal): Promise<unknown> {
  try {
    const answer = await askBroker(path, place, signal);
    return answer.ok ? await answer.json() : undefined;
  } catch {
    return undefined;
  }
}

/** Of each attribute's history, the newest few: some histories have millions of instances. */
const NEWEST = 10;

/**
 * An entity as the broker has it, normalized, or the newest of its history: numbers are as they were stored.
 *
 * @throws ApiError for one that is not there, UnreachableError
 */
export async function readEntity(id: string, place: EntityPlace, signal?: AbortSignal): Promise<string> {
  const isHistory = place.target === 'temporal';
  const path = `${isHistory ? 'temporal/' : ''}entities/${encodeURIComponent(id)}`;
  const answer = await askBroker(isHistory ? `${path}?lastN=${NEWEST}` : path, place, signal).catch(
    (error: unknown) => {
      throw signal?.aborted === true ? error : unreachable(addressOf(''), error, true);
    },
  );
  if (!answer.ok) throw await refusalOf(answer);
  return writeJson(parsed(await answer.text()), 2);
}

/** What the model of an entity says of it. @returns undefined where no model, or more than one, is for its type */
export async function judge(
  entityText: string,
  signal: AbortSignal,
): Promise<Schemas['Verdict'] | undefined> {
  try {
    const verdict = await api.json('post', '/validate', { body: entityText, isRead: true, signal });
    return [verdict].flat()[0];
  } catch (error) {
    if (error instanceof ApiError && [404, 409].includes(error.problem.status)) return undefined;
    throw error;
  }
}
