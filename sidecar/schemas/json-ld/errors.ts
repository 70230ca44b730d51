import { GatewayError } from '../../shared/errors.js';
import type { InputIssue } from '../../shared/json/pointer.js';
import type { ContextFailureCode } from './supplied-contexts.js';

/** A context that cannot be used as one. */
export class ContextInvalidError extends GatewayError {
  readonly code = 'CONTEXT_INVALID';
  readonly errors: readonly InputIssue[];

  constructor(errors: readonly InputIssue[], options?: ErrorOptions) {
    super(`The @context is invalid: ${errors[0]?.detail ?? 'no reason known'}`, options);
    this.errors = errors;
  }
}

/** A context that is referenced by its URL and is unavailable. */
export class ContextUnavailableError extends GatewayError {
  readonly code = 'CONTEXT_UNAVAILABLE';
  readonly url: string;

  /** @param reason completes "The context URL …"; without one, the URL is of no context that may be used */
  constructor(url: string, reason?: string, options?: ErrorOptions) {
    super(`The context ${url} ${reason ?? 'is neither stored here nor from an allowed origin.'}`, options);
    this.url = url;
  }
}

/** The document at a context URL is not a context, or is too large. */
export class ContextUnusableError extends GatewayError {
  readonly code = 'CONTEXT_UNUSABLE';
  readonly url: string;

  constructor(url: string, reason: string) {
    super(`The document at ${url} cannot be used as a context: ${reason}`);
    this.url = url;
  }
}

/** A context that the main thread could not supply. */
export class ContextFailureError extends GatewayError {
  constructor(
    readonly url: string,
    readonly code: ContextFailureCode,
    message: string,
  ) {
    super(message);
  }
}
