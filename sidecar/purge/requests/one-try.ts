import type { BrokerClient, BrokerRequest } from '../broker/client.js';
import {
  BrokerTimeoutError,
  BrokerUnreachableError,
  ReplyTooLargeError,
  RequestAbortedError,
} from '../broker/errors.js';
import { failureOf, type BrokerReply, type Failure } from '../broker/failure.js';
import { BrokerReplyError, PurgeStoppedError } from '../errors.js';

/** A request of a purge, and what it is for. */
export interface PurgeRequest {
  readonly method: BrokerRequest['method'];
  readonly path: string;
  readonly jsonBody?: string;
  /** How many items it is to delete; none unless told. */
  readonly deletes?: number;
  /** Completes "The broker did not …", e.g. "list the matching entities". */
  readonly operation: string;
  /** Key of the single item that the request is for: its own failures do not speak of the broker. */
  readonly item?: string;
  /** Sent in place of the purge's own headers of these names; lower-case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Most bytes of the answer to a query. */
  readonly replyMaxBytes?: number;
  /** Told of each try of a delete that may have had its effect and had no clear answer: none at all, or a server error. */
  readonly onUnclear?: () => void;
}

/** One try of a request failed in a way that another may cure. */
export class TryFailed extends Error {
  constructor(readonly failure: Failure) {
    super(failure.kind);
  }
}

/**
 * Sends a request once.
 *
 * @param headers sent with it
 * @param signal cuts a query off; a delete that was sent is waited for, so that its effect is known
 * @throws TryFailed; PurgeStoppedError for a query that was cut off; for an answer too large to be read
 *   ReplyTooLargeError, since of a query a smaller page can be asked for, or else BrokerReplyError
 */
export async function tryOnce(
  client: BrokerClient,
  headers: Readonly<Record<string, string>>,
  request: PurgeRequest,
  signal: AbortSignal,
): Promise<BrokerReply> {
  const { method, path, jsonBody, replyMaxBytes, onUnclear } = request;
  let reply: BrokerReply;
  try {
    reply = await client.send({
      method,
      path,
      headers: request.headers === undefined ? headers : { ...headers, ...request.headers },
      ...(jsonBody === undefined ? {} : { jsonBody }),
      ...(replyMaxBytes === undefined ? {} : { replyMaxBytes }),
      ...(method === 'GET' ? { signal } : {}),
    });
  } catch (error) {
    if (error instanceof RequestAbortedError) throwIfStopped(signal);
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
  const failure = failureOf(reply);
  if (failure === undefined) return reply;
  // A server error may come from a gateway that lost the broker in the middle.
  if (failure.kind === 'broker-error') onUnclear?.();
  throw new TryFailed(failure);
}

/** @throws PurgeStoppedError */
export function throwIfStopped(signal: AbortSignal): void {
  if (signal.aborted) {
    throw new PurgeStoppedError(
      'The purge was stopped before it was complete; send it again to go on with what is left.',
    );
  }
}
