import type { BenchOptions, BenchResult } from './bench.js';
import { startBroker } from './broker.js';
import { sized } from './command.js';
import { measureMemory, memoryResult, type GatewayMemory } from './gateway-memory.js';
import { amountBefore, checkHistories, queryBefore, seedHistories } from './temporal-history.js';
import { purgeInstances } from './temporal-requests.js';

const HISTORIES = { type: 'BenchSensor', entities: 100, after: 0 } as const;
/** Number of instances of each of an entity's two attributes: 1,000, 100,000 and perhaps 1,000,000 in all. */
const BEFORE = sized({ quick: [5, 50], default: [5, 500], large: [5, 500, 5_000] });

/** Measures the gateway's resident memory by the number of instances purged. */
export async function measureTemporalMemory({ log }: Pick<BenchOptions, 'log'>): Promise<BenchResult> {
  const results: GatewayMemory[] = [];
  for (const before of BEFORE) {
    const histories = { ...HISTORIES, before };
    const instances = amountBefore(histories);
    // Use a new broker each time, so that nothing of earlier histories is left.
    const broker = await startBroker(0);
    try {
      log(`${instances.toLocaleString('en')} instances`);
      await seedHistories(broker.url, histories);
      const result = await measureMemory(broker.url, instances, (gateway) =>
        purgeInstances(gateway.url, queryBefore(histories), instances),
      );
      await checkHistories(broker.url, histories, 0);
      results.push(result);
    } finally {
      await broker.close();
    }
  }
  return memoryResult(results, 'instances');
}
