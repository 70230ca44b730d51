import type { Problem } from '../ngsi-ld/problem.js';
import type { PurgeEvent } from '../purge/index.js';
import type { PurgeRecord } from '../store/index.js';
import { CallerGoneError } from './errors.js';
import type { PurgeObserver } from './purge-options.js';

/** Purges that one line names, at most. */
const MAX_IDS = 20;

/** What is used of a log. */
export interface PurgeLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/**
 * Writes the start and the end of each purge to the log, one line each, with who asked for what and what came of it.
 *
 * @param isForeseen whether an error is one that clients may see; any other is a fault of ours
 */
export function logPurges(
  log: PurgeLogger,
  isForeseen: (error: unknown) => boolean,
): Omit<PurgeObserver, 'storeAway' | 'storeBack' | 'recordLost'> {
  return {
    started: (record) => log.info(askedFor(record), 'purge started'),
    event: (record, event) => logOutage(log, record, event),
    elsewhere: (jobs) =>
      log.warn(
        {
          brokers: [...new Set(jobs.map(({ broker }) => broker))],
          jobs: jobs.length,
          purgeIds: jobs.slice(0, MAX_IDS).map(({ record }) => record.id),
        },
        'jobs wait for another broker than BROKER_URL names',
      ),
    taken: (record) => log.warn(askedFor(record), 'purge left: another gateway has it'),
    ended(record, error) {
      const fields = { ...askedFor(record), ...cameOf(record) };
      const { state, problem } = record;
      if (error === undefined)
        log.info(fields, state === 'interrupted' ? 'purge interrupted' : 'purge finished');
      else if (error instanceof CallerGoneError) log.info(fields, 'purge stopped: its caller is gone');
      else if (state === 'cancelled') log.info(fields, 'purge stopped: it was cancelled');
      else if (!isForeseen(error)) log.error({ ...fields, err: error }, 'purge failed');
      else if (state !== 'refused' && isServerError(problem))
        log.warn({ ...fields, err: error }, 'purge ended early');
      else log.info({ ...fields, reason: problem?.detail }, 'purge refused');
    },
  };
}

function logOutage(log: PurgeLogger, { id, requestId }: PurgeRecord, event: PurgeEvent): void {
  const fields = { purgeId: id, reqId: requestId };
  if (event.type === 'broker-away') log.warn(fields, 'broker away: the purge waits for it');
  if (event.type === 'broker-back')
    log.info({ ...fields, afterMs: event.afterMs }, 'broker back: the purge goes on');
}

function askedFor({ id, requestId, target, tenant, query, caller, dryRun }: PurgeRecord): object {
  return { purgeId: id, reqId: requestId, target, tenant, query, caller, dryRun };
}

function cameOf(record: PurgeRecord): object {
  const { state, matched, deleted, alreadyGone, failed, unknown, arrived, requests, retries } = record;
  const { createdAt, startedAt = createdAt, endedAt = startedAt, problem } = record;
  return {
    ...{ state, matched, deleted, alreadyGone, failed, unknown, arrived, requests, retries },
    durationMs: Date.parse(endedAt) - Date.parse(startedAt),
    ...(problem === undefined ? {} : { status: problem.status }),
  };
}

function isServerError(problem: Problem | undefined): boolean {
  return problem !== undefined && problem.status >= 500;
}
