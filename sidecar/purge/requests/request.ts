import type { BrokerReply, BrokerRequest, Failure } from '../broker/index.js';
import type { Clock } from '../../shared/clock.js';
import { throwIfStopped } from '../errors.js';
import type { OutageEvent } from './outage.js';
import type { RateLimiter } from './rate-limiter.js';

/** How the requests of one purge are sent, and what holds them back while it runs. */
export interface RequesterOptions {
  /** Sent to the broker with each request: tenant, @context, credentials; names are lower-case. */
  readonly headers: Readonly<Record<string, string>>;
  /** How fast the purge may delete; may be changed while it runs. */
  readonly rateLimiter?: RateLimiter | undefined;
  /** Limits what all processes that work on the purge may delete together. */
  readonly budget?: PurgeBudget | undefined;
  /**
   * Called right before each try of a request that deletes, in the same turn of the event loop. It may return a promise to wait
   * for, and is called again after that. It is also called when there is a connection; then the try is sent, whatever it
   * returns. If it throws, nothing is sent.
   */
  readonly beforeDelete?: (() => Promise<void> | undefined) | undefined;
  readonly onEvent?: ((event: OutageEvent) => void) | undefined;
}

export interface DoneSoFar {
  /** Number of items that it has deleted, or may have deleted. */
  readonly affected: number;
  /** Number of items that it has taken: no other item can have been deleted. */
  readonly taken: number;
}

/** How much may still be deleted, if several processes may work on a purge one after the other. */
export interface PurgeBudget {
  /**
   * Called before a request that deletes is first sent, with the most that it can delete, and a function that tells what the
   * purge has done so far. It returns a function to call when the request has ended. If it returns nothing, the request is not
   * sent, and its items count as failed. If it throws, the purge ends.
   */
  reserve(deletes: number, done?: () => DoneSoFar): Promise<(() => void) | undefined>;
  /** Maximum number of items that one request may currently delete. */
  readonly maxPerRequest: number;
}

/** A request of a purge, and its purpose. */
export interface PurgeRequest {
  readonly method: BrokerRequest['method'];
  readonly path: string;
  readonly jsonBody?: string;
  /** Number of items that it deletes. @default 0 */
  readonly deletes?: number;
  /** Completes "The broker did not …", e.g. "list the matching entities". */
  readonly operation: string;
  /** Key of the single item that the request concerns. Its failures may be due to that item, not to the broker. */
  readonly item?: string | undefined;
  /** Replace the purge's own headers of these names; lower-case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Maximum size of the answer to a query, in bytes. */
  readonly replyMaxBytes?: number | undefined;
  readonly mayBeDeep?: boolean | undefined;
  /** Whether it deletes a part of an entity. Lists come between such deletes, and their answers show that the broker works. */
  readonly deletesPart?: boolean;
  /** Whether what it deletes was listed too long ago. If so, it is not sent, or not sent again. */
  readonly isStale?: () => boolean;
  /** Called once, when it is about to be sent for the first time. If it throws, nothing is sent. */
  readonly onSend?: () => void;
  /** Whether it cannot be sent in parts. If the rate was lowered, it waits for the share of several seconds. */
  readonly isIndivisible?: boolean;
  /** Whether a 403 is an answer as well, and does not end the purge. */
  readonly accepts403?: true;
  /** Whether a server error is an answer as well, and no reason to try again. */
  readonly acceptsServerErrors?: true;
  /** Finds a failure in an answer whose status is that of a success. */
  readonly failureOf?: ((reply: BrokerReply) => Failure | undefined) | undefined;
  /** Called for each try that may have had an effect without a clear answer: it got a server error or no answer. */
  readonly onUnclear?: () => void;
  /** Called before each further try. Returns what to change in the request; undefined if there must be no further try. */
  readonly beforeRetry?: (
    failure: Failure,
  ) => Promise<Pick<PurgeRequest, 'jsonBody' | 'deletes'> | undefined>;
}

/** One try failed for a reason that may pass. */
export class AttemptFailedError extends Error {
  constructor(readonly failure: Failure) {
    super(failure.kind);
  }
}

/** The rate was lowered while a delete of several items waited: it must be sent in parts. Nothing was sent. */
export class MustSplitError extends Error {}

/** The items of a delete were listed too long ago, so it was not sent, or not sent again. */
export class StaleListError extends Error {}

/** Sleeps, if there is any time to sleep. @throws PurgeStoppedError when the signal aborts */
export async function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await clock.sleep(ms, signal).catch(() => throwIfStopped(signal));
  throwIfStopped(signal);
}
