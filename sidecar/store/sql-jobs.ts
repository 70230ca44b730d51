import { defined } from '../shared/defined.js';
import type {
  JobClaim,
  JobFilter,
  JobKindName,
  JobResumeData,
  JobRecord,
  PurgeRecord,
  UnfinishedJob,
} from './job-records.js';
import { SqlJobQueue } from './sql-job-queue.js';
import { putRow, recordOf, rowOf, type RecordRow } from './sql-job-rows.js';
import { all, first, isStorable, run, statement, type SqlRoutine, type Statement } from './sql-routines.js';

const LINE_END = '\n';

/**
 * The condition that each filter of a list adds. Times are in milliseconds; `@text` is a LIKE pattern in lower case, `@type` a type
 * between commas, and `@tenants` has names between line ends, which no name contains; `''` is the default tenant.
 */
const CONDITIONS = {
  kind: "(kind = @kind OR (kind = 'restore' AND @kind = 'purge'))",
  state: 'state = @state',
  tenants: `replace(@tenants, '${LINE_END}' || tenant || '${LINE_END}', '') <> @tenants`,
  caller: 'caller = @caller',
  retentionPolicy: 'retention_policy = @retentionPolicy',
  dryRun: 'dry_run = @dryRun',
  since: 'created_at >= @since',
  until: 'created_at < @until',
  text: "query_text LIKE @text ESCAPE '!'",
  type: "replace(types, @type, '') <> types",
};

const GET = statement<{ id: string }, RecordRow>('SELECT record, details FROM job WHERE id = @id');
const ENDED = statement<{ id: string }, RecordRow>(
  'SELECT record, details FROM job WHERE id = @id AND ended_at IS NOT NULL',
);
const AMEND = statement<{ id: string; record: string }>('UPDATE job SET record = @record WHERE id = @id');
const COMPLETED_RUNS = statement<{ policy: string; limit: number }, Pick<RecordRow, 'record'>>(`
  SELECT record FROM job WHERE retention_policy = @policy AND state IN ('succeeded', 'partial')
  ORDER BY held_back, number DESC LIMIT @limit`);
const LAST_RUN = statement<{ policy: string }, Pick<RecordRow, 'record'>>(
  'SELECT record FROM job WHERE retention_policy = @policy ORDER BY number DESC LIMIT 1',
);
const UNFINISHED = statement<object, RecordRow & { readonly job: string | null }>(
  'SELECT record, details, job FROM job WHERE ended_at IS NULL ORDER BY number',
);
const PRUNE_OLD = statement<{ endedBefore: number; most: number }>(`
  DELETE FROM job WHERE number IN (SELECT number FROM job WHERE ended_at < @endedBefore LIMIT @most)`);
const PRUNE_REFUSED = statement<{ kind: JobKindName; keep: number; most: number }>(`
  DELETE FROM job WHERE number IN
    (SELECT number FROM job WHERE state = 'refused' AND kind = @kind ORDER BY number DESC LIMIT @most OFFSET @keep)`);

/**
 * Maximum length of the records in a list, and how many rows are read at a time. With ids of thousands of characters, a record has
 * hundreds of kilobytes.
 */
const MAX_LIST_CHARS = 8_000_000;
const ROWS_AT_A_TIME = 100;

/** Maximum number of records that are removed at a time: SQLite blocks everything else meanwhile, and PostgreSQL limits statements. */
const REMOVED_AT_A_TIME = 200;

interface ListStatements {
  readonly page: Statement<object, Pick<RecordRow, 'record'>>;
  readonly count: Statement<object, { readonly total: number }>;
}

/** The records of all jobs, and their queue. */
export class SqlJobs extends SqlJobQueue {
  readonly #listStatements = new Map<string, ListStatements>();

  /**
   * Adds a record, or replaces the one with the same id. A job in the state `queued` is no longer held.
   *
   * @param job unchanged if not given
   * @param claim of a purge that was taken; by default, that of one that is not held
   * @throws RunUnderWayError for a run of a retention policy that already has an unfinished run
   * @throws LeaseLostError if another process has taken the purge in the meantime, or has ended it and this is not an
   * end
   */
  async put(record: JobRecord, job?: JobResumeData, claim: JobClaim = { lease: 0 }): Promise<void> {
    const row = rowOf(record, job, claim);
    await this.session.change(() => putRow(row));
  }

  async get(id: string): Promise<JobRecord | undefined> {
    const row = isStorable(id) ? await this.session.get(() => first(GET, { id })) : undefined;
    return row === undefined ? undefined : recordOf(row);
  }

  /**
   * Changes the record of a purge that has ended.
   *
   * @param change must not have side effects
   * @returns undefined if there is no such ended purge
   */
  async amend(id: string, change: (record: PurgeRecord) => PurgeRecord): Promise<PurgeRecord | undefined> {
    return isStorable(id) ? this.session.change(() => amend(id, change)) : undefined;
  }

  /**
   * Lists jobs, newest first; scans without their findings. Fewer than `limit` if their records are very long, as with ids of
   * thousands of characters, but at least one.
   */
  async list({
    limit,
    offset,
    ...filter
  }: JobFilter): Promise<{ readonly items: readonly JobRecord[]; readonly total: number }> {
    const parameters = filterParameters(filter);
    if (!Object.values(parameters).every((value) => typeof value !== 'string' || isStorable(value)))
      return { items: [], total: 0 };
    const { page, count } = this.#statementsFor(parameters);
    return this.session.read(function* () {
      const items: JobRecord[] = [];
      for (let left = MAX_LIST_CHARS; items.length < limit && left > 0;) {
        const part = { limit: Math.min(ROWS_AT_A_TIME, limit - items.length), offset: offset + items.length };
        const rows = yield* all(page, { ...parameters, ...part });
        for (const row of rows) {
          left -= row.record.length;
          if (left > 0 || items.length === 0) items.push(recordOf(row));
        }
        if (rows.length < part.limit) break;
      }
      return { items, total: (yield* first(count, parameters))?.total ?? 0 };
    });
  }

  /** Returns the statements of lists with these filters; each is made once, because sessions keep statements prepared. */
  #statementsFor(filters: object): ListStatements {
    const conditions = Object.entries(CONDITIONS).filter(([name]) => Object.hasOwn(filters, name));
    const where = ['1 = 1', ...conditions.map(([, condition]) => condition)].join(' AND ');
    let found = this.#listStatements.get(where);
    if (found === undefined) {
      found = {
        page: statement(`
          SELECT record FROM job WHERE number IN
            (SELECT number FROM job WHERE ${where} ORDER BY created_at DESC, number DESC LIMIT @limit OFFSET @offset)
          ORDER BY created_at DESC, number DESC`),
        count: statement(`SELECT count(*) AS total FROM job WHERE ${where}`),
      };
      this.#listStatements.set(where, found);
    }
    return found;
  }

  /**
   * Returns the newest runs of a retention policy that succeeded, fully or partly; runs that were held back come last.
   */
  async completedRuns(policy: string, limit: number): Promise<readonly PurgeRecord[]> {
    const rows = await this.session.get(() => all(COMPLETED_RUNS, { policy, limit }));
    return rows.map((row) => recordOf(row) as PurgeRecord);
  }

  /** Returns the newest run of each of these retention policies, by policy name; policies without a run are left out. */
  lastRuns(policies: readonly string[]): Promise<ReadonlyMap<string, PurgeRecord>> {
    return this.session.read(function* () {
      const runs = new Map<string, PurgeRecord>();
      for (const policy of policies) {
        const row = yield* first(LAST_RUN, { policy });
        if (row !== undefined) runs.set(policy, recordOf(row) as PurgeRecord);
      }
      return runs;
    });
  }

  /** Returns all jobs that have not ended, oldest first. */
  async unfinished(): Promise<readonly UnfinishedJob[]> {
    const rows = await this.session.get(() => all(UNFINISHED, {}));
    return rows.map((row) => ({
      record: recordOf(row),
      job: row.job === null ? undefined : (JSON.parse(row.job) as JobResumeData),
    }));
  }

  /**
   * Removes records that ended before a time, in milliseconds, and the oldest refused ones of each kind beyond a
   * maximum.
   *
   * @returns the number of removed records
   */
  async prune(endedBeforeMs: number, maxRefused: number): Promise<number> {
    const most = REMOVED_AT_A_TIME;
    const steps = [
      () => run(PRUNE_OLD, { endedBefore: endedBeforeMs, most }),
      () => run(PRUNE_REFUSED, { kind: 'purge', keep: maxRefused, most }),
      () => run(PRUNE_REFUSED, { kind: 'scan', keep: maxRefused, most }),
    ];
    let removed = 0;
    for (const step of steps)
      for (let last = most; last > 0; removed += last) last = await this.session.change(step);
    return removed;
  }
}

/** What can be done with jobs, by the store or by a substitute for it. */
export type Jobs = Pick<SqlJobs, keyof SqlJobs>;

/** Returns the parameters of the filters that are set. */
function filterParameters({
  tenant,
  tenants,
  text,
  type,
  dryRun,
  ...others
}: Omit<JobFilter, 'limit' | 'offset'>): Partial<Record<keyof typeof CONDITIONS, string | number>> {
  const allowed =
    tenant === undefined ? tenants && [...tenants] : tenants?.has(tenant) === false ? [] : [tenant];
  return defined({
    ...others,
    tenants: allowed && ['', ...allowed, ''].join(LINE_END),
    dryRun: dryRun === undefined ? undefined : Number(dryRun),
    text: text === undefined ? undefined : `%${text.toLowerCase().replaceAll(/[!%_]/g, '!$&')}%`,
    type: type === undefined ? undefined : `,${type},`,
  });
}

function* amend(
  id: string,
  change: (record: PurgeRecord) => PurgeRecord,
): SqlRoutine<PurgeRecord | undefined> {
  const row = yield* first(ENDED, { id });
  if (row === undefined) return undefined;
  const record = change(recordOf(row) as PurgeRecord);
  yield* run(AMEND, { id, record: JSON.stringify(record) });
  return record;
}
