import type { PurgeScope } from './context.js';
import type { ReportResult } from './deleter.js';
import { createDispatcher, type Dispatcher } from './dispatcher.js';

/** Largest body of a batch delete; brokers refuse bodies from 1 MB on. */
const MAX_BATCH_BYTES = 900_000;

export interface DeleteTry {
  readonly isFinalTry: boolean;
  /** One request for each entity, even where batches work. */
  readonly singly: boolean;
  /** Most ids in one batch. */
  readonly batchMax?: number;
  /** Receives the ids that failed in a batch and are to be retried singly, instead of recording them. */
  readonly retrySingly?: (id: string) => void;
}

/** Deletes entities with the purge's concurrency and records the results. */
export function createDeleteDispatcher(
  scope: PurgeScope,
  { isFinalTry, singly, retrySingly, batchMax = Infinity }: DeleteTry,
): Dispatcher<string> {
  const { deleter, ledger, limits } = scope;
  const usesBatches = () => !singly && deleter.usesBatches;
  const report: ReportResult = (entityId, verdict) => ledger.record({ entityId }, verdict, isFinalTry);
  return createDispatcher<string>({
    concurrency: () => limits.concurrency,
    chunkSize: () => (usesBatches() ? Math.min(deleter.batchSize, batchMax) : 1),
    bytesOf: (id) => Buffer.byteLength(JSON.stringify(id)) + 1,
    chunkBytesMax: MAX_BATCH_BYTES,
    run: async (ids) => {
      const [only] = ids;
      if (!usesBatches() && ids.length === 1 && only !== undefined) {
        report(only, await deleter.deleteOne(only));
        scope.reportProgress();
        return [];
      }
      const leftForSingle = await deleter.deleteBatch(ids, (id, verdict) => {
        if (retrySingly !== undefined && verdict.kind === 'retryable') retrySingly(id);
        else report(id, verdict);
      });
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
