import { GatewayError, type ProblemMembers } from '../../shared/errors.js';
import type { InputIssue } from '../../shared/json/json.js';

/** The document of a context URL, as the main thread passes it to a worker. */
export interface SuppliedContext {
  /** SHA-256 of the text, in hex. */
  readonly sha256: string;
  /** The document as JSON. */
  readonly text: string;
  /** The URL of the document after redirects, which its own references are relative to. By default the URL itself. */
  readonly documentUrl?: string;
}

/**
 * - `contextRefused`: fetching a context from the URL is not allowed
 * - `contextUnavailable`: the URL is allowed, but fetching it failed
 * - `contextInvalid`: the document is not a context, or is too large
 */
export type ContextFailureKind = 'contextRefused' | 'contextUnavailable' | 'contextInvalid';

/** Why a context URL cannot be used. */
export interface ContextFailure {
  readonly kind: ContextFailureKind;
  /** A sentence that includes the URL. */
  readonly detail: string;
}

/** The context of a URL, or why there is none. */
export type ContextResult = SuppliedContext | { readonly failure: ContextFailure };

/** Contexts passed to a task, by the URL that the worker asked for. */
export type ContextResults = readonly (readonly [url: string, supply: ContextResult])[];

/** The outcome of a task that needs more contexts: run it again with these supplied as well. */
export interface Needs {
  readonly needs: { readonly urls: readonly string[] };
}

/** A context that is invalid. */
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

/** A context URL that cannot be used. */
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

/** Creates the error for a URL that leads to no usable context. */
export function noSuchContext(url: string): ContextFailure {
  return {
    kind: 'contextRefused',
    detail: `The context ${url} is neither stored here nor from an allowed origin.`,
  };
}

/** The failure that the document at a URL is not a context, or is too large. @param reason a sentence */
export function unusableContext(url: string, reason: string): ContextFailure {
  return {
    kind: 'contextInvalid',
    detail: `The document at ${url} cannot be used as a context: ${reason}`,
  };
}
