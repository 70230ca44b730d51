import { hash } from 'node:crypto';
import {
  cancelled,
  isToCancel,
  newJobMembers,
  waitingFor,
  withoutEstimates,
  withoutWait,
} from '../jobs/job-record.js';
import { LiveJob } from '../jobs/live-job.js';
import type { NewJob } from '../jobs/purge-kinds.js';
import type { RequestedRate } from '../purge/index.js';
import type { ScanRecord, OrphanedJob, UnfinishedJob } from '../store/index.js';
import type { JsonValue } from '../shared/json/json.js';

/** A scan as requested by its caller. */
export interface NewScan extends NewJob, RequestedRate {
  readonly query: string;
  /** The domain in which models are searched. */
  readonly domain?: string | undefined;
  /** The model for all entities: `D/M` or `D/M@3`. */
  readonly model?: string | undefined;
  /** A schema that is not stored. If a model is named, this is the schema proposed for it. */
  readonly schema?: JsonValue | undefined;
  /** Maximum number of entities to judge. */
  readonly sample?: number | undefined;
}

/** An orphaned job that is a scan. */
export type OrphanedScan = OrphanedJob & { readonly record: ScanRecord };

const NO_RESULTS = {
  matched: 0,
  checked: 0,
  valid: 0,
  invalid: 0,
  notJudged: 0,
  requests: 0,
  retries: 0,
  models: [],
  unmodelled: [],
  findings: [],
} as const;

/** The record of a queued scan. @param worker the name of this process */
export function newScanRecord(request: NewScan, worker: string, createdAt: string): ScanRecord {
  const { query, domain, model, schema, sample } = request;
  return {
    ...newJobMembers(request, query, request, { state: 'queued', worker, createdAt }),
    target: 'scan',
    ...(domain === undefined ? {} : { domain }),
    ...(model === undefined ? {} : { model }),
    ...(schema === undefined ? {} : { candidate: digestOf(schema) }),
    ...(sample === undefined ? {} : { sample }),
    ...NO_RESULTS,
    warnings: [],
  };
}

/** Returns a key that is equal for scans with the same parameters, whose results can be compared. */
export function comparisonKey(record: ScanRecord): string {
  const { query, tenant, fiware, link, domain, model, candidate, sample } = record;
  return JSON.stringify([query, tenant, fiware, link, domain, model, candidate, sample]);
}

/**
 * The record of a scan that a process begins. A scan that another process left starts again from the beginning, so that
 * nothing is missing and nothing is counted twice.
 */
export function startedRecord(record: ScanRecord, worker: string, startedAt: string): ScanRecord {
  const wasAbandoned = record.startedAt !== undefined && record.state !== 'queued';
  const why =
    record.worker === worker
      ? 'The gateway was restarted'
      : `The gateway ${record.worker} stopped responding`;
  const warnings = wasAbandoned ? [...record.warnings, `${why}: the scan started again.`] : record.warnings;
  return {
    ...withoutWait(withoutEstimates(record)),
    ...NO_RESULTS,
    state: 'running',
    worker,
    startedAt: record.startedAt ?? startedAt,
    warnings,
  };
}

/** Returns the new state of a scan that is for another broker and that no process runs. @param now as in records */
export function requeuedScan(orphan: OrphanedScan, now: string): UnfinishedJob {
  const { record, job, broker } = orphan;
  if (isToCancel(orphan)) return { record: cancelled(record, now), job };
  return { record: waitingFor({ ...withoutWait(record), ...NO_RESULTS }, broker), job };
}

/** A scan that this process runs. */
export class LiveScan extends LiveJob<ScanRecord> {
  override get hasBegun(): boolean {
    return this.record.checked + this.record.notJudged > 0;
  }

  /** Updates the results so far. */
  updateResults(members: Partial<ScanRecord>): void {
    const record = { ...this.record, ...members };
    const { checked, notJudged, expected, sample = Infinity } = record;
    const left = expected === undefined ? undefined : Math.min(expected, sample);
    this.set({ ...members, ...this.estimateAt(checked + notJudged, left) });
  }
}

/** The digest that identifies an unstored schema in a record. */
function digestOf(schema: JsonValue): string {
  return hash('sha256', JSON.stringify(schema));
}
