import { GatewayError } from '../shared/errors.js';

/** No complete answer within the time-out. */
export class BrokerTimeoutError extends GatewayError {
  readonly code = 'BROKER_TIMEOUT';
}

/** No connection, or the connection broke before the answer was complete. */
export class BrokerUnreachableError extends GatewayError {
  readonly code = 'BROKER_UNREACHABLE';
}

/** The answer's body is larger than the request allows. */
export class ReplyTooLargeError extends GatewayError {
  readonly code = 'BROKER_REPLY_TOO_LARGE';
}

/** The caller's signal aborted the request. */
export class RequestAbortedError extends GatewayError {
  readonly code = 'BROKER_REQUEST_ABORTED';
}
