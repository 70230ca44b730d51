import { GatewayError, type ProblemMembers } from '../../shared/errors.js';
import type { InputIssue } from '../../shared/json/json.js';
import type { ContextFailure, ContextFailureKind } from './supplied-contexts.js';

/** A context that cannot be used as one. */
export class ContextInvalidError extends GatewayError {
  readonly kind = 'contextInvalid';

  constructor(
    readonly errors: readonly InputIssue[],
    options?: ErrorOptions,
  ) {
    super(`The @context is invalid: ${errors[0]?.detail ?? 'no reason known'}`, options);
  }

  override get members(): ProblemMembers {
    return { errors: this.errors };
  }
}

/** A context that is named by its URL, and cannot be used. */
export class ContextFailureError extends GatewayError {
  readonly kind: ContextFailureKind;

  constructor(
    readonly url: string,
    { kind, detail }: ContextFailure,
  ) {
    super(detail);
    this.kind = kind;
  }

  override get members(): ProblemMembers {
    return { url: this.url };
  }
}

/** There is no context at a URL that may be used. */
export function noSuchContext(url: string): ContextFailure {
  return {
    kind: 'contextRefused',
    detail: `The context ${url} is neither stored here nor from an allowed origin.`,
  };
}

/** The document at a context URL is not a context, or is too large. @param reason a sentence */
export function unusableContext(url: string, reason: string): ContextFailure {
  return {
    kind: 'contextInvalid',
    detail: `The document at ${url} cannot be used as a context: ${reason}`,
  };
}
