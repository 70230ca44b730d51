import { setMaxListeners } from 'node:events';
import pRetry from 'p-retry';
import {
  type BrokerClient,
  isUnknownTenant,
  parseBrokerProblem,
  type Failure,
  type BrokerReply,
} from '../broker/index.js';
import { seemsAway, askedDelayMs, backoffMs, decideRetry, type RetryPolicy } from './retry-policy.js';
import { createBreaker, createOutageWatch, type OutageEvent, createSharedPause } from './availability.js';
import type { Clock } from '../../shared/clock.js';
import { BrokerFailedError, BrokerRefusedError, BrokerReplyError } from '../errors.js';

import {
  isOfUnsent,
  ListedTooLongAgo,
  MustBeSplit,
  throwIfStopped,
  TryFailed,
  tryOnce,
  type PurgeRequest,
} from './request.js';
import type { Pace } from './pace.js';

/**
 * How a request ended: answered (any status that settles it), or given up after the last try. `isCutShort`: it has tries left,
 * but what it deletes was listed too long ago.
 */
export type Settled =
  | { readonly kind: 'answered'; readonly reply: BrokerReply }
  | { readonly kind: 'gave-up'; readonly failure: Failure; readonly isCutShort?: boolean };

/** Sends the requests of one purge: with its headers, retries, one breaker, one shared pause and one watch for outages. */
export interface Requester {
  /**
   * Sends a request until it is answered or its tries are used up.
   *
   * @throws BrokerRefusedError for 401, 403 (unless `allow403`) and an unknown tenant, which end the purge
   * @throws BrokerFailedError when the broker answers nothing but failures, asks to come back too late, or is away too long
   * @throws PurgeStoppedError when the purge is stopped
   * @throws ListedTooLongAgo for a delete that got stale before it was first sent
   * @throws MustBeSplit for a delete of several items, when it is more than the rate allows in one second by now
   */
  send(request: PurgeRequest, options?: { readonly allow403?: boolean }): Promise<Settled>;
  /** Waits as after a failed try, for partial failures inside an answer; false when the tries are used up. */
  pause(attempt: number, failure: Failure): Promise<boolean>;
  /** Waits before looking again at something that should have changed, longer with each look (from 1). */
  waitBefore(look: number): Promise<void>;
  /** Starts counting failures anew, after those of a few hopeless items. */
  forgiveFailures(): void;
  /** Sends nothing more after what is under way: the purge has met its end. Waiting requests throw PurgeStoppedError. */
  halt(): void;
  /**
   * Halts, and then lets queries through for some seconds, each with one try.
   *
   * @returns false when none may be sent: the purge was stopped, or the broker has asked to be left alone
   */
  beginLastLook(): boolean;
  /** The most items that may be deleted in a second, as of now: Infinity without a rate. */
  readonly burst: number;
  /** The most items that one request may delete, as of now. */
  readonly mostAtOnce: number;
  /** Sent with each request; names are lower-case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Requests sent so far, every try counted. */
  readonly requests: number;
  /** How many of them were sent again. */
  readonly retries: number;
  /** Requests answered without a failure so far. */
  readonly successes: number;
}

export interface RequesterOptions {
  readonly client: BrokerClient;
  /** Sent with each request: tenant, @context, credentials (see FORWARDED_HEADERS). */
  readonly headers: Readonly<Record<string, string>>;
  readonly retry: RetryPolicy;
  readonly clock: Clock;
  readonly random: () => number;
  /** Holds back deletes, each try of them; without it nothing does. */
  readonly pace?: Pace | undefined;
  /**
   * Called before a request that deletes is first sent, with the most it can delete; when it throws, or returns nothing, the
   * request is not sent. What it returns is called when the request has ended.
   */
  readonly reserve?: ((deletes: number) => Promise<(() => void) | undefined>) | undefined;
  /** See PurgeOrder. */
  readonly mostAtOnce?: (() => number) | undefined;
  /** See PurgeOrder. */
  readonly beforeDelete?: (() => Promise<void> | undefined) | undefined;
  /** Stops the purge: no new requests; deletes already sent are left to finish. */
  readonly signal: AbortSignal;
  /** Something harmless to ask a broker that seems to be away. */
  readonly probe: PurgeRequest;
  readonly onOutage?: (event: OutageEvent) => void;
  /** Called for each request that is sent once more. */
  readonly onRetry?: () => void;
}

/** What is noted of a request before it is first sent. */
interface Booking {
  /** What it deletes was booked, and reserved where that is asked for. */
  isBooked: boolean;
  /** To be called when the request has ended. */
  onEnd?: (() => void) | undefined;
}

/** A last look begins no request after this long. */
const LAST_LOOK_MS = 10_000;

/** Of a delete that was not sent, since the purge might delete more than it may. */
const WITHHELD: Failure = {
  kind: 'withheld',
  status: 409,
  problem: {
    status: 409,
    title: 'Not deleted, to keep the maximum',
    detail:
      'The gateway stopped while deletes were in flight, and they may have had an effect. With this one, more might be gone than the maximum allows, so it was not sent. Send the purge again.',
  },
};

export function createRequester(options: RequesterOptions): Requester {
  const { client, headers, retry, clock, random, pace: rate, reserve, onOutage, onRetry } = options;
  const { beforeDelete } = options;
  const burst = () => Math.max(1, Math.floor(rate?.burst ?? Infinity));
  const breaker = createBreaker();
  const pause = createSharedPause(clock);
  let phase = startPhase();
  let requests = 0;
  let retries = 0;
  let successes = 0;
  /** The last delete that ended a try failed. */
  let doDeletesFail = false;
  let brokenBy: BrokerFailedError | undefined;
  if (options.signal.aborted) phase.ending.abort();
  options.signal.addEventListener('abort', () => phase.ending.abort(), { once: true });

  const outage = createOutageWatch({
    ...{ retry, clock, random, pause, onOutage },
    probe: async (signal) => {
      try {
        await transmit(options.probe, signal);
      } catch (error) {
        throwIfStopped(signal);
        if (!(error instanceof TryFailed)) return undefined;
        holdBack(error.failure, options.probe.operation);
        return error.failure;
      }
      return undefined;
    },
  });

  async function transmit(request: PurgeRequest, signal: AbortSignal): Promise<BrokerReply> {
    throwIfStopped(signal);
    requests += 1;
    try {
      return await tryOnce(client, headers, request, signal, beforeDelete);
    } catch (error) {
      if (isOfUnsent(error) && request.method !== 'GET') requests -= 1;
      throw error;
    }
  }

  async function sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (ms > 0) await clock.sleep(ms, signal).catch(() => throwIfStopped(signal));
    throwIfStopped(signal);
  }

  /** What the next request has to wait for, before it looks again; undefined when it may be sent. */
  function obstacle({ deletes }: PurgeRequest, signal: AbortSignal): Promise<unknown> | undefined {
    throwIfStopped(signal);
    if (brokenBy !== undefined) throw brokenBy;
    if (outage.isOn) return outage.over();
    if (pause.leftMs > 0) return sleep(pause.leftMs, signal);
    return deletes === undefined ? undefined : beforeDelete?.();
  }

  /**
   * Waits until a request may be sent. Its share of the rate is taken last: what waits for anything else must not add up to
   * more than one burst. What it deletes is booked when nothing but the reserve keeps it from being sent, and before that, since no
   * more may be reserved than was booked.
   */
  async function clearance(request: PurgeRequest, signal: AbortSignal, booking: Booking): Promise<void> {
    const { deletes } = request;
    for (;;) {
      for (let wait = obstacle(request, signal); wait !== undefined; wait = obstacle(request, signal))
        await wait;
      if (request.isStale?.() === true) throw new ListedTooLongAgo();
      if (deletes === undefined) return;
      if (rate !== undefined && !(await takeShare(rate, deletes, signal))) throw new MustBeSplit();
      // It may have waited for its share, and for the reserve after that.
      const mayBegin = rate === undefined || mayGo(request, signal);
      if (mayBegin && ((await book(request, booking)) || mayGo(request, signal))) return;
      rate?.giveBack(deletes);
    }
  }

  function mayGo(request: PurgeRequest, signal: AbortSignal): boolean {
    return request.isStale?.() !== true && obstacle(request, signal) === undefined;
  }

  /**
   * Books, once, what a request deletes, and reserves it.
   *
   * @returns whether that took no time
   */
  async function book(request: PurgeRequest, booking: Booking): Promise<boolean> {
    if (booking.isBooked) return true;
    booking.isBooked = true;
    request.onSend?.();
    if (reserve === undefined) return true;
    const { deletes = 0 } = request;
    booking.onEnd = await reserve(deletes);
    if (booking.onEnd !== undefined) return false;
    rate?.giveBack(deletes);
    throw new TryFailed(WITHHELD);
  }

  async function takeShare(from: Pace, deletes: number, signal: AbortSignal): Promise<boolean> {
    return from.take(deletes, signal).catch((error: unknown) => {
      throwIfStopped(signal);
      throw error;
    });
  }

  /** No request is sent any more: the error is that of all others, too. */
  function breakBy(error: BrokerFailedError): never {
    brokenBy ??= error;
    throw brokenBy;
  }

  /** Holds all requests back for as long as the broker asks. @throws BrokerFailedError when that is too long */
  function holdBack(failure: Failure, operation: string): void {
    const askedMs = askedDelayMs(failure, retry, clock.now());
    if (askedMs === 'too-long') breakBy(new BrokerFailedError(operation, failure, 'retry-after-too-long'));
    if (askedMs > 0) pause.begin(askedMs);
  }

  /**
   * Notes a failed try and waits for the next.
   *
   * @param pausesBefore pauses that the broker had asked for when the try was sent
   * @param hasOutlived the request was given a try that does not count, for an outage before
   */
  async function afterFailure(
    { operation, item }: PurgeRequest,
    failure: Failure,
    signal: AbortSignal,
    tries: { readonly attempt: number; readonly pausesBefore: number; readonly hasOutlived: boolean },
  ): Promise<'next-try' | 'same-try' | 'no-more'> {
    const { attempt, pausesBefore, hasOutlived } = tries;
    const failedAtMs = clock.now();
    // Requests in flight together are throttled together: one pause for all of them is one failure.
    if (failure.retryAfter === undefined || pausesBefore === pause.asked) breaker.failed(item);
    holdBack(failure, operation);
    throwIfStopped(signal);
    if (retry.awayMs > 0 && successes > 0 && seemsAway(failure)) {
      const wasAway = await outage.suspect(failure, operation, signal).catch((error: unknown) => {
        if (error instanceof BrokerFailedError) breakBy(error);
        throw error;
      });
      // All that was in flight failed together, which says nothing of the broker that is there now.
      if (wasAway) breaker.succeeded();
      if (wasAway && !hasOutlived) return 'same-try';
    } else if (failure.status !== undefined) outage.answered();
    // First tries that fail in a row may all be of one moment: so many are in flight.
    if (breaker.isOpen && attempt >= Math.min(2, retry.maxAttempts))
      breakBy(new BrokerFailedError(operation, failure, 'nothing-but-failures'));
    const decision = decideRetry(attempt, failure, retry, { nowMs: failedAtMs, random: random() });
    if (decision.action === 'stop') return 'no-more';
    await sleep(decision.ms - (clock.now() - failedAtMs), signal);
    return 'next-try';
  }

  async function sendWithRetries(request: PurgeRequest, signal: AbortSignal): Promise<Settled> {
    let attempt = 1;
    let hasOutlived = false;
    let pausesBefore = 0;
    let isAgain = false;
    let last: Failure | undefined;
    const booking: Booking = { isBooked: request.deletes === undefined };
    try {
      const reply = await pRetry(
        async () => {
          await clearance(request, signal, booking);
          pausesBefore = pause.asked;
          if (isAgain) retries += 1;
          isAgain = true;
          return transmit(request, signal);
        },
        {
          // The policy counts the tries, and does the waiting on the injected clock.
          ...{ retries: Infinity, minTimeout: 0, maxTimeout: 0 },
          shouldRetry: async ({ error }) => {
            if (!(error instanceof TryFailed) || error.failure === WITHHELD) return false;
            last = error.failure;
            if (request.deletes !== undefined && request.isPart !== true) doDeletesFail = true;
            const tries = { attempt, pausesBefore, hasOutlived };
            const next = await afterFailure(request, error.failure, signal, tries);
            if (next === 'same-try') hasOutlived = true;
            else attempt += 1;
            if (next === 'no-more') return false;
            onRetry?.();
            return true;
          },
        },
      );
      outage.answered();
      // Lists come between deletes: an answer to one does not show that deletes work again.
      if (request.deletes !== undefined) doDeletesFail = false;
      if (!doDeletesFail) breaker.succeeded(request.item);
      successes += 1;
      return { kind: 'answered', reply };
    } catch (error) {
      if (error instanceof TryFailed) return { kind: 'gave-up', failure: error.failure };
      if (error instanceof ListedTooLongAgo && last !== undefined)
        return { kind: 'gave-up', failure: last, isCutShort: true };
      throw error;
    } finally {
      booking.onEnd?.();
    }
  }

  /** Sends a query of the last look: there is no other try. */
  async function sendLast(request: PurgeRequest, { ending, untilMs = 0 }: Phase): Promise<Settled> {
    if (request.method !== 'GET' || clock.now() >= untilMs) ending.abort();
    try {
      return { kind: 'answered', reply: await transmit(request, ending.signal) };
    } catch (error) {
      if (!(error instanceof TryFailed)) throw error;
      throw new BrokerFailedError(request.operation, error.failure, 'attempts-used-up');
    }
  }

  return {
    async send(request, { allow403 = false } = {}) {
      const isLast = phase.untilMs !== undefined;
      const settled = await (isLast
        ? sendLast(request, phase)
        : sendWithRetries(request, phase.ending.signal));
      if (settled.kind === 'answered') throwIfFatal(request, settled.reply, allow403);
      return settled;
    },
    async pause(attempt, failure) {
      const decision = decideRetry(attempt, failure, retry, { nowMs: clock.now(), random: random() });
      if (decision.action === 'stop') return false;
      await sleep(decision.ms, phase.ending.signal);
      return true;
    },
    waitBefore: async (look) => sleep(backoffMs(look, retry, random()), phase.ending.signal),
    forgiveFailures: () => {
      doDeletesFail = false;
      breaker.succeeded();
      brokenBy = undefined;
    },
    halt: () => phase.ending.abort(),
    beginLastLook() {
      phase.ending.abort();
      const isAskedToWait = pause.leftMs > 0 || brokenBy?.reason === 'retry-after-too-long';
      if (options.signal.aborted || isAskedToWait) return false;
      phase = startPhase(clock.now() + LAST_LOOK_MS);
      return true;
    },
    get burst() {
      return burst();
    },
    get mostAtOnce() {
      return Math.max(1, Math.floor(Math.min(burst(), options.mostAtOnce?.() ?? Infinity)));
    },
    headers,
    get requests() {
      return requests;
    },
    get retries() {
      return retries;
    },
    get successes() {
      return successes;
    },
  };
}

/** A stretch of a purge whose requests are stopped together. */
interface Phase {
  readonly ending: AbortController;
  /** In a last look: when it ends. */
  readonly untilMs?: number;
}

function startPhase(untilMs?: number): Phase {
  const ending = new AbortController();
  // One listener for each request and wait under way, however many those are.
  setMaxListeners(0, ending.signal);
  return { ending, ...(untilMs === undefined ? {} : { untilMs }) };
}

/** Answers that end a purge whatever they answer: the caller may not do this, or not here. */
function throwIfFatal(request: PurgeRequest, reply: BrokerReply, allow403: boolean): void {
  if (reply.status >= 300 && reply.status < 400) {
    throw new BrokerReplyError(
      `The broker answered with a redirect (${reply.status}), which a purge does not follow: check the broker's URL.`,
    );
  }
  if (reply.status !== 401 && reply.status !== 403 && reply.status !== 404) return;
  const problem = parseBrokerProblem(reply);
  if (reply.status === 404 ? !isUnknownTenant(problem) : reply.status === 403 && allow403) return;
  throw new BrokerRefusedError(request.operation, problem, reply.headers.get('www-authenticate'));
}

/** What a purge has cost so far. */
export function effortOf({ requests, retries }: Requester): Pick<Requester, 'requests' | 'retries'> {
  return { requests, retries };
}
