import { setMaxListeners } from 'node:events';
import pRetry from 'p-retry';
import type { BrokerClient, BrokerRequest } from '../broker/client.js';
import { isUnknownTenant, parseBrokerProblem } from '../broker/broker-problem.js';
import {
  BrokerTimeoutError,
  BrokerUnreachableError,
  ReplyTooLargeError,
  RequestAbortedError,
} from '../broker/errors.js';
import { failureOf, type BrokerReply, type Failure } from '../broker/outcome.js';
import { createBreaker } from '../retry/breaker.js';
import { backoffMs, decideRetry, type RetryPolicy } from '../retry/policy.js';
import type { Clock } from '../shared/clock.js';
import { BrokerFailedError, BrokerRefusedError, BrokerReplyError, PurgeStoppedError } from './errors.js';

/** A request of a purge, and what it is for. */
export interface PurgeRequest {
  readonly method: BrokerRequest['method'];
  readonly path: string;
  readonly jsonBody?: string;
  /** Completes "The broker did not …", e.g. "list the matching entities". */
  readonly operation: string;
  /** Key of the single item that the request is for: its own failures do not speak of the broker. */
  readonly item?: string;
  /** Sent in place of the purge's own headers of these names; lower-case. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** How a request ended: answered (any status that settles it), or given up after the last try. */
export type Settled =
  | { readonly kind: 'answered'; readonly reply: BrokerReply }
  | { readonly kind: 'gave-up'; readonly failure: Failure };

/** Sends the requests of one purge: with its headers, retries, one breaker and one shared pause. */
export interface Requester {
  /**
   * Sends a request until it is answered or its tries are used up.
   *
   * @throws BrokerRefusedError for 401, 403 (unless `allow403`) and an unknown tenant, which end the purge
   * @throws BrokerFailedError when the broker answers nothing but failures, or asks to come back too late
   * @throws PurgeStoppedError when the purge is stopped
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
  /** Sent with each request; names are lower-case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Requests sent so far, every try counted. */
  readonly requests: number;
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
  /** Stops the purge: no new requests; deletes already sent are left to finish. */
  readonly signal: AbortSignal;
}

/** One failed try, thrown inside the retry loop only. */
class TryFailed extends Error {
  constructor(
    readonly failure: Failure,
    /** Shared pauses imposed before the try was sent. */
    readonly pausesBefore: number,
  ) {
    super(failure.kind);
  }
}

export function createRequester(options: RequesterOptions): Requester {
  const { client, headers, retry, clock, random } = options;
  const breaker = createBreaker();
  const ending = new AbortController();
  const { signal } = ending;
  // One listener for each request and wait under way, however many those are.
  setMaxListeners(0, signal);
  if (options.signal.aborted) ending.abort();
  options.signal.addEventListener('abort', () => ending.abort(), { once: true });
  let requests = 0;
  let successes = 0;
  /** Set when the broker asked to wait: holds back every request of the purge, not only the one it answered. */
  let pausedUntilMs = 0;
  let pauses = 0;
  let brokenBy: BrokerFailedError | undefined;

  function throwIfStopped(): void {
    if (signal.aborted)
      throw new PurgeStoppedError(
        'The purge was stopped before it was complete; send it again to go on with what is left.',
      );
  }

  async function sleep(ms: number): Promise<void> {
    if (ms > 0) await clock.sleep(ms, signal).catch(() => throwIfStopped());
    throwIfStopped();
  }

  async function sendOnce(request: PurgeRequest): Promise<BrokerReply> {
    if (pausedUntilMs > 0) await sleep(pausedUntilMs - clock.now());
    throwIfStopped();
    if (brokenBy !== undefined) throw brokenBy;
    requests += 1;
    const pausesBefore = pauses;
    let reply: BrokerReply;
    try {
      reply = await client.send({
        method: request.method,
        path: request.path,
        headers: request.headers === undefined ? headers : { ...headers, ...request.headers },
        ...(request.jsonBody === undefined ? {} : { jsonBody: request.jsonBody }),
        // A query may be cut off; a delete already sent is waited for, so that its effect is known.
        ...(request.method === 'GET' ? { signal } : {}),
      });
    } catch (error) {
      if (error instanceof RequestAbortedError) throwIfStopped();
      if (error instanceof BrokerTimeoutError)
        throw new TryFailed({ kind: 'timeout', cause: error }, pausesBefore);
      if (error instanceof BrokerUnreachableError)
        throw new TryFailed({ kind: 'unreachable', cause: error }, pausesBefore);
      // Of a query, a smaller page can be asked for; of a delete there is no smaller answer.
      if (error instanceof ReplyTooLargeError && request.method !== 'GET')
        throw new BrokerReplyError(error.message, { cause: error });
      throw error;
    }
    const failure = failureOf(reply);
    if (failure !== undefined) throw new TryFailed(failure, pausesBefore);
    return reply;
  }

  /** Notes a failed try and waits for the next; false when there is none. */
  async function afterFailure(
    attempt: number,
    { failure, pausesBefore }: TryFailed,
    request: PurgeRequest,
  ): Promise<boolean> {
    throwIfStopped();
    // Requests in flight together are throttled together: one pause for all of them is one failure.
    if (failure.retryAfter === undefined || pausesBefore === pauses) breaker.failed(request.item);
    if (breaker.isOpen) {
      brokenBy ??= new BrokerFailedError(request.operation, failure, 'nothing-but-failures');
      throw brokenBy;
    }
    return waitForNextTry(attempt, failure, request.operation);
  }

  async function waitForNextTry(attempt: number, failure: Failure, operation: string): Promise<boolean> {
    const decision = decideRetry(attempt, failure, retry, { nowMs: clock.now(), random: random() });
    if (decision.action === 'stop') {
      if (decision.reason === 'retry-after-too-long') {
        throw new BrokerFailedError(operation, failure, decision.reason);
      }
      return false;
    }
    if (decision.shared) {
      pauses += 1;
      pausedUntilMs = Math.max(pausedUntilMs, clock.now() + decision.ms);
    }
    await sleep(decision.ms);
    return true;
  }

  return {
    async send(request, { allow403 = false } = {}) {
      throwIfStopped();
      let reply: BrokerReply;
      // The first try goes without the retry machinery, which nearly all requests never need.
      let firstTry: Promise<BrokerReply> | undefined = sendOnce(request);
      try {
        reply = await firstTry.catch(async () =>
          pRetry(
            async () => {
              const tried = firstTry ?? sendOnce(request);
              firstTry = undefined;
              return tried;
            },
            {
              retries: retry.maxAttempts,
              // The waiting is done by the policy, on the injected clock.
              minTimeout: 0,
              maxTimeout: 0,
              shouldRetry: async ({ error, attemptNumber }) =>
                error instanceof TryFailed && afterFailure(attemptNumber, error, request),
            },
          ),
        );
      } catch (error) {
        if (error instanceof TryFailed) return { kind: 'gave-up', failure: error.failure };
        throw error;
      }
      breaker.succeeded(request.item);
      successes += 1;
      throwIfFatal(request, reply, allow403);
      return { kind: 'answered', reply };
    },
    pause: async (attempt, failure) => waitForNextTry(attempt, failure, 'delete entities'),
    waitBefore: async (look) => sleep(backoffMs(look, retry, random())),
    forgiveFailures: () => {
      breaker.succeeded();
      brokenBy = undefined;
    },
    halt: () => ending.abort(),
    headers,
    get requests() {
      return requests;
    },
    get successes() {
      return successes;
    },
  };
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
