import type { Statement } from 'better-sqlite3';
import { RunUnderWayError } from './errors.js';
import {
  isFinal,
  type PurgeFilter,
  type PurgeJob,
  type PurgeRecord,
  type Purges,
  type UnfinishedPurge,
} from './purge-records.js';
import type { SqliteSession } from './sqlite-session.js';

interface PurgeRow {
  readonly record: string;
  readonly job: string | null;
}

interface FilterParameters {
  readonly state: string | null;
  readonly tenant: string | null;
  readonly caller: string | null;
  readonly retentionPolicy: string | null;
}

/** Null takes all. The tenant `''` is the default tenant. */
const MATCHES = `
  (:state IS NULL OR state = :state) AND (:tenant IS NULL OR tenant = :tenant) AND
  (:caller IS NULL OR caller = :caller) AND (:retentionPolicy IS NULL OR retention_policy = :retentionPolicy)`;

export class SqlitePurges implements Purges {
  readonly #session: SqliteSession;
  readonly #put: Statement<[Readonly<Record<string, string | number | null>>]>;
  readonly #get: Statement<[string], Pick<PurgeRow, 'record'>>;
  readonly #list: Statement<[FilterParameters & { limit: number; offset: number }], Pick<PurgeRow, 'record'>>;
  readonly #count: Statement<[FilterParameters], { readonly total: number }>;
  readonly #underWay: Statement<[string, string], { readonly id: string }>;
  readonly #unfinished: Statement<[], PurgeRow>;
  readonly #pruneOld: Statement<[number]>;
  readonly #pruneRefused: Statement<[number]>;

  constructor(session: SqliteSession) {
    this.#session = session;
    this.#put = session.prepare(`
      INSERT INTO purge (id, state, tenant, caller, retention_policy, ended_at, record, job)
      VALUES (:id, :state, :tenant, :caller, :retentionPolicy, :endedAt, :record, :job)
      ON CONFLICT (id) DO UPDATE SET
        state = excluded.state, ended_at = excluded.ended_at, record = excluded.record,
        job = CASE WHEN excluded.ended_at IS NULL THEN coalesce(excluded.job, job) END`);
    this.#get = session.prepare('SELECT record FROM purge WHERE id = ?');
    this.#list = session.prepare(
      `SELECT record FROM purge WHERE ${MATCHES} ORDER BY number DESC LIMIT :limit OFFSET :offset`,
    );
    this.#count = session.prepare(`SELECT count(*) AS total FROM purge WHERE ${MATCHES}`);
    this.#underWay = session.prepare(
      'SELECT id FROM purge WHERE retention_policy = ? AND ended_at IS NULL AND id <> ?',
    );
    this.#unfinished = session.prepare(
      'SELECT record, job FROM purge WHERE ended_at IS NULL ORDER BY number',
    );
    this.#pruneOld = session.prepare('DELETE FROM purge WHERE ended_at < ?');
    this.#pruneRefused = session.prepare(`
      DELETE FROM purge WHERE state = 'refused' AND number <=
        (SELECT number FROM purge WHERE state = 'refused' ORDER BY number DESC LIMIT 1 OFFSET ?)`);
  }

  put(record: PurgeRecord, job?: PurgeJob): Promise<void> {
    const row = {
      id: record.id,
      state: record.state,
      tenant: record.tenant ?? '',
      caller: record.caller,
      retentionPolicy: record.retentionPolicy ?? null,
      endedAt: isFinal(record.state) ? Date.parse(record.endedAt ?? record.createdAt) : null,
      record: JSON.stringify(record),
      job: job === undefined ? null : JSON.stringify(job),
    };
    return this.#session.write(() => {
      const { id, retentionPolicy: policy, endedAt } = row;
      const other = policy === null || endedAt !== null ? undefined : this.#underWay.get(policy, id);
      if (policy !== null && other !== undefined) throw new RunUnderWayError(policy, other.id);
      this.#put.run(row);
    });
  }

  get(id: string): Promise<PurgeRecord | undefined> {
    return this.#session.get(() => {
      const row = this.#get.get(id);
      return row === undefined ? undefined : recordOf(row);
    });
  }

  list({ limit, offset, ...filter }: PurgeFilter) {
    const parameters: FilterParameters = {
      state: filter.state ?? null,
      tenant: filter.tenant ?? null,
      caller: filter.caller ?? null,
      retentionPolicy: filter.retentionPolicy ?? null,
    };
    return this.#session.read(() => ({
      items: this.#list.all({ ...parameters, limit, offset }).map(recordOf),
      total: this.#count.get(parameters)?.total ?? 0,
    }));
  }

  unfinished(): Promise<readonly UnfinishedPurge[]> {
    return this.#session.get(() =>
      this.#unfinished.all().map((row) => ({
        record: recordOf(row),
        job: row.job === null ? undefined : (JSON.parse(row.job) as PurgeJob),
      })),
    );
  }

  prune(endedBeforeMs: number, maxRefused: number): Promise<number> {
    return this.#session.write(
      () => this.#pruneOld.run(endedBeforeMs).changes + this.#pruneRefused.run(maxRefused).changes,
    );
  }
}

function recordOf({ record }: Pick<PurgeRow, 'record'>): PurgeRecord {
  return JSON.parse(record) as PurgeRecord;
}
