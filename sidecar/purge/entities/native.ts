import { parseBrokerProblem } from '../broker/index.js';
import type { AppliedPlan, PurgeContext, PurgeReport } from '../run/index.js';
import {
  BrokerFailedError,
  BrokerRefusedError,
  BrokerReplyError,
  QueryRefusedError,
  TooManyMatchesError,
} from '../errors.js';
import { itemProblem, type PurgeCounts } from '../ledger/index.js';
import type { ListedPage } from '../listing/index.js';
import { formatParameters, type PurgeQuery } from '../query/index.js';

/** Selecting parameters that the broker's own Purge Entities does not have (Table 6.4.3.3-1). */
const NOT_NATIVE: ReadonlySet<string> = new Set(['attrs', 'expandValues', 'jsonKeys']);

const PLAN_IGNORED =
  'PURGE_STRATEGY=native leaves the deletes to the broker, which would also delete what is not in the plan. Nothing was deleted.';

const OPERATION = 'purge by its own operation';

/** Purges in a row without progress, after which the remaining matches are reported. */
const MAX_IDLE_PURGES = 2;

/**
 * Checks that the broker's own operation can do the purge.
 *
 * @throws QueryRefusedError for a filter that the operation does not have, and for a plan, which it would ignore
 */
export function checkNativePurge(query: PurgeQuery, plan: AppliedPlan | undefined): void {
  if (plan !== undefined) throw new QueryRefusedError('invalidRequest', PLAN_IGNORED, 'plan');
  const foreign = query.selection.find(({ name }) => NOT_NATIVE.has(name));
  if (foreign === undefined) return;
  const detail = `The broker's own purge, which this gateway uses (PURGE_STRATEGY=native), has no parameter ${foreign.name}.`;
  throw new QueryRefusedError('invalidRequest', detail, foreign.name);
}

/**
 * Lets the broker purge by itself (opt-in), repeatedly until it neither shows nor counts a match: some brokers delete one page
 * per request.
 *
 * A maximum holds only before the first request; after that, the broker decides what it deletes. Every match that disappears
 * counts as deleted by this purge.
 *
 * @throws BrokerReplyError if the broker gives no count, or counts matches but lists none, so that its filters are unproven
 */
export async function purgeNatively(
  context: PurgeContext,
  first: ListedPage,
): Promise<PurgeCounts & Pick<PurgeReport, 'errors' | 'arrived'>> {
  const { selection, requester, lister } = context;
  const matched = countOf(first);
  if (matched > 0 && first.ids.length === 0) {
    throw new BrokerReplyError(`The broker counts ${matched} matches but lists none of them.`);
  }
  // The path that answered the query: another spelling may mean something else.
  const path = `${first.path}?${formatParameters(selection)}`;
  let page = first;
  /** Whether a purge was sent whose effect is not known yet. */
  const sent = { isUnclear: false };
  const onUnclear = () => {
    sent.isUnclear = true;
  };
  const report = (counts: PurgeCounts) =>
    context.emit({ type: 'progress', hasBegun: true, ...counts, ...requester.requestCounts });
  const look = async () => {
    page = await lister.page({ selection, count: true });
    const count = countOf(page);
    sent.isUnclear = false;
    return count;
  };
  let left = matched;
  let fewest = matched;
  try {
    for (let idle = 0; left > 0 && idle < MAX_IDLE_PURGES;) {
      const settled = await requester.send({
        method: 'DELETE',
        path,
        operation: OPERATION,
        deletes: left,
        onUnclear,
      });
      if (settled.kind === 'gave-up' && settled.failure.kind === 'withheld')
        throw new TooManyMatchesError(left, context.limits.maxAffected ?? left, true);
      if (settled.kind === 'gave-up')
        throw new BrokerFailedError(OPERATION, settled.failure, 'attempts-used-up');
      const { status } = settled.reply;
      // Some brokers answer 404 when nothing matches any more; the count below decides.
      if (status >= 400 && status !== 404)
        throw new BrokerRefusedError(OPERATION, parseBrokerProblem(settled.reply));
      onUnclear();
      left = await look();
      // Progress means a count below all earlier ones: if matches arrive, the count may go up and down forever.
      idle = left < fewest ? 0 : idle + 1;
      fewest = Math.min(fewest, left);
      report(countsOf(matched, left, 'left'));
    }
  } catch (error) {
    if (!sent.isUnclear) throw error;
    const last = requester.beginFinalQueries() ? await look().catch(() => undefined) : undefined;
    report(last === undefined ? countsOf(matched, left, 'unknown') : countsOf(matched, last, 'left'));
    throw error;
  }
  const problem = itemProblem({
    status: 409,
    title: 'Entity still listed',
    detail: 'The broker purged, but still lists the entity.',
  });
  return {
    ...countsOf(matched, left, 'failed'),
    arrived: Math.max(0, left - matched),
    errors: left === 0 ? [] : page.ids.slice(0, 1000).map((entityId) => ({ entityId, error: problem })),
  };
}

/** @param as how to count the remaining matches: as failed, as unknown, or not at all yet */
function countsOf(matched: number, left: number, as: 'failed' | 'unknown' | 'left'): PurgeCounts {
  const rest = Math.min(left, matched);
  return {
    matched,
    deleted: matched - rest,
    alreadyGone: 0,
    failed: as === 'failed' ? rest : 0,
    unknown: as === 'unknown' ? rest : 0,
  };
}

function countOf(page: ListedPage): number {
  if (page.count === undefined) {
    throw new BrokerReplyError(
      'The broker gives no count of the matches, so its own purge cannot be followed.',
    );
  }
  return Math.max(page.count, page.ids.length);
}
