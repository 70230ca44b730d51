import Database from 'better-sqlite3';
import type { Clock } from '../../shared/clock.js';
import { copyDatabase } from './backup.js';
import type { LockWaits } from './lock-queue.js';
import { DatabaseUnusableError, openDatabase } from './open-database.js';
import { SqliteContents } from './sqlite-rows.js';
import { SqliteContextRows, SqliteContexts } from './sqlite-contexts.js';
import { SqliteDependents } from './sqlite-dependents.js';
import { SqliteDomains } from './sqlite-domains.js';
import { SqliteModelVersions } from './sqlite-model-versions.js';
import { SqliteModels } from './sqlite-models.js';
import type { Purges } from './purge-records.js';
import type { RetentionPolicies } from './retention-records.js';
import { SqlitePurges } from './sqlite-purges.js';
import { SqliteReferences } from './sqlite-references.js';
import { SqliteRetention } from './sqlite-retention.js';
import { SqliteSession } from './sqlite-session.js';
import type { Contexts, Domains, Models, References, SchemaStore } from './store.js';

/** Writes are tried at most this often for the sake of knowing whether they work. */
const WRITE_CHECK_MS = 5000;

/**
 * A store in one SQLite file. Work is done at once, on the event loop: a read takes microseconds, a write a commit. What
 * meets the lock of another process waits for it beside the loop, and fails after some seconds.
 */
export class SqliteStore implements SchemaStore {
  readonly #db: Database.Database;
  readonly #session: SqliteSession;
  readonly #contents: SqliteContents;
  readonly #clock: Clock;
  #writeCheck: { readonly atMs: number; readonly works: Promise<boolean> } | undefined;
  readonly domains: Domains;
  readonly models: Models;
  readonly contexts: Contexts;
  readonly references: References;
  readonly purges: Purges;
  readonly retention: RetentionPolicies;

  /**
   * Opens a store, and creates it where there is none; migrates an older one.
   *
   * @param path of the file, or `:memory:`
   * @throws NotADatabaseError, ForeignDatabaseError, NewerDatabaseError, DatabaseUnusableError
   */
  static async open(path: string, clock: Clock): Promise<SqliteStore> {
    const db = openDatabase(path);
    try {
      return new SqliteStore(db, clock);
    } catch (error) {
      db.close();
      if (!(error instanceof Database.SqliteError)) throw error;
      throw new DatabaseUnusableError(`${path} is incomplete; restore it from a backup.`, {
        cause: error,
      });
    }
  }

  private constructor(db: Database.Database, clock: Clock) {
    const session = new SqliteSession(db, clock);
    const contents = new SqliteContents(session);
    const dependents = new SqliteDependents(session);
    const domains = new SqliteDomains(session, dependents);
    const contexts = new SqliteContextRows(session, contents);
    const references = new SqliteReferences(session, contents, dependents);
    const versions = new SqliteModelVersions(session, contents, contexts, references);
    this.#db = db;
    this.#session = session;
    this.#contents = contents;
    this.#clock = clock;
    this.domains = domains;
    this.models = new SqliteModels(session, { contents, dependents, domains, contexts, versions });
    this.contexts = new SqliteContexts(session, contents, contexts, dependents);
    this.references = references;
    this.purges = new SqlitePurges(session);
    this.retention = new SqliteRetention(session);
  }

  content(sha256: string): Promise<string | undefined> {
    return this.#session.get(() => this.#contents.text(sha256));
  }

  revision(): Promise<string> {
    return this.#session.revision();
  }

  /** See LockWaits. */
  get lockWaits(): LockWaits {
    return this.#session.lockWaits;
  }

  async isReady(): Promise<boolean> {
    const canRead = this.#session.get(() => this.#contents.text('') === undefined);
    return (await canRead.catch(() => false)) && (await this.#canWrite());
  }

  /** Whether a write worked within the last seconds: asking is not for nothing, since it writes. */
  #canWrite(): Promise<boolean> {
    const nowMs = this.#clock.now();
    if (this.#writeCheck === undefined || Math.abs(nowMs - this.#writeCheck.atMs) >= WRITE_CHECK_MS) {
      const works = this.#session.checkWritable().then(
        () => true,
        () => false,
      );
      this.#writeCheck = { atMs: nowMs, works };
    }
    return this.#writeCheck.works;
  }

  /**
   * Copies the store, as it is at one moment, to a file that opens as a store; others may go on writing.
   *
   * @throws BackupError when there is such a file, or it cannot be written
   */
  async backup(target: string): Promise<void> {
    await copyDatabase(this.#db, target);
  }

  async close(): Promise<void> {
    this.#db.close();
  }
}
