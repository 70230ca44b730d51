import type { PurgeScope } from './context.js';
import { createDeleteDispatcher } from './delete-dispatcher.js';
import type { Dispatcher } from './dispatcher.js';
import { BrokerFailedError } from './errors.js';
import { IdState } from './id-states.js';
import { MAX_FINDINGS, type Survey } from './survey.js';

/** Ids deleted singly first, to find out whether the batch delete had no effect or the query is stale. */
const SAMPLE_SIZE = 20;

/**
 * Gives the ids that a survey still lists their final retry: singly if they were reported as deleted, by batch or singly
 * if they failed.
 *
 * @param lags how often the query was found to lag behind; each time, a larger sample is tried first
 * @returns true when the query seems to lag behind
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
    // A batch may fail because of one entity or its size, so each id gets its last try alone.
    tries.single.add(tries.failed);
    await tries.single.settled();
    if (isLagging) await requester.waitBefore(lags + 1);
    return isLagging;
  } catch (error) {
    if (!isHopeless(error)) requester.halt();
    await Promise.all([tries.single.abandon(), tries.any.abandon()]);
    if (!isHopeless(error)) throw error;
    // These items are reported as failed. The next query shows whether the broker still answers.
    requester.forgiveFailures();
    for (const entityId of [...survey.retryDue, ...survey.stillListed]) giveUp(scope, entityId, error);
    return false;
  }
}

interface RetryDispatchers {
  readonly single: Dispatcher<string>;
  readonly any: Dispatcher<string>;
  /** Failed in a batch; each is still to be tried alone. */
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
 * Deletes singly the ids that were reported as deleted and are still listed. A sample comes first: if the broker has
 * none of it, the deletes worked and the query lags behind; if it has them, batch delete has no effect, provided that most of
 * what it confirmed is still listed. Where less is, a client may be making entities again as fast as they are deleted.
 *
 * @returns true when the query seems to lag behind
 */
async function retryStillListed(
  scope: PurgeScope,
  single: Dispatcher<string>,
  stillListed: readonly string[],
  sampleSize: number,
): Promise<boolean> {
  const { capabilities, deleter, ledger } = scope;
  if (stillListed.length <= sampleSize) {
    single.add(stillListed);
    await single.settled();
    return false;
  }
  const gone = ledger.states.count(IdState.gone) + ledger.states.count(IdState.absent);
  const confirmed = Math.min(gone, MAX_FINDINGS);
  const before = deleter.deletedSingly;
  single.add(stillListed.slice(0, sampleSize));
  await single.settled();
  const found = deleter.deletedSingly - before;
  if (found === 0) return true;
  if (found * 2 > sampleSize && stillListed.length * 2 > confirmed) capabilities.batchDelete = false;
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
