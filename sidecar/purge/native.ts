import { parseBrokerProblem } from '../broker/broker-problem.js';
import type { PurgeContext } from './context.js';
import { BrokerFailedError, BrokerRefusedError, BrokerReplyError, QueryRefusedError } from './errors.js';
import type { PurgeReport } from './events.js';
import { itemProblem } from './item-problem.js';
import type { ListedPage } from './listing.js';
import { formatParameters } from './parameters.js';
import type { EntityPurgeQuery } from './query.js';

/** Selecting parameters that the broker's own Purge Entities does not have (Table 6.4.3.3-1). */
const NOT_NATIVE: ReadonlySet<string> = new Set(['attrs', 'expandValues', 'jsonKeys']);

const OPERATION = 'purge by its own operation';

/** Purges without any progress after which the rest is reported. */
const IDLE_PURGES_MAX = 2;

/** @throws QueryRefusedError for a filter that the standard's operation does not have */
export function checkNativeQuery(query: EntityPurgeQuery): void {
  const foreign = query.selection.find(({ name }) => NOT_NATIVE.has(name));
  if (foreign === undefined) return;
  const detail = `${foreign.name} is not a parameter of the broker's own purge, which this gateway is set to use (PURGE_STRATEGY=native).`;
  throw new QueryRefusedError('invalidRequest', detail, foreign.name);
}

/**
 * Lets the broker purge by itself (opt-in), again and again until it shows and counts no match: some brokers delete
 * one page for each request.
 *
 * A bound on the matches holds before the first request only: what the broker then deletes is its own decision.
 *
 * @throws BrokerReplyError when the broker gives no count, without which nothing could be claimed, or counts matches of
 *   which it lists none, so that its filters could not be proven
 */
export async function purgeNatively(
  context: PurgeContext,
  first: ListedPage,
): Promise<Pick<PurgeReport, 'matched' | 'deleted' | 'failed' | 'errors'>> {
  const { selection, requester, lister } = context;
  const matched = countOf(first);
  if (matched > 0 && first.ids.length === 0) {
    throw new BrokerReplyError(`The broker counts ${matched} matches but lists none of them.`);
  }
  // As it was spelled in a query that the broker answered: spelled otherwise, it may mean something else.
  const path = `${first.path}?${formatParameters(selection)}`;
  let left = matched;
  let fewest = matched;
  let page = first;
  for (let idle = 0; left > 0 && idle < IDLE_PURGES_MAX;) {
    const settled = await requester.send({ method: 'DELETE', path, operation: OPERATION });
    if (settled.kind === 'gave-up')
      throw new BrokerFailedError(OPERATION, settled.failure, 'attempts-used-up');
    const { status } = settled.reply;
    // 404: nothing matches any more, in the words of some brokers; the count below has the last word.
    if (status >= 400 && status !== 404)
      throw new BrokerRefusedError(OPERATION, parseBrokerProblem(settled.reply));
    page = await lister.page({ selection, count: true });
    const now = countOf(page);
    // Below every count so far: with matches coming in, a count that goes up and down would never end.
    idle = now < fewest ? 0 : idle + 1;
    fewest = Math.min(fewest, now);
    left = now;
    const deleted = Math.max(0, matched - left);
    context.emit({ type: 'progress', hasBegun: true, deleted, failed: 0, requests: requester.requests });
  }
  const problem = itemProblem({
    status: 409,
    title: 'Entity still listed',
    detail: 'The broker purged and still lists it.',
  });
  return {
    matched,
    deleted: Math.max(0, matched - left),
    failed: left,
    errors: left === 0 ? [] : page.ids.slice(0, 1000).map((entityId) => ({ entityId, error: problem })),
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
