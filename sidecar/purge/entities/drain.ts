import {
  RepeatedTries,
  Deleter,
  deleteIds,
  deleteSingly,
  ListAhead,
  MAX_RECHECKS,
  resolveUnclear,
  resolveUnclearAtEnd,
  runFinalRetries,
  sortReappeared,
  surveyMatches,
  WHOLE_ENTITIES,
  type DeletingContext,
  type Sorted,
  type Survey,
} from '../deleting/index.js';
import { BrokerReplyError, NotConvergingError } from '../errors.js';
import { IdState } from '../ledger/index.js';
import type { Listed, ListedPage } from '../listing/index.js';
import { trustedTotal, type PurgeContext } from '../run/index.js';

/** Maximum number of rounds in a row that take no new match. Reached only if listed matches are never deleted in time. */
const MAX_IDLE_ROUNDS = 20_000;

/**
 * Maximum number of new matches to take without a count: matches that arrive as fast as they are deleted look like old ones.
 */
const MAX_UNCOUNTED = 1_000_000;

/** Maximum number of rounds of final retries in a row after which nothing was gone. */
const MAX_FRUITLESS = 12;

const GONE = [IdState.gone, IdState.goneTwice, IdState.absentTwice] as const;

/**
 * Deletes every entity that the query lists.
 *
 * @param first a page that was not processed yet
 * @param listed number of matches, if all were listed to check the maximum
 * @returns how many matches arrived during the purge and were left, without those that were made again
 * @throws BrokerReplyError if the broker hides matches: it counts more than it lists, or its pages are full of matches that
 *   cannot be deleted
 */
export async function purgeByIds(
  context: PurgeContext,
  first: ListedPage,
  listed: number | undefined,
): Promise<number> {
  const deleting: DeletingContext = { ...context, deleter: new Deleter(context) };
  context.ledger.forgetUnclear();
  try {
    const arrived = await new Drain(deleting, listed ?? trustedTotal(context, first), first).run();
    if (context.ledger.unclear.length > 0) await resolveUnclear(context, WHOLE_ENTITIES);
    return arrived;
  } catch (error) {
    context.requester.halt();
    await resolveUnclearAtEnd(context, WHOLE_ENTITIES);
    throw error;
  }
}

/**
 * Deletes every match in rounds: lists while nothing is being deleted, deletes, and lists again, until nothing is left to do.
 * Deletes during the listing would shift later pages. They go in the order of the list, since some brokers look for each entity
 * from the oldest on. What cannot be deleted while its list is fresh is left to the next round, which lists it again if it still
 * matches. (Parts of entities are removed in passes instead, see attributes/item-removal.ts, because their entities mostly stay
 * listed.)
 *
 * Ids whose tries ran out, and ids that were reported missing but are listed, get one final retry. Ids that were reported
 * deleted but are listed again count as made again, unless the broker shows that they were not. What remains is reported.
 */
class Drain {
  readonly #context: DeletingContext;
  /** Matches counted before the first delete; undefined if the count cannot be trusted. */
  readonly #target: number | undefined;
  readonly #ahead = new ListAhead();
  readonly #cuts = new RepeatedTries();
  #unprocessed: ListedPage | undefined;
  #state = initialClosing;
  #uncounted = 0;
  #lags = 0;
  #fruitless = 0;
  #skipsKnown = true;
  /** Total number of ids to take, including those that a sweep has listed. */
  #sweptTo = 0;

  constructor(context: DeletingContext, target: number | undefined, first: ListedPage) {
    this.#context = context;
    this.#target = target;
    this.#unprocessed = first;
  }

  async run(): Promise<number> {
    const { ledger } = this.#context;
    for (let idle = 0; idle <= MAX_IDLE_ROUNDS;) {
      const before = ledger.matched;
      const arrived = await this.#round();
      if (arrived !== undefined) return arrived;
      idle = ledger.matched > before ? 0 : idle + 1;
    }
    throw new NotConvergingError(
      'The broker keeps listing matches, but none of them could be deleted before its list was too old. Send the purge again.',
    );
  }

  /** Runs one round. Returns how many matches were left, if it was the last one. */
  async #round(): Promise<number | undefined> {
    const { ledger, requester, emit } = this.#context;
    const { counted = 0, taken } = this.#facts();
    const wanted = Math.max(counted, this.#sweptTo) - taken;
    const isDraining = wanted > 0;
    if (!isDraining) emit({ type: 'drained', matched: taken });
    const { states } = ledger;
    // Matches that could not be deleted come first; skip them.
    const known = isDraining && this.#skipsKnown ? states.count(IdState.retryDue, IdState.failed) : 0;
    const survey = await surveyMatches(this.#context, {
      first: this.#unprocessed,
      from: known,
      wanted: isDraining ? Math.min(wanted, this.#ahead.next(requester.burst)) : Infinity,
      isBrief: isDraining,
      takesFresh: isDraining || takesFresh(this.#state, this.#facts()),
      reportsLingering: this.#state.rechecks >= MAX_RECHECKS,
    });
    this.#unprocessed = undefined;
    if (isDraining && survey.fresh.length > 0) await this.#take(survey.fresh.slice(0, wanted), survey.listed);
    else if (known > 0) this.#skipsKnown = false;
    else return this.#close(survey);
    return undefined;
  }

  /** Runs a round after all counted matches were taken. Returns how many matches were left, if it was the last one. */
  async #close(survey: Survey): Promise<number | undefined> {
    const { requester } = this.#context;
    this.#sweptTo = 0;
    const sorted = await this.#sort(survey);
    if (sorted.untouched.length > 0) {
      await deleteSingly(this.#context, sorted.untouched);
      return undefined;
    }
    if (sorted.hasMore) return undefined;
    const lingering = survey.lingering + sorted.lingering;
    const step = planClosing({ ...survey, lingering }, this.#state, this.#facts());
    if (step.kind === 'finish') {
      finish(this.#context, survey);
      return survey.unseen + survey.unplanned;
    }
    this.#state = step.state;
    if (step.kind === 'recheck') await requester.waitBeforeCheck(this.#state.rechecks);
    else if (await this.#sweep(survey)) await this.#retry(survey);
    return undefined;
  }

  /** Takes the new matches of a closing round. Returns whether all of them were taken. */
  async #sweep({ fresh, listed }: Survey): Promise<boolean> {
    if (fresh.length === 0) return true;
    const { ledger } = this.#context;
    if (this.#target === undefined) this.#uncounted += fresh.length;
    if (this.#uncounted > MAX_UNCOUNTED) {
      throw new NotConvergingError(
        'New matches keep arriving, and the broker gives no count to distinguish them from the old ones. Send the purge again.',
      );
    }
    const { counted, allowance, taken } = this.#facts();
    // All counted matches are listed, so matches beyond the maximum arrived later.
    const allowed = fresh.slice(0, counted === undefined ? undefined : allowance);
    this.#sweptTo = taken + allowed.length;
    await this.#take(allowed, listed);
    return ledger.matched >= this.#sweptTo;
  }

  async #retry(survey: Survey): Promise<void> {
    const { ledger, requester } = this.#context;
    const due = [...survey.retryDue, ...survey.missing];
    const before = ledger.states.count(...GONE);
    if (await runFinalRetries(this.#context, survey, this.#lags, this.#cuts)) this.#lags += 1;
    this.#fruitless = due.length > 0 && ledger.states.count(...GONE) === before ? this.#fruitless + 1 : 0;
    if (this.#fruitless >= MAX_FRUITLESS) ledger.giveUp(due);
    else if (this.#fruitless > 1) await requester.waitBeforeCheck(this.#fruitless);
  }

  /** Sorts what is listed again, except at the first look: the query may lag behind the deletes for a moment. */
  async #sort(survey: Survey): Promise<Sorted> {
    const { length } = survey.reappeared;
    const { rechecks } = this.#state;
    if (length === 0 || rechecks === 0) return { lingering: length, untouched: [], hasMore: false };
    return sortReappeared(this.#context, survey, rechecks >= MAX_RECHECKS);
  }

  async #take(ids: readonly string[], listed: Listed): Promise<void> {
    const { ledger, clock } = this.#context;
    await this.#context.proof.prove();
    const [startedMs, before] = [clock.monotonicMs(), ledger.matched];
    await deleteIds(this.#context, ids, { listed });
    const sent = ledger.matched - before;
    this.#ahead.note({ listed, sent, unsent: ids.length - sent, ms: clock.monotonicMs() - startedMs });
  }

  #facts(): ClosingFacts {
    const { ledger, paging } = this.#context;
    return {
      counted: paging.contradicted ? undefined : this.#target,
      taken: ledger.matched,
      allowance: ledger.allowance,
    };
  }
}

/** Resolves all items by the last survey; those it lists could not be deleted. */
function finish({ ledger, paging, showsAll }: PurgeContext, survey: Survey): void {
  const { states } = ledger;
  ledger.resolveBySurvey(survey.complete && showsAll);
  if (survey.complete || survey.trickles) return;
  // Without a fixed page order, unlisted matches may be those that could not be deleted.
  const known = states.count(IdState.failed, IdState.madeAgain) + survey.unseen + survey.unplanned;
  const isAccountedFor = survey.lastCount !== undefined && !paging.contradicted && survey.lastCount <= known;
  if (isAccountedFor) return;
  throw new BrokerReplyError(
    survey.unlisted > 0
      ? `The broker counts ${survey.unlisted} more matches than it lists.`
      : 'The broker shows the same page for every offset, and matches ' +
          'that could not be deleted fill it. There may be more behind it.',
  );
}

/** State that is carried over from round to round. */
export interface ClosingState {
  /** Whether new ids were taken in a full sweep; later ones arrived during the purge. */
  readonly hasSwept: boolean;
  /** Later sweeps for new ids, if the broker gives no count. */
  readonly lateSweeps: number;
  /** How often the purge has waited because the query may lag behind the deletes. */
  readonly rechecks: number;
}

/** The facts that decide a round. */
export interface ClosingFacts {
  /** Matches counted before the first delete, if that count can be trusted. */
  readonly counted: number | undefined;
  /** Ids taken so far. */
  readonly taken: number;
  /** Ids that may still be taken under the purge's maximum; Infinity without one. */
  readonly allowance: number;
}

export type ClosingStep =
  /** Delete or retry something. */
  | { readonly kind: 'work'; readonly state: ClosingState }
  /** Wait and query again: the query may lag behind. */
  | { readonly kind: 'recheck'; readonly state: ClosingState }
  | { readonly kind: 'finish' };

/** Pages without a fixed order skip some matches; without a count, this many more sweeps find them. */
const MAX_LATE_SWEEPS = 3;

export const initialClosing: ClosingState = { hasSwept: false, lateSweeps: 0, rechecks: 0 };

/**
 * Whether to take new ids: in the first full sweep, and later only while fewer were taken than the broker had counted, or a few
 * times without a count. Other ids arrived during the purge and are left. With a count, all new ids are left once the maximum
 * is reached.
 */
export function takesFresh(state: ClosingState, { counted, taken, allowance }: ClosingFacts): boolean {
  if (counted === undefined) return !state.hasSwept || state.lateSweeps < MAX_LATE_SWEEPS;
  return allowance > 0 && (taken < counted || !state.hasSwept);
}

/** Decides what follows a survey. */
export function planClosing(survey: Survey, state: ClosingState, facts: ClosingFacts): ClosingStep {
  const { counted, taken } = facts;
  const again = survey.missing.length + survey.retryDue.length;
  if (survey.fresh.length + again > 0) {
    // A query may lag behind the deletes for a moment: do not repeat them all yet.
    const mayLag = survey.fresh.length + survey.retryDue.length === 0;
    if (mayLag && state.rechecks === 0) return recheck(state);
    const hasSwept = state.hasSwept || survey.complete || survey.trickles || counted !== undefined;
    const isLate = state.hasSwept && survey.fresh.length > 0;
    return { kind: 'work', state: { ...state, hasSwept, lateSweeps: state.lateSweeps + (isLate ? 1 : 0) } };
  }
  // If matches were counted, but neither taken nor shown, another client has deleted them, or the broker shows an error as an
  // empty result.
  const isShort = counted !== undefined && taken < counted;
  const isPartial = !survey.complete && !survey.trickles;
  if ((survey.lingering > 0 || isPartial || isShort) && state.rechecks < MAX_RECHECKS) return recheck(state);
  return { kind: 'finish' };
}

function recheck(state: ClosingState): ClosingStep {
  return { kind: 'recheck', state: { ...state, rechecks: state.rechecks + 1 } };
}
