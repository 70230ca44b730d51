import { isStorable, requireStorable, RunUnderWayError } from './errors.js';
import {
  isFinal,
  type PurgeFilter,
  type PurgeJob,
  type PurgeRecord,
  type Purges,
  type UnfinishedPurge,
} from './purge-records.js';
import { all, first, run, type SqlSession, statement, type Work } from './sql-work.js';

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

interface NewRow {
  readonly id: string;
  readonly state: string;
  readonly tenant: string;
  readonly caller: string;
  readonly retentionPolicy: string | null;
  readonly endedAt: number | null;
  readonly record: string;
  readonly job: string | null;
}

/** Null takes all. The tenant `''` is the default tenant. PostgreSQL learns the type of a parameter from its first use. */
const MATCHES = `
  (state = @state OR @state IS NULL) AND (tenant = @tenant OR @tenant IS NULL) AND
  (caller = @caller OR @caller IS NULL) AND (retention_policy = @retentionPolicy OR @retentionPolicy IS NULL)`;

const PUT = statement<NewRow>(`
  INSERT INTO purge (id, state, tenant, caller, retention_policy, ended_at, record, job)
  VALUES (@id, @state, @tenant, @caller, @retentionPolicy, @endedAt, @record, @job)
  ON CONFLICT (id) DO UPDATE SET
    state = excluded.state, ended_at = excluded.ended_at, record = excluded.record,
    job = CASE WHEN excluded.ended_at IS NULL THEN coalesce(excluded.job, purge.job) END`);
const GET = statement<{ id: string }, Pick<PurgeRow, 'record'>>('SELECT record FROM purge WHERE id = @id');
const LIST = statement<FilterParameters & { limit: number; offset: number }, Pick<PurgeRow, 'record'>>(
  `SELECT record FROM purge WHERE ${MATCHES} ORDER BY number DESC LIMIT @limit OFFSET @offset`,
);
const COUNT = statement<FilterParameters, { readonly total: number }>(
  `SELECT count(*) AS total FROM purge WHERE ${MATCHES}`,
);
const UNDER_WAY = statement<{ policy: string; id: string }, { readonly id: string }>(
  'SELECT id FROM purge WHERE retention_policy = @policy AND ended_at IS NULL AND id <> @id',
);
const UNFINISHED = statement<object, PurgeRow>(
  'SELECT record, job FROM purge WHERE ended_at IS NULL ORDER BY number',
);
const PRUNE_OLD = statement<{ endedBefore: number }>('DELETE FROM purge WHERE ended_at < @endedBefore');
const PRUNE_REFUSED = statement<{ keep: number }>(`
  DELETE FROM purge WHERE state = 'refused' AND number <=
    (SELECT number FROM purge WHERE state = 'refused' ORDER BY number DESC LIMIT 1 OFFSET @keep)`);

export class SqlPurges implements Purges {
  readonly #session: SqlSession;

  constructor(session: SqlSession) {
    this.#session = session;
  }

  async put(record: PurgeRecord, job?: PurgeJob): Promise<void> {
    const row: NewRow = {
      id: record.id,
      state: record.state,
      tenant: record.tenant ?? '',
      caller: record.caller,
      retentionPolicy: record.retentionPolicy ?? null,
      endedAt: isFinal(record.state) ? Date.parse(record.endedAt ?? record.createdAt) : null,
      record: JSON.stringify(record),
      job: job === undefined ? null : JSON.stringify(job),
    };
    const { id, tenant, caller, retentionPolicy } = record;
    requireStorable({ id, tenant, caller, retentionPolicy });
    await this.#session.change(() => put(row));
  }

  async get(id: string): Promise<PurgeRecord | undefined> {
    const row = isStorable(id) ? await this.#session.get(() => first(GET, { id })) : undefined;
    return row === undefined ? undefined : recordOf(row);
  }

  async list({ limit, offset, ...filter }: PurgeFilter) {
    const parameters: FilterParameters = {
      state: filter.state ?? null,
      tenant: filter.tenant ?? null,
      caller: filter.caller ?? null,
      retentionPolicy: filter.retentionPolicy ?? null,
    };
    if (
      !Object.values<string | null>({ ...parameters }).every((value) => value === null || isStorable(value))
    )
      return { items: [], total: 0 };
    return this.#session.read(function* () {
      const items = (yield* all(LIST, { ...parameters, limit, offset })).map(recordOf);
      return { items, total: (yield* first(COUNT, parameters))?.total ?? 0 };
    });
  }

  async unfinished(): Promise<readonly UnfinishedPurge[]> {
    const rows = await this.#session.get(() => all(UNFINISHED, {}));
    return rows.map((row) => ({
      record: recordOf(row),
      job: row.job === null ? undefined : (JSON.parse(row.job) as PurgeJob),
    }));
  }

  prune(endedBeforeMs: number, maxRefused: number): Promise<number> {
    return this.#session.change(() => prune(endedBeforeMs, maxRefused));
  }
}

function* put(row: NewRow): Work<void> {
  const { id, retentionPolicy: policy, endedAt } = row;
  // Two at the same moment meet in the index of unfinished runs.
  const other = policy === null || endedAt !== null ? undefined : yield* first(UNDER_WAY, { policy, id });
  if (policy !== null && other !== undefined) throw new RunUnderWayError(policy, other.id);
  yield* run(PUT, row);
}

function* prune(endedBefore: number, keep: number): Work<number> {
  return (yield* run(PRUNE_OLD, { endedBefore })) + (yield* run(PRUNE_REFUSED, { keep }));
}

function recordOf({ record }: Pick<PurgeRow, 'record'>): PurgeRecord {
  return JSON.parse(record) as PurgeRecord;
}
