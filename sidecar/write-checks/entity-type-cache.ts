import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import { type BrokerClient, BrokerUnreachableError } from '../purge/broker/index.js';
import type { StoredTypes } from '../schemas/writes/protocol.js';
import { type Clock, isDoneWithin, systemClock } from '../shared/clock.js';
import { tryParseJson } from '../shared/json/lossless-json.js';

export interface EntityLookup {
  /** Differs if the same id may mean another entity: by tenant, and by whether the history is meant. */
  readonly key: string;
  readonly isTemporal: boolean;
  /** Headers sent to the broker: tenant and credentials. */
  readonly headers: Readonly<Record<string, string>>;
}

interface CachedTypes {
  readonly types: readonly string[];
  readonly fetchedMs: number;
  /** The point in the order of changes at which the types were requested. */
  readonly since: number;
}

/** The broker did not return the types of an entity. */
export class TypeUnknownError extends Error {}

/** How long a type is remembered, in milliseconds. */
const MAX_AGE_MS = 60_000;
const MAX_CACHED = 20_000;
/** Maximum number of entities in one query, and of queries at the same time. */
const MAX_IDS_PER_QUERY = 50;
const MAX_CONCURRENT_QUERIES = 8;
/** How long a judgement waits for the end of a write that may change the type of its entity, in milliseconds. */
const MAX_WRITE_WAIT_MS = 5000;
/** Maximum size of an answer of the broker, in bytes. */
const MAX_REPLY_BYTES = 8 * 1024 * 1024;
/** Statuses of an answer with entities; 206 if lastN left instances out (clause 6.3.10). */
const ENTITY_STATUSES: ReadonlySet<number> = new Set([200, 203, 206]);

/**
 * The types of the entities in the broker, remembered for a minute. A write through this gateway that may change the
 * type of an entity discards the remembered type: when the write is sent, and again when it has ended, because it is
 * unknown what a query in the meantime has seen.
 */
export class EntityTypeCache {
  readonly #client: Pick<BrokerClient, 'send'>;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** Limited by size: with `max`, it would allocate memory for all its entries at the start, which also takes time. */
  readonly #cache = new LRUCache<string, CachedTypes>({ maxSize: MAX_CACHED, sizeCalculation: () => 1 });
  /** The number of running writes that may change types, by entity; under `''`, those that may change any entity. */
  readonly #runningWrites = new Map<string, number>();
  #changeCount = 0;
  #waiters: (() => void)[] = [];
  readonly #changedAt = new Map<string, number>();
  /** The last change that concerned all entities, or whose entity is no longer remembered. */
  #allChangedAt = 0;

  constructor(client: Pick<BrokerClient, 'send'>, clock: Pick<Clock, 'monotonicMs'>) {
    this.#client = client;
    this.#clock = clock;
  }

  /** The current point in the order of changes; see {@link isOutdated}. */
  get changeCount(): number {
    return this.#changeCount;
  }

  /** Whether the type of one of these entities may have changed since a point in the order of changes. */
  isOutdated(ids: readonly string[], since: number): boolean {
    if (ids.length === 0) return false;
    if (this.#allChangedAt > since || this.#runningWrites.has('')) return true;
    return ids.some((id) => this.#runningWrites.has(id) || (this.#changedAt.get(id) ?? 0) > since);
  }

  /** Resolves once no running write may change the type of one of these entities, or after a while. */
  async writesEnded(ids: readonly string[]): Promise<void> {
    const untilMs = performance.now() + MAX_WRITE_WAIT_MS;
    const names = ['', ...ids];
    while (names.some((name) => this.#runningWrites.has(name)) && performance.now() < untilMs)
      await isDoneWithin(
        systemClock,
        MAX_WRITE_WAIT_MS,
        new Promise<void>((resolve) => this.#waiters.push(resolve)),
      );
  }

  /**
   * Registers a running write that may change types. It counts for all tenants and paths: brokers differ in which of
   * them are the same place, such as a tenant in two headers, or an entity and its history.
   *
   * @param ids undefined for any entity
   * @returns a function to call once when the write has ended
   */
  beginWrite(ids: readonly string[] | undefined): () => void {
    const names = ids ?? [''];
    this.#recordChange(names, 1);
    return () => {
      this.#recordChange(names, -1);
      for (const wake of this.#waiters.splice(0)) wake();
    };
  }

  #recordChange(names: readonly string[], by: 1 | -1): void {
    this.#changeCount += 1;
    for (const name of names) {
      const count = (this.#runningWrites.get(name) ?? 0) + by;
      if (count > 0) this.#runningWrites.set(name, count);
      else this.#runningWrites.delete(name);
      if (name === '') {
        this.#cache.clear();
        this.#allChangedAt = this.#changeCount;
      } else {
        if (this.#changedAt.size >= MAX_CACHED && !this.#changedAt.has(name)) {
          this.#changedAt.clear();
          this.#allChangedAt = this.#changeCount;
        }
        this.#changedAt.set(name, this.#changeCount);
      }
    }
  }

  /** Returns the types of entities. @throws TypeUnknownError, and the errors of the broker client */
  async get(
    lookup: EntityLookup,
    ids: readonly string[],
    signal?: AbortSignal,
  ): Promise<readonly (readonly [id: string, types: StoredTypes])[]> {
    const found = new Map<string, StoredTypes>();
    const unknown: string[] = [];
    for (const id of new Set(ids)) {
      const cached = this.#cache.get(cacheKey(lookup, id));
      const isFresh = cached !== undefined && this.#clock.monotonicMs() - cached.fetchedMs < MAX_AGE_MS;
      if (isFresh && !this.isOutdated([id], cached.since)) found.set(id, cached.types);
      else unknown.push(id);
    }
    const since = this.#changeCount;
    const listable =
      lookup.isTemporal || unknown.length < 3
        ? []
        : unknown.filter((id) => !id.includes(',') && id.isWellFormed());
    const groups: string[][] = [];
    for (let from = 0; from < listable.length; from += MAX_IDS_PER_QUERY)
      groups.push(listable.slice(from, from + MAX_IDS_PER_QUERY));
    const limit = pLimit(MAX_CONCURRENT_QUERIES);
    await limit.map(groups, async (group) => {
      for (const [id, types] of await this.#fetchMany(lookup, group, signal)) found.set(id, types);
    });
    // Entities that a list does not show are requested one by one.
    const missing = unknown.filter((id) => !found.has(id));
    await limit.map(missing, async (id) => found.set(id, await this.#fetchOne(lookup, id, signal)));
    for (const id of unknown) {
      const types = found.get(id);
      if (typeof types === 'object')
        this.#cache.set(cacheKey(lookup, id), { types, fetchedMs: this.#clock.monotonicMs(), since });
    }
    return [...found];
  }

  async #fetchMany(
    lookup: EntityLookup,
    ids: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<readonly (readonly [string, readonly string[]])[]> {
    const list = ids.map(encodeURIComponent).join(',');
    const reply = await this.#get(lookup, `?id=${list}&options=keyValues&limit=${ids.length}`, signal);
    if (!ENTITY_STATUSES.has(reply.status)) return [];
    const items = tryParseJson(reply.text);
    if (!Array.isArray(items)) return [];
    const requested = new Set(ids);
    return (items as readonly unknown[]).flatMap((item) => {
      const types = typesIn(item);
      const id = (item as { readonly id?: unknown } | null)?.id;
      return types !== undefined && typeof id === 'string' && requested.has(id) ? [[id, types] as const] : [];
    });
  }

  async #fetchOne(lookup: EntityLookup, id: string, signal: AbortSignal | undefined): Promise<StoredTypes> {
    // A URL cannot contain half a surrogate pair.
    if (!id.isWellFormed()) return 'hidden';
    const reply = await this.#get(
      lookup,
      `/${encodeURIComponent(id)}?${lookup.isTemporal ? 'lastN=1' : 'options=keyValues'}`,
      signal,
    );
    if (reply.status === 404) return undefined;
    // A broker without histories has none of this entity.
    if (lookup.isTemporal && reply.status === 501) return undefined;
    if (reply.status === 401 || reply.status === 403) return 'hidden';
    const item = ENTITY_STATUSES.has(reply.status) ? tryParseJson(reply.text) : undefined;
    const types = typesIn(item);
    if (types === undefined)
      throw new TypeUnknownError(
        `The broker answered ${reply.status} when it was asked for the type of the entity.`,
      );
    return types;
  }

  async #get(
    { isTemporal, headers }: EntityLookup,
    rest: string,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly status: number; readonly text: string }> {
    const request = {
      method: 'GET' as const,
      path: `${isTemporal ? '/temporal' : ''}/entities${rest}`,
      headers: { ...headers, accept: 'application/json' },
      replyMaxBytes: MAX_REPLY_BYTES,
      ...(signal === undefined ? {} : { signal }),
    };
    const { status, body } = await this.#client.send(request).catch((error: unknown) => {
      // The broker may have closed a kept-alive connection while the request was on its way.
      if (!(error instanceof BrokerUnreachableError) || !error.wasSent) throw error;
      return this.#client.send(request);
    });
    return { status, text: body };
  }
}

function cacheKey({ key }: EntityLookup, id: string): string {
  return `${key} ${id}`;
}

function typesIn(item: unknown): readonly string[] | undefined {
  const entity = Array.isArray(item) && item.length === 1 ? (item[0] as unknown) : item;
  if (typeof entity !== 'object' || entity === null) return undefined;
  const { type, '@type': other } = entity as { readonly type?: unknown; readonly '@type'?: unknown };
  const types = [type ?? other].flat().filter((one) => typeof one === 'string');
  return types.length === 0 ? undefined : types;
}
