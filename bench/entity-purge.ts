import { settings } from '../sidecar/shared/config/settings.js';
import { minTarget, type Bench, type BenchOptions, type BenchResult, type Table } from './support/bench.js';
import { startBroker, type BenchBroker } from './support/broker.js';
import { sized } from './support/command.js';
import { startGateway, type BenchGateway } from './support/gateway.js';
import { digits } from './support/print.js';
import { deleteKnown, listAll, runNaiveScript } from './support/baselines.js';
import { spreadOf, timed } from './support/statistics.js';

const TYPE = 'BenchVehicle';
const AMOUNT = sized({ quick: 2_000, default: 10_000, large: 20_000 });
/**
 * With single deletes, this many entities are enough for the code to be compiled. A batch purge of all entities ends before
 * that.
 */
const WARM_UP_AMOUNT = sized({ quick: 500, default: 2_000 });
const BATCH_WARM_UPS = 10;
const LATENCY_MS = 2;
const SINGLE_CONCURRENCY = 10;
const PAGE_SIZE = Number(settings.PURGE_PAGE_SIZE.default);
const BATCH_SIZE = Number(settings.PURGE_BATCH_SIZE.default);
const CONCURRENCY = Number(settings.PURGE_CONCURRENCY.default);
/** A batch purge takes a fraction of a second, so each round can afford several, and the median needs them. */
const BATCH_RUNS_PER_ROUND = 5;

/** Purges entities in every available way, and compares the ways within each round. */
export const entityPurge: Bench = {
  name: 'entity-purge',
  async run(options) {
    const broker = await startBroker(LATENCY_MS);
    const gateways: BenchGateway[] = [];
    const start = async (settings: Parameters<typeof startGateway>[1]) => {
      const gateway = await startGateway(broker.url, settings);
      gateways.push(gateway);
      return gateway;
    };
    try {
      const single = await start({ PURGE_STRATEGY: 'single', PURGE_CONCURRENCY: SINGLE_CONCURRENCY });
      const batch = await start({ PURGE_STRATEGY: 'batch' });
      return resultOf(await measure({ broker, single, batch }, options));
    } finally {
      await Promise.all(gateways.map(async (gateway) => gateway.close()));
      await broker.close();
    }
  },
};

interface Contestants {
  readonly broker: BenchBroker;
  readonly single: BenchGateway;
  readonly batch: BenchGateway;
}

/** Milliseconds that each way took. Measurements with the same index ran one after the other. */
interface Times {
  readonly script: number[];
  readonly scriptDeletes: number[];
  readonly single: number[];
  readonly batch: number[];
  readonly listing: number[];
  readonly deleting: number[];
}

/** One measurement; returns what it adds to the times. */
type Run = (amount: number) => Promise<Partial<Record<keyof Times, number>>>;

async function measure(contestants: Contestants, { rounds, log }: BenchOptions): Promise<Times> {
  const runs = runsOf(contestants);
  const times: Times = { script: [], scriptDeletes: [], single: [], batch: [], listing: [], deleting: [] };
  const run = async (each: Run) => {
    for (const [name, ms] of Object.entries(await each(AMOUNT))) times[name as keyof Times].push(ms);
  };

  log('warming up');
  for (const each of [runs.script, runs.single]) await each(WARM_UP_AMOUNT);
  for (let again = 0; again < BATCH_WARM_UPS; again++) {
    for (const each of [runs.batch, runs.bound]) await each(AMOUNT);
  }
  for (let round = 1; round <= rounds; round++) {
    log(`round ${round} of ${rounds}`);
    // The order alternates, so that no contestant always profits from what the other has left behind.
    const isOdd = round % 2 === 1;
    for (const each of isOdd ? [runs.script, runs.single] : [runs.single, runs.script]) await run(each);
    for (let again = 0; again < BATCH_RUNS_PER_ROUND; again++) {
      const batchFirst = (again % 2 === 0) === isOdd;
      for (const each of batchFirst ? [runs.batch, runs.bound] : [runs.bound, runs.batch]) await run(each);
    }
  }
  return times;
}

function runsOf({
  broker,
  single,
  batch,
}: Contestants): Record<'script' | 'single' | 'batch' | 'bound', Run> {
  const seeded =
    (run: Run): Run =>
    async (amount) => {
      await broker.seed(TYPE, amount);
      const times = await run(amount);
      const left = await broker.count();
      if (left > 0) throw new Error(`${left} entities are left.`);
      return times;
    };
  return {
    script: seeded(async () => {
      const limits = { pageSize: PAGE_SIZE, concurrency: SINGLE_CONCURRENCY };
      const { totalMs, deletesMs } = await runNaiveScript(broker.url, TYPE, limits);
      return { script: totalMs, scriptDeletes: deletesMs };
    }),
    single: seeded(async (amount) => ({ single: await timed(async () => single.purge(TYPE, amount)) })),
    batch: seeded(async (amount) => ({ batch: await timed(async () => batch.purge(TYPE, amount)) })),
    bound: seeded(async (amount) => {
      let ids: readonly string[] = [];
      const listing = await timed(async () => {
        ids = await listAll(broker.url, TYPE, { amount, pageSize: PAGE_SIZE });
      });
      const limits = { batchSize: BATCH_SIZE, concurrency: CONCURRENCY };
      const deleting = await timed(async () => deleteKnown(broker.url, ids, limits));
      return { listing, deleting };
    }),
  };
}

const LABELS = {
  script: 'script (total)',
  scriptDeletes: "script's own deletes",
  single: 'gateway, single',
  batch: 'gateway, batch',
  listing: 'only list all pages',
  deleting: 'only batch-delete known ids',
  bound: 'bound (the slower of the two)',
} as const satisfies Record<keyof Times | 'bound', string>;

function resultOf(times: Times): BenchResult {
  const bound = times.listing.map((ms, at) => Math.max(ms, times.deleting[at] ?? 0));
  const ms = { ...times, bound };
  const speeds = Object.entries(LABELS).map(([key, label]) => {
    const runs = ms[key as keyof typeof LABELS];
    const perSecond = spreadOf(runs.map((each) => (AMOUNT / each) * 1000));
    return { key, label, runs, perSecond, spreadMs: spreadOf(runs) };
  });
  const table: Table = {
    title: `Purge of ${AMOUNT.toLocaleString('en')} entities, ${LATENCY_MS} ms latency`,
    columns: ['', 'entities/s', 'ms', 'ms min', 'ms max', 'runs'],
    rows: speeds.map(({ label, runs, perSecond, spreadMs: { median, min, max } }) => [
      label,
      ...[perSecond.median, median, min, max].map(digits),
      String(runs.length),
    ]),
  };
  // A ratio of speeds is the inverse ratio of times: computed within each round, then the median of all rounds.
  const batchInRound = times.script.map(
    (_, round) =>
      spreadOf(times.batch.slice(round * BATCH_RUNS_PER_ROUND, (round + 1) * BATCH_RUNS_PER_ROUND)).median,
  );
  return {
    tables: [table],
    targets: [
      minTarget('batch / bound', spreadOf(quotients(bound, times.batch)), 0.8),
      minTarget('batch / script', spreadOf(quotients(times.script, batchInRound)), 5),
      minTarget("single / script's own deletes", spreadOf(quotients(times.scriptDeletes, times.single)), 0.9),
    ],
    data: {
      amount: AMOUNT,
      latencyMs: LATENCY_MS,
      pageSize: PAGE_SIZE,
      batchSize: BATCH_SIZE,
      concurrency: CONCURRENCY,
      singleConcurrency: SINGLE_CONCURRENCY,
      entitiesPerSecond: Object.fromEntries(speeds.map(({ key, perSecond }) => [key, perSecond])),
      ms,
    },
  };
}

function quotients(dividends: readonly number[], divisors: readonly number[]): readonly number[] {
  return dividends.map((dividend, at) => dividend / (divisors[at] ?? NaN));
}
