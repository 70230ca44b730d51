import type { RefusedFile } from './collector.js';
import type { DocumentFacts } from './describe.js';

/** A file that was read and described. */
export interface DescribedFile {
  /** Below the root of what was sent; or a URL. */
  readonly path: string;
  /** Of its bytes. */
  readonly sha256: string;
  readonly facts: DocumentFacts;
}

export interface PlannedModel {
  readonly path: string;
  readonly domain: string;
  readonly name: string;
  /** An `$id` that its schema needs to be given, so that its relative `$ref`s have a meaning. */
  readonly id?: string;
  /** Path of the context that it comes with. */
  readonly context?: string;
  /** Path of the settings that an export keeps beside it. */
  readonly settings?: string;
  /** Paths of its earlier schemas, oldest first; of an export. */
  readonly versions: readonly string[];
  readonly examples: readonly PlannedExample[];
}

/** An example of a model. */
export interface PlannedExample {
  readonly path: string;
  /** Under which it is kept with the model, if it can be a name. */
  readonly name: string;
  readonly form?: DocumentFacts['form'];
}

/** A document that is stored under a URL. */
export interface PlannedDocument {
  readonly path: string;
  readonly url: string;
  /** Whether it replaces another document of that URL, which may have come from elsewhere. */
  readonly mayReplace: boolean;
}

export interface PlannedContext {
  readonly path: string;
  /** Of the stored context that it becomes. */
  readonly name: string;
  /** A URL against which its relative names of other contexts resolve, where it has any. */
  readonly base?: string;
}

/** A version of a context in an export. */
interface PlannedContextVersion {
  readonly path: string;
  readonly number: number;
}

/** What an export keeps of a domain. */
export interface PlannedDomainSettings {
  readonly path: string;
  readonly domain: string;
}

/** The one file that is to be a model, whatever an import would make of it. */
export interface OnlyModel {
  readonly path: string;
  /** In place of the one that its folder or title gives. */
  readonly name?: string | undefined;
}

/** What an import is to store, in order. Every list is in the order of paths. */
export interface ImportPlan {
  readonly domains: readonly string[];
  readonly domainSettings: readonly PlannedDomainSettings[];
  readonly documents: readonly PlannedDocument[];
  readonly contexts: readonly PlannedContext[];
  /**
   * Versions of contexts that something names by their numbers, by the names of the contexts, oldest first: all earlier ones of a
   * custom context, and those of a generated context that are named.
   */
  readonly contextVersions: ReadonlyMap<string, readonly PlannedContextVersion[]>;
  readonly models: readonly PlannedModel[];
  readonly refused: readonly RefusedFile[];
  /** All other documents. */
  readonly ignored: number;
}
