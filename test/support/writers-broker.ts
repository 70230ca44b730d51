import type { BrokerClient, BrokerRequest, BrokerReply } from '../../sidecar/purge/broker/index.js';
import type { TestClock } from './purge-harness.js';
import { replyOf } from './replies.js';

/** An entity: its creation time, whether it matches, and until when it matched. */
interface Life {
  readonly createdMs: number;
  matches: boolean;
  /** The time when it last matched. */
  matchedUntilMs: number;
}

export interface WritersBrokerOptions {
  readonly clock: TestClock;
  readonly entities: number;
  readonly hasBatches: boolean;
  /** The duration of a request. */
  readonly requestMs: number;
  /** The duration of the delete of one entity. */
  readonly deleteMs: number;
  /**
   * The duration of listing one entity; if given, lists contain all matches, whatever the limit and
   * offset.
   */
  readonly listMs?: number;
  /** Whether entities have their creation time. */
  readonly showsTimes: boolean;
  /** In [0, 1), seeded. */
  readonly random: () => number;
  /**
   * For each request, the probability that a writer acts before it is executed, and the maximum
   * number of entities it touches.
   */
  readonly writers: {
    readonly makesAgain: number;
    readonly changes: number;
    readonly deletes: number;
    readonly adds: number;
    readonly most: number;
  };
}

/**
 * A broker without sockets with concurrent writers. Its entities `urn:t:0` and so on have the type
 * Thing, and some match `q=on==1`.
 */
export class WritersBroker implements BrokerClient {
  readonly store = new Map<string, Life>();
  /**
   * The deletes of this purge that had an effect, and for how long the entity had not matched by
   * then, in ms.
   */
  readonly effects: { readonly id: string; readonly unmatchedMs: number }[] = [];
  deletesSent = 0;
  requests = 0;
  /** The total duration of its lists. */
  listingMs = 0;
  readonly #gone: string[] = [];
  readonly #options: WritersBrokerOptions;
  #born = 0;
  /**
   * How many more writes the writers may make. Without a trusted count, a purge would pursue
   * endless writers for a very long time.
   */
  #writesLeft = 400;

  constructor(options: WritersBrokerOptions) {
    this.#options = options;
    for (let n = 0; n < options.entities; n += 1) this.#make(`urn:t:${n}`, -86_400_000);
  }

  async close(): Promise<void> {}

  async send(request: BrokerRequest): Promise<BrokerReply> {
    const { clock, requestMs, deleteMs } = this.#options;
    this.requests += 1;
    request.beforeSending?.();
    this.#write();
    const reply = request.method === 'GET' ? this.#query(request) : this.#delete(request);
    const ids = request.method === 'GET' ? 0 : idsOf(request).length;
    const listed = request.method === 'GET' ? Number(reply.headers.get('ngsild-results-count') ?? 0) : 0;
    const listingMs = listed * (this.#options.listMs ?? 0);
    this.listingMs += listingMs;
    await clock.sleep(requestMs + ids * deleteMs + listingMs);
    return reply;
  }

  #make(id: string, ageMs = 0): void {
    const now = this.#options.clock.now();
    this.store.set(id, { createdMs: now + ageMs, matches: true, matchedUntilMs: Infinity });
  }

  #write(): void {
    const { random, writers, clock } = this.#options;
    const times = (chance: number) => {
      const most = random() < chance ? 1 + Math.floor(random() * writers.most) : 0;
      const touched = Math.min(most, this.#writesLeft);
      this.#writesLeft -= touched;
      return touched;
    };
    for (let n = times(writers.makesAgain); n > 0; n -= 1) {
      const id = this.#gone[Math.floor(random() * this.#gone.length)];
      if (id !== undefined && !this.store.has(id)) this.#make(id);
    }
    for (let n = times(writers.adds); n > 0; n -= 1) this.#make(`urn:late:${(this.#born += 1)}`);
    const pick = () => [...this.store][Math.floor(random() * this.store.size)];
    for (let n = times(writers.changes); n > 0; n -= 1) {
      const [, life] = pick() ?? [];
      if (life === undefined) continue;
      life.matches = !life.matches;
      life.matchedUntilMs = life.matches ? Infinity : clock.now();
    }
    for (let n = times(writers.deletes); n > 0; n -= 1) {
      const [id] = pick() ?? [];
      if (id !== undefined) this.#take(id);
    }
  }

  #take(id: string): Life | undefined {
    const life = this.store.get(id);
    if (life === undefined) return undefined;
    this.store.delete(id);
    this.#gone.push(id);
    return life;
  }

  #delete(request: BrokerRequest): BrokerReply {
    const ids = idsOf(request);
    const isBatch = request.jsonBody !== undefined;
    if (isBatch && !this.#options.hasBatches) return replyOf(405);
    this.deletesSent += ids.length;
    const missing = ids.filter((id) => {
      const life = this.#take(id);
      if (life === undefined) return true;
      const unmatchedMs = Math.max(0, this.#options.clock.now() - life.matchedUntilMs);
      this.effects.push({ id, unmatchedMs });
      return false;
    });
    if (missing.length === 0) return replyOf(204);
    if (!isBatch) return replyOf(404, { title: 'Not found' });
    const errors = missing.map((entityId) => ({ entityId, error: { status: 404, title: 'Not found' } }));
    return replyOf(207, { success: ids.filter((id) => !missing.includes(id)), errors });
  }

  #query({ path }: BrokerRequest): BrokerReply {
    const [resource = '', search = ''] = path.split('?');
    const query = new URLSearchParams(search);
    const [, one] = /^\/entities\/(.+)$/.exec(resource) ?? [];
    if (one !== undefined) {
      const id = decodeURIComponent(one);
      return this.store.has(id) ? replyOf(200, this.#shown(id, query)) : replyOf(404);
    }
    const isPossible = query.get('type') === 'Thing' && (query.get('q') ?? 'on==1') === 'on==1';
    const asked = query.get('id')?.split(',');
    const byValue = query.has('q');
    const found = [...this.store].filter(
      ([id, { matches }]) => isPossible && (!byValue || matches) && (asked?.includes(id) ?? true),
    );
    const offset = Number(query.get('offset') ?? 0);
    const page =
      this.#options.listMs === undefined
        ? found.slice(offset, offset + Number(query.get('limit') ?? 20))
        : found;
    const count = { 'ngsild-results-count': String(found.length) };
    return replyOf(
      200,
      page.map(([id]) => this.#shown(id, query)),
      count,
    );
  }

  #shown(id: string, query: URLSearchParams): object {
    const isAsked = query.get('options') === 'sysAttrs' && this.#options.showsTimes;
    const createdAt = new Date(this.store.get(id)?.createdMs ?? 0).toISOString();
    return { id, type: 'Thing', ...(isAsked ? { createdAt } : {}) };
  }
}

function idsOf({ path, jsonBody }: BrokerRequest): readonly string[] {
  if (jsonBody !== undefined) return JSON.parse(jsonBody) as string[];
  return [decodeURIComponent(/^\/entities\/([^/?]+)/.exec(path)?.[1] ?? '')];
}
