import type { PurgeContext } from './context.js';
import type { Settle } from './deleter.js';
import { createDispatcher, type Dispatcher } from './dispatcher.js';

/** Largest body of a batch delete; brokers refuse bodies from 1 MB on. */
const BATCH_BYTES_MAX = 900_000;

export interface DeleteTry {
  readonly isSecondTry: boolean;
  /** One request for each entity, even where batches work. */
  readonly singly: boolean;
  /** Told of entities that failed in a batch, instead of booking them, where they are to be tried singly. */
  readonly retrySingly?: (id: string) => void;
}

/** Deletes entities with the purge's concurrency and books what becomes of them. */
export function createDeleteDispatcher(
  context: PurgeContext,
  { isSecondTry, singly, retrySingly }: DeleteTry,
): Dispatcher<string> {
  const { deleter, tally, limits } = context;
  const usesBatches = () => !singly && deleter.usesBatches;
  const settle: Settle = (entityId, verdict) => tally.settle({ entityId }, verdict, isSecondTry);
  return createDispatcher<string>({
    concurrency: () => limits.concurrency,
    chunkSize: () => (usesBatches() ? deleter.batchSize : 1),
    bytesOf: (id) => Buffer.byteLength(JSON.stringify(id)) + 1,
    chunkBytesMax: BATCH_BYTES_MAX,
    run: async (ids) => {
      const [only] = ids;
      if (!usesBatches() && ids.length === 1 && only !== undefined) {
        settle(only, await deleter.deleteOne(only));
        context.reportProgress();
        return [];
      }
      const leftForSingle = await deleter.deleteBatch(ids, (id, verdict) => {
        if (retrySingly !== undefined && verdict.kind === 'retryable') retrySingly(id);
        else settle(id, verdict);
      });
      context.reportProgress();
      return leftForSingle;
    },
  });
}
