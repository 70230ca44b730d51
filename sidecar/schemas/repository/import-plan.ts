import type { RefusedFile } from './collector.js';
import type { DocumentFacts } from './describe.js';

/** A file that was read and described. */
export interface DescribedFile {
  /** Path below the root of the upload, or a URL. */
  readonly path: string;
  /** SHA-256 of its bytes. */
  readonly sha256: string;
  readonly facts: DocumentFacts;
}

export interface PlannedModel {
  readonly path: string;
  readonly domain: string;
  readonly name: string;
  /** An `$id` to add to the schema, so that its relative `$ref`s can be resolved. */
  readonly id?: string;
  /** Path of the context that belongs to it. */
  readonly context?: string;
  /** Path of its settings in an export. */
  readonly settings?: string;
  /** Paths of its earlier schemas in an export, oldest first. */
  readonly versions: readonly string[];
  readonly examples: readonly PlannedExample[];
}

/** An example of a model. */
export interface PlannedExample {
  readonly path: string;
  /** The name under which it is stored with the model, if the name is valid. */
  readonly name: string;
  readonly form?: DocumentFacts['form'];
}

/** A document to store under a URL. */
export interface PlannedDocument {
  readonly path: string;
  readonly url: string;
  /** Whether it replaces another document of that URL, which may have come from elsewhere. */
  readonly mayReplace: boolean;
}

export interface PlannedContext {
  readonly path: string;
  /** The name of the stored context. */
  readonly name: string;
  /** The URL against which relative names of other contexts are resolved, if there are any. */
  readonly base?: string;
}

/** A version of a context in an export. */
interface PlannedContextVersion {
  readonly path: string;
  readonly number: number;
}

/** The settings of a domain in an export. */
export interface PlannedDomainSettings {
  readonly path: string;
  readonly domain: string;
}

/** The only file that is to become a model, whatever an import would make of it. */
export interface OnlyModel {
  readonly path: string;
  /** Replaces the name from its folder or title. */
  readonly name?: string | undefined;
}

/** What an import stores, in order. Every list is in the order of paths. */
export interface ImportPlan {
  readonly domains: readonly string[];
  readonly domainSettings: readonly PlannedDomainSettings[];
  readonly documents: readonly PlannedDocument[];
  readonly contexts: readonly PlannedContext[];
  /**
   * Versions of contexts to which something refers by number, by name of the context, oldest first: all earlier
   * versions of a custom context, and the named versions of a generated context.
   */
  readonly contextVersions: ReadonlyMap<string, readonly PlannedContextVersion[]>;
  readonly models: readonly PlannedModel[];
  readonly refused: readonly RefusedFile[];
  /** Number of all other documents. */
  readonly ignored: number;
}
