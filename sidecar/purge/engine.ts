import type { BrokerClient } from '../broker/client.js';
import type { BrokerCapabilities } from '../broker/capabilities.js';
import type { RetryPolicy } from '../retry/policy.js';
import type { Clock } from '../shared/clock.js';
import { previewAttributes, removeAttributes } from './attribute-removal.js';
import { checkBound } from './bound.js';
import { closeDrain } from './closing.js';
import { createPurgeContext, type PurgeContext, type PurgeLimits } from './context.js';
import { createDeleteDispatcher } from './delete-dispatcher.js';
import { previewEntities } from './dry-run.js';
import { drain, trustedTotal } from './entity-drain.js';
import { BrokerReplyError } from './errors.js';
import type { PurgeEvent, PurgeReport } from './events.js';
import { eventStream } from './event-stream.js';
import type { ListedPage } from './listing.js';
import { checkNativeQuery, purgeNatively } from './native.js';
import type { EntityPurgeQuery } from './query.js';
import { createRequester } from './requester.js';

/** What a purge needs from outside. */
export interface PurgeDependencies {
  readonly client: BrokerClient;
  readonly capabilities: BrokerCapabilities;
  readonly retry: RetryPolicy;
  readonly clock: Clock;
  /** In [0, 1), for jitter. */
  readonly random: () => number;
}

/** One purge: what, with which headers, how hard. */
export interface PurgeOrder {
  readonly query: EntityPurgeQuery;
  /** Sent to the broker with each request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly limits: PurgeLimits;
}

/**
 * Purges entities by query (clause 5.6.21), or their attributes under drop and keep.
 *
 * A stream of events that ends with `finished`, or throws one of purge/errors.ts; `progress` tells what was done until
 * then. The purge stops when the signal aborts or the consumer stops listening: nothing new is sent, deletes under way
 * are waited for.
 */
export function purgeEntities(
  order: PurgeOrder,
  dependencies: PurgeDependencies,
  signal: AbortSignal,
): AsyncGenerator<PurgeEvent, void> {
  return eventStream(signal, async (emit, stop) => {
    const requester = createRequester({
      ...dependencies,
      headers: order.headers,
      signal: stop,
    });
    const { query, limits } = order;
    const { capabilities } = dependencies;
    const context = createPurgeContext({ query, limits, requester, capabilities, emit });
    try {
      emit({ type: 'finished', report: await run(context) });
    } catch (error) {
      // The broker's own purge is not booked item by item; it has reported how far it was.
      if (limits.strategy !== 'native' || query.removal !== undefined) context.reportProgress();
      throw error;
    }
  });
}

async function run(context: PurgeContext): Promise<PurgeReport> {
  const { query, limits } = context;
  if (limits.strategy === 'native' && query.removal === undefined) checkNativeQuery(query);

  const first = await firstPage(context);
  if (first.ids.length > 0) await context.proveFilters();
  if (query.removal !== undefined) {
    if (query.dryRun) return previewed(context, await previewAttributes(context, query.removal));
    return report(context, await removeAttributes(context, query.removal, trustedTotal(first)));
  }
  if (query.dryRun) return previewed(context, await previewEntities(context, first));
  const listed = await checkBound(context, first);
  if (limits.strategy === 'native')
    return { ...report(context, 0), ...(await purgeNatively(context, first)) };
  return report(context, await purgeByIds(context, first, listed));
}

/** Looks at an empty first page that the broker's own count contradicts. */
const LOOKS_MAX = 3;

async function firstPage(context: PurgeContext): Promise<ListedPage> {
  const { query, lister, limits, requester } = context;
  // Under a bound, one match too many settles it. Attributes are bounded, not their entities.
  const isBound = limits.maxAffected !== undefined && query.removal === undefined && !query.dryRun;
  const bound = isBound ? { limit: limits.maxAffected + 1 } : {};
  for (let look = 1; ; look++) {
    const page = await lister.page({ selection: query.selection, count: true, ...bound });
    if (page.count !== undefined) context.emit({ type: 'counted', matches: page.count });
    if (page.ids.length > 0 || page.count === 0 || look === LOOKS_MAX) return page;
    // An empty page alone proves nothing: some brokers show an error as an empty result, and one shows nothing at all
    // when it is asked for pages. The count confirms it, or where there is none the bare query.
    if (page.count !== undefined) await requester.waitBefore(look);
    else if (!(await lister.showsAnything(query.selection))) return page;
    else if (look > 1) {
      throw new BrokerReplyError(
        'The broker lists matches only when it is asked without limit, offset and count, so they cannot be purged page by page.',
      );
    }
  }
}

/**
 * @param listed matches listed for the bound, where all were
 * @returns matches that arrived meanwhile and were left
 */
async function purgeByIds(
  context: PurgeContext,
  first: ListedPage,
  listed: number | undefined,
): Promise<number> {
  // Nothing listed and nothing counted: the empty answer is confirmed.
  if (first.ids.length === 0 && first.count === 0) return 0;
  const dispatcher = createDeleteDispatcher(context, { isSecondTry: false, singly: false });
  const target = listed ?? (context.paging.contradicted ? undefined : trustedTotal(first));
  try {
    if (target === undefined) return await closeDrain(context, dispatcher, target, first);
    await drain(context, first, target, dispatcher);
    return await closeDrain(context, dispatcher, target);
  } catch (error) {
    context.requester.halt();
    await dispatcher.abandon();
    throw error;
  }
}

function report(context: PurgeContext, arrived: number): PurgeReport {
  const { tally, warnings, requester } = context;
  return {
    dryRun: false,
    matched: tally.matched,
    deleted: tally.deleted,
    failed: tally.failed,
    success: tally.success,
    errors: tally.errors,
    sample: [],
    warnings: [...warnings],
    arrived,
    requests: requester.requests,
  };
}

function previewed(
  context: PurgeContext,
  preview: { matched: number; sample: readonly string[] },
): PurgeReport {
  return { ...report(context, 0), dryRun: true, ...preview };
}
