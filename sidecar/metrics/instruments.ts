import { Counter, Gauge, Histogram, type Registry } from '@prometheus-io/client';

/** What all names begin with. */
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

  /** A gauge of the moment, asked for whenever the metrics are read. */
  current(name: string, help: string, value: () => number | Promise<number>): void {
    new Gauge({
      name: METRICS_PREFIX + name,
      help,
      registers: this.#registers,
      async collect() {
        this.set(await value());
      },
    });
  }

  /** A counter of what is summed up elsewhere. */
  sum(name: string, help: string, value: () => number): void {
    new Counter({
      name: METRICS_PREFIX + name,
      help,
      registers: this.#registers,
      collect() {
        this.reset();
        this.inc(value());
      },
    });
  }
}

/** Names of policies that have a label of their own: there are no more policies, unless many are deleted and made. */
const MAX_POLICIES = 1000;

/** Names policies in labels: those beyond the first thousand are `other`. */
export function createPolicyLabel(): (policy: string) => string {
  const known = new Set<string>();
  return (policy) => {
    if (!known.has(policy) && known.size >= MAX_POLICIES) return 'other';
    known.add(policy);
    return policy;
  };
}
