import type { Problem } from '../shared/problem.js';
import {
  type FinalJobState,
  isFinal,
  type JobRecord,
  kindOf,
  type PurgeRecord,
  type ScanRecord,
} from '../store/index.js';
import { ClientDisconnectedError } from './errors.js';
import type { JobObserver } from './service-options.js';
import { defined } from '../shared/defined.js';

/** Maximum number of purges named in one line. */
const MAX_IDS = 20;

/** The part of a logger that is used here. */
export interface PurgeLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface JobCounters {
  readonly purges: PurgeCounters;
  readonly scans: { ended(outcome: FinalJobState, record: ScanRecord): void };
  readonly retention: { ran(policy: string, outcome: FinalJobState | 'held_back'): void };
}

interface PurgeCounters {
  started(target: 'entities' | 'temporal'): void;
  deleted(target: 'entities' | 'temporal', items: number): void;
  ended(target: 'entities' | 'temporal', outcome: FinalJobState, record: PurgeRecord): void;
  restored(outcome: FinalJobState, record: PurgeRecord): void;
  recordLost(): void;
}

/**
 * Logs the start and the end of each job, one line each, with who requested what and the result, and counts the jobs.
 *
 * @param isForeseen whether an error may be shown to clients; any other is a fault of the gateway
 * @param traces undefined if tracing is off
 */
export function observeJobs(
  log: PurgeLogger,
  counters: JobCounters,
  isForeseen: (error: unknown) => boolean,
  traces?: Pick<JobObserver, 'started' | 'event' | 'ended'>,
): JobObserver {
  return {
    started(record) {
      log.info(askedFor(record), `${kindOf(record)} started`);
      if (record.target !== 'scan' && record.target !== 'restore') counters.purges.started(record.target);
      traces?.started(record);
    },
    event(record, event) {
      traces?.event(record, event);
      if (event.type !== 'broker-away' && event.type !== 'broker-back') return;
      const kind = kindOf(record);
      const fields = { [`${kind}Id`]: record.id, reqId: record.requestId };
      if (event.type === 'broker-away') log.warn(fields, `broker away: the ${kind} waits for it`);
      else log.info({ ...fields, afterMs: event.afterMs }, `broker back: the ${kind} goes on`);
    },
    deleted(record, items) {
      if (record.target !== 'restore') counters.purges.deleted(record.target, items);
    },
    waitingForOtherBroker: (jobs) =>
      log.warn(
        {
          brokers: [...new Set(jobs.map(({ broker }) => broker))],
          jobs: jobs.length,
          purgeIds: jobs.slice(0, MAX_IDS).map(({ record }) => record.id),
        },
        'jobs wait for a broker other than the one that BROKER_URL names',
      ),
    takenOver(record) {
      log.warn(askedFor(record), `${kindOf(record)} left to another gateway, which has taken it`);
      traces?.ended(record);
    },
    storeAway: (err) =>
      log.warn({ err }, 'the database is not available: jobs and their records wait for it'),
    storeBack: () => log.info({}, 'the database is available again: records are written'),
    recordLost(record) {
      log.error({ record }, 'record of a purge lost');
      counters.purges.recordLost();
    },
    ended(record, error) {
      count(counters, record);
      const fields = { ...askedFor(record), ...cameOf(record) };
      const { state, problem } = record;
      if (error === undefined)
        log.info(fields, `${kindOf(record)} ${state === 'interrupted' ? 'interrupted' : 'finished'}`);
      else if (error instanceof ClientDisconnectedError)
        log.info(fields, `${kindOf(record)} stopped: its caller is gone`);
      else if (state === 'cancelled') log.info(fields, `${kindOf(record)} stopped: it was cancelled`);
      else if (!isForeseen(error)) log.error({ ...fields, err: error }, `${kindOf(record)} failed`);
      else if (state !== 'refused' && isServerError(problem))
        log.warn({ ...fields, err: error }, `${kindOf(record)} ended early`);
      else log.info({ ...fields, reason: problem?.detail }, `${kindOf(record)} refused`);
      traces?.ended(record);
    },
  };
}

function count({ purges, scans, retention }: JobCounters, record: JobRecord): void {
  if (!isFinal(record.state)) return;
  if (record.target === 'scan') scans.ended(record.state, record);
  else if (record.target === 'restore') purges.restored(record.state, record);
  else {
    const { target, state, retentionPolicy, heldBack } = record;
    purges.ended(target, state, record);
    if (retentionPolicy !== undefined)
      retention.ran(retentionPolicy, heldBack === true ? 'held_back' : state);
  }
}

function askedFor(record: JobRecord): object {
  const { id, requestId, target, tenant, query, caller } = record;
  if (record.target === 'scan') return { scanId: id, reqId: requestId, tenant, query, caller };
  return { purgeId: id, reqId: requestId, target, tenant, query, caller, dryRun: record.dryRun };
}

function cameOf(record: JobRecord): object {
  const { state, requests, retries, createdAt, startedAt = createdAt, endedAt = startedAt, problem } = record;
  return {
    state,
    ...countsOf(record),
    requests,
    retries,
    durationMs: Date.parse(endedAt) - Date.parse(startedAt),
    ...defined({ status: problem?.status }),
  };
}

function countsOf(record: JobRecord): object {
  if (record.target === 'scan') {
    const { matched, checked, valid, invalid, notJudged } = record;
    return { matched, checked, valid, invalid, notJudged };
  }
  if (record.target === 'restore') {
    const { matched, restored, alreadyThere, failed, unknown, restoreOf } = record;
    return { restoreOf, matched, restored, alreadyThere, failed, unknown };
  }
  const { matched, deleted, alreadyGone, failed, unknown, arrived } = record;
  return { matched, deleted, alreadyGone, failed, unknown, arrived };
}

function isServerError(problem: Problem | undefined): boolean {
  return problem !== undefined && problem.status >= 500;
}
