import type { PurgeRecord, StrandedPurge, UnfinishedPurge } from '../store/purge-records.js';
import { ended, withoutPace } from './live-purge.js';
import { warningsAfter } from './resumption.js';

const NOTE_START = 'It waits for ';

/**
 * What becomes of a job on which no process works, when this one may not: its broker is another one. It waits, and says for
 * what; one that was to be cancelled has ended.
 *
 * @param worker the name of this process
 * @param now as in records
 */
export function laidAside(left: StrandedPurge, worker: string, now: string): UnfinishedPurge {
  const { record, job, broker, wish } = left;
  const warnings = withoutWaitNote(warningsAfter(record, job, worker, 'laid it aside'));
  if (record.state === 'cancelling' || wish?.cancel === true)
    return { record: ended({ ...record, state: 'cancelled', endedAt: now, warnings }), job };
  const waiting = {
    ...withoutPace(record),
    state: 'queued',
    warnings: [...warnings, waitNote(broker)],
  } as const;
  // In order: its counts hold.
  if (record.state === 'queued') return { record: waiting, job };
  const mayHaveBegun = record.startedAt !== undefined && !record.dryRun;
  return {
    record: { ...waiting, failed: 0, unknown: 0 },
    job: mayHaveBegun ? { ...job, mayHaveBegun } : job,
  };
}

/** The warnings of a job that waits no more for its broker. */
export function withoutWaitNote(warnings: PurgeRecord['warnings']): PurgeRecord['warnings'] {
  return warnings.filter((warning) => !warning.startsWith(NOTE_START));
}

/** @param broker see `brokerName`: without credentials */
function waitNote(broker: string): string {
  const where = broker === 'embedded' ? 'the embedded broker' : `the broker ${broker}`;
  return `${NOTE_START}${where}, at which it was begun: BROKER_URL names another one now. It goes on when a gateway is at that broker, or ends when it is cancelled.`;
}
