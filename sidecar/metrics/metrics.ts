import { collectDefaultMetrics, Registry } from '@prometheus-io/client';
import { nextTurn } from '../shared/next-turn.js';
import { Instruments, METRICS_PREFIX } from './instruments.js';
import {
  createPurgeMetrics,
  createRetentionMetrics,
  createScanMetrics,
  type PurgeMetrics,
  type RetentionMetrics,
  type ScanMetrics,
} from './job-metrics.js';
import { createWriteMetrics, type WriteMetrics } from './write-metrics.js';
import { registerStateMetrics, type StateSources } from './state-metrics.js';

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
