import type { BrokerProblem } from './broker/broker-problem.js';
import type { Problem } from '../ngsi-ld/problem.js';
import { IdLedger, IdState } from './id-ledger.js';
import { itemProblem, outcomeUnknown } from './items/item-problem.js';
import type { ItemVerdict } from './batch-reply.js';

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
const LISTED_MAX = 1000;

/** Unclear items that can be looked for when a purge ends early: more than are ever in flight at common settings. */
const UNCLEAR_MAX = 10_000;

/** Books what became of every item: states by hash, counts, and capped lists for the answer. */
export class Tally {
  readonly ledger = new IdLedger();
  readonly #errors = new Map<string, ItemError>();
  readonly #success = new Set<string>();
  readonly #unclear = new Map<string, Item>();
  /** Some error is not in the list: an entity may have a failed attribute that nobody can look up. */
  #errorsOverflowed = false;

  /** Books an item as taken: its delete is on its way. */
  take(item: Item): void {
    this.ledger.set(keyOf(item), IdState.pending);
  }

  /** Books that a delete of the item may have had its effect, and had no answer that tells. */
  noteUnclear(item: Item): void {
    const key = keyOf(item);
    const state = this.ledger.get(key);
    if (state === IdState.unknown) return;
    this.ledger.set(key, state, true);
    if (this.#unclear.size < UNCLEAR_MAX) this.#unclear.set(key, item);
  }

  /**
   * Books the outcome of an item's first or second try. What is absent after a delete that was claimed to have worked, or
   * that had no clear answer, was deleted by that one.
   */
  settle(item: Item, verdict: ItemVerdict, isSecondTry: boolean): void {
    const key = keyOf(item);
    if (verdict.kind === 'claimed-gone' || verdict.kind === 'absent') {
      const wasDeleted =
        verdict.kind === 'claimed-gone' ||
        this.ledger.get(key) === IdState.gone ||
        this.ledger.isUnclear(key);
      this.#bookGone(key, item, wasDeleted, isSecondTry);
      return;
    }
    const isDueAgain = !isSecondTry && verdict.kind !== 'refused';
    this.ledger.set(key, isDueAgain ? IdState.unsettled : IdState.failed);
    this.#noteError(key, item, verdict.problem);
  }

  /** Books an item that is still there after two deletes answered as done. */
  failListed(item: Item, problem: BrokerProblem): void {
    const key = keyOf(item);
    this.#unclear.delete(key);
    this.ledger.set(key, IdState.failed, false);
    this.#noteError(key, item, problem);
  }

  /** Books an item that is not tried again, whatever became of its deletes. */
  giveUp(item: Item, problem: BrokerProblem): void {
    const key = keyOf(item);
    this.ledger.set(key, IdState.failed);
    this.#noteError(key, item, problem);
  }

  /** Settles by the current survey what was not deleted; see IdLedger. */
  settleBySurvey(showsAll: boolean): void {
    this.ledger.settleBySurvey(showsAll);
    if (!showsAll) return;
    for (const [key, error] of this.#errors) {
      if (this.ledger.isListed(key)) continue;
      this.#errors.delete(key);
      this.#noteSuccess(error);
    }
  }

  /** Unclear items of the current query, at most 10,000: a look may still tell what became of them. */
  get unclear(): readonly Item[] {
    return [...this.#unclear.values()].filter((item) => this.ledger.isUnclear(keyOf(item)));
  }

  /** What earlier queries have left unclear, the next one cannot tell. */
  startQuery(): void {
    this.#unclear.clear();
  }

  /** Books an unclear item that a look did not find: it was deleted. */
  foundGone(item: Item): void {
    this.#bookGone(keyOf(item), item, true, true);
  }

  /** Books an unclear item that a look has found: its delete had no effect. */
  foundThere(item: Item): void {
    const key = keyOf(item);
    const state = this.ledger.get(key);
    this.#unclear.delete(key);
    if (state !== IdState.unknown) this.ledger.set(key, state, false);
  }

  get counts(): PurgeCounts {
    const { ledger } = this;
    const { pending, gone, absent, unsettled, goneTwice, absentTwice, failed } = IdState;
    return {
      matched: ledger.size,
      deleted: ledger.count(gone) + ledger.count(goneTwice),
      alreadyGone: ledger.count(absent) + ledger.count(absentTwice),
      failed: ledger.count(unsettled, false) + ledger.count(failed, false),
      unknown: ledger.count(pending, true) + ledger.count(unsettled, true) + ledger.count(failed, true),
    };
  }

  /** Items taken. */
  get matched(): number {
    return this.ledger.size;
  }

  /** What could not be deleted, or may not have been. */
  get errors(): readonly ItemError[] {
    return [...this.#errors].map(([key, error]) =>
      this.ledger.isUnclear(key) ? { ...error, error: outcomeUnknown(error.error) } : error,
    );
  }

  /** Entities without a failed item. */
  get success(): readonly string[] {
    const withFailure = new Set(this.errors.map((error) => error.entityId));
    return [...this.#success].filter((entityId) => !withFailure.has(entityId));
  }

  #bookGone(key: string, item: Item, wasDeleted: boolean, isSecondTry: boolean): void {
    const [first, second] = wasDeleted
      ? [IdState.gone, IdState.goneTwice]
      : [IdState.absent, IdState.absentTwice];
    this.ledger.set(key, isSecondTry ? second : first, false);
    this.#unclear.delete(key);
    this.#errors.delete(key);
    this.#noteSuccess(item);
  }

  #noteSuccess(item: Item): void {
    if (item.attribute !== undefined && this.#errorsOverflowed) return;
    if (this.#success.size < LISTED_MAX) this.#success.add(item.entityId);
  }

  #noteError(key: string, item: Item, problem: BrokerProblem): void {
    this.#success.delete(item.entityId);
    if (this.#errors.size < LISTED_MAX || this.#errors.has(key)) {
      this.#errors.set(key, { ...item, error: itemProblem(problem) });
    } else this.#errorsOverflowed = true;
  }
}

/** The ledger's key of an item; no URI holds a NUL character. */
export function keyOf({ entityId, attribute, datasetId, instanceId, digest }: Item): string {
  if (attribute === undefined) return entityId;
  const key = `${entityId}\u0000${attribute}`;
  if (instanceId !== undefined) return `${key}\u0000i${instanceId}`;
  if (digest !== undefined) return `${key}\u0000x${digest}`;
  return datasetId === undefined ? key : `${key}\u0000d${datasetId}`;
}
