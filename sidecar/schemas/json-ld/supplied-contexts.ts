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
