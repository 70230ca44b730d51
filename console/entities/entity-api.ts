import { refusalOf, unreachable } from '../../sidecar/client/errors.js';
import { parsed } from '../../sidecar/client/client.js';
import { writeJson } from '../../sidecar/shared/json/lossless-json.js';
import { addressOf, api, ApiError, type Schemas } from '../api/client.js';

/** In which data an entity is. */
export interface EntityPlace {
  readonly target?: 'entities' | 'temporal' | undefined;
  readonly tenant?: string | undefined;
  /** A Link header that names the @context. */
  readonly link?: string | undefined;
}

/** Of each attribute's history, the newest few: some histories have millions of instances. */
const NEWEST = 10;

/**
 * An entity as the broker has it, normalized, or the newest of its history: numbers are as they were stored.
 *
 * @throws ApiError for one that is not there, UnreachableError
 */
export async function readEntity(id: string, place: EntityPlace, signal?: AbortSignal): Promise<string> {
  const { target, tenant = '', link = '' } = place;
  const path = `${target === 'temporal' ? 'temporal/' : ''}entities/${encodeURIComponent(id)}`;
  const address = addressOf(`ngsi-ld/v1/${path}${target === 'temporal' ? `?lastN=${NEWEST}` : ''}`);
  const answer = await fetch(
    new Request(address, {
      headers: {
        accept: 'application/json',
        ...(tenant === '' ? {} : { 'ngsild-tenant': tenant }),
        ...(link === '' ? {} : { link }),
      },
      cache: 'no-store',
      signal: signal ?? null,
    }),
  ).catch((error: unknown) => {
    throw signal?.aborted === true ? error : unreachable(addressOf(''), error, true);
  });
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
