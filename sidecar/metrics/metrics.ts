import { collectDefaultMetrics, Registry, Counter, Histogram } from '@prometheus-io/client';
import { nextTurn } from '../shared/next-turn.js';
import { createWriteMetrics, type WriteMetrics } from './write-metrics.js';
import { createRetentionMetrics, type RetentionMetrics } from './retention-metrics.js';
import { createScanMetrics, type ScanMetrics } from './scan-metrics.js';
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

/** What all names begin with. */
export const METRICS_PREFIX = 'ngsild_gateway_';

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
  const purges = createPurgeMetrics(registry, METRICS_PREFIX);
  const scans = createScanMetrics(registry, METRICS_PREFIX);
  const retention = createRetentionMetrics(registry, METRICS_PREFIX);
  const requests = createRequestMetrics(registry, METRICS_PREFIX);
  const writes = createWriteMetrics(registry, METRICS_PREFIX);
  registerStateMetrics(registry, METRICS_PREFIX, sources);
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

const TARGETS = ['entities', 'temporal'] as const;
const OUTCOMES = ['succeeded', 'partial', 'failed', 'cancelled', 'refused', 'interrupted'] as const;
const RESULTS = {
  deleted: 'deleted',
  alreadyGone: 'already_gone',
  failed: 'failed',
  unknown: 'unknown',
} as const;

/** Which collection a purge is of. */
export type PurgeTarget = (typeof TARGETS)[number];

/** How a purge ended: the final states of its record. */
export type PurgeOutcome = (typeof OUTCOMES)[number];

/** What became of the items of a purge; a report of the engine is one. */
export interface PurgeResult {
  /** Nothing was to be deleted. @default false */
  readonly dryRun?: boolean;
  readonly deleted: number;
  readonly alreadyGone: number;
  readonly failed: number;
  readonly unknown: number;
}

/** What became of the items of a restore. */
export interface RestoreResult {
  readonly dryRun?: boolean;
  readonly restored?: number;
  readonly alreadyThere?: number;
  readonly failed: number;
  readonly unknown: number;
}

const RESTORE_RESULTS = {
  restored: 'restored',
  alreadyThere: 'already_there',
  failed: 'failed',
  unknown: 'unknown',
} as const;

/** Records every purge, however it was started. Never throws. */
export interface PurgeMetrics {
  /** A purge begins to work. */
  started(target: PurgeTarget): void;
  /** Items were deleted by a purge that may still run. */
  deleted(target: PurgeTarget, items: number): void;
  /** It has ended; one that was refused before it began to work was not started. Its counts are added once, here. */
  ended(target: PurgeTarget, outcome: PurgeOutcome, result: PurgeResult): void;
  /** A request of a purge is sent once more. */
  retried(): void;
  /** The record of a purge could not be kept. */
  recordLost(): void;
  /** A restore has ended; it may have been a dry run. */
  restored(outcome: PurgeOutcome, result: RestoreResult): void;
  /** A segment of an archive could not be stored. */
  archiveFailed(): void;
}

/** Counters of purges; each that can be named beforehand is there from the start, so that its first increase shows. */
function createPurgeMetrics(registry: Registry, prefix: string): PurgeMetrics {
  const registers = [registry];
  const started = new Counter({
    name: `${prefix}purges_started_total`,
    help: 'Purges that began to work, dry runs included, by target (entities, temporal).',
    labelNames: ['target'],
    registers,
  });
  const ended = new Counter({
    name: `${prefix}purges_total`,
    help: 'Purges that have ended, by target, outcome and whether they were dry runs.',
    labelNames: ['target', 'outcome', 'dry_run'],
    registers,
  });
  const items = new Counter({
    name: `${prefix}purge_items_total`,
    help: 'What became of the items of purges that have ended (entities, attributes, datasets or instances).',
    labelNames: ['target', 'result'],
    registers,
  });
  const deletes = new Counter({
    name: `${prefix}purge_deletes_total`,
    help: 'Items that purges deleted, counted while these run (entities, attributes, datasets or instances).',
    labelNames: ['target'],
    registers,
  });
  const retries = new Counter({
    name: `${prefix}purge_retries_total`,
    help: 'Requests of purges that were sent once more.',
    registers,
  });
  const lost = new Counter({
    name: `${prefix}purge_records_lost_total`,
    help: 'Records of purges that could not be kept, since the store was away for too long.',
    registers,
  });
  const archiveFailures = new Counter({
    name: `${prefix}archive_failures_total`,
    help: 'Segments of archives that could not be stored; what they hold is not deleted where an archive is required.',
    registers,
  });
  const restores = new Counter({
    name: `${prefix}restores_total`,
    help: 'Restores of what purges archived that have ended, by outcome and whether they were dry runs.',
    labelNames: ['outcome', 'dry_run'],
    registers,
  });
  const restoredItems = new Counter({
    name: `${prefix}restore_items_total`,
    help: 'What became of the items of restores that have ended (entities, attributes or instances).',
    labelNames: ['result'],
    registers,
  });
  for (const outcome of OUTCOMES) restores.inc({ outcome, dry_run: 'false' }, 0);
  for (const result of Object.values(RESTORE_RESULTS)) restoredItems.inc({ result }, 0);
  for (const target of TARGETS) {
    started.inc({ target }, 0);
    deletes.inc({ target }, 0);
    for (const outcome of OUTCOMES) ended.inc({ target, outcome, dry_run: 'false' }, 0);
    for (const result of Object.values(RESULTS)) items.inc({ target, result }, 0);
  }
  return {
    started: (target) => started.inc({ target }),
    deleted: (target, items) => deletes.inc({ target }, items),
    ended(target, outcome, result) {
      ended.inc({ target, outcome, dry_run: String(result.dryRun ?? false) });
      if (result.dryRun === true) return;
      for (const [member, label] of entriesOf(RESULTS)) items.inc({ target, result: label }, result[member]);
    },
    retried: () => retries.inc(),
    recordLost: () => lost.inc(),
    restored(outcome, result) {
      restores.inc({ outcome, dry_run: String(result.dryRun ?? false) });
      if (result.dryRun === true) return;
      for (const [member, label] of entriesOf(RESTORE_RESULTS))
        restoredItems.inc({ result: label }, result[member] ?? 0);
    },
    archiveFailed: () => archiveFailures.inc(),
  };
}

function entriesOf<Key extends string, Value>(table: Readonly<Record<Key, Value>>): readonly [Key, Value][] {
  return Object.entries(table) as [Key, Value][];
}

/** How one request to the broker ended. */
export interface BrokerRequestEnd {
  readonly method: string;
  /** Of its answer; undefined when there was none. */
  readonly status: number | undefined;
  /** Why there was none, in one of a few words. */
  readonly noAnswer?: string | undefined;
  readonly ms: number;
}

/** How one request that was passed through ended. */
export interface PassThroughEnd {
  readonly method: string;
  /** The one sent to the client; undefined when the exchange broke off. */
  readonly status: number | undefined;
  readonly ms: number;
}

/** Records every request that is sent to the broker, passed through or refused. Never throws. */
export interface RequestMetrics {
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

function createRequestMetrics(registry: Registry, prefix: string): RequestMetrics {
  const registers = [registry];
  const broker = new Histogram({
    name: `${prefix}broker_request_duration_seconds`,
    help: 'Requests of the gateway to the broker (purges, health), each try: from sending to the last byte of the answer.',
    labelNames: ['method', 'status_class'],
    buckets: BUCKETS,
    registers,
  });
  const passThrough = new Histogram({
    name: `${prefix}pass_through_duration_seconds`,
    help: 'Requests passed through to the broker, from their head to the end of the answer, at the pace of the client.',
    labelNames: ['method', 'status_class'],
    buckets: BUCKETS,
    registers,
  });
  const refused = new Counter({
    name: `${prefix}requests_refused_total`,
    help: 'Requests refused before anything looked at what they ask for, by reason.',
    labelNames: ['reason'],
    registers,
  });
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
