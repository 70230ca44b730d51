import { readableQuery } from '../shared/readable-query.js';
import { LeaseLostError, RunUnderWayError } from './errors.js';
import {
  isFinal,
  type JobClaim,
  type JobKindName,
  type JobResumeData,
  type JobRecord,
  storedKindOf,
  type PurgeRecord,
  type ScanRecord,
} from './job-records.js';
import { first, isStorable, requireStorable, run, statement, type SqlRoutine } from './sql-routines.js';

/** The database row of a record. */
export interface NewRow {
  readonly id: string;
  readonly kind: JobKindName | 'restore';
  readonly state: string;
  readonly tenant: string;
  readonly caller: string;
  readonly retentionPolicy: string | null;
  readonly heldBack: 0 | 1;
  readonly endedAt: number | null;
  readonly record: string;
  /** The members of a record that are not needed in lists. */
  readonly details: string | null;
  readonly job: string | null;
  readonly dryRun: 0 | 1;
  readonly lease: number;
  readonly holder: string | null;
  readonly leaseMs: number | null;
  readonly broker: string | null;
  readonly createdAt: number;
  /** The query in readable form, in lower case. */
  readonly queryText: string;
  /** The entity types named in the query, each between commas. */
  readonly types: string;
}

/** The columns from which a record is read. */
export type RecordRow = Pick<NewRow, 'record' | 'details'>;

/**
 * A job that waits or has ended is not held. An ended job can only be replaced by another ended state, and by
 * `interrupted` only if it is that already: a process that took a purge for interrupted does not replace its true end.
 */
const PUT = statement<NewRow>(`
  INSERT INTO job
    (id, kind, state, tenant, caller, retention_policy, held_back, ended_at, record, details, job, dry_run, lease, holder,
      held_until, broker, created_at, query_text, types)
  VALUES (@id, @kind, @state, @tenant, @caller, @retentionPolicy, @heldBack, @endedAt, @record, @details, @job, @dryRun,
    @lease, @holder, now_ms() + @leaseMs, @broker, @createdAt, @queryText, @types)
  ON CONFLICT (id) DO UPDATE SET
    state = excluded.state, ended_at = excluded.ended_at, record = excluded.record, details = excluded.details,
    dry_run = excluded.dry_run,
    held_back = excluded.held_back,
    job = CASE WHEN excluded.ended_at IS NULL THEN coalesce(excluded.job, job.job) END,
    holder = CASE WHEN excluded.ended_at IS NULL AND excluded.state <> 'queued' THEN job.holder END,
    held_until = CASE WHEN excluded.ended_at IS NULL AND excluded.state <> 'queued' THEN job.held_until END
  WHERE job.lease = excluded.lease AND (job.ended_at IS NULL OR
    (excluded.ended_at IS NOT NULL AND (excluded.state <> 'interrupted' OR job.state = 'interrupted')))`);
const UNDER_WAY = statement<{ policy: string; id: string }, { readonly id: string }>(
  'SELECT id FROM job WHERE retention_policy = @policy AND ended_at IS NULL AND id <> @id',
);

/** An index of PostgreSQL has no room for longer texts. The record has the whole name, and lists are filtered by shorter ones. */
const MAX_TENANT_CHARS = 600;

/** @throws UnstorableTextError */
export function rowOf(
  record: JobRecord,
  job: JobResumeData | undefined,
  { lease, by }: JobClaim,
  broker?: string,
): NewRow {
  const { id, state, tenant, caller } = record;
  const { retentionPolicy, heldBack, dryRun } = record.target === 'scan' ? NO_PURGE : record;
  requireStorable({ id, tenant, caller, retentionPolicy });
  const isOver = isFinal(state);
  const { findings, ...shown } = record.target === 'scan' ? record : { ...record, findings: undefined };
  return {
    id,
    kind: storedKindOf(record),
    state,
    caller,
    lease,
    tenant: (tenant ?? '').slice(0, MAX_TENANT_CHARS),
    retentionPolicy: retentionPolicy ?? null,
    heldBack: heldBack === true ? 1 : 0,
    endedAt: isOver ? Date.parse(record.endedAt ?? record.createdAt) : null,
    record: JSON.stringify(shown),
    details: findings === undefined ? null : JSON.stringify({ findings }),
    job: job === undefined || isOver ? null : JSON.stringify(job),
    dryRun: dryRun ? 1 : 0,
    holder: by?.holder ?? null,
    leaseMs: by?.leaseMs ?? null,
    broker: broker ?? null,
    createdAt: Date.parse(record.createdAt),
    // Without characters that one of the databases cannot store.
    queryText: readableQuery(record.query).toLowerCase().toWellFormed().replaceAll('\0', ''),
    types: typesIn(record.query),
  };
}

/** Finds the types in a query; type selectors consist of names and operators (NGSI-LD, clause 4.17). */
function typesIn(query: string): string {
  const names = new URLSearchParams(query).get('type')?.split(/[,|;()]+/) ?? [];
  const types = names.filter((name) => name !== '' && isStorable(name));
  return types.length === 0 ? '' : `,${types.join()},`;
}

const NO_PURGE: Pick<PurgeRecord, 'retentionPolicy' | 'heldBack' | 'dryRun'> = { dryRun: false };

/** Writes a row; see Jobs.put. */
export function* putRow(row: NewRow): SqlRoutine<void> {
  const { id, retentionPolicy: policy, endedAt } = row;
  // The index of unfinished runs refuses the second of two concurrent runs.
  const other = policy === null || endedAt !== null ? undefined : yield* first(UNDER_WAY, { policy, id });
  if (policy !== null && other !== undefined) throw new RunUnderWayError(policy, other.id);
  if ((yield* run(PUT, row)) === 0) throw new LeaseLostError(id);
}

/** Returns the record in a row; without `details`, a scan has no findings. */
export function recordOf({
  record,
  details = null,
}: Pick<RecordRow, 'record'> & Partial<RecordRow>): JobRecord {
  const shown = JSON.parse(record) as JobRecord;
  if (shown.target !== 'scan') return shown;
  const more = details === null ? {} : (JSON.parse(details) as Pick<ScanRecord, 'findings'>);
  return { ...shown, findings: [], ...more };
}
