import { createHash } from 'node:crypto';
import {
  cancelled,
  isToCancel,
  newJobMembers,
  placeOf,
  waitingFor,
  withoutPace,
  withoutWait,
} from '../jobs/job-record.js';
import { LiveJob } from '../jobs/live-job.js';
import type { NewJob } from '../jobs/purge-kinds.js';
import type { AskedRate } from '../purge/index.js';
import type { ScanRecord, OrphanedJob, UnfinishedJob } from '../store/index.js';
import type { JsonValue } from '../shared/json/json.js';
import { writeJson } from '../shared/json/lossless-json.js';

/** A scan as its caller asks for it. */
export interface NewScan extends NewJob, AskedRate {
  readonly query: string;
  /** Where models are looked for. */
  readonly domain?: string | undefined;
  /** `D/M` or `D/M@3`: the model of all entities. */
  readonly model?: string | undefined;
  /** A schema that is stored nowhere; with a model, the one that it would get. */
  readonly schema?: JsonValue | undefined;
  /** The most entities that are judged. */
  readonly sample?: number | undefined;
}

/** A job of the store that is a scan. */
export type OrphanedScan = OrphanedJob & { readonly record: ScanRecord };

const NOTHING_FOUND = {
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

/** The record of a scan that waits. @param worker the name of this process */
export function newScanRecord(asked: NewScan, worker: string, createdAt: string): ScanRecord {
  const { query, headers, domain, model, schema, sample } = asked;
  return {
    ...newJobMembers(asked, query, asked, { state: 'queued', worker, createdAt }),
    target: 'scan',
    ...placeOf(headers),
    ...(domain === undefined ? {} : { domain }),
    ...(model === undefined ? {} : { model }),
    ...(schema === undefined ? {} : { candidate: digestOf(schema) }),
    ...(sample === undefined ? {} : { sample }),
    ...NOTHING_FOUND,
    warnings: [],
  };
}

/** Which scans ask the same: their results can be compared. */
export function subjectOf(record: ScanRecord): string {
  const { query, tenant, fiware, link, domain, model, candidate, sample } = record;
  return JSON.stringify([query, tenant, fiware, link, domain, model, candidate, sample]);
}

/**
 * The record of a scan that a process begins. One that another left is counted anew from its beginning: then nothing is
 * missing, and nothing is counted twice.
 */
export function begun(record: ScanRecord, worker: string, startedAt: string): ScanRecord {
  const wasLeft = record.startedAt !== undefined && record.state !== 'queued';
  const why =
    record.worker === worker
      ? 'The gateway was restarted'
      : `The gateway ${record.worker} stopped responding`;
  const warnings = wasLeft ? [...record.warnings, `${why}: the scan began anew.`] : record.warnings;
  return {
    ...withoutWait(withoutPace(record)),
    ...NOTHING_FOUND,
    state: 'running',
    worker,
    startedAt: record.startedAt ?? startedAt,
    warnings,
  };
}

/** What a scan becomes that no process works on and that is for another broker. @param now as in records */
export function requeuedScan(left: OrphanedScan, now: string): UnfinishedJob {
  const { record, job, broker } = left;
  if (isToCancel(left)) return { record: cancelled(record, now), job };
  return { record: waitingFor({ ...withoutWait(record), ...NOTHING_FOUND }, broker), job };
}

/** A scan that this process runs. */
export class LiveScan extends LiveJob<ScanRecord> {
  override get hasBegun(): boolean {
    return this.record.checked + this.record.notJudged > 0;
  }

  /** Changes what it has found until now. */
  found(members: Partial<ScanRecord>): void {
    const record = { ...this.record, ...members };
    const { checked, notJudged, expected, sample = Infinity } = record;
    const left = expected === undefined ? undefined : Math.min(expected, sample);
    this.set({ ...members, ...this.paceAt(checked + notJudged, left) });
  }
}

/** What a record says of a schema that is stored nowhere. */
function digestOf(schema: JsonValue): string {
  return createHash('sha256').update(writeJson(schema)).digest('hex');
}
