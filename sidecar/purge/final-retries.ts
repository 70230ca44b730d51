import type { PurgeScope } from './context.js';
import { createDeleteDispatcher } from './delete-dispatcher.js';
import type { Dispatcher } from './dispatcher.js';
import { BrokerFailedError } from './errors.js';
import { IdState } from './id-states.js';
import type { Survey } from './survey.js';

/** So many ids are tried singly before all others that a batch claimed gone: they tell an idle batch from a stale query. */
const SAMPLE_SIZE = 20;

/**
 * Tries once more what a survey still lists: singly what was claimed gone, by batch or singly what had failed.
 *
 * @param lags how often the query was found to lag behind; each time, more is tried before it is believed again
 * @returns true when it seems to lag
 */
export async function runFinalRetries(scope: PurgeScope, survey: Survey, lags: number): Promise<boolean> {
  const { requester } = scope;
  const tries = createDispatchers(scope);
  try {
    const isLagging = await retryStillListed(
      scope,
      tries.single,
      survey.stillListed,
      SAMPLE_SIZE * 10 ** lags,
    );
    tries.any.add(survey.retryDue);
    await tries.any.settled();
    // A batch may fail as a whole for one of its entities, or for its size: the last try is each one's own.
    tries.single.add(tries.failed);
    await tries.single.settled();
    if (isLagging) await requester.waitBefore(lags + 1);
    return isLagging;
  } catch (error) {
    if (!isHopeless(error)) requester.halt();
    await Promise.all([tries.single.abandon(), tries.any.abandon()]);
    if (!isHopeless(error)) throw error;
    // Hopeless items are reported one by one; whether the broker still answers is for the next query to show.
    requester.forgiveFailures();
    for (const entityId of [...survey.retryDue, ...survey.stillListed]) giveUp(scope, entityId, error);
    return false;
  }
}

interface RetryDispatchers {
  readonly single: Dispatcher<string>;
  readonly any: Dispatcher<string>;
  /** Failed by batch, with a try of their own still due. */
  readonly failed: readonly string[];
}

function createDispatchers(scope: PurgeScope): RetryDispatchers {
  const failed: string[] = [];
  const single = createDeleteDispatcher(scope, { isFinalTry: true, singly: true });
  const any = createDeleteDispatcher(scope, {
    isFinalTry: true,
    singly: false,
    retrySingly: (id) => failed.push(id),
  });
  return { single, any, failed };
}

/**
 * Tries singly what was claimed gone. A sample comes first: where the broker knows none of it any more, the deletes
 * worked and the query lags behind, so the others are left for a later look; where it has them, batch delete is idle.
 *
 * @returns true when the query seems to lag
 */
async function retryStillListed(
  scope: PurgeScope,
  single: Dispatcher<string>,
  stillListed: readonly string[],
  sampleSize: number,
): Promise<boolean> {
  const { capabilities, deleter } = scope;
  if (stillListed.length <= sampleSize) {
    single.add(stillListed);
    await single.settled();
    return false;
  }
  const before = deleter.deletedSingly;
  single.add(stillListed.slice(0, sampleSize));
  await single.settled();
  const found = deleter.deletedSingly - before;
  if (found === 0) return true;
  if (found * 2 > sampleSize) capabilities.batchDelete = false;
  single.add(stillListed.slice(sampleSize));
  await single.settled();
  return false;
}

function isHopeless(error: unknown): error is BrokerFailedError {
  return error instanceof BrokerFailedError && error.reason === 'nothing-but-failures';
}

function giveUp(scope: PurgeScope, entityId: string, error: BrokerFailedError): void {
  const { ledger } = scope;
  const state = ledger.states.get(entityId);
  if (state === IdState.goneTwice || state === IdState.absentTwice || state === IdState.failed) return;
  const status = error.failure.status ?? 502;
  ledger.recordFailure(
    { entityId },
    { status, title: 'The broker did not delete the entity', detail: error.message },
  );
}
