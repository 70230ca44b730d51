import type { Failure } from '../broker/index.js';
import { BrokerFailedError, throwIfStopped } from '../errors.js';
import { Outage, type OutageOptions } from './outage.js';
import type { RateLimiter } from './rate-limiter.js';
import {
  StaleListError,
  MustSplitError,
  sleep,
  AttemptFailedError,
  type DoneSoFar,
  type PurgeRequest,
  type RequesterOptions,
} from './request.js';
import { askedDelayMs, seemsAway } from './retry-policy.js';

const MAX_CONSECUTIVE_FAILURES = 20;

/**
 * Minimum number of different items. Failures in a row that all concern a few items are about those items, not about the
 * broker. Once an item was deleted singly, the broker is known to work, and each item counts only once: otherwise a few bad
 * items that are in flight together would end the purge.
 */
const MIN_DIFFERENT_ITEMS = 5;

/** Counts failures in a row. When open, the broker answers nothing but failures. */
export class CircuitBreaker {
  #consecutive = 0;
  #general = 0;
  #deletesItems = false;
  readonly #items = new Set<string>();

  /** Notes an answer that is not a failure. `item` as in failed(). */
  succeeded(item?: string): void {
    this.#deletesItems ||= item !== undefined;
    this.#consecutive = 0;
    this.#general = 0;
    this.#items.clear();
  }

  /** Notes a failed try. `item` is the key of the single item it concerned; absent for queries and batches. */
  failed(item?: string): void {
    this.#consecutive += 1;
    if (item === undefined) this.#general += 1;
    else this.#items.add(item);
  }

  get isOpen(): boolean {
    const fewest = this.#deletesItems ? MAX_CONSECUTIVE_FAILURES : MIN_DIFFERENT_ITEMS;
    return this.#consecutive >= MAX_CONSECUTIVE_FAILURES && this.#general + this.#items.size >= fewest;
  }
}

export interface FailedAttempt {
  readonly request: PurgeRequest;
  readonly failure: Failure;
  /** Number of the try, from 1. */
  readonly attempt: number;
  /** How often the broker had asked for a pause when the try was sent. */
  readonly pausesBefore: number;
}

/** What was done for a request before it is first sent. */
export interface Reservation {
  /** Whether what it deletes was booked, and reserved if there is a budget. */
  isBooked: boolean;
  /** To be called when the request has ended. */
  onEnd?: (() => void) | undefined;
}

/** The failure of a delete that was not sent, because the purge might delete more than it may. */
export const WITHHELD: Failure = {
  kind: 'withheld',
  status: 409,
  problem: {
    status: 409,
    title: 'Not deleted, to keep the maximum',
    detail:
      'The gateway stopped while deletes were in flight, and they may have had an effect. With this ' +
      'one, more might be gone than the maximum allows, so it was not sent. Send the purge again.',
  },
};

/** What holds requests back, and how to find out whether the broker is back. */
export interface RequestGateOptions
  extends
    Omit<OutageOptions, 'pauseLeftMs'>,
    Pick<RequesterOptions, 'rateLimiter' | 'budget' | 'beforeDelete'> {
  /** What the purge has done so far, for its budget. */
  readonly done?: (() => DoneSoFar) | undefined;
}

/**
 * Holds each request of one purge back until it may be sent: the broker may have asked to be left alone, be away, or answer
 * nothing but failures, and the rate must allow the deletes. Books deletes before they are sent.
 */
export class RequestGate {
  readonly #options: RequestGateOptions;
  readonly #breaker = new CircuitBreaker();
  #pausedUntilMs = 0;
  /** How often the broker has asked for a pause. */
  pauses = 0;
  /** Whether the broker has answered a request without a failure. */
  hasAnswered = false;
  #outage: Outage | undefined;
  /** Whether the last delete failed; failed deletes of parts of entities do not count. */
  #doDeletesFail = false;
  #fatalError: BrokerFailedError | undefined;

  constructor(options: RequestGateOptions) {
    this.#options = options;
  }

  /**
   * For how many milliseconds all requests still have to wait, because the broker asked for it. A shorter pause never cuts a
   * longer one.
   */
  get pauseLeftMs(): number {
    return this.#pausedUntilMs === 0
      ? 0
      : Math.max(0, this.#pausedUntilMs - this.#options.clock.monotonicMs());
  }

  /** Whether the broker has asked to be left alone, even by final queries. */
  get isAskedToWait(): boolean {
    return this.pauseLeftMs > 0 || this.#fatalError?.reason === 'retry-after-too-long';
  }

  /**
   * Resolves when the broker is back; undefined while it does not seem to be away.
   *
   * @throws BrokerFailedError if the purge has failed
   */
  get outage(): Promise<boolean> | undefined {
    if (this.#fatalError !== undefined) throw this.#fatalError;
    return this.#outage?.isOver === false ? this.#outage.over : undefined;
  }

  /**
   * Waits until a request may be sent. Its share of the rate is taken last, because requests that wait for something else must
   * not add up to more than one burst. What it deletes is booked when only the reservation is left to wait for. The reservation
   * comes after that, because no more may be reserved than was booked.
   */
  async wait(request: PurgeRequest, signal: AbortSignal, booking: Reservation): Promise<void> {
    const { deletes } = request;
    const { rateLimiter } = this.#options;
    let obstacle = this.#obstacle(request, signal);
    for (;;) {
      for (; obstacle !== undefined; obstacle = this.#obstacle(request, signal)) await obstacle;
      if (request.isStale?.() === true) throw new StaleListError();
      if (deletes === undefined) return;
      if (rateLimiter !== undefined) await this.#acquireTokens(rateLimiter, request, signal);
      // While it waited for its share, or for the reservation, something else may have come up. That is awaited, too.
      obstacle = rateLimiter === undefined ? undefined : this.#obstacle(request, signal);
      if (obstacle === undefined && this.#maySend(request)) {
        if (await this.#book(request, booking)) return;
        obstacle = this.#obstacle(request, signal);
        if (obstacle === undefined && this.#maySend(request)) return;
      }
      rateLimiter?.refund(deletes);
    }
  }

  /** Notes that a request was answered. */
  succeeded({ deletes, item }: PurgeRequest): void {
    this.#outage?.answered();
    // Lists come between deletes. An answer to a list does not show that deletes work again.
    if (deletes !== undefined) this.#doDeletesFail = false;
    if (!this.#doDeletesFail) this.#breaker.succeeded(item);
    this.hasAnswered = true;
  }

  /**
   * Notes a failed try, and waits for a broker that seems to be away.
   *
   * @returns whether it was away
   * @throws BrokerFailedError if it does not come back, answers nothing but failures, or asks for too long a pause
   */
  async failed(
    { request, failure, attempt, pausesBefore }: FailedAttempt,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { operation, deletes, deletesPart, item } = request;
    const { awayMs, maxAttempts } = this.#options.retry;
    if (deletes !== undefined && deletesPart !== true) this.#doDeletesFail = true;
    // Requests in flight together are throttled together: one pause for all of them is one failure.
    if (failure.retryAfter === undefined || pausesBefore === this.pauses) this.#breaker.failed(item);
    this.applyRetryAfter(failure, operation);
    throwIfStopped(signal);
    let wasAway = false;
    if (awayMs > 0 && this.hasAnswered && seemsAway(failure))
      wasAway = await this.#waitFor(failure, operation, signal);
    else if (failure.status !== undefined) this.#outage?.answered();
    // First tries that fail in a row may all be from one moment, because so many are in flight.
    if (this.#breaker.isOpen && attempt >= Math.min(2, maxAttempts))
      this.#failAll(new BrokerFailedError(operation, failure, 'nothing-but-failures'));
    return wasAway;
  }

  /** Holds all requests back for as long as the broker asks. @throws BrokerFailedError when that is too long */
  applyRetryAfter(failure: Failure, operation: string): void {
    const { retry, clock } = this.#options;
    const askedMs = askedDelayMs(failure, retry, clock.now());
    if (askedMs === 'too-long')
      this.#failAll(new BrokerFailedError(operation, failure, 'retry-after-too-long'));
    if (askedMs === 0) return;
    this.pauses += 1;
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, clock.monotonicMs() + askedMs);
  }

  /** Starts counting failures from zero again, after those of a few hopeless items. */
  resetFailures(): void {
    this.#doDeletesFail = false;
    this.#breaker.succeeded();
    this.#fatalError = undefined;
  }

  /** Returns what a request has to wait for before it looks again; undefined if it may be sent. */
  #obstacle({ deletes }: PurgeRequest, signal: AbortSignal): Promise<unknown> | undefined {
    throwIfStopped(signal);
    const { outage, pauseLeftMs } = this;
    if (outage !== undefined) return outage;
    if (pauseLeftMs > 0) return sleep(this.#options.clock, pauseLeftMs, signal);
    return deletes === undefined ? undefined : this.#options.beforeDelete?.();
  }

  /**
   * Whether a delete may still be sent as it is. While it waited, the rate may have been lowered, or its items may have got
   * stale.
   */
  #maySend({ deletes = 0, isIndivisible = false, isStale }: PurgeRequest): boolean {
    return (
      (isIndivisible || deletes <= (this.#options.rateLimiter?.burst ?? Infinity)) && isStale?.() !== true
    );
  }

  /** Books, once, what a request deletes, and reserves it. @returns whether that took no time */
  async #book(request: PurgeRequest, booking: Reservation): Promise<boolean> {
    if (booking.isBooked) return true;
    booking.isBooked = true;
    request.onSend?.();
    const { budget, rateLimiter, done } = this.#options;
    if (budget === undefined) return true;
    const { deletes = 0 } = request;
    booking.onEnd = await budget.reserve(deletes, done);
    if (booking.onEnd !== undefined) return false;
    rateLimiter?.refund(deletes);
    throw new AttemptFailedError(WITHHELD);
  }

  /** @throws MustSplitError */
  async #acquireTokens(
    rateLimiter: RateLimiter,
    { deletes = 0, isIndivisible = false }: PurgeRequest,
    signal: AbortSignal,
  ): Promise<void> {
    for (let left = deletes; left > 0;) {
      const part = isIndivisible ? Math.min(left, rateLimiter.burst) : left;
      const isTaken = await rateLimiter.acquire(part, signal).catch((error: unknown) => {
        throwIfStopped(signal);
        throw error;
      });
      if (isTaken) left -= part;
      else if (!isIndivisible) throw new MustSplitError();
    }
  }

  async #waitFor(failure: Failure, operation: string, signal: AbortSignal): Promise<boolean> {
    const options = { ...this.#options, pauseLeftMs: () => this.pauseLeftMs };
    const outage =
      this.#outage?.isOver === false ? this.#outage : new Outage(failure, operation, signal, options);
    this.#outage = outage;
    outage.note(failure);
    const wasAway = await outage.over.catch((error: unknown) => {
      if (error instanceof BrokerFailedError) this.#failAll(error);
      throw error;
    });
    // Everything in flight failed together, which says nothing about the broker that answers now.
    if (wasAway) this.#breaker.succeeded();
    return wasAway;
  }

  /** Lets no request through any more: all others fail with the same error. */
  #failAll(error: BrokerFailedError): never {
    this.#fatalError ??= error;
    throw this.#fatalError;
  }
}
