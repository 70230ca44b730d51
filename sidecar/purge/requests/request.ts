import {
  type BrokerClient,
  type BrokerRequest,
  BrokerTimeoutError,
  BrokerUnreachableError,
  ReplyTooLargeError,
  RequestAbortedError,
  type BrokerReply,
  failureOf,
  type Failure,
} from '../broker/index.js';
import type { Clock } from '../../shared/clock.js';
import { BrokerReplyError, PurgeStoppedError, throwIfStopped } from '../errors.js';

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
  readonly item?: string;
  /** Replace the purge's own headers of these names; lower-case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Most bytes of the answer to a query. */
  readonly replyMaxBytes?: number;
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
  readonly failureOf?: (reply: BrokerReply) => Failure | undefined;
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

/** True for the error of a delete that was kept from being sent. */
export function isOfUnsent(error: unknown): error is PurgeStoppedError | ListedTooLongAgo {
  return error instanceof PurgeStoppedError || error instanceof ListedTooLongAgo;
}

/**
 * Sends a request once.
 *
 * @param headers sent with it
 * @param signal aborts a query; a delete that was sent is awaited, because its effect must be known
 * @param beforeDelete asked again when there is a connection for a delete; see PurgeOrder
 * @throws TryFailed; PurgeStoppedError for an aborted query and a delete that was not sent; ListedTooLongAgo for a delete that
 *   got stale before there was a connection; for an answer too large to be read, ReplyTooLargeError for a query (a smaller page
 *   may be readable), else BrokerReplyError
 */
export async function tryOnce(
  client: BrokerClient,
  headers: Readonly<Record<string, string>>,
  request: PurgeRequest,
  signal: AbortSignal,
  beforeDelete?: () => unknown,
): Promise<BrokerReply> {
  const { method, path, jsonBody, replyMaxBytes, onUnclear } = request;
  const beforeSending = () => {
    throwIfStopped(signal);
    if (request.isStale?.() === true) throw new ListedTooLongAgo();
    if (request.deletes !== undefined) beforeDelete?.();
  };
  let reply: BrokerReply;
  try {
    reply = await client.send({
      method,
      path,
      headers: request.headers === undefined ? headers : { ...headers, ...request.headers },
      ...(jsonBody === undefined ? {} : { jsonBody }),
      ...(replyMaxBytes === undefined ? {} : { replyMaxBytes }),
      ...(method === 'GET' ? { signal } : { beforeSending }),
    });
  } catch (error) {
    if (error instanceof RequestAbortedError) throwIfStopped(signal);
    if (isOfUnsent(error)) throw error;
    if (error instanceof BrokerTimeoutError || error instanceof BrokerUnreachableError) {
      if (error.wasSent) onUnclear?.();
      const kind = error instanceof BrokerTimeoutError ? 'timeout' : 'unreachable';
      throw new TryFailed({ kind, cause: error, ...(error.wasSent ? {} : { wasNeverSent: true }) });
    }
    onUnclear?.();
    if (error instanceof ReplyTooLargeError && method !== 'GET')
      throw new BrokerReplyError(error.message, { cause: error });
    throw error;
  }
  const failure = failureOf(reply) ?? request.failureOf?.(reply);
  if (failure === undefined || (request.takesServerErrors === true && reply.status >= 500)) return reply;
  // A server error may come from a proxy that lost the broker halfway.
  if (failure.kind === 'broker-error') onUnclear?.();
  throw new TryFailed(failure);
}

/** Sleeps, if there is any time to sleep. @throws PurgeStoppedError when the signal aborts */
export async function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await clock.sleep(ms, signal).catch(() => throwIfStopped(signal));
  throwIfStopped(signal);
}
