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
 * - `CONTEXT_REFUSED`: the URL is of no context that may be used
 * - `CONTEXT_FETCH_FAILED`: it may be used, and could not be fetched
 * - `CONTEXT_UNUSABLE`: what it gives is no context, or is too much of one
 */
export type ContextFailureCode = 'CONTEXT_REFUSED' | 'CONTEXT_FETCH_FAILED' | 'CONTEXT_UNUSABLE';

/** Why there is no context under a URL. */
export interface ContextFailure {
  readonly code: ContextFailureCode;
  /** A sentence that names the URL. */
  readonly detail: string;
}

export type Supply = SuppliedContext | { readonly failure: ContextFailure };

/** What a task is run with, by the URL as the worker asked for it. */
export type Supplied = readonly (readonly [url: string, supply: Supply])[];

/** What a task ends with that lacks contexts: it is to be run again with these supplied as well. */
export interface Needs {
  readonly needs: { readonly urls: readonly string[] };
}
