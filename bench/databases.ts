import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase, PostgresServer } from '../test/support/postgres.js';
import { schemaOf, write } from './schema-service.js';
import type { Bench, BenchResult } from './support/bench.js';
import { startGateway, type BenchGateway } from './support/gateway.js';
import { requestsPerSecond } from './support/http-load.js';
import { spreadOf } from './support/statistics.js';

const CONNECTIONS = 32;
const REQUESTS = 5000;
const WRITES = 100;
const MODELS = 16;

const KINDS = {
  schema: 'GET …/schema, 32 connections',
  model: 'GET of the model, 32 connections',
  one: 'PUT new versions, one after the other',
  many: 'PUT new versions of 15 models at once',
} as const;
type Rates = Record<keyof typeof KINDS, number>;

/** Reads and writes of models, with SQLite in a file and with PostgreSQL on this machine; both commit to disk. */
export const databases: Bench = {
  name: 'databases',
  async run({ rounds, log }) {
    const folder = await mkdtemp(join(tmpdir(), 'bench-databases-'));
    const server = await PostgresServer.start('durable');
    const { url } = await createDatabase(server.url);
    const gateways = {
      SQLite: await startGateway('http://127.0.0.1:9', { DATABASE_PATH: join(folder, 'schema.db') }),
      PostgreSQL: await startGateway('http://127.0.0.1:9', {
        DATABASE_URL: url,
        DATABASE_PATH: join(folder, 'none'),
      }),
    };
    const measured = { SQLite: [] as Rates[], PostgreSQL: [] as Rates[] };
    const names = ['SQLite', 'PostgreSQL'] as const;
    try {
      for (const name of names) await fill(gateways[name]);
      // The first round is a warm-up. The databases take turns, so that neither always goes first.
      for (let round = 0; round <= rounds; round += 1) {
        log(round === 0 ? 'warm-up' : `round ${String(round)}`);
        for (const name of round % 2 === 0 ? names : names.toReversed()) {
          const rates = await measure(gateways[name], round);
          if (round > 0) measured[name].push(rates);
        }
      }
      return resultOf(measured);
    } finally {
      for (const name of names) await gateways[name].close();
      await server.close();
      await rm(folder, { recursive: true, force: true });
    }
  },
};

const modelOf = (index: number) => `/api/v2/domains/Bench/models/Sensor${String(index)}`;

async function fill(gateway: BenchGateway): Promise<void> {
  await write(gateway, 'POST', '/api/v2/domains', { name: 'Bench' }, 201);
  for (let index = 0; index < MODELS; index += 1) {
    const model = { name: `Sensor${String(index)}`, schema: schemaOf(0) };
    await write(gateway, 'POST', '/api/v2/domains/Bench/models', model, 201);
  }
}

async function measure(gateway: BenchGateway, round: number): Promise<Rates> {
  const reads = (path: string) =>
    requestsPerSecond({
      url: `${gateway.url}${path}`,
      status: 200,
      headers: {},
      connections: CONNECTIONS,
      requests: REQUESTS,
    });
  const put = (index: number, number: number) =>
    write(gateway, 'PUT', modelOf(index), { schema: schemaOf(round * WRITES + number) }, 200);
  const model = await reads(modelOf(0));
  const schema = await reads(`${modelOf(0)}/schema`);
  const one = await perSecond(async () => {
    for (let number = 1; number <= WRITES; number += 1) await put(0, number);
  });
  const many = await perSecond(async () => {
    const writers = Array.from({ length: MODELS - 1 }, async (_, index) => {
      for (let number = index; number < WRITES; number += MODELS - 1) await put(index + 1, number + 1);
    });
    await Promise.all(writers);
  });
  return { schema, model, one, many };
}

async function perSecond(writes: () => Promise<void>): Promise<number> {
  const startedMs = performance.now();
  await writes();
  return (WRITES / (performance.now() - startedMs)) * 1000;
}

function resultOf(measured: Readonly<Record<'SQLite' | 'PostgreSQL', readonly Rates[]>>): BenchResult {
  const cell = (rounds: readonly Rates[], kind: keyof Rates) => {
    const [median, min, max] = (['median', 'min', 'max'] as const).map((which) =>
      Math.round(spreadOf(rounds.map((round) => round[kind]))[which]).toLocaleString('en'),
    );
    return `${median ?? ''} (${min ?? ''}–${max ?? ''})`;
  };
  return {
    tables: [
      {
        title: 'Models on SQLite and on PostgreSQL, requests/s',
        columns: ['', 'SQLite', 'PostgreSQL'],
        rows: Object.entries(KINDS).map(([kind, label]) => [
          label,
          cell(measured.SQLite, kind as keyof Rates),
          cell(measured.PostgreSQL, kind as keyof Rates),
        ]),
      },
    ],
    targets: [],
    data: { rounds: measured },
  };
}
