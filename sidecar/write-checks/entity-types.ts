import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import type { BrokerClient } from '../purge/broker/index.js';
import type { StoredTypes } from '../schemas/writes/protocol.js';
import type { Clock } from '../shared/clock.js';
import { jsonIn } from '../shared/json/lossless-json.js';

/** Where to look up an entity. */
export interface EntityPlace {
  /** Differs if the same id may mean another entity: by tenant, and by whether the history is meant. */
  readonly key: string;
  readonly isTemporal: boolean;
  /** Headers sent to the broker: tenant and credentials. */
  readonly headers: Readonly<Record<string, string>>;
}

interface KnownTypes {
  readonly types: readonly string[];
  readonly atMs: number;
  /** The point in the order of changes at which the types were requested. */
  readonly since: number;
}

/** The broker did not return the types of an entity. */
export class TypeUnknownError extends Error {}

/** How long a type is remembered, in milliseconds. */
const FRESH_MS = 60_000;
const MAX_REMEMBERED = 20_000;
/**
 * Limited by size: with `max`, each cache would allocate memory for all its entries at the start, which also takes
 * time.
 */
const REMEMBERED = { maxSize: MAX_REMEMBERED, sizeCalculation: () => 1 };
/** Maximum number of entities in one query, and of queries at the same time. */
const AT_ONCE = 50;
const QUERIES = 8;
/** How long a judgement waits for the end of a write that may change the type of its entity, in milliseconds. */
const MAX_SETTLING_MS = 5000;
/** Maximum size of an answer of the broker, in bytes. */
const MAX_REPLY_BYTES = 8 * 1024 * 1024;
/** Statuses of an answer with entities; 206 if lastN left instances out (clause 6.3.10). */
const SHOWN: ReadonlySet<number> = new Set([200, 203, 206]);

/**
 * The types of the entities in the broker, remembered for a minute. A write through this gateway that may change the
 * type of an entity discards the remembered type: when the write is sent, and again when it has ended, because it is
 * unknown what a query in the meantime has seen.
 */
export class EntityTypes {
  readonly #client: Pick<BrokerClient, 'send'>;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #known = new LRUCache<string, KnownTypes>(REMEMBERED);
  /** The number of running writes that may change types, by entity; under `''`, those that may change any entity. */
  readonly #changing = new Map<string, number>();
  #changes = 0;
  #waiting: (() => void)[] = [];
  readonly #changedAt = new LRUCache<string, number>(REMEMBERED);
  /** The last change that concerned all entities, or whose entity is no longer remembered. */
  #allChangedAt = 0;

  constructor(client: Pick<BrokerClient, 'send'>, clock: Pick<Clock, 'monotonicMs'>) {
    this.#client = client;
    this.#clock = clock;
  }

  /** The current point in the order of changes; see {@link isOutdated}. */
  get now(): number {
    return this.#changes;
  }

  /** Whether the type of one of these entities may have changed since a point in the order of changes. */
  isOutdated(ids: readonly string[], since: number): boolean {
    if (ids.length === 0) return false;
    if (this.#allChangedAt > since || this.#changing.has('')) return true;
    return ids.some((id) => this.#changing.has(id) || (this.#changedAt.get(id) ?? 0) > since);
  }

  /** Resolves once no running write may change the type of one of these entities, or after a while. */
  async settled(ids: readonly string[]): Promise<void> {
    const untilMs = performance.now() + MAX_SETTLING_MS;
    const names = ['', ...ids];
    while (names.some((name) => this.#changing.has(name)) && performance.now() < untilMs)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, MAX_SETTLING_MS);
        this.#waiting.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
  }

  /**
   * Registers a running write that may change types. It counts for all tenants and paths: brokers differ in which of
   * them are the same place, such as a tenant in two headers, or an entity and its history.
   *
   * @param ids undefined for any entity
   * @returns a function to call when the write has ended
   */
  changing(ids: readonly string[] | undefined): () => void {
    const names = ids ?? [''];
    this.#note(names, 1);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#note(names, -1);
      for (const wake of this.#waiting.splice(0)) wake();
    };
  }

  #note(names: readonly string[], by: 1 | -1): void {
    this.#changes += 1;
    for (const name of names) {
      const count = (this.#changing.get(name) ?? 0) + by;
      if (count > 0) this.#changing.set(name, count);
      else this.#changing.delete(name);
      if (name === '') {
        this.#known.clear();
        this.#allChangedAt = this.#changes;
      } else {
        if (this.#changedAt.size >= MAX_REMEMBERED && !this.#changedAt.has(name)) {
          this.#changedAt.clear();
          this.#allChangedAt = this.#changes;
        }
        this.#changedAt.set(name, this.#changes);
      }
    }
  }

  /** Returns the types of entities. @throws TypeUnknownError, and the errors of the broker client */
  async of(
    place: EntityPlace,
    ids: readonly string[],
    signal?: AbortSignal,
  ): Promise<readonly (readonly [id: string, types: StoredTypes])[]> {
    const found = new Map<string, StoredTypes>();
    const unknown: string[] = [];
    for (const id of new Set(ids)) {
      const known = this.#known.get(nameOf(place, id));
      const isFresh = known !== undefined && this.#clock.monotonicMs() - known.atMs < FRESH_MS;
      if (isFresh && !this.isOutdated([id], known.since)) found.set(id, known.types);
      else unknown.push(id);
    }
    const since = this.#changes;
    const listable =
      place.isTemporal || unknown.length < 3
        ? []
        : unknown.filter((id) => !id.includes(',') && id.isWellFormed());
    const groups: string[][] = [];
    for (let from = 0; from < listable.length; from += AT_ONCE)
      groups.push(listable.slice(from, from + AT_ONCE));
    const limit = pLimit(QUERIES);
    await limit.map(groups, async (group) => {
      for (const [id, types] of await this.#listed(place, group, signal)) found.set(id, types);
    });
    // Entities that a list does not show are requested one by one.
    const missing = unknown.filter((id) => !found.has(id));
    await limit.map(missing, async (id) => found.set(id, await this.#single(place, id, signal)));
    for (const id of unknown) {
      const types = found.get(id);
      if (typeof types === 'object' && !this.isOutdated([id], since))
        this.#known.set(nameOf(place, id), { types, atMs: this.#clock.monotonicMs(), since });
    }
    return [...found];
  }

  async #listed(
    place: EntityPlace,
    ids: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<readonly (readonly [string, readonly string[]])[]> {
    const list = ids.map(encodeURIComponent).join(',');
    const reply = await this.#get(place, `?id=${list}&options=keyValues&limit=${ids.length}`, signal);
    if (!SHOWN.has(reply.status)) return [];
    const items = jsonIn(reply.text);
    if (!Array.isArray(items)) return [];
    const asked = new Set(ids);
    return (items as readonly unknown[]).flatMap((item) => {
      const types = typesIn(item);
      const id = (item as { readonly id?: unknown } | null)?.id;
      return types !== undefined && typeof id === 'string' && asked.has(id) ? [[id, types] as const] : [];
    });
  }

  async #single(place: EntityPlace, id: string, signal: AbortSignal | undefined): Promise<StoredTypes> {
    // A URL cannot contain half a surrogate pair.
    if (!id.isWellFormed()) return 'hidden';
    const reply = await this.#get(
      place,
      `/${encodeURIComponent(id)}?${place.isTemporal ? 'lastN=1' : 'options=keyValues'}`,
      signal,
    );
    if (reply.status === 404) return undefined;
    if (reply.status === 401 || reply.status === 403) return 'hidden';
    const item = SHOWN.has(reply.status) ? jsonIn(reply.text) : undefined;
    const types = typesIn(item);
    if (types === undefined)
      throw new TypeUnknownError(
        `The broker answered ${reply.status} when it was asked for the type of the entity.`,
      );
    return types;
  }

  async #get(
    { isTemporal, headers }: EntityPlace,
    rest: string,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly status: number; readonly text: string }> {
    const { status, body } = await this.#client.send({
      method: 'GET',
      path: `${isTemporal ? '/temporal' : ''}/entities${rest}`,
      headers: { ...headers, accept: 'application/json' },
      replyMaxBytes: MAX_REPLY_BYTES,
      ...(signal === undefined ? {} : { signal }),
    });
    return { status, text: body };
  }
}

function nameOf({ key }: EntityPlace, id: string): string {
  return `${key} ${id}`;
}

function typesIn(item: unknown): readonly string[] | undefined {
  const entity = Array.isArray(item) && item.length === 1 ? (item[0] as unknown) : item;
  if (typeof entity !== 'object' || entity === null) return undefined;
  const { type, '@type': other } = entity as { readonly type?: unknown; readonly '@type'?: unknown };
  const types = [type ?? other].flat().filter((one) => typeof one === 'string');
  return types.length === 0 ? undefined : types;
}
