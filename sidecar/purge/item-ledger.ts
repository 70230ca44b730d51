import type { BrokerProblem } from './broker/broker-problem.js';
import type { Problem } from '../ngsi-ld/problem.js';
import { TooManyMatchesError } from './errors.js';
import { IdStates, IdState } from './id-states.js';
import { itemProblem, outcomeUnknown } from './items/item-problem.js';
import type { DeleteResult } from './batch-reply.js';

/**
 * An item of a purge: an entity; with `attribute` one of its attributes, with `datasetId` one dataset of it (`@none` for
 * the instances without one), with `instanceId` one instance.
 */
export interface Item {
  readonly entityId: string;
  readonly attribute?: string;
  readonly datasetId?: string;
  readonly instanceId?: string;
  /** Of an attribute that goes as a whole: the datasets that it is shown with. */
  readonly datasets?: readonly string[];
  /** Tells instances without an instanceId apart: a digest of what the instance holds. */
  readonly digest?: string;
  /** The instance's time by the name of the query's timeproperty, where it shows one. */
  readonly time?: Readonly<Record<string, string>>;
}

/** One item that could not be deleted. */
export interface ItemError extends Item {
  readonly error: Problem;
}

/** What became of the items of a purge. When it has run to its end, the four outcomes add up to what matched. */
export interface PurgeCounts {
  /** Items taken. */
  readonly matched: number;
  /** Deleted by this purge. */
  readonly deleted: number;
  /** Gone when their delete came, or later by another hand. */
  readonly alreadyGone: number;
  readonly failed: number;
  /** A delete was sent, and nothing has told what became of it. */
  readonly unknown: number;
}

/** Longest lists that an answer carries; the counts go on. */
const MAX_LISTED = 1000;

/** Unclear items that can be looked for when a purge ends early: more than are ever in flight at common settings. */
const MAX_UNCLEAR = 10_000;

/** Records what became of every item: its state by hash, counts, and capped lists for the answer. */
export class ItemLedger {
  readonly states = new IdStates();
  readonly #maxAffected: number;
  readonly #errors = new Map<string, ItemError>();
  readonly #success = new Set<string>();
  readonly #unclear = new Map<string, Item>();
  /** The list of errors is full: an entity may have a failed attribute that is not in it. */
  #errorsOverflowed = false;

  /** @param maxAffected most items that may ever be added */
  constructor(maxAffected = Infinity) {
    this.#maxAffected = maxAffected;
  }

  /**
   * Adds an item that was never seen before. Its delete is on its way.
   *
   * @throws TooManyMatchesError when that is one more than may be affected
   */
  add(item: Item): void {
    this.#boundTo(this.states.size + 1);
    this.states.set(keyOf(item), IdState.pending);
  }

  /**
   * Adds the entities that were never seen before, all or none.
   *
   * @returns their ids
   * @throws TooManyMatchesError when those are more than may be affected
   */
  addNew(ids: readonly string[]): readonly string[] {
    const fresh = [...new Set(ids)].filter((id) => this.states.get(id) === IdState.unknown);
    this.#boundTo(this.states.size + fresh.length);
    for (const id of fresh) this.states.set(id, IdState.pending);
    return fresh;
  }

  /** Books that a delete of the item may have had its effect, and had no answer that tells. */
  markUnclear(item: Item): void {
    const key = keyOf(item);
    const state = this.states.get(key);
    if (state === IdState.unknown) return;
    this.states.set(key, state, true);
    if (this.#unclear.size < MAX_UNCLEAR) this.#unclear.set(key, item);
  }

  /**
   * Books the outcome of an item's first or second try. What is absent after a delete that was claimed to have worked, or
   * that had no clear answer, was deleted by that one.
   */
  record(item: Item, verdict: DeleteResult, isFinalTry: boolean): void {
    const key = keyOf(item);
    if (verdict.kind === 'deleted' || verdict.kind === 'absent') {
      const wasDeleted =
        verdict.kind === 'deleted' || this.states.get(key) === IdState.gone || this.states.isUnclear(key);
      this.#recordGone(key, item, wasDeleted, isFinalTry);
      return;
    }
    const isDueAgain = !isFinalTry && verdict.kind !== 'refused';
    this.states.set(key, isDueAgain ? IdState.retryDue : IdState.failed);
    this.#noteError(key, item, verdict.problem);
  }

  /** Books an item that is still there after two deletes answered as done. */
  recordStillListed(item: Item, problem: BrokerProblem): void {
    const key = keyOf(item);
    this.#unclear.delete(key);
    this.states.set(key, IdState.failed, false);
    this.#noteError(key, item, problem);
  }

  /** Books an item that is not tried again, whatever became of its deletes. */
  recordFailure(item: Item, problem: BrokerProblem): void {
    const key = keyOf(item);
    this.states.set(key, IdState.failed);
    this.#noteError(key, item, problem);
  }

  /** Settles by the current survey what was not deleted; see IdStates. */
  resolveBySurvey(showsAll: boolean): void {
    this.states.resolveBySurvey(showsAll);
    if (!showsAll) return;
    for (const [key, error] of this.#errors) {
      if (this.states.isListed(key)) continue;
      this.#errors.delete(key);
      this.#noteSuccess(error);
    }
  }

  /** Unclear items of the current query, at most 10,000: a look may still tell what became of them. */
  get unclear(): readonly Item[] {
    return [...this.#unclear.values()].filter((item) => this.states.isUnclear(keyOf(item)));
  }

  /** What earlier queries have left unclear, the next one cannot tell. */
  forgetUnclear(): void {
    this.#unclear.clear();
  }

  /** Books an unclear item that a look did not find: it was deleted. */
  resolveAsDeleted(item: Item): void {
    this.#recordGone(keyOf(item), item, true, true);
  }

  /** Books an unclear item that a look has found: its delete had no effect. */
  resolveAsPresent(item: Item): void {
    const key = keyOf(item);
    const state = this.states.get(key);
    this.#unclear.delete(key);
    if (state !== IdState.unknown) this.states.set(key, state, false);
  }

  get counts(): PurgeCounts {
    const { states } = this;
    const { pending, gone, absent, retryDue, goneTwice, absentTwice, failed } = IdState;
    return {
      matched: states.size,
      deleted: states.count(gone) + states.count(goneTwice),
      alreadyGone: states.count(absent) + states.count(absentTwice),
      failed: states.count(retryDue, false) + states.count(failed, false),
      unknown: states.count(pending, true) + states.count(retryDue, true) + states.count(failed, true),
    };
  }

  /** Items taken. */
  get matched(): number {
    return this.states.size;
  }

  /** What could not be deleted, or may not have been. */
  get errors(): readonly ItemError[] {
    return [...this.#errors].map(([key, error]) =>
      this.states.isUnclear(key) ? { ...error, error: outcomeUnknown(error.error) } : error,
    );
  }

  /** Entities without a failed item. */
  get success(): readonly string[] {
    const withFailure = new Set(this.errors.map((error) => error.entityId));
    return [...this.#success].filter((entityId) => !withFailure.has(entityId));
  }

  #boundTo(affected: number): void {
    if (affected > this.#maxAffected) throw new TooManyMatchesError(affected, this.#maxAffected, false);
  }

  #recordGone(key: string, item: Item, wasDeleted: boolean, isFinalTry: boolean): void {
    const [first, second] = wasDeleted
      ? [IdState.gone, IdState.goneTwice]
      : [IdState.absent, IdState.absentTwice];
    this.states.set(key, isFinalTry ? second : first, false);
    this.#unclear.delete(key);
    this.#errors.delete(key);
    this.#noteSuccess(item);
  }

  #noteSuccess(item: Item): void {
    if (item.attribute !== undefined && this.#errorsOverflowed) return;
    if (this.#success.size < MAX_LISTED) this.#success.add(item.entityId);
  }

  #noteError(key: string, item: Item, problem: BrokerProblem): void {
    this.#success.delete(item.entityId);
    if (this.#errors.size < MAX_LISTED || this.#errors.has(key)) {
      this.#errors.set(key, { ...item, error: itemProblem(problem) });
    } else this.#errorsOverflowed = true;
  }
}

/** The states's key of an item; no URI holds a NUL character. */
export function keyOf({ entityId, attribute, datasetId, instanceId, digest }: Item): string {
  if (attribute === undefined) return entityId;
  const key = `${entityId}\u0000${attribute}`;
  if (instanceId !== undefined) return `${key}\u0000i${instanceId}`;
  if (digest !== undefined) return `${key}\u0000x${digest}`;
  return datasetId === undefined ? key : `${key}\u0000d${datasetId}`;
}
