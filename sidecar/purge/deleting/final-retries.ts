import { CutTries, deleteIds, isHopeless, isStaleSince } from './delete-listed.js';
import type { DeletingContext, ReportResult } from './deleter.js';
import type { BrokerFailedError } from '../errors.js';
import type { Listed } from '../listing/index.js';
import { IdState, isGone, type ItemLedger } from '../ledger/index.js';
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
  const { listed, missing, retryDue } = survey;
  return unlessHopeless(context, [...retryDue, ...missing], async () => {
    const tries = triesOf(context, listed, cuts);
    const isLagging = await retryMissing(context, tries, missing, SAMPLE_SIZE * 10 ** lags);
    const failed: string[] = [];
    await tries.inBatches(
      retryDue.filter((id) => cuts.of(id) === 0),
      (id) => failed.push(id),
    );
    // A batch may fail because of one entity or its size, so each id gets its last try alone.
    const cutBefore = retryDue.filter((id) => cuts.of(id) > 0 && !tries.cut.has(id));
    await tries.singly([...failed, ...cutBefore.filter((id) => !cuts.isLast(id))]);
    // One that makes the broker fail must not take the last try of another.
    await tries.singly(
      cutBefore.filter((id) => cuts.isLast(id)),
      true,
    );
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
    const tries = triesOf(context, { atMs: context.clock.now(), tookMs: 0 }, new CutTries());
    await unlessHopeless(context, listed, async () => {
      await tries.singly(listed);
      return false;
    });
  }
}

/** Failures of these ids alone do not end the purge: they are reported, and the next query shows whether the broker answers. */
async function unlessHopeless(
  { requester, ledger }: DeletingContext,
  ids: readonly string[],
  work: () => Promise<boolean>,
): Promise<boolean> {
  try {
    return await work();
  } catch (error) {
    if (!isHopeless(error)) {
      requester.halt();
      throw error;
    }
    requester.forgiveFailures();
    for (const entityId of ids) giveUp(ledger, entityId, error);
    return false;
  }
}

interface FinalTries {
  /** The list of what they are to delete. */
  readonly listed: Listed;
  /** @param isAlone one after the other */
  singly(ids: readonly string[], isAlone?: true): Promise<void>;
  /** @param retrySingly receives those that failed in a batch; each is still to be tried alone */
  inBatches(ids: readonly string[], retrySingly: (id: string) => void): Promise<void>;
  /** Their ids may be tried once more. */
  inSmallBatches(ids: readonly string[]): Promise<void>;
  /** Those whose tries were cut short just now. */
  readonly cut: ReadonlySet<string>;
}

function triesOf(context: DeletingContext, listed: Listed, cuts: CutTries): FinalTries {
  const cut = new Set<string>();
  const retry = { listed, isRetry: true, isFinalTry: false, singly: false } as const;
  const final = {
    ...retry,
    isFinalTry: true,
    mayTryAgain(id: string): boolean {
      cut.add(id);
      return cuts.note(id);
    },
  };
  return {
    listed,
    cut,
    singly: (ids, isAlone) =>
      deleteIds(context, ids, { ...final, singly: true, ...(isAlone === true ? { isAlone } : {}) }),
    inBatches: (ids, retrySingly) => deleteIds(context, ids, { ...final, retrySingly }),
    inSmallBatches: (ids) => deleteIds(context, ids, { ...retry, batchMax: SMALL_BATCH }),
  };
}

/**
 * Deletes the ids that were reported as missing and are listed. A sample comes first, by a small batch, and what that does
 * not find singly: if the broker has none of it, the query lags behind.
 *
 * @returns true when the query seems to lag behind
 */
async function retryMissing(
  context: DeletingContext,
  tries: FinalTries,
  ids: readonly string[],
  sampleSize: number,
): Promise<boolean> {
  const { ledger } = context;
  if (ids.length === 0) return false;
  const sample = ids.slice(0, sampleSize);
  if (context.deleter.usesBatches) await tryBatches(context, tries, sample);
  const isMissing = (id: string) => ledger.states.get(id) === IdState.absent;
  await tries.singly(sample.filter(isMissing));
  if (ids.length > sampleSize && !sample.some((id) => isGone(ledger.states.get(id)))) return true;
  const rest = ids.slice(sampleSize);
  if (context.deleter.usesBatches) await tries.inSmallBatches(rest);
  await tries.singly(rest.filter(isMissing));
  return false;
}

/**
 * Tries small batches. If the broker finds nothing in them, and shows what it did not find with the very times of its
 * creation before and after, its batch delete has no effect: that is learnt.
 */
async function tryBatches(
  context: DeletingContext,
  tries: FinalTries,
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
  await deleter.deleteBatch(watched, report, isStaleSince(context.clock, tries.listed));
  await tries.inSmallBatches(sample.slice(SAMPLE_SIZE));
  // Only an answer teaches: a batch that was not sent finds nothing either.
  const foundNone = watched.every((id) => missing.has(id));
  if (limits.strategy !== 'auto' || !foundNone || before.size === 0) return;
  const after = await creationTimesOf(context, watched);
  if ([...before].every(([id, createdAt]) => after.get(id) === createdAt))
    capabilities.learn('no-batch', true);
}

function giveUp(ledger: ItemLedger, entityId: string, error: BrokerFailedError): void {
  const state = ledger.states.get(entityId);
  if (state === IdState.goneTwice || state === IdState.absentTwice || state === IdState.failed) return;
  const status = error.failure.status ?? 502;
  ledger.recordFailure(
    { entityId },
    { status, title: 'The broker did not delete the entity', detail: error.message },
  );
}
