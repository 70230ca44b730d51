import { settings } from '../sidecar/shared/config/settings.js';
import { minTarget, type Bench, type BenchOptions, type Target } from './support/bench.js';
import { entityIds } from './support/broker.js';
import { sized } from './support/command.js';
import { startGateway } from './support/gateway.js';
import { digits } from './support/print.js';
import { deleteKnown, listAll, runNaiveScript } from './support/baselines.js';
import { startShapedBroker } from './support/shaped.js';
import type { BrokerShape } from './support/shaped-protocol.js';
import { spreadOf, timed, type Spread } from './support/statistics.js';

const TYPE = 'Shaped';
const AMOUNT = sized({ quick: 2_000, default: 10_000 });
const WARM_UPS = sized({ quick: 1, default: 3 });
const PAGE_SIZE = Number(settings.PURGE_PAGE_SIZE.default);
const BATCH_SIZE = Number(settings.PURGE_BATCH_SIZE.default);
const CONCURRENCY = Number(settings.PURGE_CONCURRENCY.default);
const SCRIPT_CONCURRENCY = 10;

/** A broker whose costs are all constant. */
export const PLAIN: BrokerShape = {
  delete: 'constant',
  page: 'constant',
  count: 'free',
  paging: true,
  pageMax: PAGE_SIZE,
};

/** Brokers, named by which of their costs grow with the number of entities. */
export const SHAPES: Readonly<Record<string, BrokerShape>> = {
  'all costs constant': PLAIN,
  'delete grows from the head': { ...PLAIN, delete: 'from-head' },
  'delete grows from the tail': { ...PLAIN, delete: 'from-tail' },
  'page grows with its offset': { ...PLAIN, page: 'by-offset' },
  'page grows with its size': { ...PLAIN, page: 'by-size', pageMax: 1_000_000 },
  'any page size': { ...PLAIN, pageMax: 1_000_000 },
  'any page size, delete grows from the head': { ...PLAIN, pageMax: 1_000_000, delete: 'from-head' },
  'no paging': { ...PLAIN, paging: false },
  'count costs a page': { ...PLAIN, count: 'costs-a-page' },
};

/** The result of one way of purging. */
interface Way {
  readonly ms: Spread;
  readonly times: readonly number[];
  /** Requests of the last run. */
  readonly requests: number;
}

/**
 * Purges with brokers whose costs depend on position, offset or size, compared with the best strategy that knows the broker.
 */
export const shapes: Bench = {
  name: 'shapes',
  async run(options) {
    const rows: string[][] = [];
    const targets: Target[] = [];
    const data: Record<string, unknown> = {};
    for (const [name, shape] of Object.entries(SHAPES)) {
      options.log(name);
      const { script, known, gateway } = await measure(shape, options);
      const toKnown = spreadOf(gateway.times.map((ms, at) => (known.times[at] ?? NaN) / ms));
      const toScript = spreadOf(gateway.times.map((ms, at) => (script.times[at] ?? NaN) / ms));
      rows.push([
        name,
        ...[script.ms.median, known.ms.median, gateway.ms.median].map(digits),
        ...[known.requests, gateway.requests].map(String),
      ]);
      targets.push(minTarget(`${name}: known ids / gateway`, toKnown, 0.8));
      targets.push(minTarget(`${name}: script / gateway`, toScript, 2));
      data[name] = { shape, script, known, gateway };
    }
    return {
      tables: [
        {
          title: `Purge of ${AMOUNT.toLocaleString('en')} entities, ms and requests`,
          columns: ['broker', 'script', 'known ids', 'gateway', 'requests, known', 'requests, gateway'],
          rows,
        },
      ],
      targets,
      data,
    };
  },
};

async function measure(
  shape: BrokerShape,
  { rounds }: BenchOptions,
): Promise<Record<'script' | 'known' | 'gateway', Way>> {
  const broker = await startShapedBroker(shape);
  const gateway = await startGateway(broker.url);
  const { url } = broker;
  const ids = entityIds(TYPE, AMOUNT);
  const ways = {
    gateway: async () => gateway.purge(TYPE, AMOUNT),
    known: async () => {
      const listed = await listAll(url, TYPE, { amount: AMOUNT, pageSize: PAGE_SIZE });
      const best = shape.delete === 'from-tail' ? [...listed].reverse() : listed;
      await deleteKnown(url, best, { batchSize: BATCH_SIZE, concurrency: CONCURRENCY });
    },
    script: async () => {
      await runNaiveScript(url, TYPE, { pageSize: PAGE_SIZE, concurrency: SCRIPT_CONCURRENCY });
    },
  };
  const times: Record<keyof typeof ways, number[]> = { script: [], known: [], gateway: [] };
  const requests: Record<keyof typeof ways, number> = { script: 0, known: 0, gateway: 0 };
  const run = async (name: keyof typeof ways) => {
    await broker.seed(ids);
    const ms = await timed(ways[name]);
    const state = await broker.state();
    if (state.left > 0) throw new Error(`${state.left} entities are left.`);
    requests[name] = state.requests;
    return ms;
  };
  try {
    for (let again = 0; again < WARM_UPS; again++)
      for (const name of ['known', 'gateway'] as const) await run(name);
    for (let round = 0; round < rounds; round++) {
      for (const name of ['script', 'known', 'gateway'] as const) times[name].push(await run(name));
    }
  } finally {
    await gateway.close();
    broker.close();
  }
  const wayOf = (name: keyof typeof ways): Way => ({
    ms: spreadOf(times[name]),
    times: times[name],
    requests: requests[name],
  });
  return { script: wayOf('script'), known: wayOf('known'), gateway: wayOf('gateway') };
}
