import type { Clock } from '../../shared/clock.js';
import type { Failure } from '../broker/index.js';
import { decideProbe, seemsAway, type RetryPolicy } from './retry-policy.js';
import { BrokerFailedError } from '../errors.js';

/** Counts failures in a row. When open, the broker answers nothing but failures. */
export interface Breaker {
  /** Notes an answer that is not a failure. `item` as in failed(). */
  succeeded(item?: string): void;
  /** Notes a failed try. `item` is the key of the single item it concerned; absent for queries and batches. */
  failed(item?: string): void;
  readonly isOpen: boolean;
}

const MAX_FAILURES_IN_A_ROW = 20;

/**
 * Failures in a row that all concern a few items are about those items, not the broker. Once an item was deleted singly,
 * the broker is known to work, and each item counts only once: otherwise a few bad items in flight together would end the
 * purge.
 */
const MIN_DIFFERENT_ITEMS = 5;

export function createBreaker(): Breaker {
  let inARow = 0;
  let general = 0;
  let deletesItems = false;
  const items = new Set<string>();
  return {
    succeeded(item) {
      deletesItems ||= item !== undefined;
      inARow = 0;
      general = 0;
      items.clear();
    },
    failed(item) {
      inARow += 1;
      if (item === undefined) general += 1;
      else items.add(item);
    },
    get isOpen() {
      const fewest = deletesItems ? MAX_FAILURES_IN_A_ROW : MIN_DIFFERENT_ITEMS;
      return inARow >= MAX_FAILURES_IN_A_ROW && general + items.size >= fewest;
    },
  };
}

/** The pause that a broker asks for holds back every request of a purge, not only the one that was answered so. */
export interface SharedPause {
  /** Milliseconds until requests may be sent again; 0 when they may. */
  readonly leftMs: number;
  /** How often the broker has asked for one. */
  readonly asked: number;
  /** Notes a pause that begins now. A shorter one never cuts a longer one. */
  begin(ms: number): void;
}

export function createSharedPause(clock: Clock): SharedPause {
  let untilMs = 0;
  let asked = 0;
  return {
    get leftMs() {
      return untilMs === 0 ? 0 : Math.max(0, untilMs - clock.now());
    },
    get asked() {
      return asked;
    },
    begin(ms) {
      asked += 1;
      untilMs = Math.max(untilMs, clock.now() + ms);
    },
  };
}

/** News of a broker that cannot be reached. */
export type OutageEvent =
  /** The broker cannot be reached, and is waited for. */
  | { readonly type: 'broker-away' }
  /** It answers again. */
  | { readonly type: 'broker-back'; readonly afterMs: number };

/** Detects that the broker is away and waits for it, on behalf of all requests of a purge, with one probe at a time. */
export interface OutageWatch {
  /** The broker seems to be away: only probes are sent until over() resolves. */
  readonly isOn: boolean;
  /**
   * Resolves when the broker answers.
   *
   * @returns whether the broker was away; false when it answered the first probe, or another request before
   * @throws BrokerFailedError when it does not come back in time
   * @throws PurgeStoppedError when the purge is stopped
   */
  over(): Promise<boolean>;
  /** Starts watching after a failure that looks like an outage, unless it already does; then as over(). */
  suspect(failure: Failure, operation: string, signal: AbortSignal): Promise<boolean>;
  /** Notes that an earlier request was answered. */
  answered(): void;
}

export interface OutageWatchOptions {
  readonly retry: RetryPolicy;
  readonly clock: Clock;
  readonly random: () => number;
  readonly pause: SharedPause;
  /** Sends the broker a harmless query; returns why it failed, if it did. @throws PurgeStoppedError */
  readonly probe: (signal: AbortSignal) => Promise<Failure | undefined>;
  readonly onOutage?: ((event: OutageEvent) => void) | undefined;
}

export function createOutageWatch(options: OutageWatchOptions): OutageWatch {
  let current: Outage | undefined;
  const forget = (outage: Outage) => {
    if (current === outage) current = undefined;
  };
  return {
    get isOn() {
      return current !== undefined;
    },
    over: async () => current?.over ?? false,
    async suspect(failure, operation, signal) {
      current ??= new Outage(failure, operation, signal, options, forget);
      current.note(failure);
      return current.over;
    },
    answered: () => current?.answered(),
  };
}

/** One outage of the broker. */
class Outage {
  /** See OutageWatch. */
  readonly over: Promise<boolean>;
  readonly #options: OutageWatchOptions;
  readonly #operation: string;
  readonly #forget: (outage: Outage) => void;
  readonly #sinceMs: number;
  /** Ends the pause before the next probe. */
  readonly #waking = new AbortController();
  #failure: Failure;
  #probes = 0;
  #refusesConnections = false;
  #isOver = false;
  #resolve: (wasAway: boolean) => void = () => {};

  constructor(
    failure: Failure,
    operation: string,
    signal: AbortSignal,
    options: OutageWatchOptions,
    forget: (outage: Outage) => void,
  ) {
    this.#options = options;
    this.#operation = operation;
    this.#forget = forget;
    this.#sinceMs = options.clock.now();
    this.#failure = failure;
    const ended = new Promise<boolean>((resolve) => (this.#resolve = resolve));
    const watched = this.#watch(signal).catch((error: unknown) => {
      forget(this);
      throw error;
    });
    this.over = Promise.race([ended, watched.then(() => ended)]);
    // The purge may end without awaiting it.
    this.over.catch(() => {});
  }

  note({ wasNeverSent }: Failure): void {
    this.#refusesConnections ||= wasNeverSent === true;
  }

  /** A broker that takes no new connections may still answer requests in flight. */
  answered(): void {
    if (!this.#refusesConnections) this.#end();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#waking.abort();
    this.#forget(this);
    const { clock, onOutage } = this.#options;
    const wasAway = this.#probes > 0;
    if (wasAway) onOutage?.({ type: 'broker-back', afterMs: clock.now() - this.#sinceMs });
    this.#resolve(wasAway);
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const wake = () => this.#waking.abort();
    signal.addEventListener('abort', wake, { once: true });
    try {
      do await this.#pauseBeforeProbe();
      while (!this.#isOver && (await this.#isStillAway(signal)));
      this.#end();
    } finally {
      signal.removeEventListener('abort', wake);
    }
  }

  /** @throws BrokerFailedError when no other probe is allowed */
  async #pauseBeforeProbe(): Promise<void> {
    const { retry, clock, random, pause } = this.#options;
    const nowMs = clock.now();
    const absence = { failure: this.#failure, probes: this.#probes, forMs: nowMs - this.#sinceMs };
    const decision = decideProbe(absence, retry, { nowMs, random: random() });
    if (decision.action === 'stop')
      throw new BrokerFailedError(this.#operation, this.#failure, decision.reason);
    // The broker may ask for a longer pause in the meantime.
    for (let ms = decision.afterMs; ms > 0 && !this.#waking.signal.aborted; ms = pause.leftMs)
      await clock.sleep(ms, this.#waking.signal).catch(() => {});
  }

  /** Sends a probe. After a time-out the broker still counts as away; any other answer ends the outage. */
  async #isStillAway(signal: AbortSignal): Promise<boolean> {
    const failure = await this.#options.probe(signal);
    const isAway = failure !== undefined && (seemsAway(failure) || failure.kind === 'timeout');
    if (!isAway || this.#isOver) return false;
    this.#failure = failure;
    this.#probes += 1;
    if (this.#probes === 1) this.#options.onOutage?.({ type: 'broker-away' });
    return true;
  }
}
