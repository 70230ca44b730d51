import type { PurgeContext } from './context.js';
import type { ItemOutcome } from './deleter.js';
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
  const settle = (outcomes: readonly ItemOutcome[]) => {
    for (const { id, verdict } of outcomes) tally.settle({ entityId: id }, verdict, isSecondTry);
    context.reportProgress();
  };
  return createDispatcher<string>({
    concurrency: limits.concurrency,
    chunkSize: () => (usesBatches() ? deleter.batchSize : 1),
    bytesOf: (id) => Buffer.byteLength(JSON.stringify(id)) + 1,
    chunkBytesMax: BATCH_BYTES_MAX,
    run: async (ids) => {
      const [only] = ids;
      if (!usesBatches() && ids.length === 1 && only !== undefined) {
        settle([await deleter.deleteOne(only)]);
        return [];
      }
      const { outcomes, leftForSingle } = await deleter.deleteBatch(ids);
      settle(outcomes);
      return leftForSingle;
    },
  });
}
