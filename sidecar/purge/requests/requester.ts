import {
  BrokerTimeoutError,
  BrokerUnreachableError,
  failureOf,
  isUnknownTenant,
  parseBrokerProblem,
  ReplyTooLargeError,
  RequestAbortedError,
  type BrokerClient,
  type BrokerReply,
  type Failure,
} from '../broker/index.js';
import {
  BrokerFailedError,
  BrokerRefusedError,
  BrokerReplyError,
  PurgeStoppedError,
  throwIfStopped,
} from '../errors.js';
import type { Clock } from '../../shared/clock.js';
import { RequestGate, WITHHELD, type Reservation } from './request-gate.js';
import {
  StaleListError,
  sleep,
  AttemptFailedError,
  type DoneSoFar,
  type PurgeRequest,
  type RequesterOptions,
} from './request.js';
import { backoffMs, retryDelayMs, type RetryPolicy } from './retry-policy.js';

/**
 * How a request ended: answered (with any status that settles it), or given up. `isCutShort`: it has tries left, but the items
 * to delete were listed too long ago.
 */
export type RequestResult =
  | { readonly kind: 'answered'; readonly reply: BrokerReply }
  | { readonly kind: 'gave-up'; readonly failure: Failure; readonly isCutShort?: boolean };

/** What the requests of a purge need from outside. */
export interface RequestDependencies {
  readonly client: BrokerClient;
  readonly retry: RetryPolicy;
  readonly clock: Clock;
  /** Returns a number in [0, 1), for jitter. */
  readonly random: () => number;
  /** Called each time a request is sent again. */
  readonly onRetry?: () => void;
}

/** The state of a request while it is tried. */
interface RetryState extends Reservation {
  /** Number of the try, from 1. A try that an outage ended may not count. */
  attempt: number;
  /** Whether it has had the one try that does not count, because of an outage. */
  hasSurvivedOutage: boolean;
  /** How often the broker had asked for a pause when the try was sent. */
  pausesBefore: number;
  /** Why the previous try failed. */
  lastFailure?: Failure;
}

/** A part of a purge whose requests are stopped together. */
interface Phase {
  readonly ending: AbortController;
  /** When the final queries end; undefined before them. */
  readonly untilMs?: number;
}

/** No final query begins after this time. */
const FINAL_QUERIES_MS = 10_000;

/** Sends the requests of one purge: with its headers, retries, one circuit breaker, one shared pause and one outage probe. */
export class Requester {
  /** Sent with each request; names are lower-case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly #options: RequesterOptions;
  readonly #dependencies: RequestDependencies;
  readonly #signal: AbortSignal;
  readonly #gate: RequestGate;
  readonly #requestCounts = { requests: 0, retries: 0 };
  readonly #stop = () => this.halt();
  #phase: Phase = { ending: new AbortController() };

  /**
   * @param signal stops the purge: no new requests; deletes already sent are left to finish
   * @param probe a harmless query for a broker that seems to be away
   * @param done what the purge has done so far, for its budget
   */
  constructor(
    order: RequesterOptions,
    dependencies: RequestDependencies,
    signal: AbortSignal,
    probe: PurgeRequest,
    done?: () => DoneSoFar,
  ) {
    this.headers = order.headers;
    this.#options = order;
    this.#dependencies = dependencies;
    this.#signal = signal;
    this.#gate = new RequestGate({
      ...order,
      ...dependencies,
      done,
      probe: (ending) => this.#probe(probe, ending),
    });
    if (signal.aborted) this.halt();
    signal.addEventListener('abort', this.#stop, { once: true });
  }

  /** The number of requests sent so far, every try counted, and how many of them were sent again. */
  get requestCounts(): { readonly requests: number; readonly retries: number } {
    return { ...this.#requestCounts };
  }

  /** Whether the broker has answered a request without a failure. */
  get hasAnswered(): boolean {
    return this.#gate.hasAnswered;
  }

  /** Maximum number of items that may currently be deleted in a second; Infinity without a rate. */
  get burst(): number {
    return Math.max(1, Math.floor(this.#options.rateLimiter?.burst ?? Infinity));
  }

  /** Maximum number of items that one request may currently delete. */
  get maxPerRequest(): number {
    return Math.max(1, Math.floor(Math.min(this.burst, this.#options.budget?.maxPerRequest ?? Infinity)));
  }

  /**
   * Sends a request until it is answered or its tries are used up.
   *
   * @throws BrokerRefusedError for 401, 403 (unless the request takes it) and an unknown tenant, which end the purge
   * @throws BrokerFailedError if the broker answers nothing but failures, asks for too long a pause, or is away too long
   * @throws BrokerReplyError for a redirect, and for an answer that is too large to be read, unless it answers a query
   * @throws ReplyTooLargeError for an answer to a query that is too large to be read
   * @throws PurgeStoppedError if the purge is stopped
   * @throws StaleListError for a delete that got stale before it was first sent
   * @throws MustSplitError for a delete of several items that by now exceeds what the rate allows in one second
   */
  async send(request: PurgeRequest): Promise<RequestResult> {
    const isLast = this.#phase.untilMs !== undefined;
    const settled = await (isLast
      ? this.#sendFinalQuery(request, this.#phase)
      : this.#sendWithRetries(request, this.#phase.ending.signal));
    if (settled.kind === 'answered') throwIfFatal(request, settled.reply);
    return settled;
  }

  /** Waits as after a failed try, because of partial failures inside an answer; false if the tries are used up. */
  async pause(attempt: number): Promise<boolean> {
    const { retry, clock, random } = this.#dependencies;
    const delayMs = retryDelayMs(attempt, { kind: 'broker-error' }, retry, random());
    if (delayMs === undefined) return false;
    await sleep(clock, delayMs, this.#phase.ending.signal);
    return true;
  }

  /** Waits before looking again at something that should have changed, longer with each look (from 1). */
  async waitBeforeCheck(look: number): Promise<void> {
    const { retry, clock, random } = this.#dependencies;
    await sleep(clock, backoffMs(look, retry, random()), this.#phase.ending.signal);
  }

  /** Starts counting failures from zero again, after those of a few hopeless items. */
  resetFailures(): void {
    this.#gate.resetFailures();
  }

  /**
   * Sends nothing more, because the purge is over. Deletes that were sent are awaited; queries in flight are aborted, and
   * waiting requests throw PurgeStoppedError.
   */
  halt(): void {
    this.#phase.ending.abort();
  }

  /**
   * Halts for good, and removes the listener: a signal that is composed of others keeps its listeners alive, and with them
   * everything that the purge knows.
   */
  end(): void {
    this.halt();
    this.#signal.removeEventListener('abort', this.#stop);
  }

  /**
   * Halts, and then lets queries through for some seconds, each with one try.
   *
   * @returns false if no query may be sent: the purge was stopped, or the broker has asked to be left alone
   */
  beginFinalQueries(): boolean {
    this.halt();
    if (this.#signal.aborted || this.#gate.isAskedToWait) return false;
    const untilMs = this.#dependencies.clock.monotonicMs() + FINAL_QUERIES_MS;
    this.#phase = { ending: new AbortController(), untilMs };
    return true;
  }

  async #sendWithRetries(first: PurgeRequest, signal: AbortSignal): Promise<RequestResult> {
    let request = first;
    const isBooked = request.deletes === undefined;
    const tries: RetryState = { attempt: 1, hasSurvivedOutage: false, pausesBefore: 0, isBooked };
    try {
      for (;;) {
        try {
          await this.#gate.wait(request, signal, tries);
          tries.pausesBefore = this.#gate.pauses;
          if (tries.lastFailure !== undefined) {
            this.#requestCounts.retries += 1;
            this.#dependencies.onRetry?.();
          }
          const reply = await this.#attempt(request, signal);
          this.#gate.succeeded(request);
          return { kind: 'answered', reply };
        } catch (error) {
          const failure = error instanceof AttemptFailedError ? error.failure : undefined;
          if (error instanceof StaleListError && tries.lastFailure !== undefined)
            return { kind: 'gave-up', failure: tries.lastFailure, isCutShort: true };
          if (failure === undefined) throw error;
          tries.lastFailure = failure;
          if (failure === WITHHELD || !(await this.#waitForRetry(request, failure, signal, tries)))
            return { kind: 'gave-up', failure };
          const changed = request.beforeRetry === undefined ? {} : await request.beforeRetry(failure);
          if (changed === undefined) return { kind: 'gave-up', failure };
          request = { ...request, ...changed };
        }
      }
    } finally {
      tries.onEnd?.();
    }
  }

  /** Sends a final query, with a single try. */
  async #sendFinalQuery(request: PurgeRequest, { ending, untilMs = 0 }: Phase): Promise<RequestResult> {
    if (request.method !== 'GET' || this.#dependencies.clock.monotonicMs() >= untilMs) ending.abort();
    try {
      return { kind: 'answered', reply: await this.#attempt(request, ending.signal) };
    } catch (error) {
      if (!(error instanceof AttemptFailedError)) throw error;
      throw new BrokerFailedError(request.operation, error.failure, 'attempts-used-up');
    }
  }

  /**
   * Sends a request once.
   *
   * @param signal aborts a query; a delete that was sent is awaited, because its effect must be known
   * @throws AttemptFailedError; PurgeStoppedError for an aborted query and a delete that was not sent; StaleListError for a delete that
   *   got stale before there was a connection; for an answer too large to be read, ReplyTooLargeError for a query (a smaller page
   *   may be readable), else BrokerReplyError
   */
  async #attempt(request: PurgeRequest, signal: AbortSignal): Promise<BrokerReply> {
    throwIfStopped(signal);
    const { headers, beforeDelete } = this.#options;
    const { method, path, jsonBody, replyMaxBytes, mayBeDeep, onUnclear } = request;
    const beforeSending = () => {
      throwIfStopped(signal);
      if (request.isStale?.() === true) throw new StaleListError();
      if (request.deletes !== undefined) void beforeDelete?.();
    };
    this.#requestCounts.requests += 1;
    let reply: BrokerReply;
    try {
      reply = await this.#dependencies.client.send({
        method,
        path,
        headers: request.headers === undefined ? headers : { ...headers, ...request.headers },
        jsonBody,
        replyMaxBytes,
        mayBeDeep,
        ...(method === 'GET' ? { signal } : { beforeSending }),
      });
    } catch (error) {
      if (error instanceof RequestAbortedError) throwIfStopped(signal);
      if (error instanceof PurgeStoppedError || error instanceof StaleListError) {
        // The request was not sent.
        this.#requestCounts.requests -= 1;
        throw error;
      }
      if (error instanceof BrokerTimeoutError || error instanceof BrokerUnreachableError) {
        if (error.wasSent) onUnclear?.();
        const kind = error instanceof BrokerTimeoutError ? 'timeout' : 'unreachable';
        throw new AttemptFailedError({
          kind,
          cause: error,
          ...(error.wasSent ? {} : { wasNeverSent: true }),
        });
      }
      onUnclear?.();
      if (error instanceof ReplyTooLargeError && method !== 'GET')
        throw new BrokerReplyError(error.message, { cause: error });
      throw error;
    }
    const failure = failureOf(reply) ?? request.failureOf?.(reply);
    if (failure === undefined || (request.acceptsServerErrors === true && reply.status >= 500)) return reply;
    // A server error may come from a proxy that lost the broker halfway.
    if (failure.kind === 'broker-error') onUnclear?.();
    throw new AttemptFailedError(failure);
  }

  /** Asks a broker that seems to be away; returns why that failed, if it did. */
  async #probe(probe: PurgeRequest, signal: AbortSignal): Promise<Failure | undefined> {
    try {
      await this.#attempt(probe, signal);
    } catch (error) {
      throwIfStopped(signal);
      if (!(error instanceof AttemptFailedError)) return undefined;
      this.#gate.applyRetryAfter(error.failure, probe.operation);
      return error.failure;
    }
    return undefined;
  }

  /** Notes a failed try, and waits for the next one; false if there is none. */
  async #waitForRetry(
    request: PurgeRequest,
    failure: Failure,
    signal: AbortSignal,
    tries: RetryState,
  ): Promise<boolean> {
    const { retry, clock, random } = this.#dependencies;
    const failedAtMs = clock.monotonicMs();
    const wasAway = await this.#gate.failed({ ...tries, request, failure }, signal);
    if (wasAway && !tries.hasSurvivedOutage) {
      tries.hasSurvivedOutage = true;
      return true;
    }
    const delayMs = retryDelayMs(tries.attempt, failure, retry, random());
    tries.attempt += 1;
    if (delayMs === undefined) return false;
    await sleep(clock, delayMs - (clock.monotonicMs() - failedAtMs), signal);
    return true;
  }
}

/** Throws for answers that end a purge, whichever request they answer: the caller may not do this, or not here. */
function throwIfFatal({ operation, accepts403 }: PurgeRequest, reply: BrokerReply): void {
  if (reply.status >= 300 && reply.status < 400) {
    throw new BrokerReplyError(
      `The broker answered with a redirect (${reply.status}), which a purge does not follow: check the broker's URL.`,
    );
  }
  if (reply.status !== 401 && reply.status !== 403 && reply.status !== 404) return;
  const problem = parseBrokerProblem(reply);
  if (reply.status === 404 ? !isUnknownTenant(problem) : reply.status === 403 && accepts403 === true) return;
  throw new BrokerRefusedError(operation, problem, reply.headers.get('www-authenticate'));
}
