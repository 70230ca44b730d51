import { Counter, Gauge, Histogram, type Registry } from '@prometheus-io/client';

export const METRICS_PREFIX = 'ngsild_gateway_';

/** Makes the counters, gauges and histograms of one gateway. Names are given without the prefix. */
export class Instruments {
  readonly #registers: Registry[];

  constructor(registry: Registry) {
    this.#registers = [registry];
  }

  counter<Label extends string = never>(name: string, help: string, labelNames: Label[] = []) {
    return new Counter({ name: METRICS_PREFIX + name, help, labelNames, registers: this.#registers });
  }

  gauge<Label extends string = never>(name: string, help: string, labelNames: Label[] = []) {
    return new Gauge({ name: METRICS_PREFIX + name, help, labelNames, registers: this.#registers });
  }

  /** @param buckets in seconds */
  histogram<Label extends string = never>(
    name: string,
    help: string,
    buckets: number[],
    labelNames: Label[] = [],
  ) {
    const registers = this.#registers;
    return new Histogram({ name: METRICS_PREFIX + name, help, buckets, labelNames, registers });
  }

  /** Makes a gauge whose value is computed whenever the metrics are read. */
  computedGauge(name: string, help: string, value: () => number | Promise<number>): void {
    new Gauge({
      name: METRICS_PREFIX + name,
      help,
      registers: this.#registers,
      async collect() {
        this.set(await value());
      },
    });
  }
}

/**
 * Maximum number of policy names used as labels. There are never more policies at a time, but policies can be deleted
 * and created.
 */
const MAX_POLICIES = 1000;

/** Makes a function that turns policy names into labels: after the first thousand names, further ones become `other`. */
export function createPolicyLabel(): (policy: string) => string {
  const known = new Set<string>();
  return (policy) => {
    if (!known.has(policy) && known.size >= MAX_POLICIES) return 'other';
    known.add(policy);
    return policy;
  };
}
