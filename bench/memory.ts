import type { Bench, Table } from './support/bench.js';
import { startBroker, type BenchBroker } from './support/broker.js';
import { startGateway } from './support/gateway.js';
import { memoryOf } from './support/memory-of.js';

const TYPE = 'BenchVehicle';
const AMOUNTS = [1_000, 200_000, 1_000_000] as const;
const GROWTH_MAX_MIB = 64;

/** The gateway's resident memory by the number of matches. All of /proc, hence Linux only; one round is enough. */
export const memory: Bench = {
  name: 'memory',
  async run({ say }) {
    const broker = await startBroker(0);
    const results: MemoryResult[] = [];
    try {
      for (const amount of AMOUNTS) {
        say(`${amount.toLocaleString('en')} matches`);
        results.push(await measure(broker, amount));
      }
    } finally {
      await broker.close();
    }
    const peaks = results.map(({ peakMiB }) => peakMiB);
    const growth = (peaks.at(-1) ?? NaN) - (peaks[0] ?? NaN);
    return {
      tables: [tableOf(results)],
      targets: [
        {
          name: 'growth of the peak, 1,000 to 1,000,000 matches, MiB',
          wanted: `< ${GROWTH_MAX_MIB}`,
          measured: growth,
          reached: growth < GROWTH_MAX_MIB,
        },
      ],
      data: { results, growthMiB: growth },
    };
  },
};

interface MemoryResult {
  readonly matches: number;
  /** Resident before the purge, at the most, and right after it. */
  readonly idleMiB: number;
  readonly peakMiB: number;
  readonly afterMiB: number;
}

/** Purges once with a gateway that has done nothing before, with the settings it has by default. */
async function measure(broker: BenchBroker, amount: number): Promise<MemoryResult> {
  await broker.seed(TYPE, amount);
  const gateway = await startGateway(broker.url);
  try {
    const idle = await memoryOf(gateway.pid);
    await gateway.purge(TYPE, amount);
    const after = await memoryOf(gateway.pid);
    return {
      matches: amount,
      idleMiB: mib(idle.resident),
      peakMiB: mib(after.peak),
      afterMiB: mib(after.resident),
    };
  } finally {
    await gateway.close();
  }
}

function mib(bytes: number): number {
  return Math.round((bytes / 1024 / 1024) * 10) / 10;
}

function tableOf(results: readonly MemoryResult[]): Table {
  return {
    title: 'Resident memory of the gateway, MiB',
    columns: ['matches', 'idle', 'peak', 'after'],
    rows: results.map(({ matches, idleMiB, peakMiB, afterMiB }) => [
      matches.toLocaleString('en'),
      idleMiB.toFixed(1),
      peakMiB.toFixed(1),
      afterMiB.toFixed(1),
    ]),
  };
}
