import { request } from 'undici';
import type { Bench, BenchOptions, BenchResult } from './support/bench.js';
import { startBroker, type BenchBroker } from './support/broker.js';
import { startGateway, type BenchGateway } from './support/gateway.js';
import { digits } from './support/print.js';
import { spreadOf, timed } from './support/statistics.js';

const TYPE = 'BenchVehicle';
const AMOUNT = 100;
/** As between a gateway and a broker in another zone, so that one more round trip is visible. */
const LATENCY_MS = 20;
const PURGES_PER_ROUND = 5;

/** Queries with an increasing number of proofs. `n` makes a query that has not been sent before. */
const QUERIES: readonly { readonly proves: number; readonly query: (n: number) => string }[] = [
  { proves: 2, query: (n) => `type=${TYPE}&q=speed<${1000 + n}` },
  { proves: 4, query: (n) => `type=${TYPE}&q=speed<${1000 + n};brandName;speed>=0` },
  {
    proves: 8,
    query: (n) =>
      `type=${TYPE}&attrs=speed&idPattern=Bench&q=speed<${1000 + n};brandName;speed>=0;speed!=-1;brandName!="x"`,
  },
];

interface Cost {
  readonly requests: number;
  readonly ms: number;
}

/** The cost of the first and of the second purge with the same query. */
export const proofs: Bench = {
  name: 'proofs',
  async run(options) {
    const broker = await startBroker(LATENCY_MS);
    const gateway = await startGateway(broker.url);
    try {
      return resultOf(await measure(broker, gateway, options));
    } finally {
      await gateway.close();
      await broker.close();
    }
  },
};

async function measure(broker: BenchBroker, gateway: BenchGateway, { rounds, log }: BenchOptions) {
  let sent = 0;
  const purge = async (query: string): Promise<Cost> => {
    await broker.seed(TYPE, AMOUNT);
    let requests = 0;
    const ms = await timed(async () => {
      const { body } = await request(`${gateway.url}/ngsi-ld/v1/entities?${encodeURI(query)}`, {
        method: 'DELETE',
        headers: { prefer: 'return=representation' },
      });
      const report = (await body.json()) as { readonly deleted: number; readonly requests: number };
      if (report.deleted !== AMOUNT) throw new Error(`A purge ended with ${JSON.stringify(report)}`);
      ({ requests } = report);
    });
    return { requests, ms };
  };
  const costs = QUERIES.map(() => ({ first: [] as Cost[], second: [] as Cost[] }));
  for (let again = 0; again < 3; again += 1) await purge(`type=${TYPE}`);
  for (let round = 0; round < rounds; round += 1) {
    log(`round ${round + 1} of ${rounds}`);
    for (let nth = 0; nth < PURGES_PER_ROUND; nth += 1) {
      for (const [index, { query }] of QUERIES.entries()) {
        const text = query((sent += 1));
        costs[index]?.first.push(await purge(text));
        costs[index]?.second.push(await purge(text));
      }
    }
  }
  return costs;
}

function resultOf(
  costs: readonly { readonly first: readonly Cost[]; readonly second: readonly Cost[] }[],
): BenchResult {
  const medianOf = (values: readonly Cost[], of: keyof Cost) =>
    spreadOf(values.map((cost) => cost[of])).median;
  return {
    tables: [
      {
        title: `Purge of ${AMOUNT} entities, ${LATENCY_MS} ms latency`,
        columns: ['to prove', 'requests, first', 'second', 'ms, first', 'second'],
        rows: costs.map(({ first, second }, index) => [
          String(QUERIES[index]?.proves),
          ...(['requests', 'ms'] as const).flatMap((of) =>
            [first, second].map((runs) => digits(medianOf(runs, of))),
          ),
        ]),
      },
    ],
    targets: costs.map(({ first, second }, index) => {
      const measured = medianOf(first, 'ms') - medianOf(second, 'ms');
      const name = `${QUERIES[index]?.proves} proofs: ms that the first purge takes longer`;
      return { name, wanted: `<= ${LATENCY_MS}, one round trip`, measured, reached: measured <= LATENCY_MS };
    }),
    data: { amount: AMOUNT, latencyMs: LATENCY_MS, costs },
  };
}
