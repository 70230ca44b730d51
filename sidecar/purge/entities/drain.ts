import {
  Deleter,
  type DeletingContext,
  resolveUnclear,
  resolveUnclearAtEnd,
  WHOLE_ENTITIES,
  createDeleteDispatcher,
  deleteListed,
  ListAhead,
  CutTries,
  deleteSingly,
  runFinalRetries,
  sortReappeared,
  type Sorted,
  surveyMatches,
  type Survey,
} from '../deleting/index.js';
import type { ListedPage, Listed } from '../listing/index.js';
import { type PurgeContext, trustedTotal } from '../run/index.js';
import { initialClosing, MAX_RECHECKS, planClosing, takesFresh, type ClosingState } from './closing-plan.js';
import { BrokerReplyError, NotConvergingError } from '../errors.js';
import { IdState } from '../ledger/index.js';

/**
 * Deletes every entity that the query lists.
 *
 * @param listed number of matches, if all were listed to check the maximum
 * @returns how many matches arrived during the purge and were left
 */
export async function purgeByIds(
  context: PurgeContext,
  first: ListedPage,
  listed: number | undefined,
): Promise<number> {
  const deleting: DeletingContext = { ...context, deleter: new Deleter(context) };
  context.ledger.forgetUnclear();
  try {
    const arrived = await drain(deleting, listed ?? trustedTotal(context, first), first);
    await resolveUnclear(context, WHOLE_ENTITIES);
    return arrived;
  } catch (error) {
    context.requester.halt();
    await resolveUnclearAtEnd(context, WHOLE_ENTITIES);
    throw error;
  }
}

/** Rounds that delete nothing. Reached only if what is listed is never there when its delete comes. */
const MAX_IDLE_ROUNDS = 20_000;

/** Without a count, matches that arrive as fast as they are deleted look like old ones. */
const MAX_UNCOUNTED = 1_000_000;

/** Rounds of final retries in a row after which nothing was gone. */
const MAX_FRUITLESS = 12;

const GONE = [IdState.gone, IdState.goneTwice, IdState.absentTwice] as const;

/**
 * Deletes every match in rounds: list while nothing is being deleted, delete, list again, until nothing is left to do.
 * Deletes during the listing would shift later pages, and could not start at the end where the broker is fast. What cannot
 * be deleted while its list is fresh is left to the next round, which lists it again if it still matches.
 *
 * Ids whose tries ran out, and ids that were reported missing and are listed, get one final retry. What was reported
 * deleted and is listed again counts as made again, unless the broker shows that it is not. What remains is reported.
 *
 * @param target matches counted before the first delete; undefined when the count cannot be trusted
 * @param first a page that was not processed yet
 * @returns how many matches arrived during the purge and were left
 * @throws BrokerReplyError when the broker hides matches: it counts them, or its pages are full of what cannot go
 */
export async function drain(
  context: DeletingContext,
  target: number | undefined,
  first: ListedPage,
): Promise<number> {
  const { ledger, paging, requester, clock } = context;
  const { states } = ledger;
  const madeAgainBefore = ledger.madeAgain;
  const ahead = new ListAhead();
  let state = initialClosing;
  let unprocessed: ListedPage | undefined = first;
  let uncounted = 0;
  let lags = 0;
  let fruitless = 0;
  const cuts = new CutTries();
  let skipsKnown = true;
  /** Ids to be taken in all, with those that a sweep has listed. */
  let sweptTo = 0;
  for (let idle = 0; idle <= MAX_IDLE_ROUNDS;) {
    const factsNow = () => ({
      counted: paging.contradicted ? undefined : target,
      taken: ledger.matched,
      allowance: ledger.allowance,
    });
    const { counted = 0, taken } = factsNow();
    const wanted = Math.max(counted, sweptTo) - taken;
    const isDraining = wanted > 0;
    if (!isDraining) context.emit({ type: 'drained', matched: taken });
    // Matches that could not be deleted come first; skip them.
    const known =
      isDraining && skipsKnown ? states.count(IdState.retryDue) + states.count(IdState.failed) : 0;
    const survey = await surveyMatches(context, {
      first: unprocessed,
      from: known,
      wanted: isDraining ? Math.min(wanted, ahead.next(requester.burst)) : Infinity,
      isBrief: isDraining,
      takesFresh: isDraining || takesFresh(state, factsNow()),
      reportsLingering: state.rechecks >= MAX_RECHECKS,
    });
    unprocessed = undefined;
    if (isDraining && survey.fresh.length > 0) {
      await take(survey.fresh.slice(0, wanted), survey.listed);
      if (ledger.matched === taken) idle += 1;
      continue;
    }
    idle += 1;
    if (known > 0) {
      skipsKnown = false;
      continue;
    }
    sweptTo = 0;
    const sorted = await sort(survey, state);
    if (sorted.untouched.length > 0) {
      await deleteSingly(context, sorted.untouched);
      continue;
    }
    if (sorted.hasMore) continue;
    const step = planClosing(
      { ...survey, lingering: survey.lingering + sorted.lingering },
      state,
      factsNow(),
    );
    if (step.kind === 'finish') {
      finish(context, survey);
      return survey.unseen + ledger.madeAgain - madeAgainBefore;
    }
    state = step.state;
    if (step.kind === 'recheck') {
      await requester.waitBefore(state.rechecks);
      continue;
    }
    uncounted += target === undefined ? survey.fresh.length : 0;
    if (uncounted > MAX_UNCOUNTED) break;
    if (survey.fresh.length > 0) {
      const { counted: stillCounted, allowance } = factsNow();
      // All counted ones are listed: any beyond the maximum arrived later.
      const fresh = survey.fresh.slice(0, stillCounted === undefined ? undefined : allowance);
      sweptTo = taken + fresh.length;
      await take(fresh, survey.listed);
      if (ledger.matched < sweptTo) continue;
    }
    await retry(survey);
  }
  throw new NotConvergingError(
    uncounted > MAX_UNCOUNTED
      ? 'New matches keep arriving, and the broker gives no count to distinguish them from the old ones. Send the purge again.'
      : 'The broker keeps listing matches, and none of them could be deleted before its list was too old. Send the purge again.',
  );

  async function retry(survey: Survey): Promise<void> {
    const gone = () => GONE.reduce((sum, state) => sum + states.count(state), 0);
    const before = gone();
    if (await runFinalRetries(context, survey, lags, cuts)) lags += 1;
    const isDue = survey.retryDue.length + survey.missing.length > 0;
    fruitless = isDue && gone() === before ? fruitless + 1 : 0;
    if (fruitless >= MAX_FRUITLESS) ledger.giveUp([...survey.retryDue, ...survey.missing]);
    else if (fruitless > 1) await requester.waitBefore(fruitless);
  }

  /** A first look at what is listed again may come too early: the query may lag behind the deletes for a moment. */
  async function sort(survey: Survey, { rechecks }: ClosingState): Promise<Sorted> {
    const { length } = survey.reappeared;
    if (length === 0 || rechecks === 0) return { lingering: length, untouched: [], hasMore: false };
    return sortReappeared(context, survey, rechecks >= MAX_RECHECKS);
  }

  async function take(ids: readonly string[], listed: Listed): Promise<void> {
    await context.proveFilters();
    const [startedMs, before] = [clock.now(), ledger.matched];
    const dispatcher = createDeleteDispatcher(context, { listed, isFinalTry: false, singly: false });
    try {
      await deleteListed(context, dispatcher, ids);
    } catch (error) {
      requester.halt();
      await dispatcher.abandon();
      throw error;
    }
    const sent = ledger.matched - before;
    ahead.note({ listed, sent, unsent: ids.length - sent, ms: clock.now() - startedMs });
  }
}

/** Resolves all items by the last survey; those it lists could not be deleted. */
function finish({ ledger, paging, showsAll }: PurgeContext, survey: Survey): void {
  const { states } = ledger;
  ledger.resolveBySurvey(survey.complete && showsAll);
  if (survey.complete || survey.trickles) return;
  // Without a fixed page order, unlisted matches may be those that could not be deleted.
  const known = states.count(IdState.failed) + states.count(IdState.madeAgain) + survey.unseen;
  const isAccountedFor = survey.lastCount !== undefined && !paging.contradicted && survey.lastCount <= known;
  if (isAccountedFor) return;
  throw new BrokerReplyError(
    survey.unlisted > 0
      ? `The broker counts ${survey.unlisted} more matches than it lists.`
      : 'The broker shows the same page for every offset, and matches that could not be deleted fill it. There may be more behind it.',
  );
}
