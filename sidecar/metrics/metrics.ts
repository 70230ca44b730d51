import { collectDefaultMetrics, Registry } from '@prometheus-io/client';
import { nextTurn } from '../shared/next-turn.js';
import { VERSION } from '../shared/version.js';
import { createPolicyLabel, Instruments, METRICS_PREFIX } from './instruments.js';
import {
  createPurgeMetrics,
  createRetentionMetrics,
  createScanMetrics,
  type PurgeMetrics,
  type RetentionMetrics,
  type ScanMetrics,
} from './job-metrics.js';

/** The metrics of one gateway. */
export interface Metrics {
  readonly purges: PurgeMetrics;
  readonly scans: ScanMetrics;
  readonly retention: RetentionMetrics;
  readonly requests: RequestMetrics;
  readonly writes: WriteMetrics;
  /** Media type of the text. */
  readonly contentType: string;
  /** All metrics in the text format of Prometheus; those who ask at the same time share one reading. */
  text(): Promise<string>;
}

/** Metrics of the event loop's delay that repeat what the others say, and are NaN before the first measurement. */
const LEFT_OUT = ['min', 'mean', 'stddev', 'p50', 'p90'].map(
  (part) => `${METRICS_PREFIX}nodejs_eventloop_lag_${part}_seconds`,
);

/**
 * One registry for each gateway, so that several gateways in one process do not share their counts. What is measured of the
 * process is measured from the first reading on: a gateway is not slowed down by metrics that are never read.
 */
export function createMetrics(sources: StateSources): Metrics {
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
    // Whoever asks in the same turn of the event loop gets the same text: it takes milliseconds, and files of the system.
    await nextTurn();
    if (!measuresProcess) {
      collectDefaultMetrics({ register: registry, prefix: METRICS_PREFIX });
      for (const name of LEFT_OUT) registry.removeSingleMetric(name);
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
    contentType: registry.contentType,
    text() {
      reading ??= read().finally(() => (reading = undefined));
      return reading;
    },
  };
}

/** How one request to the broker ended. */
interface BrokerRequestEnd {
  readonly method: string;
  /** Of its answer; undefined when there was none. */
  readonly status: number | undefined;
  /** Why there was none, in one of a few words. */
  readonly noAnswer?: string | undefined;
  readonly ms: number;
}

/** How one request that was passed through ended. */
interface PassThroughEnd {
  readonly method: string;
  /** The one sent to the client; undefined when the exchange broke off. */
  readonly status: number | undefined;
  readonly ms: number;
}

/** Records every request that is sent to the broker, passed through or refused. Never throws. */
interface RequestMetrics {
  readonly brokerAnswered: (end: BrokerRequestEnd) => void;
  readonly passedThrough: (end: PassThroughEnd) => void;
  /** @param reason one of a few words, known beforehand */
  refused(reason: string): void;
}

/** Seconds: from a broker in the same rack to one that takes until the time-out. */
const BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Methods that have a label of their own: a client may send any word. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

const CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx'];

function createRequestMetrics(instruments: Instruments): RequestMetrics {
  const broker = instruments.histogram(
    'broker_request_duration_seconds',
    'Requests of the gateway to the broker (purges, health), each try: from sending to the last byte of the answer.',
    BUCKETS,
    ['method', 'status_class'],
  );
  const passThrough = instruments.histogram(
    'pass_through_duration_seconds',
    'Requests passed through to the broker, from their head to the end of the answer, at the pace of the client.',
    BUCKETS,
    ['method', 'status_class'],
  );
  const refused = instruments.counter(
    'requests_refused_total',
    'Requests refused before anything looked at what they ask for, by reason.',
    ['reason'],
  );
  // An alert watches this one: it is there from the start, so that its first increase shows.
  refused.inc({ reason: 'token' }, 0);
  return {
    brokerAnswered: ({ method, status, noAnswer, ms }) =>
      broker.observe({ method, status_class: classOf(status) ?? noAnswer ?? 'other' }, ms / 1000),
    passedThrough: ({ method, status, ms }) =>
      passThrough.observe(
        {
          method: METHODS.has(method) ? method : 'other',
          status_class: status === undefined ? 'broken_off' : (classOf(status) ?? 'other'),
        },
        ms / 1000,
      ),
    refused: (reason) => refused.inc({ reason }),
  };
}

function classOf(status: number | undefined): string | undefined {
  return status === undefined ? undefined : CLASSES[Math.floor(status / 100) - 1];
}

/** Records every write that is looked at. Never throws. */
interface WriteMetrics {
  /** @param policy the setting's is empty */
  judged(entities: readonly JudgedEntities[], ms: number): void;
  refused(policy: string, entities: number): void;
  /** @param reason one of a few words */
  failed(policy: string, reason: string): void;
}

interface JudgedEntities {
  readonly policy: string;
  readonly verdict: 'valid' | 'invalid' | 'not-judged';
  readonly entities: number;
}

/** Seconds: from a small entity to a large batch. */
const JUDGING_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];

function createWriteMetrics(instruments: Instruments): WriteMetrics {
  const entities = instruments.counter(
    'write_check_entities_total',
    'Entities that were written on routes that are checked, by policy and verdict.',
    ['policy', 'verdict'],
  );
  const refused = instruments.counter(
    'write_check_refused_total',
    'Entities that were refused because they are not valid, or not judged.',
    ['policy'],
  );
  const failures = instruments.counter(
    'write_check_failures_total',
    'Writes that could not be judged, by policy and reason.',
    ['policy', 'reason'],
  );
  const duration = instruments.histogram(
    'write_check_duration_seconds',
    'Judging one write, from its last byte to the verdict.',
    JUDGING_BUCKETS,
  );
  const nameOf = createPolicyLabel();
  const labelOf = (policy: string) => (policy === '' ? 'WRITE_CHECK' : nameOf(policy));
  return {
    judged: (all, ms) => {
      for (const { policy, verdict, entities: count } of all)
        entities.inc({ policy: labelOf(policy), verdict: verdict.replace('-', '_') }, count);
      duration.observe(ms / 1000);
    },
    refused: (policy, count) => refused.inc({ policy: labelOf(policy) }, count),
    failed: (policy, reason) => failures.inc({ policy: labelOf(policy), reason }),
  };
}

/** What is looked at whenever the metrics are read. None of it throws. */
export interface StateSources {
  /** Purges at work now, dry runs included. */
  readonly purgesRunning: () => number;
  /** Scans at work now. */
  readonly scansRunning: () => number;
  /** Purges that wait for their turn, at all gateways on the same database. */
  readonly purgesQueued: () => Promise<number>;
  /** Tasks of the worker threads. */
  readonly workers: () => { readonly waiting: number; readonly running: number };
  /** Whether the broker answers. */
  readonly isBrokerUp: () => Promise<boolean>;
  /** Whether the store can be read and written. */
  readonly isStoreUp: () => Promise<boolean>;
  /** Statements that met the lock of another process, and for how long they waited for it, since the start. */
  readonly lockWaits: () => { readonly count: number; readonly ms: number };
}

/** Registers what is true of the moment. */
function registerStateMetrics(instruments: Instruments, sources: StateSources): void {
  instruments
    .gauge('build_info', 'Always 1; the label has the version of the gateway.', ['version'])
    .set({ version: VERSION }, 1);
  instruments.current('purges_running', 'Purges at work now, dry runs included.', sources.purgesRunning);
  instruments.current('scan_running', 'Scans at work now.', sources.scansRunning);
  instruments.current(
    'purges_queued',
    'Jobs that wait for their turn, at all gateways on the same database: purges and scans.',
    sources.purgesQueued,
  );
  instruments.current(
    'worker_tasks_waiting',
    'Tasks that wait for a worker thread.',
    () => sources.workers().waiting,
  );
  instruments.current(
    'worker_tasks_running',
    'Tasks that worker threads are at.',
    () => sources.workers().running,
  );
  instruments.current(
    'broker_up',
    '1 when the broker answers, else 0; it is asked at most every 15 seconds.',
    async () => ((await sources.isBrokerUp()) ? 1 : 0),
  );
  instruments.current('store_up', '1 when the store can be read and written, else 0.', async () =>
    (await sources.isStoreUp()) ? 1 : 0,
  );
  instruments.sum(
    'store_lock_waits_total',
    'Statements that met the lock of another process on the database and waited for it.',
    () => sources.lockWaits().count,
  );
  instruments.sum(
    'store_lock_wait_seconds_total',
    'How long such statements waited, all together.',
    () => sources.lockWaits().ms / 1000,
  );
}
