import type { Bench } from './support/bench.js';
import { startBroker } from './support/broker.js';
import { sized } from './support/command.js';
import { measureMemory, memoryResult, type GatewayMemory } from './support/gateway-memory.js';

const TYPE = 'BenchVehicle';
const AMOUNTS = sized({ quick: [1_000, 50_000], default: [1_000, 200_000, 1_000_000] });

/**
 * The gateway's resident memory by the number of matches. It is read from /proc, so this is Linux only; one round is enough.
 */
export const memory: Bench = {
  name: 'memory',
  async run({ log }) {
    const broker = await startBroker(0);
    const results: GatewayMemory[] = [];
    try {
      for (const amount of AMOUNTS) {
        log(`${amount.toLocaleString('en')} matches`);
        await broker.seed(TYPE, amount);
        results.push(await measureMemory(broker.url, amount, (gateway) => gateway.purge(TYPE, amount)));
      }
    } finally {
      await broker.close();
    }
    return memoryResult(results, 'matches');
  },
};
