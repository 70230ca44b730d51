import type { BrokerReply, BrokerRequest, Failure } from '../broker/index.js';
import type { Clock } from '../../shared/clock.js';
import { throwIfStopped } from '../errors.js';
import type { OutageEvent } from './outage.js';
import type { Pace } from './pace.js';

/** How the requests of one purge are sent, and what holds them back while it runs. */
export interface RequestOrder {
  /** Sent to the broker with each request: tenant, @context, credentials; names are lower-case. */
  readonly headers: Readonly<Record<string, string>>;
  /** How fast it may delete; may be changed while it runs. */
  readonly pace?: Pace | undefined;
  /** Bounds what is deleted, over all the processes that work on it. */
  readonly budget?: PurgeBudget | undefined;
  /**
   * Called right before each try of a request that deletes, in the same turn of the event loop: what it has to wait for, if
   * anything. It is called again then, and when there is a connection to send it on. When it throws, nothing is sent.
   */
  readonly beforeDelete?: (() => Promise<void> | undefined) | undefined;
  /** Called with its news as they come. */
  readonly onEvent?: ((event: OutageEvent) => void) | undefined;
}

/** What a purge has done so far. */
export interface DoneSoFar {
  /** Items that it has deleted, or may have. */
  readonly affected: number;
  /** Items that it has taken: no others are deleted. */
  readonly taken: number;
}

/** What may still be deleted, where several processes may work on a purge one after the other. */
export interface PurgeBudget {
  /**
   * Called before a request that deletes is first sent, with the most it can delete, and with a look at what the purge has done
   * so far. When it throws, the purge ends; when it returns nothing, the request is not sent, and its items count as failed. What
   * it returns is called when the request has ended.
   */
  reserve(deletes: number, done?: () => DoneSoFar): Promise<(() => void) | undefined>;
  /** The most that one request may delete, as of now. */
  readonly mostAtOnce: number;
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
  /** Key of the single item that the request concerns: its failures may not be the broker's. */
  readonly item?: string | undefined;
  /** Replace the purge's own headers of these names; lower-case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Most bytes of the answer to a query. */
  readonly replyMaxBytes?: number | undefined;
  readonly mayBeDeep?: boolean | undefined;
  /** Deletes a part of an entity. Lists come between such deletes, whose answers show that the broker works. */
  readonly isPart?: boolean;
  /** What it deletes was listed too long ago: it is not sent, nor sent again. */
  readonly isStale?: () => boolean;
  /** Called once, right before it is first sent; when it throws, nothing is sent. */
  readonly onSend?: () => void;
  /** It cannot be sent in parts: where the rate was lowered, it waits for the share of several seconds. */
  readonly isWhole?: boolean;
  /** A 403 is an answer as well, and does not end the purge. */
  readonly takes403?: true;
  /** A server error is an answer as well, and no reason to try again. */
  readonly takesServerErrors?: true;
  /** Finds a failure in an answer whose status is that of a success. */
  readonly failureOf?: ((reply: BrokerReply) => Failure | undefined) | undefined;
  /** Called for each try of a delete that may have had an effect: it got a server error or no answer. */
  readonly onUnclear?: () => void;
  /** Called before each further try: what it has instead; undefined when there must not be one. */
  readonly again?: (failure: Failure) => Promise<Pick<PurgeRequest, 'jsonBody' | 'deletes'> | undefined>;
}

/** One try failed for a reason that may pass. */
export class TryFailed extends Error {
  constructor(readonly failure: Failure) {
    super(failure.kind);
  }
}

/** The rate was lowered while a delete of several items waited: it must be sent in parts. Nothing was sent. */
export class MustBeSplit extends Error {}

/** What a delete would delete was listed too long ago. Nothing was sent. */
export class ListedTooLongAgo extends Error {}

/** Sleeps, if there is any time to sleep. @throws PurgeStoppedError when the signal aborts */
export async function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await clock.sleep(ms, signal).catch(() => throwIfStopped(signal));
  throwIfStopped(signal);
}
