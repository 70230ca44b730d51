import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { minTarget, type Bench, type BenchResult } from './support/bench.js';
import { startBroker, type BenchBroker } from './support/broker.js';
import { sized } from './support/command.js';
import { startGateway, type BenchGateway } from './support/gateway.js';
import { digits } from './support/print.js';
import { spreadOf } from './support/statistics.js';

const ENTITIES = sized({ quick: 20_000, default: 100_000 });
const LATENCY_MS = 5;
const LISTENERS = 50;
const WAYS = [
  ...(['caller waits', 'job', `job, ${LISTENERS} listeners`] as const),
  ...(['caller waits, maxAffected', 'job, maxAffected'] as const),
] as const;
type Way = (typeof WAYS)[number];

/**
 * A purge whose caller waits, compared with the same purge as a job: alone, with listeners, and with a maximum that holds even
 * after a crash.
 */
export const jobs: Bench = {
  name: 'jobs',
  async run({ rounds, log }) {
    const folder = await mkdtemp(join(tmpdir(), 'bench-jobs-'));
    const broker = await startBroker(LATENCY_MS);
    const gateway = await startGateway(broker.url, { DATABASE_PATH: join(folder, 'schema.db') });
    try {
      const measured: Record<Way, number>[] = [];
      // The first round is a warm-up.
      for (let round = 0; round <= rounds; round++) {
        log(round === 0 ? 'warm-up' : `round ${round} of ${rounds}`);
        const times = {} as Record<Way, number>;
        for (const way of round % 2 === 0 ? WAYS : WAYS.toReversed())
          times[way] = await timeOf(way, broker, gateway);
        if (round > 0) measured.push(times);
      }
      return resultOf(measured);
    } finally {
      await gateway.close();
      await broker.close();
      await rm(folder, { recursive: true, force: true });
    }
  },
};

/** Milliseconds from the request to the end of the purge. */
async function timeOf(way: Way, broker: BenchBroker, gateway: BenchGateway): Promise<number> {
  await broker.seed('Car', ENTITIES);
  const startedMs = performance.now();
  const type = way.endsWith('maxAffected') ? `Car&maxAffected=${ENTITIES}` : 'Car';
  if (way.startsWith('caller')) await gateway.purge(type, ENTITIES);
  else await runJob(gateway, type, way === `job, ${LISTENERS} listeners` ? LISTENERS : 1);
  const elapsedMs = performance.now() - startedMs;
  const left = await broker.count();
  if (left > 0) throw new Error(`${left} entities are left.`);
  return elapsedMs;
}

async function runJob({ url }: BenchGateway, type: string, listeners: number): Promise<void> {
  const { statusCode, body } = await request(`${url}/ngsi-ld/v1/entities?type=${type}`, {
    method: 'DELETE',
    headers: { prefer: 'respond-async' },
  });
  if (statusCode !== 202) throw new Error(`A job was answered ${statusCode}: ${await body.text()}`);
  const { id } = (await body.json()) as { readonly id: string };
  const ends = await Promise.all(Array.from({ length: listeners }, () => lastEventOf(url, id)));
  for (const { state, deleted } of ends)
    if (state !== 'succeeded' || deleted !== ENTITIES)
      throw new Error(`A job ended as ${state}, deleted ${deleted}.`);
}

async function lastEventOf(
  url: string,
  id: string,
): Promise<{ readonly state: string; readonly deleted: number }> {
  const { body } = await request(`${url}/api/v2/purges/${id}/events`);
  const events = (await body.text()).split('\n').filter((line) => line.startsWith('data: '));
  return JSON.parse(events.at(-1)?.slice(6) ?? '{}') as { readonly state: string; readonly deleted: number };
}

function resultOf(rounds: readonly Record<Way, number>[]): BenchResult {
  const ratio = (way: Way, to: Way) => spreadOf(rounds.map((times) => times[to] / times[way]));
  return {
    tables: [
      {
        title: `${ENTITIES.toLocaleString('en')} entities, ${LATENCY_MS} ms a request; medians of ${rounds.length} rounds`,
        columns: ['', 'ms', 'least', 'most'],
        rows: WAYS.map((way) => {
          const { median, min, max } = spreadOf(rounds.map((times) => times[way]));
          return [way, ...[median, min, max].map(digits)];
        }),
      },
    ],
    targets: [
      minTarget('job / caller waits, speed', ratio('job', 'caller waits'), 0.95),
      minTarget(`${LISTENERS} listeners / one, speed`, ratio(`job, ${LISTENERS} listeners`, 'job'), 0.9),
      minTarget(
        'job / caller waits with maxAffected, speed',
        ratio('job, maxAffected', 'caller waits, maxAffected'),
        0.9,
      ),
    ],
    data: { rounds },
  };
}
