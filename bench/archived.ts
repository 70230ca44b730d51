import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { settings } from '../sidecar/shared/config/settings.js';
import { maxTarget, type Bench, type BenchOptions, type Target } from './support/bench.js';
import { entityIds, startBroker } from './support/broker.js';
import { sized } from './support/command.js';
import { measureMemory, type GatewayMemory } from './support/gateway-memory.js';
import { startGateway, type GatewaySettings } from './support/gateway.js';
import { digits } from './support/print.js';
import { startShapedBroker } from './support/shaped.js';
import type { BrokerShape } from './support/shaped-protocol.js';
import { spreadOf, timed, type Spread } from './support/statistics.js';

const TYPE = 'Shaped';
const AMOUNT = sized({ quick: 2_000, default: 10_000 });
const WARM_UPS = sized({ quick: 1, default: 2 });
const TIMES_MAX = 1.6;
const MEMORY_AMOUNT = sized({ quick: 20_000, default: 200_000, large: 1_000_000 });
const MEMORY_MAX_MIB = 96;

const PLAIN: BrokerShape = {
  delete: 'constant',
  page: 'constant',
  count: 'free',
  paging: true,
  pageMax: Number(settings.PURGE_PAGE_SIZE.default),
  entityBytes: 1000,
};
const SHAPES: Readonly<Record<string, BrokerShape>> = {
  'all costs constant': PLAIN,
  'delete grows from the head': { ...PLAIN, delete: 'from-head' },
  'page grows with its offset': { ...PLAIN, page: 'by-offset' },
};

/** The cost of archiving everything that a purge deletes: time with brokers of several shapes, and memory. */
export const archived: Bench = {
  name: 'archived',
  async run(options) {
    const folder = await mkdtemp(join(tmpdir(), 'bench-archive-'));
    const keeping: GatewaySettings = { PURGE_ARCHIVE: 'required', ARCHIVE_URL: pathToFileURL(folder).href };
    try {
      const rows: string[][] = [];
      const targets: Target[] = [];
      const times: Record<string, unknown> = {};
      for (const [name, shape] of Object.entries(SHAPES)) {
        options.log(name);
        const { without, within, ratio } = await measure(shape, keeping, options);
        rows.push([name, digits(without.median), digits(within.median), ratio.median.toFixed(2)]);
        targets.push(maxTarget(`${name}: archived / not`, ratio, TIMES_MAX));
        times[name] = { without, within, ratio };
      }
      const memory = await measureBoth(keeping, options);
      const growth = (memory.within?.peakMiB ?? NaN) - (memory.without?.peakMiB ?? NaN);
      return {
        tables: [
          {
            title: `Purge of ${AMOUNT.toLocaleString('en')} entities of 1 kB, ms`,
            columns: ['broker', 'not archived', 'archived', 'times'],
            rows,
          },
          {
            title: `Peak of the gateway with ${MEMORY_AMOUNT.toLocaleString('en')} entities, MiB`,
            columns: ['not archived', 'archived'],
            rows: [[memory.without, memory.within].map((each) => (each?.peakMiB ?? NaN).toFixed(1))],
          },
        ],
        targets: [
          ...targets,
          {
            name: 'memory of an archive, MiB',
            wanted: `≤ ${MEMORY_MAX_MIB}`,
            measured: growth,
            reached: growth <= MEMORY_MAX_MIB,
          },
        ],
        data: { times, memory },
      };
    } finally {
      await rm(folder, { recursive: true });
    }
  },
};

async function measure(
  shape: BrokerShape,
  keeping: GatewaySettings,
  { rounds }: BenchOptions,
): Promise<Record<'without' | 'within' | 'ratio', Spread>> {
  const broker = await startShapedBroker(shape);
  const gateways = {
    without: await startGateway(broker.url),
    within: await startGateway(broker.url, keeping),
  };
  const ids = entityIds(TYPE, AMOUNT);
  const times: Record<keyof typeof gateways, number[]> = { without: [], within: [] };
  const run = async (name: keyof typeof gateways) => {
    await broker.seed(ids);
    const ms = await timed(async () => gateways[name].purge(TYPE, AMOUNT));
    const { left } = await broker.state();
    if (left > 0) throw new Error(`${left} entities are left.`);
    return ms;
  };
  try {
    for (let round = -WARM_UPS; round < rounds; round++) {
      for (const name of ['without', 'within'] as const) {
        const ms = await run(name);
        if (round >= 0) times[name].push(ms);
      }
    }
  } finally {
    await Promise.all([gateways.without.close(), gateways.within.close()]);
    broker.close();
  }
  return {
    without: spreadOf(times.without),
    within: spreadOf(times.within),
    ratio: spreadOf(times.within.map((ms, at) => ms / (times.without[at] ?? NaN))),
  };
}

/** Measures the memory of a purge that is not archived and of one that is, each with a fresh gateway. */
async function measureBoth(
  keeping: GatewaySettings,
  { log }: BenchOptions,
): Promise<Partial<Record<'without' | 'within', GatewayMemory>>> {
  const broker = await startBroker(0);
  const results: Partial<Record<'without' | 'within', GatewayMemory>> = {};
  try {
    for (const [name, given] of [
      ['without', {}],
      ['within', keeping],
    ] as const) {
      log(`${MEMORY_AMOUNT.toLocaleString('en')} entities, ${name === 'within' ? '' : 'not '}archived`);
      await broker.seed(TYPE, MEMORY_AMOUNT);
      const purge = async (gateway: { purge(type: string, amount: number): Promise<void> }) =>
        gateway.purge(TYPE, MEMORY_AMOUNT);
      results[name] = await measureMemory(broker.url, MEMORY_AMOUNT, purge, given);
    }
  } finally {
    await broker.close();
  }
  return results;
}
