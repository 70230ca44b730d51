import { collectDefaultMetrics, Registry } from '@prometheus-io/client';
import { yieldToEventLoop } from '../shared/event-loop.js';
import { VERSION } from '../shared/version.js';
import { createPolicyLabel, Instruments, METRICS_PREFIX } from './instruments.js';
import { createPurgeMetrics, createRetentionMetrics, createScanMetrics } from './job-metrics.js';

export type Metrics = ReturnType<typeof createMetrics>;

/** Metrics of the event loop delay that add nothing to the others, and are NaN before the first measurement. */
const EXCLUDED_METRICS = ['min', 'mean', 'stddev', 'p50', 'p90'].map(
  (part) => `${METRICS_PREFIX}nodejs_eventloop_lag_${part}_seconds`,
);

/**
 * Creates the metrics with a registry of their own, so that several gateways in one process do not share counts.
 * Process metrics are only collected from the first reading on: metrics that nobody reads do not slow down the gateway.
 */
export function createMetrics(sources: StateSources) {
  const registry = new Registry();
  const instruments = new Instruments(registry);
  const purges = createPurgeMetrics(instruments);
  const scans = createScanMetrics(instruments);
  const retention = createRetentionMetrics(instruments);
  const requests = createRequestMetrics(instruments);
  const writes = createWriteMetrics(instruments);
  registerStateMetrics(instruments, sources);
  let measuresProcess = false;
  let reading: Promise<string> | undefined;

  async function read(): Promise<string> {
    // Calls in the same turn of the event loop get the same text, because reading takes milliseconds and opens system
    // files.
    await yieldToEventLoop();
    if (!measuresProcess) {
      collectDefaultMetrics({ register: registry, prefix: METRICS_PREFIX });
      for (const name of EXCLUDED_METRICS) registry.removeSingleMetric(name);
      measuresProcess = true;
    }
    return registry.metrics();
  }

  return {
    purges,
    scans,
    retention,
    requests,
    writes,
    /** Media type of the text. */
    contentType: registry.contentType,
    /** Returns all metrics in the Prometheus text format; concurrent calls share one reading. */
    text(): Promise<string> {
      reading ??= read().finally(() => (reading = undefined));
      return reading;
    },
  };
}

interface BrokerRequestEnd {
  readonly method: string;
  /** Status of the answer; undefined if there was none. */
  readonly status: number | undefined;
  /** Why there was no answer, as one of a few fixed words. */
  readonly noAnswer?: string | undefined;
  readonly ms: number;
}

interface PassThroughEnd {
  readonly method: string;
  /** Status sent to the client; undefined if the exchange was aborted. */
  readonly status: number | undefined;
  readonly ms: number;
}

/** In seconds, from a broker in the same rack to one that answers just before the timeout. */
const REQUEST_BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Methods used as labels; others become `other`, because a client may send any word. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

const STATUS_CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx'];

/** Counts every request that is sent to the broker, passed through or refused. Never throws. */
function createRequestMetrics(instruments: Instruments) {
  const broker = instruments.histogram(
    'broker_request_duration_seconds',
    'Requests of the gateway to the broker (purges, health checks), each attempt: from sending to the last byte of the answer.',
    REQUEST_BUCKETS,
    ['method', 'status_class'],
  );
  const passThrough = instruments.histogram(
    'pass_through_duration_seconds',
    'Requests passed through to the broker, from their head to the end of the answer, at the pace of the client.',
    REQUEST_BUCKETS,
    ['method', 'status_class'],
  );
  const refused = instruments.counter(
    'requests_refused_total',
    'Requests refused before they were processed, by reason.',
    ['reason'],
  );
  // Alerts watch this counter, so it exists from the start and its first increase is visible.
  refused.inc({ reason: 'token' }, 0);
  return {
    brokerAnswered: ({ method, status, noAnswer, ms }: BrokerRequestEnd) =>
      broker.observe({ method, status_class: classOf(status) ?? noAnswer ?? 'other' }, ms / 1000),
    passedThrough: ({ method, status, ms }: PassThroughEnd) =>
      passThrough.observe(
        {
          method: METHODS.has(method) ? method : 'other',
          status_class: status === undefined ? 'broken_off' : (classOf(status) ?? 'other'),
        },
        ms / 1000,
      ),
    /** @param reason one of a few fixed words */
    refused: (reason: string) => refused.inc({ reason }),
  };
}

function classOf(status: number | undefined): string | undefined {
  return status === undefined ? undefined : STATUS_CLASSES[Math.floor(status / 100) - 1];
}

interface JudgedEntities {
  readonly policy: string;
  readonly verdict: 'valid' | 'invalid' | 'not-judged';
  readonly entities: number;
}

/** In seconds, from a small entity to a large batch. */
const JUDGING_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];

/** Counts every write that is checked. An empty name of a policy means the setting WRITE_CHECK. Never throws. */
function createWriteMetrics(instruments: Instruments) {
  const entities = instruments.counter(
    'write_check_entities_total',
    'Entities in checked writes, by policy and verdict.',
    ['policy', 'verdict'],
  );
  const refused = instruments.counter(
    'write_check_refused_total',
    'Entities that were refused because they are invalid, or could not be judged.',
    ['policy'],
  );
  const failures = instruments.counter(
    'write_check_failures_total',
    'Writes that could not be judged, by policy and reason.',
    ['policy', 'reason'],
  );
  const duration = instruments.histogram(
    'write_check_duration_seconds',
    'Time to judge one write, from its last byte to the verdict.',
    JUDGING_BUCKETS,
  );
  const nameOf = createPolicyLabel();
  const labelOf = (policy: string) => (policy === '' ? 'WRITE_CHECK' : nameOf(policy));
  return {
    judged: (all: readonly JudgedEntities[], ms: number) => {
      for (const { policy, verdict, entities: count } of all)
        entities.inc({ policy: labelOf(policy), verdict: verdict.replace('-', '_') }, count);
      duration.observe(ms / 1000);
    },
    refused: (policy: string, count: number) => refused.inc({ policy: labelOf(policy) }, count),
    /** @param reason one of a few fixed words */
    failed: (policy: string, reason: string) => failures.inc({ policy: labelOf(policy), reason }),
  };
}

/** State that is read whenever the metrics are read. These functions must not throw. */
export interface StateSources {
  /** Number of running purges, including dry runs. */
  readonly purgesRunning: () => number;
  readonly scansRunning: () => number;
  /** Number of jobs waiting in the queue, at all gateways on the same database. */
  readonly purgesQueued: () => Promise<number>;
  /** Number of tasks of the worker threads. */
  readonly workers: () => { readonly waiting: number; readonly running: number };
  readonly isBrokerUp: () => Promise<boolean>;
  readonly isStoreUp: () => Promise<boolean>;
}

/** Registers the metrics of the current state. */
function registerStateMetrics(instruments: Instruments, sources: StateSources): void {
  instruments
    .gauge('build_info', 'Always 1; the label has the version of the gateway.', ['version'])
    .set({ version: VERSION }, 1);
  instruments.computedGauge(
    'purges_running',
    'Purges that are running, including dry runs.',
    sources.purgesRunning,
  );
  instruments.computedGauge('scan_running', 'Scans that are running.', sources.scansRunning);
  instruments.computedGauge(
    'purges_queued',
    'Waiting jobs (purges and scans) of all gateways on the same database.',
    sources.purgesQueued,
  );
  instruments.computedGauge(
    'worker_tasks_waiting',
    'Tasks waiting for a worker thread.',
    () => sources.workers().waiting,
  );
  instruments.computedGauge(
    'worker_tasks_running',
    'Tasks running in worker threads.',
    () => sources.workers().running,
  );
  instruments.computedGauge(
    'broker_up',
    '1 if the broker answers, else 0; checked at most every 15 seconds.',
    async () => ((await sources.isBrokerUp()) ? 1 : 0),
  );
  instruments.computedGauge('store_up', '1 when the store can be read and written, else 0.', async () =>
    (await sources.isStoreUp()) ? 1 : 0,
  );
}
