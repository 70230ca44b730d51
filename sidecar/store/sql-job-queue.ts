import { randomInt } from 'node:crypto';
import type {
  HeldJob,
  RequeueOptions,
  JobHolder,
  JobResumeData,
  JobRecord,
  ControlRequest,
  OrphanedJob,
  TakenJob,
  TakeOptions,
  UnfinishedJob,
  ControlResult,
} from './job-records.js';
import { RestoreUnderWayError } from './errors.js';
import { putRow, recordOf, rowOf, type RecordRow } from './sql-job-rows.js';
import { all, first, isStorable, run, type SqlSession, statement, type SqlRoutine } from './sql-routines.js';

interface Wanted {
  readonly takesJobs: 0 | 1;
  readonly takesDryRuns: 0 | 1;
  readonly takesScans: 0 | 1;
  readonly takesLapsed: 0 | 1;
  readonly broker: string | null;
}

interface HeldRow {
  readonly id: string;
  readonly lease: number;
  readonly request: string | null;
}

/** Holds the lock of the only row until the transaction ends, so that jobs are added, taken and asked one at a time. */
const NEXT_LEASE = statement<{ step: number }, { readonly number: number }>(
  'UPDATE job_lease SET number = number + @step RETURNING number',
);

/**
 * Returns a number that no lease has had. The step is random, because a failover or a restored backup may turn the
 * counter back: the forgotten holder of a lease must not have the number of the next one, under which records are
 * written and segments of archives are named.
 */
function* nextLease(): SqlRoutine<number> {
  return (yield* first(NEXT_LEASE, { step: randomInt(1, MAX_STEP) }))?.number ?? 0;
}

/** The names of segments have fifteen digits for a lease: enough for ten leases a second for sixty years. */
const MAX_STEP = 100_000;
const IS_FREE = '(held_until IS NULL OR (@takesLapsed = 1 AND held_until < now_ms()))';
const NEXT = statement<Wanted, { readonly id: string }>(`
  SELECT id FROM job
  WHERE ended_at IS NULL AND ${IS_FREE} AND (broker IS NULL OR broker = @broker OR @broker IS NULL) AND
    (job IS NULL OR (kind = 'scan' AND @takesScans = 1) OR
      (kind <> 'scan' AND ((dry_run = 0 AND @takesJobs = 1) OR (dry_run = 1 AND @takesDryRuns = 1))))
  ORDER BY (SELECT coalesce(max(served.lease), 0) FROM job AS served WHERE served.tenant = job.tenant), number
  LIMIT 1`);
/** Checks the lease again: the holder may have renewed it since the row was read. */
const HOLD = statement<
  JobHolder & { id: string; number: number; takesLapsed: 0 | 1 },
  Omit<HeldRow, 'id'> & RecordRow & { readonly job: string | null }
>(`
  UPDATE job SET holder = @holder, held_until = now_ms() + @leaseMs,
    lease = CASE WHEN job IS NULL THEN lease ELSE @number END
  WHERE id = @id AND ended_at IS NULL AND ${IS_FREE}
  RETURNING record, details, job, lease, request`);
/** A job that was taken but not begun, by a holder that is gone, is still shown as waiting. */
const ORPHANED = statement<
  { broker: string; takesLapsed: 0 | 1; takesWaiting: 0 | 1 },
  { readonly id: string }
>(`
  SELECT id FROM job
  WHERE ended_at IS NULL AND job IS NOT NULL AND broker <> @broker AND
    ((state <> 'queued' AND ${IS_FREE}) OR (state = 'queued' AND held_until IS NULL AND @takesWaiting = 1))
  ORDER BY number`);
const REQUEUE = statement<
  { id: string; number: number; takesLapsed: 0 | 1 },
  RecordRow & { readonly job: string; readonly broker: string; readonly request: string | null }
>(`
  UPDATE job SET holder = NULL, held_until = NULL, lease = @number
  WHERE id = @id AND ended_at IS NULL AND ${IS_FREE}
  RETURNING record, details, job, broker, request`);
const RENEW = statement<JobHolder, HeldRow>(`
  UPDATE job SET held_until = now_ms() + @leaseMs WHERE holder = @holder AND ended_at IS NULL
  RETURNING id, lease, request`);
const RELEASE = statement<{ id: string; lease: number }>(
  'UPDATE job SET holder = NULL, held_until = NULL WHERE id = @id AND lease = @lease AND ended_at IS NULL',
);
const RELEASE_OTHERS = statement<{ holder: string }>(`
  UPDATE job SET holder = NULL, held_until = NULL
  WHERE ended_at IS NULL AND held_until IS NOT NULL AND holder IS DISTINCT FROM @holder`);
const RESTORES = statement<object, RecordRow>(
  "SELECT record, details FROM job WHERE kind = 'restore' AND dry_run = 0 AND ended_at IS NULL",
);
const WAITING = statement<object, { readonly count: number }>(
  'SELECT count(*) AS count FROM job WHERE ended_at IS NULL AND held_until IS NULL AND job IS NOT NULL',
);
const FIND_FOR_REQUEST = statement<
  { id: string },
  Omit<HeldRow, 'id'> &
    RecordRow & {
      readonly endedAt: number | null;
      readonly heldUntil: number | null;
    }
>(`
  SELECT record, details, lease, request, ended_at AS "endedAt", held_until AS "heldUntil" FROM job WHERE id = @id`);
const SET_REQUEST = statement<{ id: string; request: string }>(
  'UPDATE job SET request = @request WHERE id = @id AND ended_at IS NULL',
);
const CLEAR_REQUEST = statement<{ id: string; lease: number; request: string }>(
  'UPDATE job SET request = NULL WHERE id = @id AND lease = @lease AND request = @request',
);

/** The jobs as a queue: the row of a record is also its place in the queue, and names the process that holds it. */
export class SqlJobQueue {
  constructor(protected readonly session: SqlSession) {}

  /**
   * Adds a job, which then waits to be taken.
   *
   * @param max the maximum number of waiting jobs, including this one
   * @param broker the broker that the job is meant for; processes of other brokers leave it alone
   * @returns false if the maximum is already reached
   * @throws RunUnderWayError, RestoreUnderWayError
   */
  async add(record: JobRecord, job: JobResumeData, max: number, broker?: string): Promise<boolean> {
    const row = rowOf(record, job, { lease: 0 }, broker);
    return this.session.change(function* () {
      yield* nextLease();
      yield* requireOnlyRestore(record);
      if ((yield* countWaiting()) >= max) return false;
      yield* putRow(row);
      return true;
    });
  }

  waiting(): Promise<number> {
    return this.session.get(countWaiting);
  }

  /**
   * Takes the next job to run: the oldest of the tenant that was served longest ago. This may also be a purge whose
   * caller waited at a process that is gone. Leases are measured by the clock of the database.
   */
  take(options: TakeOptions): Promise<TakenJob | undefined> {
    return this.session.change(() => takeNext(options));
  }

  /**
   * Returns jobs of other brokers to the queue if no process runs them. After that, no process holds them, and later
   * writes by their last holder are refused.
   *
   * @param requeued makes the new state of such a job, e.g. a waiting one; must not have side effects
   * @returns the new records, oldest first, and their brokers
   */
  requeue(
    options: RequeueOptions,
    requeued: (left: OrphanedJob) => UnfinishedJob,
  ): Promise<readonly Requeued[]> {
    return this.session.change(() => requeueOrphaned(options, requeued));
  }

  /** Renews the leases of all purges that a process holds. @returns those purges; a missing one was taken by another process */
  renew(holder: JobHolder): Promise<readonly HeldJob[]> {
    return this.session.change(function* () {
      const rows = yield* all(RENEW, holder);
      return rows.map((row) => ({ id: row.id, lease: row.lease, request: requestOf(row) }));
    });
  }

  /** Releases a purge unchanged, so that it can be taken at once. */
  async release({ id, lease }: Pick<HeldJob, 'id' | 'lease'>): Promise<void> {
    await this.session.change(() => run(RELEASE, { id, lease }));
  }

  /** Releases everything that other holders have; used if no other process can exist. */
  async releaseOthers(holder: string): Promise<void> {
    await this.session.change(() => run(RELEASE_OTHERS, { holder }));
  }

  /**
   * Requests a change of a purge.
   *
   * @param granted makes the record with the request granted: stored if no process holds the purge, otherwise only
   * returned. Must not have side effects
   * @returns undefined if the purge does not exist
   */
  async request(
    id: string,
    request: ControlRequest,
    granted: (record: JobRecord, isHeld: boolean) => JobRecord,
  ): Promise<ControlResult | undefined> {
    return isStorable(id) ? this.session.change(() => requestFromHolder(id, request, granted)) : undefined;
  }

  /** Removes a request that was granted, unless it has changed in the meantime. */
  async clearRequest({ id, lease, request }: HeldJob): Promise<void> {
    await this.session.change(() => run(CLEAR_REQUEST, { id, lease, request: JSON.stringify(request) }));
  }
}

/** A job of another broker that was put back into the queue. */
type Requeued = Pick<OrphanedJob, 'record' | 'broker'>;

/** Refuses a second restore of the same archive: both would find that an instance is missing, and both would create it. */
function* requireOnlyRestore({ target, ...asked }: JobRecord): SqlRoutine<void> {
  if (target !== 'restore' || !('restoreOf' in asked) || asked.dryRun) return;
  const { restoreOf = '' } = asked;
  for (const row of yield* all(RESTORES, {})) {
    const other = recordOf(row);
    if ('restoreOf' in other && other.restoreOf === restoreOf)
      throw new RestoreUnderWayError(restoreOf, other.id);
  }
}

function* countWaiting(): SqlRoutine<number> {
  return (yield* first(WAITING, {}))?.count ?? 0;
}

function* takeNext({ holder, leaseMs, ...options }: TakeOptions): SqlRoutine<TakenJob | undefined> {
  const wanted: Wanted = {
    takesJobs: options.takesJobs ? 1 : 0,
    takesDryRuns: options.takesDryRuns ? 1 : 0,
    takesScans: options.takesScans ? 1 : 0,
    takesLapsed: options.takesLapsed ? 1 : 0,
    broker: options.broker ?? null,
  };
  // A process that finds nothing does not make others wait.
  if ((yield* first(NEXT, wanted)) === undefined) return undefined;
  const number = yield* nextLease();
  const next = yield* first(NEXT, wanted);
  if (next === undefined) return undefined;
  const { takesLapsed } = wanted;
  const row = yield* first(HOLD, { id: next.id, number, holder, leaseMs, takesLapsed });
  if (row === undefined) return undefined;
  return {
    record: recordOf(row),
    job: row.job === null ? undefined : (JSON.parse(row.job) as JobResumeData),
    lease: row.lease,
    request: requestOf(row),
  };
}

function* requeueOrphaned(
  { broker, ...options }: RequeueOptions,
  requeued: (left: OrphanedJob) => UnfinishedJob,
): SqlRoutine<readonly Requeued[]> {
  const takesLapsed = options.takesLapsed ? 1 : 0;
  const wanted = { broker, takesLapsed, takesWaiting: options.takesWaiting ? 1 : 0 } as const;
  if ((yield* all(ORPHANED, wanted)).length === 0) return [];
  const number = yield* nextLease();
  const changed: Requeued[] = [];
  for (const { id } of yield* all(ORPHANED, wanted)) {
    const row = yield* first(REQUEUE, { id, number, takesLapsed });
    if (row === undefined) continue;
    const job = JSON.parse(row.job) as JobResumeData;
    const left = { record: recordOf(row), job, broker: row.broker, request: requestOf(row) };
    const next = requeued(left);
    yield* putRow(rowOf(next.record, next.job, { lease: number }));
    changed.push({ record: next.record, broker: row.broker });
  }
  return changed;
}

function* requestFromHolder(
  id: string,
  request: ControlRequest,
  granted: (record: JobRecord, isHeld: boolean) => JobRecord,
): SqlRoutine<ControlResult | undefined> {
  yield* nextLease();
  const row = yield* first(FIND_FOR_REQUEST, { id });
  if (row === undefined) return undefined;
  const record = recordOf(row);
  if (row.endedAt !== null) return { record, outcome: 'over' };
  if (row.heldUntil === null) {
    const changed = granted(record, false);
    yield* putRow(rowOf(changed, undefined, { lease: row.lease }));
    return { record: changed, outcome: 'done' };
  }
  yield* run(SET_REQUEST, { id, request: JSON.stringify({ ...requestOf(row), ...request }) });
  return { record: granted(record, true), outcome: 'asked' };
}

function requestOf({ request }: Pick<HeldRow, 'request'>): ControlRequest | undefined {
  return request === null ? undefined : (JSON.parse(request) as ControlRequest);
}
