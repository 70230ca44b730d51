import { isStorable } from './errors.js';
import type {
  HeldPurge,
  RequeueOptions,
  PurgeClaim,
  PurgeFilter,
  PurgeHolder,
  PurgeJob,
  PurgeQueue,
  PurgeRecord,
  Purges,
  ControlRequest,
  StrandedPurge,
  TakenPurge,
  TakeOptions,
  UnfinishedPurge,
  ControlResult,
} from './purge-records.js';
import {
  addWaiting,
  ask,
  countWaiting,
  forget,
  requeue,
  release,
  releaseOthers,
  renewAll,
  takeNext,
} from './sql-purge-queue.js';
import { putRow, recordOf, rowOf } from './sql-purge-rows.js';
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
  readonly dryRun: 0 | 1 | null;
}

/** Null takes all. The tenant `''` is the default tenant. PostgreSQL learns the type of a parameter from its first use. */
const MATCHES = `
  (state = @state OR @state IS NULL) AND (tenant = @tenant OR @tenant IS NULL) AND
  (caller = @caller OR @caller IS NULL) AND (retention_policy = @retentionPolicy OR @retentionPolicy IS NULL) AND
  (dry_run = @dryRun OR @dryRun IS NULL)`;

const GET = statement<{ id: string }, Pick<PurgeRow, 'record'>>('SELECT record FROM purge WHERE id = @id');
const ENDED = statement<{ id: string }, Pick<PurgeRow, 'record'>>(
  'SELECT record FROM purge WHERE id = @id AND ended_at IS NOT NULL',
);
const AMEND = statement<{ id: string; record: string }>('UPDATE purge SET record = @record WHERE id = @id');
const LIST = statement<FilterParameters & { limit: number; offset: number }, Pick<PurgeRow, 'record'>>(
  `SELECT record FROM purge WHERE ${MATCHES} ORDER BY number DESC LIMIT @limit OFFSET @offset`,
);
const COUNT = statement<FilterParameters, { readonly total: number }>(
  `SELECT count(*) AS total FROM purge WHERE ${MATCHES}`,
);
const COMPLETED_RUNS = statement<{ policy: string; limit: number }, Pick<PurgeRow, 'record'>>(`
  SELECT record FROM purge WHERE retention_policy = @policy AND state IN ('succeeded', 'partial')
  ORDER BY held_back, number DESC LIMIT @limit`);
const UNFINISHED = statement<object, PurgeRow>(
  'SELECT record, job FROM purge WHERE ended_at IS NULL ORDER BY number',
);
const PRUNE_OLD = statement<{ endedBefore: number }>('DELETE FROM purge WHERE ended_at < @endedBefore');
const PRUNE_REFUSED = statement<{ keep: number }>(`
  DELETE FROM purge WHERE state = 'refused' AND number <=
    (SELECT number FROM purge WHERE state = 'refused' ORDER BY number DESC LIMIT 1 OFFSET @keep)`);

export class SqlPurges implements Purges, PurgeQueue {
  readonly #session: SqlSession;

  constructor(session: SqlSession) {
    this.#session = session;
  }

  async put(record: PurgeRecord, job?: PurgeJob, claim: PurgeClaim = { lease: 0 }): Promise<void> {
    const row = rowOf(record, job, claim);
    await this.#session.change(() => putRow(row));
  }

  async add(record: PurgeRecord, job: PurgeJob, max: number, broker?: string): Promise<boolean> {
    const row = rowOf(record, job, { lease: 0 }, broker);
    return this.#session.change(() => addWaiting(row, max));
  }

  waiting(): Promise<number> {
    return this.#session.get(countWaiting);
  }

  take(options: TakeOptions): Promise<TakenPurge | undefined> {
    return this.#session.change(() => takeNext(options));
  }

  requeue(
    options: RequeueOptions,
    requeued: (left: StrandedPurge) => UnfinishedPurge,
  ): Promise<readonly Pick<StrandedPurge, 'record' | 'broker'>[]> {
    return this.#session.change(() => requeue(options, requeued));
  }

  renew(holder: PurgeHolder): Promise<readonly HeldPurge[]> {
    return this.#session.change(() => renewAll(holder));
  }

  release(held: Pick<HeldPurge, 'id' | 'lease'>): Promise<void> {
    return this.#session.change(() => release(held));
  }

  releaseOthers(holder: string): Promise<void> {
    return this.#session.change(() => releaseOthers(holder));
  }

  async ask(
    id: string,
    request: ControlRequest,
    granted: (record: PurgeRecord, isHeld: boolean) => PurgeRecord,
  ): Promise<ControlResult | undefined> {
    return isStorable(id) ? this.#session.change(() => ask(id, request, granted)) : undefined;
  }

  forget(held: HeldPurge): Promise<void> {
    return this.#session.change(() => forget(held));
  }

  async get(id: string): Promise<PurgeRecord | undefined> {
    const row = isStorable(id) ? await this.#session.get(() => first(GET, { id })) : undefined;
    return row === undefined ? undefined : recordOf(row);
  }

  async amend(id: string, change: (record: PurgeRecord) => PurgeRecord): Promise<PurgeRecord | undefined> {
    return isStorable(id) ? this.#session.change(() => amend(id, change)) : undefined;
  }

  async list({ limit, offset, ...filter }: PurgeFilter) {
    const texts = {
      state: filter.state ?? null,
      tenant: filter.tenant ?? null,
      caller: filter.caller ?? null,
      retentionPolicy: filter.retentionPolicy ?? null,
    };
    if (!Object.values(texts).every((value) => value === null || isStorable(value)))
      return { items: [], total: 0 };
    const dryRun = filter.dryRun === undefined ? null : filter.dryRun ? 1 : 0;
    const parameters: FilterParameters = { ...texts, dryRun };
    return this.#session.read(function* () {
      const items = (yield* all(LIST, { ...parameters, limit, offset })).map(recordOf);
      return { items, total: (yield* first(COUNT, parameters))?.total ?? 0 };
    });
  }

  async completedRuns(policy: string, limit: number): Promise<readonly PurgeRecord[]> {
    return (await this.#session.get(() => all(COMPLETED_RUNS, { policy, limit }))).map(recordOf);
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

function* amend(id: string, change: (record: PurgeRecord) => PurgeRecord): Work<PurgeRecord | undefined> {
  const row = yield* first(ENDED, { id });
  if (row === undefined) return undefined;
  const record = change(recordOf(row));
  yield* run(AMEND, { id, record: JSON.stringify(record) });
  return record;
}

function* prune(endedBefore: number, keep: number): Work<number> {
  return (yield* run(PRUNE_OLD, { endedBefore })) + (yield* run(PRUNE_REFUSED, { keep }));
}
