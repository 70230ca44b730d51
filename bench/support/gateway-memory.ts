import type { BenchResult } from './bench.js';
import { startGateway, type BenchGateway, type GatewaySettings } from './gateway.js';
import { memoryOf } from './memory-of.js';

/** Resident memory of a gateway, in MiB: before a purge, at its peak, and right after the purge. */
export interface GatewayMemory {
  readonly amount: number;
  readonly idleMiB: number;
  readonly peakMiB: number;
  readonly afterMiB: number;
}

const GROWTH_MAX_MIB = 64;

/** Runs one purge with a fresh gateway, by default with default settings. */
export async function measureMemory(
  brokerUrl: string,
  amount: number,
  purge: (gateway: BenchGateway) => Promise<void>,
  settings: GatewaySettings = {},
): Promise<GatewayMemory> {
  const gateway = await startGateway(brokerUrl, settings);
  try {
    const idle = await memoryOf(gateway.pid);
    await purge(gateway);
    const after = await memoryOf(gateway.pid);
    return {
      amount,
      idleMiB: mib(idle.resident),
      peakMiB: mib(after.peak),
      afterMiB: mib(after.resident),
    };
  } finally {
    await gateway.close();
  }
}

/** Makes tables and targets of the results. @param unit of the amounts, in the plural */
export function memoryResult(results: readonly GatewayMemory[], unit: string): BenchResult {
  const [first, last] = [results[0], results.at(-1)];
  const growth = (last?.peakMiB ?? NaN) - (first?.peakMiB ?? NaN);
  const between = [first, last].map((result) => result?.amount.toLocaleString('en')).join(' to ');
  return {
    tables: [
      {
        title: 'Resident memory of the gateway, MiB',
        columns: [unit, 'idle', 'peak', 'after'],
        rows: results.map(({ amount, ...memory }) => [
          amount.toLocaleString('en'),
          ...[memory.idleMiB, memory.peakMiB, memory.afterMiB].map((value) => value.toFixed(1)),
        ]),
      },
    ],
    targets: [
      {
        name: `growth of the peak, ${between} ${unit}, MiB`,
        wanted: `< ${GROWTH_MAX_MIB}`,
        measured: growth,
        reached: growth < GROWTH_MAX_MIB,
      },
    ],
    data: { results, growthMiB: growth },
  };
}

function mib(bytes: number): number {
  return Math.round((bytes / 1024 / 1024) * 10) / 10;
}
