import type { StateSources } from '../../../sidecar/metrics/metrics.js';

/** One line of the Prometheus text format. */
export interface Series {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Reads the samples of a text in the Prometheus format, and throws at a line that it does not understand. */
export function seriesOf(text: string): readonly Series[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', labels = '', value = ''] =
        /^([a-z_A-Z][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      if (name === '') throw new Error(`not a sample: ${line}`);
      const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', text = '']) => [key, text]);
      return {
        name,
        labels: Object.fromEntries(pairs) as Record<string, string>,
        value: value === '+Inf' ? Infinity : Number(value),
      };
    });
}

/** The value of the sample with exactly these labels; the name is given without the prefix of this product. */
export function valueOf(
  text: string,
  name: string,
  labels: Readonly<Record<string, string>>,
): number | undefined {
  const wanted = JSON.stringify(Object.entries(labels).sort());
  return seriesOf(text).find(
    (one) =>
      one.name === `ngsild_gateway_${name}` && JSON.stringify(Object.entries(one.labels).sort()) === wanted,
  )?.value;
}

/** A gateway that does nothing. */
export function idle(): StateSources {
  return {
    purgesRunning: () => 0,
    scansRunning: () => 0,
    purgesQueued: async () => 0,
    workers: () => ({ waiting: 0, running: 0 }),
    isBrokerUp: async () => true,
    isStoreUp: async () => true,
  };
}
