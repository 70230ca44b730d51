import {
  type BrokerClient,
  type BrokerRequest,
  BrokerTimeoutError,
  BrokerUnreachableError,
  RequestAbortedError,
  type BrokerReply,
} from '../../sidecar/purge/broker/index.js';
import type { TestClock } from './purge-harness.js';
import { LONG_AGO } from './stub-broker-state.js';
import { replyOf } from './replies.js';

/**
 * What happens to a request. `…-before`: nothing was done. `…-after`: it was executed. `…-halfway`:
 * part of a batch was executed. `rival`: another client deletes one of its entities first.
 * `restart`: nothing answers for a while from now on.
 */
export type Mishap =
  | 'none'
  | 'refused'
  | `${'reset' | 'timeout' | '500' | '502' | '503'}-${'before' | 'after'}`
  | '500-halfway'
  | 'items-500-after'
  | '429'
  | '429-wait'
  | '503-wait'
  | 'all-missing'
  | 'rival'
  | 'restart';

export interface MishapBrokerOptions {
  readonly clock: TestClock;
  readonly entities: number;
  /** One for each request, in order; afterwards none. */
  readonly mishaps: readonly Mishap[];
  /** The duration of a restart. */
  readonly restartMs: number;
  /** After the mishaps, the broker never answers again. */
  readonly dies: boolean;
  readonly hasBatches: boolean;
  /** In [0, 1), seeded. */
  readonly random: () => number;
}

/**
 * A broker without sockets that records what happened to its entities, `urn:t:0` and so on, of type
 * Thing.
 */
export class MishapBroker implements BrokerClient {
  /** The attributes of each existing entity. */
  readonly store = new Map<string, Set<string>>();
  /** Deleted by requests: entities, or `id attribute`. */
  readonly deletedHere = new Set<string>();
  readonly deletedByRival = new Set<string>();
  /** Deletes in flight, and their peak. */
  inFlight = 0;
  peak = 0;
  /** Requests that arrived before the requested pause was over. */
  tooSoon = 0;
  received = 0;
  readonly #options: MishapBrokerOptions;
  #downUntilMs = 0;
  #quietUntilMs = 0;

  constructor(options: MishapBrokerOptions) {
    this.#options = options;
    for (let n = 0; n < options.entities; n++) this.store.set(`urn:t:${n}`, new Set(['a', 'b']));
  }

  async send(request: BrokerRequest): Promise<BrokerReply> {
    const { clock, random, mishaps, dies, restartMs } = this.#options;
    if (clock.now() < this.#quietUntilMs) this.tooSoon += 1;
    const mishap = mishaps[this.received] ?? (dies ? 'refused' : 'none');
    this.received += 1;
    const isDelete = request.method !== 'GET';
    if (isDelete) this.inFlight += 1;
    this.peak = Math.max(this.peak, this.inFlight);
    try {
      for (let turns = Math.floor(random() * 4); turns >= 0; turns--) {
        await new Promise((resolve) => setImmediate(resolve));
        if (request.signal?.aborted === true) throw new RequestAbortedError('cut off');
      }
      if (mishap === 'restart') this.#downUntilMs = clock.now() + restartMs;
      if (clock.now() < this.#downUntilMs) throw new BrokerUnreachableError('refused', mishap === 'restart');
      return this.#suffer(request, mishap);
    } finally {
      if (isDelete) this.inFlight -= 1;
    }
  }

  async close(): Promise<void> {}

  #suffer(request: BrokerRequest, mishap: Mishap): BrokerReply {
    if (mishap.endsWith('-after')) this.#carryOut(request, 1);
    if (mishap.endsWith('-halfway')) this.#carryOut(request, 0.5);
    const [what = '', how] = mishap.split('-');
    switch (what) {
      case 'refused':
        throw new BrokerUnreachableError('refused', false);
      case 'reset':
        throw new BrokerUnreachableError('broken', true);
      case 'timeout':
        throw new BrokerTimeoutError('late', true);
      case 'items':
        return this.#failItems(request);
      case 'all':
        return request.jsonBody === undefined
          ? this.#carryOut(request, 1)
          : itemErrors(request, { status: 404, title: 'Entity Not Found' });
      case 'rival':
        this.#rival(request);
        return this.#carryOut(request, 1);
      case '500':
      case '502':
      case '503':
      case '429':
        return how === 'wait' ? this.#askToWait(Number(what)) : replyOf(Number(what), { title: what });
      default:
        return this.#carryOut(request, 1);
    }
  }

  #askToWait(status: number): BrokerReply {
    const { clock, random } = this.#options;
    const seconds = 1 + Math.floor(random() * 20);
    const untilMs = clock.now() + seconds * 1000;
    // This takes effect when the answer has arrived; requests sent before that are already in
    // flight.
    setImmediate(() => (this.#quietUntilMs = Math.max(this.#quietUntilMs, untilMs)));
    return replyOf(status, { title: 'Slow down' }, { 'retry-after': String(seconds) });
  }

  /** Executes everything, and reports each item as failed. */
  #failItems(request: BrokerRequest): BrokerReply {
    return request.jsonBody === undefined
      ? replyOf(request.method === 'GET' ? 500 : 504)
      : itemErrors(request, { status: 504, title: 'A source did not answer' });
  }

  #rival(request: BrokerRequest): void {
    const [first] = idsOf(request);
    if (request.method === 'GET' || first === undefined) return;
    const { attribute } = partsOf(request);
    if (this.#take(first, attribute)) this.deletedByRival.add(keyOf(first, attribute));
  }

  #carryOut(request: BrokerRequest, share: number): BrokerReply {
    if (request.method === 'GET') {
      const [, one] = /^\/entities\/([^/?]+)/.exec(request.path) ?? [];
      if (one === undefined) return this.#query(new URLSearchParams(request.path.split('?')[1]));
      const id = decodeURIComponent(one);
      return this.store.has(id) ? replyOf(200, { id, createdAt: LONG_AGO }) : replyOf(404);
    }
    const { hasBatches } = this.#options;
    if (request.jsonBody !== undefined && !hasBatches) return replyOf(405);
    const { attribute } = partsOf(request);
    const ids = idsOf(request);
    const missing: string[] = [];
    for (const id of ids.slice(0, Math.ceil(ids.length * share))) {
      if (this.#take(id, attribute)) this.deletedHere.add(keyOf(id, attribute));
      else missing.push(id);
    }
    if (missing.length === 0) return replyOf(204);
    if (request.jsonBody === undefined) return replyOf(404, { title: 'Not found' });
    const errors = missing.map((entityId) => ({ entityId, error: { status: 404, title: 'Not found' } }));
    return replyOf(207, { success: ids.filter((id) => !missing.includes(id)), errors });
  }

  #take(id: string, attribute: string | undefined): boolean {
    return attribute === undefined ? this.store.delete(id) : this.store.get(id)?.delete(attribute) === true;
  }

  #query(query: URLSearchParams): BrokerReply {
    const ids = query.get('id')?.split(',');
    const isPossible = query.get('type') === 'Thing';
    const found = [...this.store].filter(([id]) => isPossible && (ids?.includes(id) ?? true));
    const offset = Number(query.get('offset') ?? 0);
    const page = found.slice(offset, offset + Number(query.get('limit') ?? 20));
    const shown = page.map(([id, names]) => ({
      id,
      type: 'Thing',
      ...(query.get('options') === 'sysAttrs' ? { createdAt: LONG_AGO } : {}),
      ...(query.get('pick') === 'id'
        ? {}
        : Object.fromEntries([...names].map((name) => [name, { value: 1 }]))),
    }));
    return replyOf(200, shown, { 'ngsild-results-count': String(found.length) });
  }
}

function keyOf(id: string, attribute: string | undefined): string {
  return attribute === undefined ? id : `${id} ${attribute}`;
}

function partsOf({ path }: BrokerRequest): { readonly id?: string; readonly attribute?: string } {
  const [, id, attribute] = /^\/entities\/([^/?]+)(?:\/attrs\/([^/?]+))?/.exec(path) ?? [];
  return {
    ...(id === undefined ? {} : { id: decodeURIComponent(id) }),
    ...(attribute === undefined ? {} : { attribute: decodeURIComponent(attribute) }),
  };
}

function idsOf(request: BrokerRequest): readonly string[] {
  if (request.jsonBody !== undefined) return JSON.parse(request.jsonBody) as string[];
  const { id } = partsOf(request);
  return id === undefined ? [] : [id];
}

function itemErrors(request: BrokerRequest, error: unknown): BrokerReply {
  return replyOf(207, { success: [], errors: idsOf(request).map((entityId) => ({ entityId, error })) });
}
