import { GatewayError } from '../../shared/errors.js';

/** Why there was no answer to a request, in one word. */
export type NoAnswer = 'timeout' | 'unreachable' | 'too_large' | 'cut_off';

/** A request to the broker that ended without an answer that can be read. */
export abstract class NoAnswerError extends GatewayError {
  abstract readonly noAnswer: NoAnswer;
}

/** No complete answer within the time-out. */
export class BrokerTimeoutError extends NoAnswerError {
  readonly kind = 'brokerTimeout';
  readonly noAnswer = 'timeout';

  /** @param wasSent the request was sent and may have had an effect */
  constructor(
    message: string,
    readonly wasSent: boolean,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** No connection, or the connection broke before the answer was complete. */
export class BrokerUnreachableError extends NoAnswerError {
  readonly kind = 'brokerUnreachable';
  readonly noAnswer = 'unreachable';

  /** @param wasSent the request was sent and may have had an effect */
  constructor(
    message: string,
    readonly wasSent: boolean,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The body is larger than allowed, or holds too much JSON to be read at once. */
export class ReplyTooLargeError extends NoAnswerError {
  readonly kind = 'brokerReplyUnusable';
  readonly noAnswer = 'too_large';
}

/** The caller's signal aborted the request. */
export class RequestAbortedError extends NoAnswerError {
  readonly kind = 'internalError';
  readonly noAnswer = 'cut_off';
}
