import type { PurgeContext } from './context.js';
import { createDeleteDispatcher } from './delete-dispatcher.js';
import type { Dispatcher } from './dispatcher.js';
import { BrokerFailedError, BrokerReplyError, NotConvergingError } from './errors.js';
import { IdState } from './id-ledger.js';
import { surveyMatches, type Survey } from './survey.js';

/** Looks at something that should have changed before it is reported: brokers may answer queries from a stale index. */
const LOOKS_MAX = 3;

/** Rounds after which a purge gives up; each deals with thousands of ids. */
const ROUNDS_MAX = 200;

/** So many ids that batch delete claimed gone and that are still listed say that batch delete does nothing. */
const IDLE_BATCH_EVIDENCE = 20;

/**
 * Closes a drain: looks at what the query still shows and deals with it until nothing is left to do.
 *
 * Progress is what a new query shows: ids claimed gone but still listed, and ids whose tries ran out, are tried once
 * more; what stays then is reported. Matches never seen before are taken until one survey was complete; those of later
 * surveys arrived while the purge ran and are left alone.
 *
 * @param target matches counted before the first delete, where the count can be trusted
 * @returns how many matches arrived meanwhile and were left
 */
export async function closeDrain(
  context: PurgeContext,
  dispatcher: Dispatcher<string>,
  target: number | undefined,
): Promise<number> {
  const { tally } = context;
  let looks = 0;
  let sweptAll = false;
  for (let round = 1; round <= ROUNDS_MAX; round++) {
    await dispatcher.settled();
    context.emit({ type: 'drained', matched: tally.matched });
    const survey = await surveyMatches(context);
    const chases = !sweptAll || (target !== undefined && tally.matched < target);
    if (survey.fresh.length > 0) await context.proveFilters();
    const fresh = chases ? context.takeFresh(survey.fresh) : [];
    const hasWork = fresh.length + survey.claimedGone.length + survey.unsettled.length > 0;
    if (hasWork) {
      dispatcher.add(fresh);
      await tryAgain(context, survey);
      sweptAll ||= survey.complete;
      continue;
    }
    const isUncertain = survey.claimedGoneTwice.length > 0 || !survey.complete;
    if (isUncertain && looks < LOOKS_MAX) {
      looks += 1;
      await context.requester.waitBefore(looks);
      continue;
    }
    finish(context, survey);
    return chases ? 0 : survey.fresh.length;
  }
  throw new NotConvergingError(
    'Matches keep turning up faster than they can be told from those that were there before; send the purge again.',
  );
}

/** The second tries of one round. */
async function tryAgain(context: PurgeContext, survey: Survey): Promise<void> {
  const { tally, capabilities, requester } = context;
  if (
    survey.claimedGone.length >= IDLE_BATCH_EVIDENCE &&
    survey.claimedGone.length * 2 > tally.ledger.count(IdState.gone)
  ) {
    capabilities.batchDelete = false;
  }
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
  if (survey.unlisted > 0 && !counts.contradicted) {
    throw new BrokerReplyError(`The broker counts ${survey.unlisted} more matches than it lists.`);
  }
  if (survey.complete) tally.forgetUnlisted();
}
