import { createDeleteDispatcher, CutTries, isStaleSince } from './delete-listed.js';
import type { DeletingContext, ReportResult } from './deleter.js';
import type { Dispatcher } from './dispatcher.js';
import { BrokerFailedError } from '../errors.js';
import type { Listed } from '../listing/index.js';
import { IdState } from '../ledger/index.js';
import { creationTimesOf } from './reappeared.js';
import type { Survey } from './survey.js';
import { portionsOf } from './items.js';

/** Ids deleted singly first, to find out whether the batch delete had no effect or the query is stale. */
const SAMPLE_SIZE = 20;

/** Ids in one batch of those that a larger one has reported as missing: some brokers find nothing in batches of many ids. */
const SMALL_BATCH = 100;

/**
 * Gives the ids that a survey lists and that were not deleted their final retry: by batch, and singly where that does not
 * help. None of them had a delete that the broker confirmed.
 *
 * @param lags how often the query was found to lag behind; each time, a larger sample is tried first
 * @param cuts of earlier final tries of this purge
 * @returns true when the query seems to lag behind
 */
export async function runFinalRetries(
  context: DeletingContext,
  survey: Survey,
  lags: number,
  cuts: CutTries,
): Promise<boolean> {
  const { requester } = context;
  const tries = createDispatchers(context, survey.listed, cuts);
  return guarded(context, tries, [...survey.retryDue, ...survey.missing], async () => {
    const isLagging = await retryMissing(context, tries, survey.missing, SAMPLE_SIZE * 10 ** lags);
    tries.any.add(survey.retryDue.filter((id) => cuts.of(id) === 0));
    await tries.any.settled();
    // A batch may fail because of one entity or its size, so each id gets its last try alone.
    const cutBefore = survey.retryDue.filter((id) => cuts.of(id) > 0 && !tries.cut.has(id));
    tries.single.add([...tries.failed, ...cutBefore.filter((id) => !cuts.isLast(id))]);
    await tries.single.settled();
    // One that makes the broker fail must not take the last try of another.
    tries.alone.add(cutBefore.filter((id) => cuts.isLast(id)));
    await tries.alone.settled();
    if (isLagging) await requester.waitBefore(lags + 1);
    return isLagging;
  });
}

/**
 * Deletes entities singly on which a first delete had no effect. They are asked for again right before: it took several
 * requests to find out what they are.
 */
export async function deleteSingly(context: DeletingContext, ids: readonly string[]): Promise<void> {
  for (const items of portionsOf(ids.map((entityId) => ({ entityId })))) {
    const asked = items.map(({ entityId }) => entityId);
    const listed = [...(await creationTimesOf(context, asked)).keys()];
    const tries = createDispatchers(context, { atMs: context.clock.now(), tookMs: 0 }, new CutTries());
    await guarded(context, tries, listed, async () => {
      tries.single.add(listed);
      await tries.single.settled();
      return false;
    });
  }
}

/** Failures of these ids alone do not end the purge: they are reported, and the next query shows whether the broker answers. */
async function guarded(
  scope: DeletingContext,
  tries: RetryDispatchers,
  ids: readonly string[],
  work: () => Promise<boolean>,
): Promise<boolean> {
  const { requester } = scope;
  try {
    return await work();
  } catch (error) {
    if (!isHopeless(error)) requester.halt();
    await Promise.all(
      [tries.single, tries.alone, tries.any, tries.small].map(async (each) => each.abandon()),
    );
    if (!isHopeless(error)) throw error;
    requester.forgiveFailures();
    for (const entityId of ids) giveUp(scope, entityId, error);
    return false;
  }
}

interface RetryDispatchers {
  /** The list of what they are to delete. */
  readonly listed: Listed;
  readonly single: Dispatcher<string>;
  readonly any: Dispatcher<string>;
  /** Singly, one after the other. */
  readonly alone: Dispatcher<string>;
  /** Small batches, whose ids may be tried once more. */
  readonly small: Dispatcher<string>;
  /** Failed in a batch; each is still to be tried alone. */
  readonly failed: readonly string[];
  /** Their tries were cut short just now. */
  readonly cut: ReadonlySet<string>;
}

function createDispatchers(scope: DeletingContext, listed: Listed, cuts: CutTries): RetryDispatchers {
  const failed: string[] = [];
  const cut = new Set<string>();
  const mayTryAgain = (id: string): boolean => {
    cut.add(id);
    return cuts.note(id);
  };
  const single = createDeleteDispatcher(scope, { listed, isFinalTry: true, singly: true, mayTryAgain });
  const alone = createDeleteDispatcher(scope, {
    ...{ listed, isFinalTry: true, singly: true, isAlone: true, mayTryAgain },
  });
  const any = createDeleteDispatcher(scope, {
    listed,
    mayTryAgain,
    isFinalTry: true,
    singly: false,
    retrySingly: (id) => failed.push(id),
  });
  const small = createDeleteDispatcher(scope, {
    listed,
    isFinalTry: false,
    singly: false,
    batchMax: SMALL_BATCH,
  });
  return { listed, single, alone, any, small, failed, cut };
}

/**
 * Deletes the ids that were reported as missing and are listed. A sample comes first, by a small batch, and what that does
 * not find singly: if the broker has none of it, the query lags behind.
 *
 * @returns true when the query seems to lag behind
 */
async function retryMissing(
  context: DeletingContext,
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
  context: DeletingContext,
  { small, listed }: RetryDispatchers,
  sample: readonly string[],
): Promise<void> {
  const { capabilities, deleter, ledger, limits } = context;
  const watched = sample.slice(0, SAMPLE_SIZE);
  const before = await creationTimesOf(context, watched);
  const missing = new Set<string>();
  const report: ReportResult = (id, result) => {
    if (result.kind === 'absent') missing.add(id);
    ledger.record({ entityId: id }, result, false);
  };
  await deleter.deleteBatch(watched, report, isStaleSince(context.clock, listed));
  small.add(sample.slice(SAMPLE_SIZE));
  await small.settled();
  // Only an answer teaches: a batch that was not sent finds nothing either.
  const foundNone = watched.every((id) => missing.has(id));
  if (limits.strategy !== 'auto' || !foundNone || before.size === 0) return;
  const after = await creationTimesOf(context, watched);
  if ([...before].every(([id, createdAt]) => after.get(id) === createdAt)) capabilities.batchDelete = false;
}

function isHopeless(error: unknown): error is BrokerFailedError {
  return error instanceof BrokerFailedError && error.reason === 'nothing-but-failures';
}

function giveUp(scope: DeletingContext, entityId: string, error: BrokerFailedError): void {
  const { ledger } = scope;
  const state = ledger.states.get(entityId);
  if (state === IdState.goneTwice || state === IdState.absentTwice || state === IdState.failed) return;
  const status = error.failure.status ?? 502;
  ledger.recordFailure(
    { entityId },
    { status, title: 'The broker did not delete the entity', detail: error.message },
  );
}
