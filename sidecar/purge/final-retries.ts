import type { PurgeContext, PurgeScope } from './context.js';
import { createDeleteDispatcher } from './delete-dispatcher.js';
import type { Dispatcher } from './dispatcher.js';
import { BrokerFailedError } from './errors.js';
import { IdState } from './id-states.js';
import { creationTimesOf } from './reappeared.js';
import type { Survey } from './survey.js';

/** Ids deleted singly first, to find out whether the batch delete had no effect or the query is stale. */
const SAMPLE_SIZE = 20;

/** Ids in one batch of those that a larger one has reported as missing: some brokers find nothing in batches of many ids. */
const SMALL_BATCH = 100;

/**
 * Gives the ids that a survey lists and that were not deleted their final retry: by batch, and singly where that does not
 * help. None of them had a delete that the broker confirmed.
 *
 * @param lags how often the query was found to lag behind; each time, a larger sample is tried first
 * @returns true when the query seems to lag behind
 */
export async function runFinalRetries(context: PurgeContext, survey: Survey, lags: number): Promise<boolean> {
  const { requester } = context;
  const tries = createDispatchers(context);
  return guarded(context, tries, [...survey.retryDue, ...survey.missing], async () => {
    const isLagging = await retryMissing(context, tries, survey.missing, SAMPLE_SIZE * 10 ** lags);
    tries.any.add(survey.retryDue);
    await tries.any.settled();
    // A batch may fail because of one entity or its size, so each id gets its last try alone.
    tries.single.add(tries.failed);
    await tries.single.settled();
    if (isLagging) await requester.waitBefore(lags + 1);
    return isLagging;
  });
}

/** Deletes entities singly on which a first delete had no effect. */
export async function deleteSingly(context: PurgeContext, ids: readonly string[]): Promise<void> {
  const tries = createDispatchers(context);
  await guarded(context, tries, ids, async () => {
    tries.single.add(ids);
    await tries.single.settled();
    return false;
  });
}

/** Failures of these ids alone do not end the purge: they are reported, and the next query shows whether the broker answers. */
async function guarded(
  scope: PurgeContext,
  tries: RetryDispatchers,
  ids: readonly string[],
  work: () => Promise<boolean>,
): Promise<boolean> {
  const { requester } = scope;
  try {
    return await work();
  } catch (error) {
    if (!isHopeless(error)) requester.halt();
    await Promise.all([tries.single, tries.any, tries.small].map(async (each) => each.abandon()));
    if (!isHopeless(error)) throw error;
    requester.forgiveFailures();
    for (const entityId of ids) giveUp(scope, entityId, error);
    return false;
  }
}

interface RetryDispatchers {
  readonly single: Dispatcher<string>;
  readonly any: Dispatcher<string>;
  /** Small batches, whose ids may be tried once more. */
  readonly small: Dispatcher<string>;
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
  const small = createDeleteDispatcher(scope, {
    isFinalTry: false,
    singly: false,
    batchMax: SMALL_BATCH,
    retrySingly: (id) => failed.push(id),
  });
  return { single, any, small, failed };
}

/**
 * Deletes the ids that were reported as missing and are listed. A sample comes first, by a small batch, and what that does
 * not find singly: if the broker has none of it, the query lags behind.
 *
 * @returns true when the query seems to lag behind
 */
async function retryMissing(
  context: PurgeContext,
  tries: RetryDispatchers,
  ids: readonly string[],
  sampleSize: number,
): Promise<boolean> {
  const { ledger } = context;
  if (ids.length === 0) return false;
  const sample = ids.slice(0, sampleSize);
  if (context.deleter.usesBatches) await tryBatches(context, tries, sample);
  const isMissing = (id: string) => ledger.states.get(id) === IdState.absent;
  tries.single.add(sample.filter(isMissing));
  await tries.single.settled();
  const isGone = (id: string) => GONE.has(ledger.states.get(id));
  if (ids.length > sampleSize && !sample.some(isGone)) return true;
  const rest = ids.slice(sampleSize);
  if (context.deleter.usesBatches) {
    tries.small.add(rest);
    await tries.small.settled();
  }
  tries.single.add(rest.filter(isMissing));
  await tries.single.settled();
  return false;
}

const GONE: ReadonlySet<IdState> = new Set([IdState.gone, IdState.goneTwice]);

/**
 * Tries small batches. If the broker finds nothing in them, and shows what it did not find with the very times of its
 * creation before and after, its batch delete has no effect: that is learnt.
 */
async function tryBatches(
  context: PurgeContext,
  { small }: RetryDispatchers,
  sample: readonly string[],
): Promise<void> {
  const { capabilities, ledger, limits } = context;
  const watched = sample.slice(0, SAMPLE_SIZE);
  const before = await creationTimesOf(context, watched);
  small.add(sample);
  await small.settled();
  const foundNone = sample.every((id) => ledger.states.get(id) === IdState.absent);
  if (limits.strategy !== 'auto' || !foundNone || before.size === 0) return;
  const after = await creationTimesOf(context, watched);
  if ([...before].every(([id, createdAt]) => after.get(id) === createdAt)) capabilities.batchDelete = false;
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
