import { initialClosing, MAX_RECHECKS, planClosing, takesFresh } from './closing-plan.js';
import type { PurgeContext } from './context.js';
import { deleteListed } from './delete-dispatcher.js';
import type { Dispatcher } from './dispatcher.js';
import { BrokerReplyError, NotConvergingError } from './errors.js';
import { IdState } from './id-states.js';
import type { ListedPage } from './listing/listing.js';
import { runFinalRetries } from './final-retries.js';
import { surveyMatches, type Survey } from './survey.js';

/** Where nobody counts the matches, some that arrive as fast as they are deleted look like more of the old ones. */
const MAX_ROUNDS = 20_000;
const MAX_UNCOUNTED = 1_000_000;

/**
 * Deletes every match in rounds: lists what the query shows while nothing is being deleted, deletes it, and lists again,
 * until nothing is left to do. Deletes that overlapped with the listing would move the pages still to come, and could
 * not begin at the end where the broker is quick.
 *
 * Progress is what a new query shows: ids claimed gone but still listed, and ids whose tries ran out, are tried once
 * more; what stays then is reported.
 *
 * @param target matches counted before the first delete, where that can be trusted
 * @param first a page that nothing was taken of yet
 * @returns how many matches arrived meanwhile and were left
 * @throws BrokerReplyError when the broker hides matches: it counts them, or its pages are full of what cannot go
 */
export async function drain(
  context: PurgeContext,
  dispatcher: Dispatcher<string>,
  target: number | undefined,
  first: ListedPage,
): Promise<number> {
  const { ledger, paging, requester, limits } = context;
  const { states } = ledger;
  let state = initialClosing;
  let uncounted = 0;
  let lags = 0;
  let skipsKnown = true;
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    const factsNow = () => ({
      counted: paging.contradicted ? undefined : target,
      taken: ledger.matched,
      allowance: Math.max(0, (limits.maxAffected ?? Infinity) - ledger.matched),
    });
    const { counted = 0, taken } = factsNow();
    const isDraining = taken < counted;
    if (!isDraining) context.emit({ type: 'drained', matched: taken });
    // What is known to have stayed is in front of what was never seen.
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
    const step = planClosing(survey, state, factsNow());
    if (step.kind === 'finish') {
      finish(context, survey);
      return survey.unseen;
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
      // With all counted ones listed, more than the maximum allows can only have arrived since.
      await take(survey.fresh.slice(0, stillCounted === undefined ? undefined : allowance));
    }
    if (await runFinalRetries(context, survey, lags)) lags += 1;
  }
  throw new NotConvergingError(
    'Matches keep turning up faster than they can be told from those that were there before; send the purge again.',
  );

  async function take(ids: readonly string[]): Promise<void> {
    await context.proveFilters();
    await deleteListed(context, dispatcher, context.ledger.addNew(ids));
  }
}

/** Nothing is left to do: what the last survey lists stays, and is reported. */
function finish({ ledger, paging, showsAll }: PurgeContext, survey: Survey): void {
  const { states } = ledger;
  ledger.resolveBySurvey(survey.complete && showsAll);
  if (survey.complete || survey.trickles) return;
  // In pages without a fixed order, the counted ones that were not listed may be those known to have stayed.
  const known = states.count(IdState.failed) + survey.unseen;
  const isAccountedFor = survey.lastCount !== undefined && !paging.contradicted && survey.lastCount <= known;
  if (isAccountedFor) return;
  throw new BrokerReplyError(
    survey.unlisted > 0
      ? `The broker counts ${survey.unlisted} more matches than it lists.`
      : 'The broker shows the same page of matches for every offset, and those that could not be deleted fill it: what lies behind is unknown.',
  );
}
