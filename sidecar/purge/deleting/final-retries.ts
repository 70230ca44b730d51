import { RepeatedTries, deleteIds, type DeleteTry, isHopeless, isStaleSince } from './delete-listed.js';
import type { DeleteResult } from '../broker/index.js';
import type { DeletingContext, ReportResult } from './deleter.js';
import type { BrokerFailedError } from '../errors.js';
import type { Listed } from '../listing/index.js';
import { IdState, isGone, type ItemLedger } from '../ledger/index.js';
import { creationTimesOf } from './reappeared.js';
import type { Survey } from './survey.js';
import { portionsOf } from './items.js';

/** Number of ids to retry first, to find out whether the batch delete had no effect or the query is stale. */
const SAMPLE_SIZE = 20;

/**
 * Maximum number of ids in a batch that retries what a larger batch has reported as missing: some brokers find nothing in
 * batches of many ids.
 */
const SMALL_BATCH = 100;

/**
 * Gives the ids that a survey lists, and that were not deleted, their final retry: by batch, and singly if that does not help.
 * None of them had a delete that the broker confirmed.
 *
 * @param lags how often the query was found to lag behind; each time, a larger sample is tried first
 * @param cuts the final tries of this purge that were cut short
 * @returns true if the query seems to lag behind
 */
export async function runFinalRetries(
  context: DeletingContext,
  survey: Survey,
  lags: number,
  cuts: RepeatedTries,
): Promise<boolean> {
  const { listed, missing, retryDue } = survey;
  return unlessHopeless(context, [...retryDue, ...missing], async () => {
    const retries = new Retries(context, listed, cuts);
    const isLagging = await retries.missing(missing, SAMPLE_SIZE * 10 ** lags);
    await retries.failed(retryDue);
    if (isLagging) await context.requester.waitBeforeCheck(lags + 1);
    return isLagging;
  });
}

/**
 * Deletes, singly, entities on which a first delete had no effect. They are queried again right before, because finding that
 * out took several requests. Those that are not shown any more are left out.
 */
export async function deleteSingly(context: DeletingContext, ids: readonly string[]): Promise<void> {
  for (const items of portionsOf(ids.map((entityId) => ({ entityId })))) {
    const asked = items.map(({ entityId }) => entityId);
    const listed = [...(await creationTimesOf(context, asked)).keys()];
    const retries = new Retries(
      context,
      { atMs: context.clock.monotonicMs(), tookMs: 0 },
      new RepeatedTries(),
    );
    await unlessHopeless(context, listed, async () => {
      await retries.singly(listed);
      return false;
    });
  }
}

/**
 * Runs retries of some ids. If only their tries fail, the purge does not end: they are reported, and the next query shows
 * whether the broker answers.
 */
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
    requester.resetFailures();
    for (const entityId of ids) giveUp(ledger, entityId, error);
    return false;
  }
}

/** Retries of ids that were listed together. */
class Retries {
  readonly #context: DeletingContext;
  readonly #cuts: RepeatedTries;
  readonly #retry: DeleteTry;

  constructor(context: DeletingContext, listed: Listed, cuts: RepeatedTries) {
    this.#context = context;
    this.#cuts = cuts;
    this.#retry = { listed, isRetry: true };
  }

  async singly(ids: readonly string[]): Promise<void> {
    const onResult: DeleteTry['onResult'] = (id, result) => this.#recordFinal(id, result, true);
    await deleteIds(this.#context, ids, { ...this.#retry, singly: true, onResult });
  }

  /**
   * Retries ids whose first try failed. A batch may fail because of one entity, or because of its size, so ids that fail in a
   * batch are tried alone.
   */
  async failed(ids: readonly string[]): Promise<void> {
    const uncut = ids.filter((id) => this.#cuts.of(id) === 0);
    const last = ids.filter((id) => this.#cuts.isLast(id));
    const alone = ids.filter((id) => this.#cuts.of(id) > 0 && !this.#cuts.isLast(id));
    const onResult: DeleteTry['onResult'] = (id, result, isOfBatch) => {
      if (isOfBatch && result.kind === 'retryable' && result.isCutShort !== true) alone.push(id);
      // A batch may not find an entity that a single delete finds.
      else this.#recordFinal(id, result, result.kind !== 'absent');
    };
    await deleteIds(this.#context, uncut, { ...this.#retry, onResult });
    await this.singly(alone);
    // An entity that makes the broker fail must not cost another one its last try.
    for (const id of last) await this.singly([id]);
  }

  /**
   * Records the result of a final try, unless it was cut short because its list got too old, and there may be another one.
   *
   * @param isClear whether the result is about this entity for certain
   */
  #recordFinal(entityId: string, result: DeleteResult, isClear: boolean): void {
    const wasCutShort = result.kind === 'retryable' && result.isCutShort === true;
    const isFinal = isClear && !(wasCutShort && this.#cuts.note(entityId));
    this.#context.ledger.record({ entityId }, result, isFinal);
  }

  /**
   * Deletes the ids that were reported as missing and are listed. A sample comes first, by small batches, and singly for what
   * those do not find. If the broker has none of the sample, and there are more ids, the query lags behind.
   *
   * @returns true if the query seems to lag behind
   */
  async missing(ids: readonly string[], sampleSize: number): Promise<boolean> {
    const { ledger, deleter } = this.#context;
    if (ids.length === 0) return false;
    const sample = ids.slice(0, sampleSize);
    if (deleter.usesBatches) await this.#tryBatches(sample);
    const isMissing = (id: string) => ledger.states.get(id) === IdState.absent;
    await this.singly(sample.filter(isMissing));
    if (ids.length > sampleSize && !sample.some((id) => isGone(ledger.states.get(id)))) return true;
    const rest = ids.slice(sampleSize);
    if (deleter.usesBatches) await this.#inSmallBatches(rest);
    await this.singly(rest.filter(isMissing));
    return false;
  }

  /**
   * Tries small batches. If the broker finds nothing in the first one, and shows what it did not find with the same times of
   * creation before and after it, its batch delete has no effect. This is learnt.
   */
  async #tryBatches(sample: readonly string[]): Promise<void> {
    const { capabilities, clock, deleter, ledger, limits } = this.#context;
    const watched = sample.slice(0, SAMPLE_SIZE);
    const before = await creationTimesOf(this.#context, watched);
    const missing = new Set<string>();
    const report: ReportResult = (id, result) => {
      if (result.kind === 'absent') missing.add(id);
      ledger.record({ entityId: id }, result, false);
    };
    await deleter.deleteBatch(watched, report, isStaleSince(clock, this.#retry.listed));
    await this.#inSmallBatches(sample.slice(SAMPLE_SIZE));
    // Only an answer counts: a batch that was not sent finds nothing either.
    const foundNone = watched.every((id) => missing.has(id));
    if (limits.strategy !== 'auto' || !foundNone || before.size === 0) return;
    const after = await creationTimesOf(this.#context, watched);
    if ([...before].every(([id, createdAt]) => after.get(id) === createdAt))
      capabilities.learn('no-batch', true);
  }

  /** Retries ids in small batches. This is not their final try. */
  async #inSmallBatches(ids: readonly string[]): Promise<void> {
    await deleteIds(this.#context, ids, { ...this.#retry, batchMax: SMALL_BATCH });
  }
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
