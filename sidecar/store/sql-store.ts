import { setImmediate } from 'node:timers/promises';
import type { JobNotice } from './job-records.js';
import { type Contexts, SqlContexts } from './sql-contexts.js';
import { type Domains, SqlDomains } from './sql-domains.js';
import { type Examples, SqlExamples } from './sql-examples.js';
import { type Models, SqlModels } from './sql-models.js';
import { type Jobs, SqlJobs } from './sql-jobs.js';
import { type Plans, SqlPlans } from './sql-plans.js';
import {
  type RetentionPolicies,
  SqlRetention,
  SqlWritePolicies,
  type WritePolicies,
} from './sql-policies.js';
import { type References, SqlReferences } from './sql-references.js';
import { type ScanEntities, SqlScanEntities } from './sql-scan-entities.js';
import { contentText, isStorable, type SqlSession } from './sql-routines.js';

/** The minimum time between two checks whether writes work, in milliseconds. */
const WRITE_CHECK_MS = 5000;

/**
 * A store; this part is the same for both databases.
 *
 * Every method is one transaction: it takes effect as a whole or not at all, and its reads come from one snapshot.
 * Checks are made in this order: the named resources must exist (NotFoundError, naming the outermost missing resource), the
 * expected state must match (PreconditionFailedError), then everything else. Lists are ordered by code points of their
 * names. Names and URIs are compared exactly, and the caller has to validate them. Text that is not well-formed Unicode
 * or contains U+0000 is refused in writes (UnstorableTextError) and finds nothing in reads. Any method can fail with
 * StoreUnavailableError.
 */
export abstract class SqlStore {
  readonly #session: SqlSession;
  #writeCheck: { readonly atMs: number; readonly works: Promise<boolean> } | undefined;
  /** The pending read of the revision, shared by all callers until it starts. */
  #look: Promise<string> | undefined;
  readonly domains: Domains;
  readonly models: Models;
  readonly examples: Examples;
  readonly contexts: Contexts;
  readonly references: References;
  readonly jobs: Jobs;
  readonly scanEntities: ScanEntities;
  readonly retention: RetentionPolicies;
  readonly writePolicies: WritePolicies;
  readonly plans: Plans;

  constructor(session: SqlSession) {
    const domains = new SqlDomains(session);
    this.#session = session;
    this.domains = domains;
    this.models = new SqlModels(session, domains);
    this.examples = new SqlExamples(session);
    this.contexts = new SqlContexts(session);
    this.references = new SqlReferences(session);
    this.jobs = new SqlJobs(session);
    this.scanEntities = new SqlScanEntities(session);
    this.retention = new SqlRetention(session);
    this.writePolicies = new SqlWritePolicies(session);
    this.plans = new SqlPlans(session);
  }

  /** Returns the text with this SHA-256 (hex), as long as anything in the store refers to it. */
  async content(sha256: string): Promise<string | undefined> {
    return isStorable(sha256) ? this.#session.get(() => contentText(sha256)) : undefined;
  }

  /** Returns a text that changes with every write, by any process; it may also change without a write. */
  revision(): Promise<string> {
    // All requests in the same turn of the event loop share one read, which starts after the last of them.
    this.#look ??= setImmediate().then(() => {
      this.#look = undefined;
      return this.#session.revision();
    });
    return this.#look;
  }

  /** Returns false if the store is closed, cannot be read, or could not be written within the last few seconds. */
  async isReady(): Promise<boolean> {
    return (await succeeds(this.content(''))) && (await this.#canWrite());
  }

  /** Reports what other processes do with purges, if the database supports it. */
  abstract listen(onNotice: (notice: JobNotice) => void): void;

  /** Resolves when everything is on disk; may be called again. */
  abstract close(): Promise<void>;

  /** Whether a write worked within the last seconds. Cached, because the check itself writes. */
  #canWrite(): Promise<boolean> {
    const nowMs = this.#session.clock.monotonicMs();
    if (this.#writeCheck === undefined || nowMs - this.#writeCheck.atMs >= WRITE_CHECK_MS)
      this.#writeCheck = { atMs: nowMs, works: succeeds(this.#session.checkWritable()) };
    return this.#writeCheck.works;
  }
}

/** The part of a store with domains, models, contexts and reference documents. */
export type SchemaStore = Pick<
  SqlStore,
  'domains' | 'models' | 'examples' | 'contexts' | 'references' | 'content' | 'revision' | 'isReady' | 'close'
>;

function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}
