import type { ChangeReport } from '../json-schema/differences.js';

/** The data to import, as it was sent. */
export type ImportSource =
  | { readonly kind: 'gzip' | 'zip'; readonly bytes: Buffer }
  /** The text of `{"documents": {"<path or URL>": …}}`. */
  | { readonly kind: 'documents'; readonly text: string }
  /** The files of a form, by path; archives among them are unpacked. */
  | { readonly kind: 'parts'; readonly parts: readonly { readonly name: string; readonly bytes: Buffer }[] };

/** The domain and the caller of an import, and whether it is a dry run. */
export interface ImportOptions {
  /** The domain for everything. By default, the domains of an export, or the name of the repository. */
  readonly domain?: string | undefined;
  /** Whether to report what the import would do, but write nothing. */
  readonly dryRun: boolean;
  /** The URL under which clients and brokers reach this service, without a trailing slash. */
  readonly baseUrl: string;
  /** The caller, stored with new versions of models. */
  readonly caller?: string | undefined;
  /** Stops the import after the current step; stored data stays. */
  readonly signal?: AbortSignal | undefined;
}

export type ImportStatus = 'created' | 'updated' | 'unchanged' | 'refused';

/** An error of an example. */
export interface ExampleFault {
  readonly path: string;
  /** JSON pointer into the original example. */
  readonly pointer: string;
  /** Line number, starting at 1. */
  readonly line?: number;
  readonly detail: string;
}

export interface Examples {
  /** Number of examples stored with the model, whether they are valid or not. */
  readonly kept: number;
  /** Examples that are not stored, with the reasons, if there are any. */
  readonly leftOut?: readonly { readonly path: string; readonly reason: string }[];
  /** Number of files in which everything is valid. */
  readonly valid: number;
  /** The first errors of each of the other files. */
  readonly invalid: readonly ExampleFault[];
  /** Paths of examples that were skipped because others of the import took too long, if there are any. */
  readonly unchecked?: readonly string[];
}

/** The result for a file. A shared document has one result for each URL under which it is stored. */
export interface ImportedFile {
  readonly path: string;
  /** The URL under which a shared document is stored. */
  readonly url?: string;
  /** The model created from it, as `domain/model`, or the name of the stored context. */
  readonly model?: string;
  readonly context?: string;
  readonly status: ImportStatus;
  /** Why the file is refused, in sentences. */
  readonly reason?: string;
  /** Line of the first fault, starting at 1. */
  readonly line?: number;
  /**
   * How the model changes, if it does: the worst of all differences, and the first of them. For a model that keeps its
   * version, the changes come from a context that it follows.
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
  /** Without those that cannot be created. */
  readonly domains: readonly string[];
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly refused: number;
  /** Number of files that no import reads, and of documents that no model uses. */
  readonly ignored: number;
  /** Number of models created, updated or unchanged. */
  readonly models: number;
  readonly examples: Readonly<Record<'valid' | 'invalid' | 'unchecked' | 'kept' | 'leftOut', number>>;
}

export interface ImportReport {
  readonly summary: ImportSummary;
  /** In the order of paths. */
  readonly files: readonly ImportedFile[];
  /**
   * Models outside the import that were created with an earlier state of one of its documents, or follow one of its
   * contexts.
   */
  readonly dependents: readonly UpdatedDependent[];
}
