import type { ChangeReport } from '../json-schema/differences.js';

/** What is imported, as it was sent. */
export type ImportSource =
  | { readonly kind: 'gzip' | 'zip'; readonly bytes: Buffer }
  /** The text of `{"documents": {"<path or URL>": …}}`. */
  | { readonly kind: 'documents'; readonly text: string }
  /** The files of a form, by their paths; archives among them are unpacked. */
  | { readonly kind: 'parts'; readonly parts: readonly { readonly name: string; readonly bytes: Buffer }[] };

export interface ImportOptions {
  /** For everything in it; else the domains of an export, or the name of the repository. */
  readonly domain?: string | undefined;
  /** Report what the import would do, and write nothing. */
  readonly dryRun: boolean;
  /** Where clients and brokers reach this service, without a trailing slash. */
  readonly baseUrl: string;
  /** Who imports, kept with new versions of models. */
  readonly caller?: string | undefined;
  /** Stops the import after the current model; what was stored stays. */
  readonly signal?: AbortSignal | undefined;
}

export type ImportStatus = 'created' | 'updated' | 'unchanged' | 'refused';

/** An error of an example. */
export interface ExampleFault {
  readonly path: string;
  /** Into the example as it is. */
  readonly pointer: string;
  /** From 1. */
  readonly line?: number;
  readonly detail: string;
}

export interface Examples {
  /** How many are kept with the model, whether they are valid or not. */
  readonly kept: number;
  /** Those that are not kept, and why, if there are any. */
  readonly leftOut?: readonly { readonly path: string; readonly reason: string }[];
  /** Files in which everything is valid. */
  readonly valid: number;
  /** The first errors of each of the others. */
  readonly invalid: readonly ExampleFault[];
  /** Paths of those that were skipped because the examples of the import took too long, if there are any. */
  readonly unchecked?: readonly string[];
}

/** The result for a file; a shared document has one for each URL under which it is stored. */
export interface ImportedFile {
  readonly path: string;
  /** Under which a shared document is stored. */
  readonly url?: string;
  /** The model that it became, as `domain/model`; or the stored context, by its name. */
  readonly model?: string;
  readonly context?: string;
  readonly status: ImportStatus;
  /** Why it is refused: sentences. */
  readonly reason?: string;
  /** From 1, of the first fault. */
  readonly line?: number;
  /**
   * How the model changes, where it does; the worst of all differences, and the first of them. Of a model that keeps its
   * version: by a context that it follows.
   */
  readonly change?: ChangeReport['overall'];
  readonly differences?: ChangeReport['differences'];
  readonly examples?: Examples;
}

/** The result for a model that uses a changed shared document, or follows a changed context. */
export interface UpdatedDependent {
  readonly domain: string;
  readonly model: string;
  readonly status: 'updated' | 'unchanged' | 'refused';
  readonly change?: ChangeReport['overall'];
  readonly differences?: ChangeReport['differences'];
  readonly reason?: string;
}

export interface ImportSummary {
  readonly dryRun: boolean;
  /** Except those that cannot be created. */
  readonly domains: readonly string[];
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly refused: number;
  /** Files that no import reads, and documents that no model uses. */
  readonly ignored: number;
  readonly models: number;
  readonly examples: Readonly<Record<'valid' | 'invalid' | 'unchecked' | 'kept' | 'leftOut', number>>;
}

export interface ImportReport {
  readonly summary: ImportSummary;
  /** In the order of paths. */
  readonly files: readonly ImportedFile[];
  /** Models outside the import that were made with an earlier state of one of its documents, or follow one of its contexts. */
  readonly dependents: readonly UpdatedDependent[];
}
