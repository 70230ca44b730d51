import { GatewayError, type ProblemMembers } from '../../shared/errors.js';
import type { InputIssue } from '../../shared/json/json.js';

/** The document of a context URL, as the main thread gives it to a worker. */
export interface SuppliedContext {
  /** Of the text, hex: the same for the same text. */
  readonly sha256: string;
  /** JSON. */
  readonly text: string;
  /** Where it was found after redirects: what its own references are relative to. The URL itself when left out. */
  readonly documentUrl?: string;
}

/**
 * - `contextRefused`: no context may be fetched from the URL
 * - `contextUnavailable`: the URL is allowed, but fetching it failed
 * - `contextInvalid`: the document is not a context, or is too large
 */
export type ContextFailureKind = 'contextRefused' | 'contextUnavailable' | 'contextInvalid';

/** Why a context URL cannot be used. */
export interface ContextFailure {
  readonly kind: ContextFailureKind;
  /** A sentence that names the URL. */
  readonly detail: string;
}

export type Supply = SuppliedContext | { readonly failure: ContextFailure };

/** Contexts given to a task, by the URL that the worker asked for. */
export type Supplied = readonly (readonly [url: string, supply: Supply])[];

/** The outcome of a task that needs more contexts: run it again with these supplied as well. */
export interface Needs {
  readonly needs: { readonly urls: readonly string[] };
}

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
