import {
  BrokerCapabilities,
  type BrokerRequest,
  type BrokerReply,
} from '../../../sidecar/purge/broker/index.js';
import { Deleter, type DeletingContext } from '../../../sidecar/purge/deleting/index.js';
import { createPurgeScope } from '../../../sidecar/purge/run/purge-run.js';
import type {
  PurgeContext,
  PurgeLimits,
  PurgeScope,
  BrokerQuery,
  PurgeOrder,
} from '../../../sidecar/purge/run/index.js';
import type { PurgeBudget, RetryPolicy } from '../../../sidecar/purge/requests/index.js';
import type { PurgeQuery } from '../../../sidecar/purge/query/index.js';
import type { Clock } from '../../../sidecar/shared/clock.js';
import { createTestClock, type TestClock } from '../../support/purge-harness.js';

export interface HandMadePurge extends Partial<
  Pick<PurgeOrder, 'rateLimiter' | 'budget' | 'headers' | 'onOutcome' | 'onEvent'>
> {
  readonly brokerQuery: BrokerQuery;
  /** The broker, as a function; undefined if no request reaches the broker. */
  readonly broker?: (request: BrokerRequest) => BrokerReply | Promise<BrokerReply>;
  readonly query?: Partial<PurgeQuery>;
  readonly limits?: Partial<PurgeLimits>;
  readonly retry?: Partial<RetryPolicy>;
  readonly clock?: Clock;
  /** In [0, 1), for jitter; 0 by default. */
  readonly random?: () => number;
}

/** The context of a purge whose broker is a function: no sockets, and no waiting. */
export function contextOf(purge: HandMadePurge): PurgeContext {
  return scopeOf(purge).open(purge.brokerQuery);
}

/** The same for a purge that deletes whole entities. */
export function deletingContextOf(purge: HandMadePurge): DeletingContext {
  const context = contextOf(purge);
  return { ...context, deleter: new Deleter(context) };
}

/** The same before its query is opened. */
export function scopeOf(purge: HandMadePurge): PurgeScope {
  const { brokerQuery, broker, query, limits, clock = createTestClock() } = purge;
  return createPurgeScope(
    {
      headers: {},
      ...purge,
      query: {
        selection: brokerQuery.selection,
        ids: undefined,
        idPattern: undefined,
        dryRun: false,
        maxAffected: undefined,
        maxPerSecond: undefined,
        record: undefined,
        archive: undefined,
        ...query,
      },
      limits: {
        pageSize: 10,
        pageSizeMax: 10,
        batchSize: 10,
        concurrency: 4,
        strategy: 'auto',
        maxAffected: undefined,
        ...limits,
      },
    },
    {
      client: {
        send: async (request) => {
          if (broker === undefined) throw new Error(`nobody answers ${request.method} ${request.path}`);
          return broker(request);
        },
        close: async () => {},
      },
      retry: { maxAttempts: 3, minDelayMs: 1, maxDelayMs: 10, awayMs: 30_000, ...purge.retry },
      random: purge.random ?? (() => 0),
      capabilities: new BrokerCapabilities(clock),
      clock,
    },
    new AbortController().signal,
    { path: brokerQuery.resource.path },
  );
}

/** The proof of a query whose filters the broker honours. */
export const PROVEN: PurgeContext['proof'] = {
  begin: async () => {},
  prove: async () => {},
  learnCounting: async () => false,
};

/** A budget that grants everything, and notes the deletes that were requested. */
export function budgetOf(reserved: number[], maxPerRequest = Infinity): PurgeBudget {
  return {
    maxPerRequest,
    async reserve(deletes) {
      reserved.push(deletes);
      return () => {};
    },
  };
}

/** With these settings, the wait before the n-th query takes 2^n ms. */
export const COUNTED_LOOKS = {
  retry: { minDelayMs: 1, maxDelayMs: 1_000_000 },
  random: () => 1,
} satisfies Partial<HandMadePurge>;

/** The queries before which a purge with COUNTED_LOOKS has waited. */
export function looksOf({ sleeps }: Pick<TestClock, 'sleeps'>): readonly number[] {
  return sleeps.map((ms) => Math.log2(ms));
}
