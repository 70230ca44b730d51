import { LeaseLostError, requireStorable, RunUnderWayError } from './errors.js';
import { isFinal, type PurgeClaim, type PurgeJob, type PurgeRecord } from './purge-records.js';
import { first, run, statement, type Work } from './sql-work.js';

/** What a record is in the database. */
export interface NewRow {
  readonly id: string;
  readonly state: string;
  readonly tenant: string;
  readonly caller: string;
  readonly retentionPolicy: string | null;
  readonly heldBack: 0 | 1;
  readonly endedAt: number | null;
  readonly record: string;
  readonly job: string | null;
  readonly dryRun: 0 | 1;
  readonly lease: number;
  readonly holder: string | null;
  readonly leaseMs: number | null;
  readonly broker: string | null;
}

/** A purge that waits or has ended is not held. One that has ended gets another end, and nothing else. */
const PUT = statement<NewRow>(`
  INSERT INTO purge
    (id, state, tenant, caller, retention_policy, held_back, ended_at, record, job, dry_run, lease, holder, held_until,
      broker)
  VALUES (@id, @state, @tenant, @caller, @retentionPolicy, @heldBack, @endedAt, @record, @job, @dryRun, @lease, @holder,
    now_ms() + @leaseMs, @broker)
  ON CONFLICT (id) DO UPDATE SET
    state = excluded.state, ended_at = excluded.ended_at, record = excluded.record, dry_run = excluded.dry_run,
    held_back = excluded.held_back,
    job = CASE WHEN excluded.ended_at IS NULL THEN coalesce(excluded.job, purge.job) END,
    holder = CASE WHEN excluded.ended_at IS NULL AND excluded.state <> 'queued' THEN purge.holder END,
    held_until = CASE WHEN excluded.ended_at IS NULL AND excluded.state <> 'queued' THEN purge.held_until END
  WHERE purge.lease = excluded.lease AND (purge.ended_at IS NULL OR excluded.ended_at IS NOT NULL)`);
const UNDER_WAY = statement<{ policy: string; id: string }, { readonly id: string }>(
  'SELECT id FROM purge WHERE retention_policy = @policy AND ended_at IS NULL AND id <> @id',
);

/** @throws UnstorableTextError */
export function rowOf(
  record: PurgeRecord,
  job: PurgeJob | undefined,
  { lease, by }: PurgeClaim,
  broker?: string,
): NewRow {
  const { id, state, tenant, caller, retentionPolicy, heldBack, dryRun } = record;
  requireStorable({ id, tenant, caller, retentionPolicy });
  const isOver = isFinal(state);
  return {
    ...{ id, state, caller, lease },
    tenant: tenant ?? '',
    retentionPolicy: retentionPolicy ?? null,
    heldBack: heldBack === true ? 1 : 0,
    endedAt: isOver ? Date.parse(record.endedAt ?? record.createdAt) : null,
    record: JSON.stringify(record),
    job: job === undefined || isOver ? null : JSON.stringify(job),
    dryRun: dryRun ? 1 : 0,
    holder: by?.holder ?? null,
    leaseMs: by?.leaseMs ?? null,
    broker: broker ?? null,
  };
}

/** See Purges.put. */
export function* putRow(row: NewRow): Work<void> {
  const { id, retentionPolicy: policy, endedAt } = row;
  // Two at the same moment meet in the index of unfinished runs.
  const other = policy === null || endedAt !== null ? undefined : yield* first(UNDER_WAY, { policy, id });
  if (policy !== null && other !== undefined) throw new RunUnderWayError(policy, other.id);
  if ((yield* run(PUT, row)) === 0) throw new LeaseLostError(id);
}

export function recordOf({ record }: { readonly record: string }): PurgeRecord {
  return JSON.parse(record) as PurgeRecord;
}
