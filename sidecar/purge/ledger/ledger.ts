import type { BrokerProblem, DeleteResult } from '../broker/index.js';
import type { Problem } from '../../shared/problem.js';
import { TooManyMatchesError } from '../errors.js';
import { IdStates, IdState, isGone } from './id-states.js';
import { itemProblem, outcomeUnknown } from './item-problem.js';

/**
 * An item of a purge: an entity; with `attribute` one of its attributes, with `datasetId` one dataset of it (`@none` for
 * the instances without one), with `instanceId` one instance.
 */
export interface Item {
  readonly entityId: string;
  readonly attribute?: string;
  readonly datasetId?: string;
  readonly instanceId?: string;
  /** For a whole attribute: its datasets, as the broker shows them. */
  readonly datasets?: readonly string[];
  /** Identifies an instance without an instanceId: a digest of its content. */
  readonly digest?: string;
  /** The instance's times by property name, as far as shown. */
  readonly time?: Readonly<Record<string, string>>;
}

/** One item that could not be deleted. */
export interface ItemError extends Item {
  readonly error: Problem;
}

/** What is known about the delete of an item. `unknown`: it was sent, and its effect is not known, or not yet. */
export type ItemOutcome = 'deleted' | 'alreadyGone' | 'unknown' | 'notDeleted';

/** Called with the outcome of each item, and again when the outcome changes. */
export type OnOutcome = (item: Item, outcome: ItemOutcome) => void;

/** Counts of the items of a purge. At the end, the other four add up to `matched`. */
export interface PurgeCounts {
  /** Items found and taken. */
  readonly matched: number;
  readonly deleted: number;
  /** Gone before their delete arrived, or deleted later by another client. */
  readonly alreadyGone: number;
  readonly failed: number;
  /** A delete was sent, with unknown effect. */
  readonly unknown: number;
}

/** Maximum length of the lists in an answer; the counts have no limit. */
const MAX_LISTED = 1000;

/** The states of an item that was not deleted. */
type LeftState = typeof IdState.retryDue | typeof IdState.failed;

const GONE_AND_PRESENT: BrokerProblem = {
  status: 409,
  title: 'Still listed',
  detail: 'The broker answered that it is gone, but still lists it.',
};

const NEVER_IN_TIME: BrokerProblem = {
  status: 504,
  title: 'Not deleted in time',
  detail: 'Whenever its delete could have been sent, the list that it was on was already too old.',
};

/** Maximum number of unclear items to resolve at the end: more than are ever in flight with usual settings. */
const MAX_UNCLEAR = 10_000;

/** Records what became of every item: its state by the hash of its key, counts, and capped lists for the answer. */
export class ItemLedger {
  readonly states = new IdStates();
  readonly #maxAffected: number;
  readonly #onOutcome: OnOutcome;
  readonly #errors = new Map<string, ItemError>();
  readonly #success = new Set<string>();
  readonly #unclear = new Map<string, Item>();
  /** Whether the list of errors is full, so that an entity may have a failed attribute that is not in it. */
  #errorsOverflowed = false;

  /** @param maxAffected maximum number of items that may ever be added */
  constructor(maxAffected = Infinity, onOutcome: OnOutcome = () => {}) {
    this.#maxAffected = maxAffected;
    this.#onOutcome = onOutcome;
  }

  /** Adds an item whose delete is about to be sent. If it is known already, nothing changes. @throws as checkRoomFor() */
  add(item: Item): void {
    this.checkRoomFor(item);
    this.states.add(keyOf(item));
  }

  /** @throws TooManyMatchesError if the item is new and would exceed the maximum */
  checkRoomFor(item: Item): void {
    if (this.states.get(keyOf(item)) === IdState.unknown) this.#boundTo(this.matched + 1);
  }

  /**
   * Adds the entities that were never seen before, all or none.
   *
   * @returns their ids
   * @throws TooManyMatchesError if they would exceed the maximum
   */
  addNew(ids: readonly string[]): readonly string[] {
    const { states } = this;
    // Nearly always there is room for all of them, and one look at each is enough.
    if (this.matched + ids.length > this.#maxAffected) {
      const fresh = new Set(ids.filter((id) => states.get(id) === IdState.unknown));
      this.#boundTo(this.matched + fresh.size);
    }
    return ids.filter((id) => states.add(id));
  }

  /** Marks an item as unclear: its delete may have had an effect, but had no clear answer. */
  markUnclear(item: Item): void {
    const key = keyOf(item);
    const state = this.states.get(key);
    if (state === IdState.unknown) return;
    this.states.set(key, state, true);
    if (this.#unclear.size < MAX_UNCLEAR) this.#unclear.set(key, item);
    this.#onOutcome(item, 'unknown');
  }

  /**
   * Records the result of the first or the final try of an item. A try that was not sent changes nothing. If an item is absent
   * after a confirmed or unclear delete, it counts as deleted by that delete.
   */
  record(item: Item, result: DeleteResult, isFinalTry: boolean): void {
    if (result.kind === 'unsent') return;
    const key = keyOf(item);
    if (result.kind === 'deleted' || result.kind === 'absent') {
      const byThis =
        result.kind === 'deleted' || wasDeleted(this.states.get(key)) || this.states.isUnclear(key);
      this.#recordGone(key, item, byThis, isFinalTry);
      return;
    }
    const isDueAgain = !isFinalTry && result.kind !== 'refused';
    this.#recordLeft(key, item, isDueAgain ? IdState.retryDue : IdState.failed, result.problem);
  }

  /** Records an item as failed because it still exists, whatever the broker answered. It is no longer unclear. */
  recordStillListed(item: Item, problem: BrokerProblem): void {
    const key = keyOf(item);
    this.#unclear.delete(key);
    this.#onOutcome(item, 'notDeleted');
    this.states.set(key, IdState.failed, false);
    this.#noteError(key, item, problem);
  }

  /** Gives up entities whose final tries never came in time. A problem that is already known stays. */
  giveUp(entityIds: readonly string[]): void {
    for (const entityId of entityIds) {
      const state = this.states.get(entityId);
      if (state === IdState.retryDue) this.states.set(entityId, IdState.failed);
      if (state === IdState.pending || state === IdState.absent)
        this.recordFailure({ entityId }, NEVER_IN_TIME);
    }
  }

  /** Records an item as failed without a retry. It stays unclear if it was. */
  recordFailure(item: Item, problem: BrokerProblem): void {
    this.#recordLeft(keyOf(item), item, IdState.failed, problem);
  }

  /** Uses the current survey to resolve the items that were not deleted; see IdStates. */
  resolveBySurvey(showsAll: boolean): void {
    this.states.resolveBySurvey(showsAll);
    for (const [key, item] of this.#unclear) {
      if (this.states.isUnclear(key)) continue;
      this.#onOutcome(item, wasDeleted(this.states.get(key)) ? 'deleted' : 'notDeleted');
    }
    if (!showsAll) return;
    for (const [key, error] of this.#errors) {
      if (this.states.isListed(key)) continue;
      this.#errors.delete(key);
      this.#noteSuccess(error);
      if (!this.#unclear.has(key))
        this.#onOutcome(error, wasDeleted(this.states.get(key)) ? 'deleted' : 'alreadyGone');
    }
  }

  /** Notes that somebody made an item again after it was deleted. What exists now is a new item. */
  markMadeAgain(item: Item): void {
    this.states.set(keyOf(item), IdState.madeAgain, false);
  }

  /** Number of items that were made again after they were deleted, and left alone. */
  get madeAgain(): number {
    return this.states.count(IdState.madeAgain);
  }

  /** Number of items that may still be added under the maximum; Infinity without one. */
  get allowance(): number {
    return Math.max(0, this.#maxAffected - this.matched);
  }

  /** Unclear items of the current query, at most 10,000. A further query may resolve them. */
  get unclear(): readonly Item[] {
    return [...this.#unclear.values()].filter((item) => this.states.isUnclear(keyOf(item)));
  }

  /** Forgets the items that earlier queries left unclear, because the next query cannot resolve them. */
  forgetUnclear(): void {
    this.#unclear.clear();
  }

  /** Resolves an unclear item that no longer exists: it was deleted. */
  resolveAsDeleted(item: Item): void {
    this.#recordGone(keyOf(item), item, true, true);
  }

  /** Resolves an unclear item that still exists: neither its delete nor an earlier, confirmed one had an effect. */
  resolveAsPresent(item: Item): void {
    const key = keyOf(item);
    const state = this.states.get(key);
    if (wasReportedGone(state)) {
      this.recordStillListed(item, GONE_AND_PRESENT);
      return;
    }
    this.#unclear.delete(key);
    this.#onOutcome(item, 'notDeleted');
    if (state !== IdState.unknown) this.states.set(key, state, false);
  }

  get counts(): PurgeCounts {
    const { states } = this;
    const { pending, gone, absent, retryDue, goneTwice, absentTwice, failed, madeAgain } = IdState;
    return {
      matched: this.matched,
      deleted: states.count(gone, goneTwice, madeAgain) - states.countUnclear(gone),
      alreadyGone: states.count(absent, absentTwice) - states.countUnclear(absent),
      failed: states.count(retryDue, failed) - states.countUnclear(retryDue, failed),
      // Includes items whose delete was confirmed, that were still listed, and whose second delete had no clear answer.
      unknown: states.countUnclear(pending, gone, absent, retryDue, failed),
    };
  }

  /** Number of items added. */
  get matched(): number {
    return this.states.size;
  }

  /** Items that were not deleted, or may not have been; at most 1000. */
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

  /** @param byThis whether this purge deleted it */
  #recordGone(key: string, item: Item, byThis: boolean, isFinalTry: boolean): void {
    const [first, second] = byThis
      ? [IdState.gone, IdState.goneTwice]
      : [IdState.absent, IdState.absentTwice];
    this.states.set(key, isFinalTry ? second : first, false);
    this.#onOutcome(item, byThis ? 'deleted' : 'alreadyGone');
    this.#unclear.delete(key);
    this.#errors.delete(key);
    this.#noteSuccess(item);
  }

  /** Records that an item was not deleted, whatever the answer to an earlier try was. It stays unclear if it was. */
  #recordLeft(key: string, item: Item, state: LeftState, problem: BrokerProblem): void {
    if (wasReportedGone(this.states.get(key)) && !this.states.isUnclear(key))
      this.#onOutcome(item, 'notDeleted');
    this.states.set(key, state);
    this.#noteError(key, item, problem);
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

function wasDeleted(state: IdState): boolean {
  return isGone(state) || state === IdState.madeAgain;
}

/** Whether the outcome of an item in this state was reported as `deleted` or `alreadyGone`. */
function wasReportedGone(state: IdState): boolean {
  return wasDeleted(state) || state === IdState.absent || state === IdState.absentTwice;
}

/** Returns the key of an item. NUL characters separate its parts, because URIs cannot contain them. */
export function keyOf({ entityId, attribute, datasetId, instanceId, digest }: Item): string {
  if (attribute === undefined) return entityId;
  const key = `${entityId}\u0000${attribute}`;
  if (instanceId !== undefined) return `${key}\u0000i${instanceId}`;
  if (digest !== undefined) return `${key}\u0000x${digest}`;
  return datasetId === undefined ? key : `${key}\u0000d${datasetId}`;
}
