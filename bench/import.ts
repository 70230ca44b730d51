import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { tarGz, type Entry } from '../test/support/archives.js';
import { write } from './schema-service.js';
import type { Bench, BenchResult } from './support/bench.js';
import { sized } from './support/command.js';
import { startGateway, type BenchGateway } from './support/gateway.js';
import { spreadOf } from './support/statistics.js';

const MODELS = sized({ quick: 20, default: 100, large: 300 });
const EXAMPLES = 4;
const COMMON = 'https://bench.example/shared/common-schema.json';
const BASE = 'https://bench.example/dataModel.Bench';

const KINDS = {
  calls: 'one POST for each model, one after the other',
  first: 'an import into an empty gateway',
  again: 'the same import again',
  dry: 'a dry run of it',
  shared: 'an import with a shared document changed',
} as const;
type Times = Record<keyof typeof KINDS, number>;

/** Imports a repository of models in one request, with a shared document, a context and examples. */
export const importing: Bench = {
  name: 'import',
  async run({ rounds, log }) {
    const measured: Times[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      log(`round ${String(round)}`);
      measured.push(await measure());
    }
    return resultOf(measured);
  },
};

async function measure(): Promise<Times> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-import-'));
  const start = (name: string) => startGateway('http://127.0.0.1:9', { DATABASE_PATH: join(folder, name) });
  const [byCalls, byImport] = [await start('calls.db'), await start('import.db')];
  try {
    const archive = await tarGz(repository('string'));
    return {
      calls: await timed(() => singly(byCalls)),
      first: await timed(() => importInto(byImport, archive, 'created')),
      again: await timed(() => importInto(byImport, archive, 'unchanged')),
      dry: await timed(() => importInto(byImport, archive, 'unchanged', '?dryRun=true')),
      shared: await timed(async () => importInto(byImport, await tarGz(repository('number')), 'updated')),
    };
  } finally {
    await byCalls.close();
    await byImport.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

async function singly(gateway: BenchGateway): Promise<void> {
  await write(gateway, 'PUT', `/api/v2/references?uri=${COMMON}`, commonSchema('string'), 201);
  await write(gateway, 'POST', '/api/v2/domains', { name: 'Bench' }, 201);
  for (let index = 0; index < MODELS; index += 1) {
    const body = { name: nameOf(index), schema: schemaOf(index) };
    await write(gateway, 'POST', '/api/v2/domains/Bench/models', body, 201);
  }
}

async function importInto(gateway: BenchGateway, body: Buffer, status: string, query = ''): Promise<void> {
  const headers = { 'content-type': 'application/gzip' };
  const answer = await request(`${gateway.url}/api/v2/import${query}`, { method: 'POST', headers, body });
  const { summary } = (await answer.body.json()) as { summary: Readonly<Record<string, unknown>> };
  // All models count. The document and the context may or may not be among the changes.
  if (Number(summary[status]) < MODELS || summary['refused'] !== 0) throw new Error(JSON.stringify(summary));
}

function repository(nameType: string): readonly Entry[] {
  const json = (name: string, content: unknown): Entry => ({
    name,
    content: JSON.stringify(content, null, 2),
  });
  const models = Array.from({ length: MODELS }, (_, index) => [
    json(`${nameOf(index)}/schema.json`, schemaOf(index)),
    ...Array.from({ length: EXAMPLES }, (_none, number) =>
      json(`${nameOf(index)}/examples/example${String(number)}.jsonld`, exampleOf(index, number)),
    ),
  ]);
  return [
    json('shared/common-schema.json', commonSchema(nameType)),
    json('context.jsonld', { '@context': { attribute0: 'https://terms.example/attribute0' } }),
    ...models.flat(),
  ];
}

const nameOf = (index: number) => `Model${String(index)}`;

function commonSchema(nameType: string): object {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: COMMON,
    definitions: {
      Commons: { properties: { id: { type: 'string', format: 'uri' }, alternateName: { type: nameType } } },
    },
  };
}

/** About as large as the median published model, some 5 KB. */
function schemaOf(index: number): object {
  const attributes = Array.from({ length: 25 }, (_, number) => [
    `attribute${String(number)}`,
    {
      type: 'number',
      minimum: 0,
      description: `Property. Model:'https://schema.org/Number'. The attribute ${String(number)} of a model of this bench, as people describe it`,
    },
  ]);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `${BASE}/${nameOf(index)}/schema.json`,
    type: 'object',
    allOf: [
      { $ref: `${COMMON}#/definitions/Commons` },
      { properties: { type: { enum: [nameOf(index)] }, ...(Object.fromEntries(attributes) as object) } },
    ],
    required: ['id', 'type'],
  };
}

function exampleOf(index: number, number: number): object {
  const id = `urn:ngsi-ld:${nameOf(index)}:${String(number)}`;
  return { id, type: nameOf(index), attribute0: number, attribute7: 7 };
}

function resultOf(rounds: readonly Times[]): BenchResult {
  const rows = Object.entries(KINDS).map(([kind, label]) => {
    const { median, min, max } = spreadOf(rounds.map((round) => round[kind as keyof Times]));
    return [label, ...[median, min, max].map((ms) => (ms / 1000).toFixed(1))];
  });
  const columns = ['', 'median', 'least', 'most'];
  const title = `${String(MODELS)} models with ${String(EXAMPLES)} examples each, in seconds`;
  return { tables: [{ title, columns, rows }], targets: [], data: { rounds } };
}
