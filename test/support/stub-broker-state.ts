import type { StubEntity } from './stub-broker-filter.js';
import type { Oddities } from './stub-broker-oddities.js';

/** A request as it arrived. */
export interface StubRequest {
  /** The operation, by method and path. */
  readonly kind: 'query' | 'retrieve' | 'batch' | 'single' | 'attribute' | 'collection' | 'other';
  readonly method: string;
  /** Path and query as on the wire. */
  readonly target: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** The decoded entity id in the path. */
  readonly id?: string;
  /** The decoded attribute name in the path. */
  readonly attribute?: string;
  /** Ids of a batch. */
  readonly ids: readonly string[];
}

export interface StubReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON, unless it is a string. */
  readonly body?: unknown;
}

/** The state shared by the handlers of a stub broker. */
export interface StubState {
  readonly entities: Map<string, StubEntity>;
  /** The tenant that has the entities; undefined for the default tenant. */
  readonly tenant: string | undefined;
  /** Deleted entities that queries still list, and for how many more queries. */
  readonly stale: Map<string, { readonly entity: StubEntity; left: number }>;
  readonly oddities: Oddities;
  /** In [0, 1), seeded. */
  readonly random: () => number;
  /**
   * The creation time of each entity. The keys are objects, since a recreated entity is a different
   * object.
   */
  readonly created: WeakMap<StubEntity, string>;
}

/** The creation time of the entities that a stub broker starts with, long before any purge. */
export const LONG_AGO = '2020-01-01T00:00:00.000Z';

/**
 * Returns the creation time of an entity; for one added during a test, it is later than any purge.
 */
export function createdAtOf({ created }: StubState, entity: StubEntity): string {
  const known = created.get(entity);
  if (known !== undefined) return known;
  const later = new Date(Date.UTC(2100, 0, 1) + performance.now()).toISOString();
  created.set(entity, later);
  return later;
}

export const ERRORS = 'https://uri.etsi.org/ngsi-ld/errors/';

export function problem(status: number, name: string, detail: string): StubReply {
  const body = { type: `${ERRORS}${name}`, title: name, detail, status };
  return { status, headers: { 'content-type': 'application/json' }, body };
}

/** Deletes an entity, or only reports so. */
export function remove(state: StubState, id: string): void {
  const entity = state.entities.get(id);
  if (entity === undefined || state.oddities.ghosts(id)) return;
  state.entities.delete(id);
  if (state.oddities.staleFor > 0) state.stale.set(id, { entity, left: state.oddities.staleFor });
}

/** A small seeded generator (mulberry32): the same seed gives the same test. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
