import type { BenchOptions, BenchResult, Table } from './bench.js';
import { startBroker, type BenchBroker } from './broker.js';
import { startGateway } from './gateway.js';
import { memoryOf } from './memory-of.js';
import { amountBefore, checkHistories, queryBefore, seedHistories } from './temporal-history.js';
import { purgeInstances } from './temporal-requests.js';

const HISTORIES = { type: 'BenchSensor', entities: 100, after: 0 } as const;
/** Instances of each of an entity's two attributes: 1,000, 100,000 and 1,000,000 in all. */
const BEFORE = [5, 500, 5_000] as const;
const GROWTH_MAX_MIB = 64;

/** Measures the gateway's resident memory by the number of instances purged. */
export async function measureTemporalMemory({ say }: Pick<BenchOptions, 'say'>): Promise<BenchResult> {
  const results: MemoryResult[] = [];
  for (const before of BEFORE) {
    // A new broker each time, so that nothing is left of the histories of the last one.
    const broker = await startBroker(0);
    try {
      say(`${amountBefore({ ...HISTORIES, before }).toLocaleString('en')} instances`);
      results.push(await measure(broker, before));
    } finally {
      await broker.close();
    }
  }
  const peaks = results.map(({ peakMiB }) => peakMiB);
  const growth = (peaks.at(-1) ?? NaN) - (peaks[0] ?? NaN);
  return {
    tables: [tableOf(results)],
    targets: [
      {
        name: 'growth of the peak, 1,000 to 1,000,000 instances, MiB',
        wanted: `< ${GROWTH_MAX_MIB}`,
        measured: growth,
        reached: growth < GROWTH_MAX_MIB,
      },
    ],
    data: { results, growthMiB: growth },
  };
}

interface MemoryResult {
  readonly instances: number;
  /** Resident before the purge, at the most, and right after it. */
  readonly idleMiB: number;
  readonly peakMiB: number;
  readonly afterMiB: number;
}

/** Purges once with a gateway that has done nothing before, with the settings it has by default. */
async function measure(broker: BenchBroker, before: number): Promise<MemoryResult> {
  const histories = { ...HISTORIES, before };
  const instances = amountBefore(histories);
  await seedHistories(broker.url, histories);
  const gateway = await startGateway(broker.url);
  try {
    const idle = await memoryOf(gateway.pid);
    await purgeInstances(gateway.url, queryBefore(histories), instances);
    const after = await memoryOf(gateway.pid);
    await checkHistories(broker.url, histories, 0);
    return {
      instances,
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
    columns: ['instances', 'idle', 'peak', 'after'],
    rows: results.map(({ instances, idleMiB, peakMiB, afterMiB }) => [
      instances.toLocaleString('en'),
      idleMiB.toFixed(1),
      peakMiB.toFixed(1),
      afterMiB.toFixed(1),
    ]),
  };
}
