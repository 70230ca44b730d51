import { initialClosing, MAX_RECHECKS, planClosing, takesFresh, type ClosingState } from './closing-plan.js';
import type { PurgeContext } from './context.js';
import { deleteListed } from './delete-dispatcher.js';
import type { Dispatcher } from './dispatcher.js';
import { BrokerReplyError, NotConvergingError } from './errors.js';
import { IdState } from './id-states.js';
import type { ListedPage } from './listing/listing.js';
import { deleteSingly, runFinalRetries } from './final-retries.js';
import { sortReappeared, type Sorted } from './reappeared.js';
import { surveyMatches, type Survey } from './survey.js';

/** Without a count, matches that arrive as fast as they are deleted look like old ones. */
const MAX_ROUNDS = 20_000;
const MAX_UNCOUNTED = 1_000_000;

/**
 * Deletes every match in rounds: list while nothing is being deleted, delete, list again, until nothing is left to do.
 * Deletes during the listing would shift later pages, and could not start at the end where the broker is fast.
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
  context: PurgeContext,
  dispatcher: Dispatcher<string>,
  target: number | undefined,
  first: ListedPage,
): Promise<number> {
  const { ledger, paging, requester } = context;
  const { states } = ledger;
  const madeAgainBefore = ledger.madeAgain;
  let state = initialClosing;
  let uncounted = 0;
  let lags = 0;
  let skipsKnown = true;
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    const factsNow = () => ({
      counted: paging.contradicted ? undefined : target,
      taken: ledger.matched,
      allowance: ledger.allowance,
    });
    const { counted = 0, taken } = factsNow();
    const isDraining = taken < counted;
    if (!isDraining) context.emit({ type: 'drained', matched: taken });
    // Matches that could not be deleted come first; skip them.
    const known =
      isDraining && skipsKnown ? states.count(IdState.retryDue) + states.count(IdState.failed) : 0;
    const survey = await surveyMatches(context, {
      first: round === 1 ? first : undefined,
      from: known,
      wanted: isDraining ? counted - taken : Infinity,
      takesFresh: takesFresh(state, factsNow()),
      reportsLingering: state.rechecks >= MAX_RECHECKS,
    });
    if (isDraining && survey.fresh.length > 0) {
      await take(survey.fresh.slice(0, counted - taken));
      continue;
    }
    if (known > 0) {
      skipsKnown = false;
      continue;
    }
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
      await take(survey.fresh.slice(0, stillCounted === undefined ? undefined : allowance));
    }
    if (await runFinalRetries(context, survey, lags)) lags += 1;
  }
  throw new NotConvergingError(
    'New matches keep arriving, and the broker gives no count to distinguish them from the old ones. Send the purge again.',
  );

  /** A first look at what is listed again may come too early: the query may lag behind the deletes for a moment. */
  async function sort(survey: Survey, { rechecks }: ClosingState): Promise<Sorted> {
    const { length } = survey.reappeared;
    if (length === 0 || rechecks === 0) return { lingering: length, untouched: [], hasMore: false };
    return sortReappeared(context, survey, rechecks >= MAX_RECHECKS);
  }

  async function take(ids: readonly string[]): Promise<void> {
    await context.proveFilters();
    await deleteListed(context, dispatcher, context.ledger.addNew(ids));
  }
}

/** Resolves all items by the last survey; those it lists could not be deleted. */
function finish({ ledger, paging, showsAll }: PurgeContext, survey: Survey): void {
  const { states } = ledger;
  ledger.resolveBySurvey(survey.complete && showsAll);
  if (survey.complete || survey.trickles) return;
  // Without a fixed page order, unlisted matches may be those that could not be deleted.
  const known = states.count(IdState.failed) + survey.unseen;
  const isAccountedFor = survey.lastCount !== undefined && !paging.contradicted && survey.lastCount <= known;
  if (isAccountedFor) return;
  throw new BrokerReplyError(
    survey.unlisted > 0
      ? `The broker counts ${survey.unlisted} more matches than it lists.`
      : 'The broker shows the same page for every offset, and matches that could not be deleted fill it. There may be more behind it.',
  );
}
