import type { InputIssue } from './json/json.js';
import type { problemKinds } from './problem.js';

/**
 * The kinds of problems that clients can be told about.
 *
 * Errors that are not meant for clients have the kind `internalError`: if one reaches a client after all, it is logged,
 * and the answer does not reveal its cause.
 */
export type ProblemKind = keyof typeof problemKinds;

/** Further members of a problem, besides its kind and its message (RFC 9457, section 3.2). */
export interface ProblemMembers {
  /** The faults of the input, with their places. */
  readonly errors?: readonly InputIssue[];
  /** URIs of missing documents. */
  readonly missing?: readonly string[];
  readonly [member: string]: unknown;
}

/** Base class of all errors that this product throws on purpose. The message is a sentence for the sender of the request. */
export abstract class GatewayError extends Error {
  abstract readonly kind: ProblemKind;

  /** Value of `Retry-After` (RFC 9110, section 10.2.3), if the same request may succeed later. */
  declare readonly retryAfter: string | undefined;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }

  get members(): ProblemMembers {
    return {};
  }
}

/** Returns the code of an error of Node.js, the system or a library, such as ENOSPC; undefined if it has none. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** A body that can be parsed, but is invalid at one place. */
export class InvalidBodyError extends GatewayError {
  readonly kind = 'bodyInvalid';
  readonly errors: readonly InputIssue[];

  /** @param pointer to the fault; the detail completes a sentence about it */
  constructor(message: string, pointer: string, detail: string) {
    super(message);
    this.errors = [{ pointer, detail }];
  }

  override get members(): ProblemMembers {
    return { errors: this.errors };
  }
}
