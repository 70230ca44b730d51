import { settings } from '../sidecar/shared/config/settings.js';
import { minTarget, type Bench, type BenchOptions, type BenchResult, type Table } from './support/bench.js';
import { startBroker } from './support/broker.js';
import { sized } from './support/command.js';
import { startGateway } from './support/gateway.js';
import { digits } from './support/print.js';
import { spreadOf, timed } from './support/statistics.js';
import {
  amountBefore,
  checkHistories,
  queryBefore,
  seedHistories,
  type Histories,
} from './support/temporal-history.js';
import { measureTemporalMemory } from './support/temporal-memory.js';
import { listInstances, purgeInstances } from './support/temporal-requests.js';
import { deleteKnownInstances, runTemporalScript } from './support/temporal-baselines.js';

const INSTANCES = sized({ quick: 10, default: 100 });
const HISTORIES: Histories = { type: 'BenchSensor', entities: 100, before: INSTANCES, after: INSTANCES };
const AMOUNT = amountBefore(HISTORIES);
const QUERY = queryBefore(HISTORIES);
/** Enough deletes for the code to be compiled. */
const WARM_UP: Histories = { ...HISTORIES, before: sized({ quick: 10, default: 50 }), after: 0 };
const LATENCY_MS = 2;
const CONCURRENCY = Number(settings.TEMPORAL_PURGE_CONCURRENCY.default);
/** With one delete at a time, the script takes minutes. It is measured with this many deletes, and its time is scaled up. */
const SLICE = sized({ quick: 500, default: 2_000 });

/** Purges half of the instances of 100 temporal entities in every available way, and compares the ways within each round. */
export const temporalPurge: Bench = {
  name: 'temporal-purge',
  async run(options) {
    const broker = await startBroker(LATENCY_MS);
    try {
      const gateway = await startGateway(broker.url);
      try {
        return resultOf(await measure(broker.url, gateway.url, options));
      } finally {
        await gateway.close();
      }
    } finally {
      await broker.close();
    }
  },
};

/**
 * The gateway's resident memory by the number of instances. It is read from /proc, so this is Linux only; one round is enough.
 */
export const temporalMemory: Bench = { name: 'temporal-memory', run: measureTemporalMemory };

const LABELS = {
  scriptAlone: `script, one at a time (scaled up from ${SLICE.toLocaleString('en')} deletes)`,
  script: `script, ${CONCURRENCY} at once`,
  gateway: 'gateway',
  bound: `bound: only delete known instances, ${CONCURRENCY} at once`,
} as const;
type Contestant = keyof typeof LABELS;

/** Milliseconds that each way took in one round. */
type Round = Readonly<Record<Contestant, number>>;

async function measure(
  brokerUrl: string,
  gatewayUrl: string,
  { rounds, log }: BenchOptions,
): Promise<readonly Round[]> {
  const runs = runsOf(brokerUrl, gatewayUrl);
  log('warming up');
  for (const run of Object.values(runs)) await run(WARM_UP);
  const results: Round[] = [];
  for (let round = 1; round <= rounds; round++) {
    log(`round ${round} of ${rounds}`);
    const times: Record<Contestant, number> = { scriptAlone: 0, script: 0, gateway: 0, bound: 0 };
    const order = Object.keys(LABELS) as Contestant[];
    // The order alternates, so that no contestant always profits from what the other has left behind.
    for (const each of round % 2 === 1 ? order : order.reverse()) times[each] = await runs[each](HISTORIES);
    results.push(times);
  }
  return results;
}

/** Returns each way as a function that creates the histories, purges them, and returns the milliseconds that it took. */
function runsOf(
  brokerUrl: string,
  gatewayUrl: string,
): Readonly<Record<Contestant, (histories: Histories) => Promise<number>>> {
  const seeded =
    (purge: (amount: number) => Promise<number>, left: (amount: number) => number = () => 0) =>
    async (histories: Histories) => {
      const amount = amountBefore(histories);
      await seedHistories(brokerUrl, histories);
      const ms = await purge(amount);
      await checkHistories(brokerUrl, histories, left(amount));
      return ms;
    };
  return {
    scriptAlone: seeded(
      async (amount) => {
        const { listingMs, deletesMs } = await runTemporalScript(brokerUrl, QUERY, {
          concurrency: 1,
          most: SLICE,
        });
        return listingMs + deletesMs * (amount / SLICE);
      },
      (amount) => amount - SLICE,
    ),
    script: seeded(async () => {
      const { listingMs, deletesMs } = await runTemporalScript(brokerUrl, QUERY, {
        concurrency: CONCURRENCY,
      });
      return listingMs + deletesMs;
    }),
    gateway: seeded(async (amount) => timed(async () => purgeInstances(gatewayUrl, QUERY, amount))),
    bound: seeded(async () => {
      const paths = await listInstances(brokerUrl, `${QUERY}&limit=1000`);
      return timed(async () => deleteKnownInstances(brokerUrl, paths, CONCURRENCY));
    }),
  };
}

function resultOf(rounds: readonly Round[]): BenchResult {
  const rows = Object.entries(LABELS).map(([key, label]) => {
    const name = key as Contestant;
    const spreadMs = spreadOf(rounds.map((round) => round[name]));
    // A ratio of speeds is the inverse ratio of times: computed within each round, then the median of all rounds.
    const speedup = spreadOf(rounds.map((round) => round[name] / round.gateway));
    const perSecond = spreadOf(rounds.map((round) => (AMOUNT / round[name]) * 1000));
    return { name, label, spreadMs, speedup, perSecond };
  });
  const table: Table = {
    title: `Purge of ${AMOUNT.toLocaleString('en')} of ${(2 * AMOUNT).toLocaleString('en')} attribute instances, ${LATENCY_MS} ms latency`,
    columns: ['', 'instances/s', 'ms', 'ms min', 'ms max', 'gateway is … times as fast', 'min', 'max'],
    rows: rows.map(({ label, perSecond, spreadMs, speedup }) => [
      label,
      ...[perSecond.median, spreadMs.median, spreadMs.min, spreadMs.max].map(digits),
      ...[speedup.median, speedup.min, speedup.max].map(digits),
    ]),
  };
  const boundRow = rows.find(({ name }) => name === 'bound');
  return {
    tables: [table],
    targets: boundRow === undefined ? [] : [minTarget('gateway / bound', boundRow.speedup, 0.85)],
    data: {
      histories: HISTORIES,
      amount: AMOUNT,
      latencyMs: LATENCY_MS,
      concurrency: CONCURRENCY,
      scriptAloneDeletes: SLICE,
      rounds,
      instancesPerSecond: Object.fromEntries(rows.map(({ name, perSecond }) => [name, perSecond])),
      gatewaySpeedup: Object.fromEntries(rows.map(({ name, speedup }) => [name, speedup])),
    },
  };
}
