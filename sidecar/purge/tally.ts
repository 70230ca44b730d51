import type { BrokerProblem } from '../broker/broker-problem.js';
import type { Problem } from '../ngsi-ld/problem.js';
import { IdLedger, IdState } from './id-ledger.js';
import { itemProblem } from './item-problem.js';
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

/** Longest lists that an answer carries; the counts go on. */
const LISTED_MAX = 1000;

/** Books what became of every item: states by hash, counts, and capped lists for the answer. */
export class Tally {
  readonly ledger = new IdLedger();
  readonly #errors = new Map<string, ItemError>();
  readonly #success = new Set<string>();
  #unlisted = 0;
  /** Some error is not in the list: an entity may have a failed attribute that nobody can look up. */
  #errorsOverflowed = false;

  /** Books an item as taken: its delete is on its way. */
  take(item: Item): void {
    this.ledger.set(keyOf(item), IdState.pending);
  }

  /** Books the outcome of an item's first or second try. */
  settle(item: Item, verdict: ItemVerdict, isSecondTry: boolean): void {
    const key = keyOf(item);
    if (verdict.kind === 'claimed-gone') {
      this.ledger.set(key, isSecondTry ? IdState.goneTwice : IdState.gone);
      this.#errors.delete(key);
      this.#noteSuccess(item);
      return;
    }
    const isDueAgain = !isSecondTry && verdict.kind !== 'refused';
    this.ledger.set(key, isDueAgain ? IdState.unsettled : IdState.failed);
    this.#noteError(key, item, verdict.problem);
  }

  /** Books an item that is still there after two deletes answered as done. */
  failListed(item: Item, problem: BrokerProblem): void {
    const key = keyOf(item);
    this.ledger.set(key, IdState.failed);
    this.#noteError(key, item, problem);
  }

  /** After a complete survey: failed items that it did not list are gone after all. */
  forgetUnlisted(): void {
    this.#unlisted = this.ledger.countUnlisted(IdState.failed) + this.ledger.countUnlisted(IdState.unsettled);
    for (const [key, error] of this.#errors) {
      if (this.ledger.isListed(key)) continue;
      this.#errors.delete(key);
      this.#noteSuccess(error);
    }
  }

  /** Items taken. */
  get matched(): number {
    return this.ledger.size;
  }

  get deleted(): number {
    return this.ledger.count(IdState.gone) + this.ledger.count(IdState.goneTwice) + this.#unlisted;
  }

  get failed(): number {
    return this.ledger.count(IdState.failed) + this.ledger.count(IdState.unsettled) - this.#unlisted;
  }

  get errors(): readonly ItemError[] {
    return [...this.#errors.values()];
  }

  /** Entities without a failed item. */
  get success(): readonly string[] {
    const withFailure = new Set(this.errors.map((error) => error.entityId));
    return [...this.#success].filter((entityId) => !withFailure.has(entityId));
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
