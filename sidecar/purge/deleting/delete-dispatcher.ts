import type { PurgeScope } from '../run/context.js';
import type { ReportResult } from './deleter.js';
import { isStaleSince, type Listed } from '../listing/freshness.js';
import { createDispatcher, type Dispatcher } from './dispatcher.js';

/** Largest body of a batch delete; brokers refuse bodies from 1 MB on. */
const MAX_BATCH_BYTES = 900_000;

export interface DeleteTry {
  /** The list that the ids are from. */
  readonly listed: Listed;
  readonly isFinalTry: boolean;
  /** One request for each entity, even where batches work. */
  readonly singly: boolean;
  /** Asked for each final try that was cut short, since the list got too old: whether there may be another one. */
  readonly mayTryAgain?: (id: string) => boolean;
  /** One after the other. */
  readonly isAlone?: boolean;
  /** Most ids in one batch. */
  readonly batchMax?: number;
  /** Receives the ids that failed in a batch and are to be retried singly, instead of recording them. */
  readonly retrySingly?: (id: string) => void;
}

/** Deletes entities with the purge's concurrency and records the results. What was listed too long ago is not sent. */
export function createDeleteDispatcher(scope: PurgeScope, howToTry: DeleteTry): Dispatcher<string> {
  const { isFinalTry, singly, retrySingly, mayTryAgain, listed, batchMax = Infinity } = howToTry;
  const { deleter, ledger, limits, clock } = scope;
  const isStale = isStaleSince(clock, listed);
  const usesBatches = () => !singly && deleter.usesBatches;
  const report: ReportResult = (entityId, verdict) => {
    const wasCutShort = verdict.kind === 'retryable' && verdict.isCutShort === true;
    const isDueAgain = isFinalTry && wasCutShort && mayTryAgain?.(entityId) === true;
    // A batch may not find what a single delete does.
    const isFinal = isFinalTry && !isDueAgain && (singly || verdict.kind !== 'absent');
    ledger.record({ entityId }, verdict, isFinal);
  };
  return createDispatcher<string>({
    concurrency: () => (howToTry.isAlone === true ? 1 : limits.concurrency),
    chunkSize: () => (usesBatches() ? Math.min(deleter.batchSize, batchMax) : 1),
    bytesOf: (id) => Buffer.byteLength(JSON.stringify(id)) + 1,
    chunkBytesMax: MAX_BATCH_BYTES,
    run: async (ids) => {
      if (isStale()) return [];
      const [only] = ids;
      if (!usesBatches() && ids.length === 1 && only !== undefined) {
        report(only, await deleter.deleteOne(only, isStale));
        scope.reportProgress();
        return [];
      }
      const toReport: ReportResult = (id, verdict) => {
        if (retrySingly !== undefined && verdict.kind === 'retryable' && verdict.isCutShort !== true)
          retrySingly(id);
        else report(id, verdict);
      };
      const leftForSingle = await deleter.deleteBatch(ids, toReport, isStale);
      scope.reportProgress();
      return leftForSingle;
    },
  });
}

/** Ids deleted at each end of the list to find the faster one. */
const SAMPLE_SIZE = 32;

/** With fewer ids, sampling would cost more than it saves. */
const MIN_SAMPLED = 1000;

/** An end is faster when it takes at most this share of the time. */
const MAX_SHARE_OF_TIME = 0.67;

/**
 * Deletes the listed ids, starting at the end of the list where the broker is faster. Some brokers search from the oldest
 * entity on: deleting the newest first takes them a hundred times as long.
 */
export async function deleteListed(
  { clock }: Pick<PurgeScope, 'clock'>,
  dispatcher: Dispatcher<string>,
  ids: readonly string[],
): Promise<void> {
  const timed = async (sample: readonly string[]): Promise<number> => {
    const startedMs = clock.now();
    dispatcher.add(sample);
    await dispatcher.settled();
    return clock.now() - startedMs;
  };
  if (ids.length < MIN_SAMPLED) {
    await timed(ids);
    return;
  }
  const frontMs = await timed(ids.slice(0, SAMPLE_SIZE));
  const backMs = await timed(ids.slice(-SAMPLE_SIZE));
  const rest = ids.slice(SAMPLE_SIZE, -SAMPLE_SIZE);
  await timed(backMs < frontMs * MAX_SHARE_OF_TIME ? rest.reverse() : rest);
}
