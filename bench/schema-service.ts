import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { startBareFastify } from './support/start-bare-fastify.js';
import { minTarget, type Bench, type BenchResult } from './support/bench.js';
import { sized } from './support/command.js';
import { startGateway, type BenchGateway } from './support/gateway.js';
import { requestsPerSecond } from './support/http-load.js';
import { spreadOf } from './support/statistics.js';

const CONNECTIONS = 32;
const REQUESTS = sized({ quick: 5_000, default: 20_000 });
const WRITES = sized({ quick: 20, default: 100 });
const MODELS = '/api/v2/domains/Bench/models';

/** Number of attributes in a schema of 30 KB, and in one of 5 KB. */
const ATTRIBUTES = 120;
const FEW_ATTRIBUTES = 19;

interface Round {
  readonly bare: number;
  readonly schema: number;
  readonly notModified: number;
  readonly writes: number;
  readonly stricterWrites: number;
  readonly smallWrites: number;
}

/** Reads of a schema of 30 KB, compared with a bare Fastify server that sends the same bytes, and new versions of a model. */
export const schemaService: Bench = {
  name: 'schema-service',
  async run({ rounds, log }) {
    const folder = await mkdtemp(join(tmpdir(), 'bench-schema-'));
    const gateway = await startGateway('http://127.0.0.1:9', { DATABASE_PATH: join(folder, 'schema.db') });
    const bare = await startBareFastify({
      text: JSON.stringify(schemaOf(0)),
      mediaType: 'application/schema+json',
    });
    try {
      await write(gateway, 'POST', '/api/v2/domains', { name: 'Bench' }, 201);
      await write(gateway, 'POST', MODELS, { name: 'Sensor', schema: schemaOf(0) }, 201);
      await write(gateway, 'POST', MODELS, { name: 'Small', schema: schemaOf(0, FEW_ATTRIBUTES) }, 201);
      const measured: Round[] = [];
      // The first round is a warm-up.
      for (let round = 0; round <= rounds; round++) {
        log(round === 0 ? 'warm-up' : `round ${round}`);
        const result = await measure(gateway, `${bare.url}/document`, round);
        if (round > 0) measured.push(result);
      }
      return resultOf(measured);
    } finally {
      bare.close();
      await gateway.close();
      await rm(folder, { recursive: true, force: true });
    }
  },
};

async function measure(gateway: BenchGateway, bareUrl: string, round: number): Promise<Round> {
  const url = `${gateway.url}${MODELS}/Sensor/schema`;
  const { headers } = await request(url).then(async (answer) => {
    await answer.body.dump();
    return answer;
  });
  const etag = String(headers['etag']);
  const reads = async (of: string, status = 200, sent: Record<string, string> = {}) =>
    requestsPerSecond({ url: of, status, headers: sent, connections: CONNECTIONS, requests: REQUESTS });
  // They take turns, so that neither always goes first.
  const isEven = round % 2 === 0;
  const before = isEven ? await reads(bareUrl) : await reads(url);
  const after = isEven ? await reads(url) : await reads(bareUrl);
  const notModified = await reads(url, 304, { 'if-none-match': etag });
  return {
    bare: isEven ? before : after,
    schema: isEven ? after : before,
    notModified,
    writes: await writesPerSecond(gateway, `${MODELS}/Sensor`, round, ATTRIBUTES),
    stricterWrites: await writesPerSecond(gateway, `${MODELS}/Sensor`, round, ATTRIBUTES, -1),
    smallWrites: await writesPerSecond(gateway, `${MODELS}/Small`, round, FEW_ATTRIBUTES),
  };
}

/** @param sign -1 for versions of which each is stricter than the one before */
async function writesPerSecond(
  gateway: BenchGateway,
  model: string,
  round: number,
  attributes: number,
  sign: 1 | -1 = 1,
): Promise<number> {
  const startedMs = performance.now();
  for (let n = 1; n <= WRITES; n++)
    await write(gateway, 'PUT', model, { schema: schemaOf(sign * (round * WRITES + n), attributes) }, 200);
  const rate = (WRITES / (performance.now() - startedMs)) * 1000;
  await write(gateway, 'PUT', model, { schema: schemaOf(0, attributes) }, 200);
  return rate;
}

/** Sends JSON. @throws Error unless the answer has the given status */
export async function write(
  gateway: BenchGateway,
  method: 'POST' | 'PUT',
  path: string,
  body: unknown,
  status: number,
): Promise<void> {
  const answer = await request(`${gateway.url}${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await answer.body.text();
  if (answer.statusCode !== status) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`);
}

/** Returns a schema of about 30 KB. Schemas with different numbers differ in their title and in one attribute. */
export function schemaOf(number: number, attributes = ATTRIBUTES): object {
  const properties = Array.from({ length: attributes }, (_, index) => [
    `attribute${index}`,
    {
      type: 'number',
      description: `Property. Model:'https://schema.org/Number'. ${'What this attribute tells of the sensor. '.repeat(4)}`,
      minimum: index === 0 ? -number : index,
    },
  ]);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: `Sensor ${number}`,
    type: 'object',
    properties: {
      id: { type: 'string' },
      type: { enum: ['Sensor'] },
      ...(Object.fromEntries(properties) as object),
    },
    required: ['id', 'type'],
  };
}

function resultOf(rounds: readonly Round[]): BenchResult {
  const rate = (name: keyof Round) => spreadOf(rounds.map((round) => round[name]));
  const ratio = (name: keyof Round) => spreadOf(rounds.map((round) => round[name] / round.bare));
  const row = (label: string, name: keyof Round) => {
    const { median, min, max } = rate(name);
    return [label, ...[median, min, max].map((value) => Math.round(value).toLocaleString('en'))];
  };
  return {
    tables: [
      {
        title: `A schema of 30 KB, ${CONNECTIONS} connections, requests/s`,
        columns: ['', 'median', 'least', 'most'],
        rows: [
          row('bare Fastify, the same bytes', 'bare'),
          row('GET …/schema', 'schema'),
          row('GET …/schema, If-None-Match', 'notModified'),
          row('PUT a new version, one after the other', 'writes'),
          row('the same, each stricter than the one before', 'stricterWrites'),
          row('PUT, with schemas of 5 KB', 'smallWrites'),
        ],
      },
    ],
    targets: [minTarget('schema / bare Fastify', ratio('schema'), 0.8)],
    data: { rounds },
  };
}
