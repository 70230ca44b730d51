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
import type { SchemaStore } from './store.js';

/** The minimum time between two checks whether writes work, in milliseconds. */
const WRITE_CHECK_MS = 5000;

/** A store; this part is the same for both databases. */
export abstract class SqlStore implements SchemaStore {
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

  async content(sha256: string): Promise<string | undefined> {
    return isStorable(sha256) ? this.#session.get(() => contentText(sha256)) : undefined;
  }

  revision(): Promise<string> {
    // All requests in the same turn of the event loop share one read, which starts after the last of them.
    this.#look ??= setImmediate().then(() => {
      this.#look = undefined;
      return this.#session.revision();
    });
    return this.#look;
  }

  async isReady(): Promise<boolean> {
    return (await succeeds(this.content(''))) && (await this.#canWrite());
  }

  /** Reports what other processes do with purges, if the database supports it. */
  abstract listen(onNotice: (notice: JobNotice) => void): void;

  abstract close(): Promise<void>;

  /** Whether a write worked within the last seconds. Cached, because the check itself writes. */
  #canWrite(): Promise<boolean> {
    const nowMs = this.#session.clock.monotonicMs();
    if (this.#writeCheck === undefined || nowMs - this.#writeCheck.atMs >= WRITE_CHECK_MS)
      this.#writeCheck = { atMs: nowMs, works: succeeds(this.#session.checkWritable()) };
    return this.#writeCheck.works;
  }
}

function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}
