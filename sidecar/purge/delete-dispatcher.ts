import type { PurgeContext } from './context.js';
import type { Settle } from './deleter.js';
import { createDispatcher, type Dispatcher } from './dispatcher.js';

/** Largest body of a batch delete; brokers refuse bodies from 1 MB on. */
const BATCH_BYTES_MAX = 900_000;

export interface DeleteTry {
  readonly isSecondTry: boolean;
  /** One request for each entity, even where batches work. */
  readonly singly: boolean;
}

/** Deletes entities with the purge's concurrency and books what becomes of them. */
export function createDeleteDispatcher(
  context: PurgeContext,
  { isSecondTry, singly }: DeleteTry,
): Dispatcher<string> {
  const { deleter, tally, limits } = context;
  const usesBatches = () => !singly && deleter.usesBatches;
  const settle: Settle = (entityId, verdict) => tally.settle({ entityId }, verdict, isSecondTry);
  return createDispatcher<string>({
    concurrency: limits.concurrency,
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
      const failed: string[] = [];
      const leftForSingle = await deleter.deleteBatch(ids, (id, verdict) => {
        if (isSecondTry && verdict.kind === 'retryable') failed.push(id);
        else settle(id, verdict);
      });
      // A batch may fail as a whole for one of its entities, or for its size: the last try is each one's own.
      for (const id of failed) settle(id, await deleter.deleteOne(id));
      context.reportProgress();
      return leftForSingle;
    },
  });
}
