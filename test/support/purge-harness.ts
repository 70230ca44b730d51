import {
  BrokerCapabilities,
  createBrokerClient,
  type BrokerClient,
} from '../../sidecar/purge/broker/index.js';
import {
  type PurgeLimits,
  purgeEntities,
  type PurgeEvent,
  type PurgeProgress,
  type PurgeReport,
  type OnOutcome,
  type RateLimiter,
  type PurgeDependencies,
  type PurgeOrder,
  parseEntityPurgeQuery,
  type PurgeQuery,
  purgeTemporal,
  parseTemporalPurgeQuery,
} from '../../sidecar/purge/index.js';
import type { RetryPolicy } from '../../sidecar/purge/requests/index.js';
import type { Clock } from '../../sidecar/shared/clock.js';
import type { StubBroker } from './stub-broker.js';
import type { StubEntity } from './stub-broker-filter.js';
import { seededRandom, type StubRequest } from './stub-broker-state.js';

/** A clock whose sleeps take no time and are recorded. */
export interface TestClock extends Clock {
  /** Milliseconds of each sleep, in order. */
  readonly sleeps: readonly number[];
  /** Sets the time of day, as an administrator does; no time passes. */
  set(byMs: number): void;
}

export function createTestClock(startMs = Date.UTC(2026, 0, 1)): TestClock {
  let nowMs = startMs;
  let setMs = 0;
  const sleeps: number[] = [];
  return {
    sleeps,
    now: () => nowMs + setMs,
    monotonicMs: () => nowMs,
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      sleeps.push(ms);
      const until = nowMs + ms;
      await new Promise((resolve) => setImmediate(resolve));
      signal?.throwIfAborted();
      nowMs = Math.max(nowMs, until);
    },
    set(byMs) {
      setMs += byMs;
    },
  };
}

export interface PurgeOptions {
  readonly limits?: Partial<PurgeLimits> | undefined;
  readonly retry?: Partial<RetryPolicy>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly rateLimiter?: RateLimiter;
  /** What earlier purges learnt about the broker. */
  readonly capabilities?: BrokerCapabilities;
  readonly clock?: Clock;
  readonly brokerAheadMs?: () => number | undefined;
  /** Nothing else may be deleted. */
  readonly plan?: PurgeOrder['plan'];
  readonly client?: BrokerClient;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly seed?: number;
  readonly onEvent?: (event: PurgeEvent) => void;
  readonly onOutcome?: OnOutcome;
}

/** How a purge ended: with a report, or with an error. */
export interface PurgeOutcome {
  readonly report: PurgeReport | undefined;
  readonly error: unknown;
  /** The last reported progress; zeros if there was none. */
  readonly progress: PurgeProgress;
}

/** Purges as the gateway does, but without real pauses; never throws. */
export async function purge(
  broker: Pick<StubBroker, 'url'>,
  query: string,
  options: PurgeOptions = {},
): Promise<PurgeOutcome> {
  return observe(broker, options, async (dependencies, signal, onEvent) => {
    const parsed = parseEntityPurgeQuery(query);
    return purgeEntities({ ...orderOf(parsed, options), onEvent }, dependencies, signal);
  });
}

/** Runs a temporal purge in the same way. */
export async function purgeHistory(
  broker: Pick<StubBroker, 'url'>,
  query: string,
  options: PurgeOptions = {},
): Promise<PurgeOutcome> {
  return observe(broker, options, async (dependencies, signal, onEvent) => {
    const parsed = parseTemporalPurgeQuery(query);
    return purgeTemporal({ ...orderOf(parsed, options), onEvent }, dependencies, signal);
  });
}

function orderOf<Query extends PurgeQuery>(query: Query, options: PurgeOptions): PurgeOrder<Query> {
  const limits: PurgeLimits = {
    pageSize: 100,
    pageSizeMax: options.limits?.pageSize ?? 100,
    batchSize: 50,
    concurrency: 4,
    strategy: 'auto',
    maxAffected: query.maxAffected,
    ...options.limits,
  };
  const { headers = {}, rateLimiter, onOutcome, plan } = options;
  return { query, headers, limits, onOutcome, plan, ...(rateLimiter === undefined ? {} : { rateLimiter }) };
}

async function observe(
  broker: Pick<StubBroker, 'url'>,
  options: PurgeOptions,
  run: (
    dependencies: PurgeDependencies,
    signal: AbortSignal,
    onEvent: (event: PurgeEvent) => void,
  ) => Promise<PurgeReport>,
): Promise<PurgeOutcome> {
  const clock = options.clock ?? createTestClock();
  const client =
    options.client ?? createBrokerClient({ brokerUrl: broker.url, timeoutMs: options.timeoutMs ?? 120_000 });
  let report: PurgeReport | undefined;
  let error: unknown;
  let progress: PurgeProgress = {
    matched: 0,
    deleted: 0,
    alreadyGone: 0,
    failed: 0,
    unknown: 0,
    hasBegun: false,
    requests: 0,
    retries: 0,
  };
  try {
    report = await run(
      {
        client,
        capabilities: options.capabilities ?? new BrokerCapabilities(clock),
        retry: { maxAttempts: 6, minDelayMs: 200, maxDelayMs: 10_000, awayMs: 30_000, ...options.retry },
        clock,
        brokerAheadMs: options.brokerAheadMs,
        random: seededRandom(options.seed ?? 1),
      },
      options.signal ?? new AbortController().signal,
      (event) => {
        options.onEvent?.(event);
        if (event.type === 'progress') progress = event;
      },
    );
  } catch (thrown) {
    error = thrown;
  } finally {
    await client.close();
  }
  return { report, error, progress };
}

/** Returns the report of a purge, which must not fail. */
export async function purged(...purgeArguments: Parameters<typeof purge>): Promise<PurgeReport> {
  const { report, error } = await purge(...purgeArguments);
  if (report === undefined) throw error;
  return report;
}

/**
 * Returns the entities `urn:ngsi-ld:{type}:0` to `…:{count - 1}`, each with a numeric attribute
 * `n`.
 */
export function things(count: number, type = 'Thing', prefix = ''): StubEntity[] {
  return Array.from({ length: count }, (_, n) => ({
    id: `urn:ngsi-ld:${type}:${prefix}${n}`,
    type,
    n: { type: 'Property', value: n },
  }));
}

/** Counts the requests of each kind that a stub broker has received. */
export function requestCounts({ requests }: Pick<StubBroker, 'requests'>): Readonly<Record<string, number>> {
  const counts: Record<string, number> = { query: 0, batch: 0, single: 0, attribute: 0, collection: 0 };
  for (const { kind } of requests) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** Whether a request is the query that checks if a filter is applied. */
export function isProbe({ query }: StubRequest): boolean {
  return [...query.values()].some((value) => value.includes('PurgeProbe'));
}
