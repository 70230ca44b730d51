import { GatewayError } from '../../shared/errors.js';

/** A request without a complete answer. */
abstract class UnansweredError extends GatewayError {
  /** @param wasSent the request was sent and may have had an effect */
  constructor(
    message: string,
    readonly wasSent: boolean,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** No complete answer within the time-out. */
export class BrokerTimeoutError extends UnansweredError {
  readonly code = 'BROKER_TIMEOUT';
}

/** No connection, or the connection broke before the answer was complete. */
export class BrokerUnreachableError extends UnansweredError {
  readonly code = 'BROKER_UNREACHABLE';
}

/** The body is larger than allowed, or holds too much JSON to be read at once. */
export class ReplyTooLargeError extends GatewayError {
  readonly code = 'BROKER_REPLY_TOO_LARGE';
}

/** The caller's signal aborted the request. */
export class RequestAbortedError extends GatewayError {
  readonly code = 'BROKER_REQUEST_ABORTED';
}
