import type { Failure } from '../broker/index.js';
import { BrokerFailedError } from '../errors.js';
import type { Clock } from '../../shared/clock.js';
import { probeDelayMs, seemsAway, type RetryPolicy } from './retry-policy.js';

/** Events of a broker that cannot be reached. */
export type OutageEvent =
  /** The broker cannot be reached, and the purge waits for it. */
  | { readonly type: 'broker-away' }
  /** It answers again. */
  | { readonly type: 'broker-back'; readonly afterMs: number };

export interface OutageOptions {
  readonly retry: RetryPolicy;
  readonly clock: Clock;
  readonly random: () => number;
  /** Returns for how many milliseconds the broker still wants to be left alone. */
  readonly pauseLeftMs: () => number;
  /** Sends the broker a harmless query; returns why it failed, if it did. @throws PurgeStoppedError */
  readonly probe: (signal: AbortSignal) => Promise<Failure | undefined>;
  readonly onEvent?: ((event: OutageEvent) => void) | undefined;
}

/** One outage of the broker: finds out when it is over, on behalf of all requests of a purge, with one probe at a time. */
export class Outage {
  /**
   * Resolves when the broker answers, to whether it was away. It was not if it answers the first probe, or had answered another
   * request before.
   *
   * Rejects with BrokerFailedError if it does not come back in time, and with PurgeStoppedError if the purge is stopped.
   */
  readonly over: Promise<boolean>;
  /** Whether the outage is over, or waiting for its end was given up. */
  isOver = false;
  readonly #options: OutageOptions;
  readonly #operation: string;
  readonly #sinceMs: number;
  /** Ends the pause before the next probe. */
  readonly #waking = new AbortController();
  #failure: Failure;
  #probes = 0;
  #refusesConnections = false;
  #resolve: (wasAway: boolean) => void = () => {};

  constructor(failure: Failure, operation: string, signal: AbortSignal, options: OutageOptions) {
    this.#options = options;
    this.#operation = operation;
    this.#sinceMs = options.clock.monotonicMs();
    this.#failure = failure;
    const ended = new Promise<boolean>((resolve) => (this.#resolve = resolve));
    const watched = this.#watch(signal).catch((error: unknown) => {
      this.isOver = true;
      throw error;
    });
    this.over = Promise.race([ended, watched.then(() => ended)]);
    // The purge may end without awaiting it.
    this.over.catch(() => {});
  }

  /** Notes another failure that looks like this outage. */
  note({ wasNeverSent }: Failure): void {
    this.#refusesConnections ||= wasNeverSent === true;
  }

  /**
   * Notes that an earlier request was answered. This ends the outage, unless the broker refuses connections: it may still
   * answer requests in flight.
   */
  answered(): void {
    if (!this.#refusesConnections) this.#end();
  }

  #end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#waking.abort();
    const { clock, onEvent } = this.#options;
    const wasAway = this.#probes > 0;
    if (wasAway) onEvent?.({ type: 'broker-back', afterMs: Math.round(clock.monotonicMs() - this.#sinceMs) });
    this.#resolve(wasAway);
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const wake = () => this.#waking.abort();
    signal.addEventListener('abort', wake, { once: true });
    try {
      do await this.#pauseBeforeProbe();
      while (!this.isOver && (await this.#isStillAway(signal)));
      this.#end();
    } finally {
      signal.removeEventListener('abort', wake);
    }
  }

  /** @throws BrokerFailedError when no other probe is allowed */
  async #pauseBeforeProbe(): Promise<void> {
    const { retry, clock, random, pauseLeftMs } = this.#options;
    const forMs = clock.monotonicMs() - this.#sinceMs;
    const delayMs = probeDelayMs(this.#probes, forMs, retry, random());
    if (delayMs === undefined) throw new BrokerFailedError(this.#operation, this.#failure, 'away-too-long');
    // The broker may have asked for a longer pause, or ask for one in the meantime.
    for (let ms = delayMs; ms > 0 && !this.#waking.signal.aborted; ms = pauseLeftMs())
      await clock.sleep(ms, this.#waking.signal).catch(() => {});
  }

  /**
   * Sends a probe. After a failure that looks like an outage, or a time-out, the broker still counts as away; any other result
   * ends the outage.
   */
  async #isStillAway(signal: AbortSignal): Promise<boolean> {
    const failure = await this.#options.probe(signal);
    const isAway = failure !== undefined && (seemsAway(failure) || failure.kind === 'timeout');
    if (!isAway || this.isOver) return false;
    this.#failure = failure;
    this.#probes += 1;
    if (this.#probes === 1) this.#options.onEvent?.({ type: 'broker-away' });
    return true;
  }
}
