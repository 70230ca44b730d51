import { collectDefaultMetrics, Registry } from '@prometheus-io/client';
import { nextTurn } from '../shared/next-turn.js';
import { createPurgeMetrics, type PurgeMetrics } from './purge-metrics.js';
import { createRequestMetrics, type RequestMetrics } from './request-metrics.js';
import { registerStateMetrics, type StateSources } from './state-metrics.js';

/** The metrics of one gateway. */
export interface Metrics {
  readonly purges: PurgeMetrics;
  readonly requests: RequestMetrics;
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
  const requests = createRequestMetrics(registry, METRICS_PREFIX);
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
    requests,
    contentType: registry.contentType,
    text() {
      reading ??= read().finally(() => (reading = undefined));
      return reading;
    },
  };
}
