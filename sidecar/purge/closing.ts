import type { PurgeContext } from './context.js';
import { createDeleteDispatcher } from './delete-dispatcher.js';
import type { Dispatcher } from './dispatcher.js';
import { BrokerFailedError, BrokerReplyError, NotConvergingError } from './errors.js';
import { IdState } from './id-ledger.js';
import type { ListedPage } from './listing.js';
import { surveyMatches, type Survey } from './survey.js';

/** Looks at something that should have changed before it is reported: brokers may answer queries from a stale index. */
const LOOKS_MAX = 3;

/** Rounds after which a purge gives up; each deals with thousands of ids. */
const ROUNDS_MAX = 200;

/** Sweeps for matches never seen before, after one that looked complete, where no count tells old ones from new. */
const LATE_SWEEPS_MAX = 3;

/** So many ids that batch delete claimed gone and that are still listed say that batch delete does nothing. */
const IDLE_BATCH_EVIDENCE = 20;

/**
 * Closes a drain: looks at what the query still shows and deals with it until nothing is left to do. Without a count
 * to drain by, this is the whole purge, in rounds.
 *
 * Progress is what a new query shows: ids claimed gone but still listed, and ids whose tries ran out, are tried once
 * more; what stays then is reported. Matches never seen before are taken in one sweep, and beyond it while fewer were
 * taken than counted; later ones arrived while the purge ran and are left alone.
 *
 * @param target matches counted before the first delete, where the count can be trusted
 * @param first a page that nothing was taken of yet
 * @returns how many matches arrived meanwhile and were left
 */
export async function closeDrain(
  context: PurgeContext,
  dispatcher: Dispatcher<string>,
  target: number | undefined,
  first?: ListedPage,
): Promise<number> {
  const { tally, counts, requester } = context;
  let looks = 0;
  let hasSwept = false;
  let lateSweeps = 0;
  let waitedForIndex = false;
  for (let round = 1; round <= ROUNDS_MAX; round++) {
    await dispatcher.settled();
    context.emit({ type: 'drained', matched: tally.matched });
    const survey = await surveyMatches(context, round === 1 ? first : undefined);
    if (survey.claimedGone.length > 0 && !waitedForIndex) {
      // A query may lag behind the deletes for a moment, which is no reason to repeat them all.
      waitedForIndex = true;
      await requester.waitBefore(1);
      continue;
    }
    const counted = counts.contradicted ? undefined : target;
    const isShort = counted !== undefined && tally.matched < counted;
    const chases = !hasSwept || (counted === undefined ? lateSweeps < LATE_SWEEPS_MAX : isShort);
    if (survey.fresh.length > 0) await context.proveFilters();
    const fresh = chases ? context.takeFresh(survey.fresh) : [];
    const hasWork = fresh.length + survey.claimedGone.length + survey.unsettled.length > 0;
    if (hasWork) {
      doubtBatches(context, survey);
      dispatcher.add(fresh);
      await tryAgain(context, survey);
      if (hasSwept && fresh.length > 0) lateSweeps += 1;
      // Without a count, a survey cut short by its size leaves the rest of the first sweep to the next one.
      hasSwept ||= counted !== undefined || survey.complete || survey.trickles;
      continue;
    }
    // Counted, not taken and not shown: gone by another hand, or an error shown as an empty result.
    const isIncomplete = !survey.complete && !survey.trickles;
    const isUncertain = survey.claimedGoneTwice.length > 0 || isIncomplete || isShort;
    if (isUncertain && looks < LOOKS_MAX) {
      looks += 1;
      await requester.waitBefore(looks);
      continue;
    }
    finish(context, survey);
    return chases ? 0 : survey.fresh.length;
  }
  throw new NotConvergingError(
    'Matches keep turning up faster than they can be told from those that were there before; send the purge again.',
  );
}

/** Gives up on batch delete when most of what it claimed to have deleted is still listed. */
function doubtBatches({ tally, capabilities }: PurgeContext, { claimedGone }: Survey): void {
  const isIdle =
    claimedGone.length >= IDLE_BATCH_EVIDENCE && claimedGone.length * 2 > tally.ledger.count(IdState.gone);
  if (isIdle) capabilities.batchDelete = false;
}

/** The second tries of one round. */
async function tryAgain(context: PurgeContext, survey: Survey): Promise<void> {
  const { requester } = context;
  // What was claimed to be deleted is tried singly, whoever claimed it; what failed may go by batch again.
  const single = createDeleteDispatcher(context, { isSecondTry: true, singly: true });
  const any = createDeleteDispatcher(context, { isSecondTry: true, singly: false });
  try {
    single.add(survey.claimedGone);
    await single.settled();
    any.add(survey.unsettled);
    await any.settled();
  } catch (error) {
    await Promise.all([single.abandon(), any.abandon()]);
    // Hopeless items are reported one by one; whether the broker still answers is for the next query to show.
    if (!(error instanceof BrokerFailedError) || error.reason !== 'nothing-but-failures') throw error;
    requester.forgiveFailures();
    for (const entityId of survey.unsettled) giveUp(context, entityId, error);
    for (const entityId of survey.claimedGone) giveUp(context, entityId, error);
  }
}

function giveUp(context: PurgeContext, entityId: string, error: BrokerFailedError): void {
  const { tally } = context;
  const state = tally.ledger.get(entityId);
  if (state === IdState.goneTwice || state === IdState.failed) return;
  const status = error.failure.status ?? 502;
  tally.failListed(
    { entityId },
    { status, title: 'The broker did not delete the entity', detail: error.message },
  );
}

/** Nothing is left to do: what the last survey lists stays, and is reported. */
function finish(context: PurgeContext, survey: Survey): void {
  const { tally, counts } = context;
  for (const entityId of survey.claimedGoneTwice) {
    tally.failListed(
      { entityId },
      {
        status: 409,
        title: 'Entity still listed',
        detail: 'The broker answered two deletes as done, and still lists the entity.',
      },
    );
  }
  // Where pages overlap (no fixed order), the counted ones that were not listed may be those known to have stayed.
  const hidden = survey.unlisted - tally.ledger.countUnlisted(IdState.failed);
  if (hidden > 0 && !counts.contradicted) {
    throw new BrokerReplyError(`The broker counts ${hidden} more matches than it lists.`);
  }
  if (survey.complete) tally.forgetUnlisted();
}
