import type { BrokerReply, BrokerRequest, Failure } from '../broker/index.js';
import type { Clock } from '../../shared/clock.js';
import { throwIfStopped } from '../errors.js';

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
  /** A 403 is an answer as well, and does not end the purge. */
  readonly takes403?: true;
  /** A server error is an answer as well, and no reason to try again. */
  readonly takesServerErrors?: true;
  /** Finds a failure in an answer whose status is that of a success. */
  readonly failureOf?: ((reply: BrokerReply) => Failure | undefined) | undefined;
  /** Called for each try of a delete that may have had an effect: it got a server error or no answer. */
  readonly onUnclear?: () => void;
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
