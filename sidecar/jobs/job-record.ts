import { randomUUID } from 'node:crypto';
import { type RequestedRate, PurgeError, type RestorePosition } from '../purge/index.js';
import { type JobRecord, type OrphanedJob, type JobResumeData, kindOf } from '../store/index.js';
import { defined } from '../shared/defined.js';
import { parseTraceparent } from '../shared/traceparent.js';
import type { NewJob } from './purge-kinds.js';

/** The initial state of a record. */
export type RecordStart = Pick<JobRecord, 'state' | 'worker' | 'createdAt'>;

/** Returns the members that every new job's record has. @param asked with the headers sent to the broker */
export function newJobMembers(
  asked: NewJob,
  query: string,
  { maxPerSecond = null }: RequestedRate,
  start: RecordStart,
) {
  const { caller, client, requestId, headers, policy } = asked;
  const { traceparent } = headers;
  return {
    id: randomUUID(),
    ...start,
    query,
    caller,
    ...client,
    requestId,
    ...placeOf(headers),
    ...(traceparent !== undefined && parseTraceparent(traceparent) !== undefined ? { traceparent } : {}),
    policy: { ...policy },
    maxPerSecond,
  };
}

/** Returns the members of a record that say where its entities are. If the headers name two tenants, both are kept. */
function placeOf(headers: NewJob['headers']): Pick<JobRecord, 'tenant' | 'link' | 'fiware'> {
  const { 'fiware-service': service, 'fiware-servicepath': servicePath, link } = headers;
  const tenant = headers['ngsild-tenant'] ?? service;
  const fiware = defined({ service, servicePath });
  return { ...defined({ tenant, link }), ...(Object.keys(fiware).length === 0 ? {} : { fiware }) };
}

/** Maximum number of characters kept of a refused job, since any client that may request jobs can have many refused. */
const MAX_REFUSED = { query: 8 * 1024, tenant: 256, link: 4096 } as const;

/** Truncates the members that a client can make long. */
export function shortened<Record extends JobRecord>(record: Record): Record {
  const { query, tenant, link } = record;
  return {
    ...record,
    query: query.slice(0, MAX_REFUSED.query),
    ...defined({
      tenant: tenant?.slice(0, MAX_REFUSED.tenant),
      link: link?.slice(0, MAX_REFUSED.link),
    }),
  };
}

/** Whether cancellation was requested for a job that no process runs. */
export function isToCancel({ record, request }: Pick<OrphanedJob, 'record' | 'request'>): boolean {
  return record.state === 'cancelling' || request?.cancel === true;
}

/** The record of a job that was cancelled before a process began it, or after the last one left it. */
export function cancelled<Record extends JobRecord>(record: Record, now: string): Record {
  return ended({ ...withoutWait(record), state: 'cancelled', endedAt: now });
}

/** The record of a job that waits for a broker other than this process's. */
export function waitingFor<Record extends JobRecord>(record: Record, broker: string): Record {
  return {
    ...withoutEstimates(record),
    state: 'queued',
    waitsFor: broker,
    warnings: [...record.warnings, waitNote(broker)],
  };
}

/** The record of a job that no longer waits for its broker. */
export function withoutWait<Record extends JobRecord>(record: Record): Record {
  const { waitsFor } = record;
  if (waitsFor === undefined) return record;
  const rest: Changing<Record> = { ...record };
  delete rest.waitsFor;
  const note = waitNote(waitsFor);
  return { ...rest, warnings: record.warnings.filter((warning) => warning !== note) };
}

/** @param broker as returned by `brokerName`, without credentials */
function waitNote(broker: string): string {
  const where = broker === 'embedded' ? 'the embedded broker' : `the broker ${broker}`;
  return (
    `It waits for ${where}, where it was started, because BROKER_URL now names another broker. ` +
    'It continues once a gateway uses that broker, or ends when it is cancelled.'
  );
}

/** Removes the members that are only true while a job runs. `expected` stays, to compare it when the job resumes. */
export function withoutEstimates<Record extends JobRecord>(record: Record): Record {
  const rest: Changing<Record> = { ...record };
  delete rest.ratePerSecond;
  delete rest.estimatedEndAt;
  return rest;
}

/**
 * Does the same for a job that has ended. `expected` stays if the job did not finish, since the counts are then only a
 * part of it.
 */
export function ended<Record extends JobRecord>(record: Record): Record {
  const rest: Changing<Record> = withoutEstimates(record);
  if (record.state === 'succeeded' || record.state === 'partial') delete rest.expected;
  return rest;
}

type Changing<Record extends JobRecord> = Record & {
  ratePerSecond?: number;
  estimatedEndAt?: string;
  expected?: number;
  waitsFor?: string;
};

/** A job ends after this many crashes without progress in between. */
const MAX_CRASHES = 3;

/** The gateways that ran a job crashed again and again, perhaps because of the job. */
export class JobCrashesError extends PurgeError {
  readonly kind = 'jobCrashes';

  constructor(record: JobRecord, crashes: number) {
    const noun = kindOf(record);
    super(
      `${String(crashes)} times in a row, the gateway that ran this ${noun} was killed, crashed or lost its database, and the ` +
        `${noun} made no progress. Look for the reason in the logs of the gateways (lack of memory?), and start the ${noun} again.`,
    );
  }
}

/**
 * Counts a crash of the process that ran a job, if there was one: a job that was put back properly is queued.
 *
 * @returns what is needed to continue the job, with the new count; the same object if there was no crash
 */
export function withCrash(record: JobRecord, job: JobResumeData): JobResumeData {
  if (record.state === 'queued') return job;
  const settled = settledBy(record, job);
  const { crashes = { count: 0, settled: 0 } } = job;
  const count = settled > crashes.settled ? 1 : crashes.count + 1;
  return { ...job, crashes: { count, settled } };
}

/** @throws JobCrashesError if a job must not be resumed again */
export function checkCrashes(record: JobRecord, { crashes }: JobResumeData): void {
  if (crashes !== undefined && crashes.count >= MAX_CRASHES) throw new JobCrashesError(record, crashes.count);
}

/**
 * Returns how much of a job the next process need not do again. A scan begins anew, and so does a restore with the page
 * that it was about to create. What a job may have deleted is no progress: it grows with each try.
 */
function settledBy(record: JobRecord, { restore }: JobResumeData): number {
  if (record.target === 'scan') return 0;
  if (record.target === 'restore') return (restore?.position as RestorePosition | undefined)?.line ?? 0;
  return record.deleted + record.alreadyGone;
}
