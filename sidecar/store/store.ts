import type { Contexts } from './sql-contexts.js';
import type { Domains } from './sql-domains.js';
import type { Examples } from './sql-examples.js';
import type { Models } from './sql-models.js';
import type { References } from './sql-references.js';

/**
 * Stores domains, models, contexts and reference documents.
 *
 * Every method is one transaction: it takes effect as a whole or not at all, and its reads come from one snapshot.
 * Checks are made in this order: the named resources must exist (NotFoundError, naming the outermost missing resource), the
 * expected state must match (PreconditionFailedError), then everything else. Lists are ordered by code points of their
 * names. Names and URIs are compared exactly, and the caller has to validate them. Text that is not well-formed Unicode
 * or contains U+0000 is refused in writes (UnstorableTextError) and finds nothing in reads. Any method can fail with
 * StoreUnavailableError.
 */
export interface SchemaStore {
  readonly domains: Domains;
  readonly models: Models;
  readonly examples: Examples;
  readonly contexts: Contexts;
  readonly references: References;

  /** Returns the text with this SHA-256 (hex), as long as anything in the store refers to it. */
  content(sha256: string): Promise<string | undefined>;

  /** Returns a text that changes with every write, by any process; it may also change without a write. */
  revision(): Promise<string>;

  /** Returns false if the store is closed, cannot be read, or could not be written within the last few seconds. */
  isReady(): Promise<boolean>;

  /** Resolves when everything is on disk; may be called again. */
  close(): Promise<void>;
}
