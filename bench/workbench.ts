import { request } from 'undici';
import { minTarget, type Bench, type Table } from './support/bench.js';
import { sized } from './support/command.js';
import { startGateway, type BenchGateway } from './support/gateway.js';
import { requestsPerSecond } from './support/http-load.js';
import { startBareFastify, type BareFastify } from './support/start-bare-fastify.js';
import { spreadOf, type Spread } from './support/statistics.js';
import { healthUnderLoad, type HealthLatency } from './support/workbench-health.js';
import { parkingEntity, PARKING_SCHEMA, PARKING_TERMS } from './support/workbench-parking.js';
import { measureAlternating, Baselines, type InThreads } from './support/workbench-baselines.js';

const CONNECTIONS = 32;
const REQUESTS = sized({ quick: 4_000, default: 20_000 });

interface Round extends InThreads {
  /** Requests per second over HTTP. */
  readonly echo: number;
  readonly validate: number;
  readonly expand: number;
}

/**
 * The workbench: over HTTP compared with a bare Fastify server, in process compared with the libraries alone, and the latency
 * of other requests.
 */
export const workbench: Bench = {
  name: 'workbench',
  async run({ rounds, log }) {
    const gateway = await startGateway('http://127.0.0.1:9');
    const bare = await startBareFastify({ text: '{}', mediaType: 'application/json' });
    const rivals = new Baselines();
    try {
      await prepare(gateway);
      const measured: Round[] = [];
      // The first round is a warm-up.
      for (let round = 0; round <= rounds; round++) {
        log(round === 0 ? 'warm-up' : `round ${round}`);
        const result = {
          ...(await overHttp(gateway, bare, round)),
          ...(await rivals.round(round % 2 === 0)),
        };
        if (round > 0) measured.push(result);
      }
      log('health');
      return resultOf(measured, await healthUnderLoad(gateway.url));
    } finally {
      await rivals.close();
      bare.close();
      await gateway.close();
    }
  },
};

async function prepare(gateway: BenchGateway): Promise<void> {
  await post(gateway, '/api/v2/domains', { name: 'Bench' });
  await post(gateway, '/api/v2/domains/Bench/models', { name: 'Parking', schema: PARKING_SCHEMA });
  await post(gateway, '/api/v2/contexts', { name: 'Parking', '@context': PARKING_TERMS });
}

async function overHttp(
  gateway: BenchGateway,
  bare: BareFastify,
  round: number,
): Promise<Pick<Round, 'echo' | 'validate' | 'expand'>> {
  const entity = parkingEntity(1);
  const rate = (url: string, body: unknown) => async (requests: number) =>
    requestsPerSecond({
      url,
      body: JSON.stringify(body),
      status: 200,
      connections: CONNECTIONS,
      requests,
    });
  const [echo, validate] = await measureAlternating(
    round % 2 === 0,
    REQUESTS,
    rate(`${bare.url}/echo`, entity),
    rate(`${gateway.url}/api/v2/validate/Bench/Parking`, entity),
  );
  const document = { ...entity, '@context': [`${gateway.url}/api/v2/contexts/Parking`, CORE] };
  return {
    echo,
    validate,
    expand: await rate(`${gateway.url}/api/v2/workbench/jsonld/expand`, { document })(REQUESTS / 4),
  };
}

const CORE = 'https://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context-v1.8.jsonld';

async function post(gateway: BenchGateway, path: string, body: unknown): Promise<void> {
  const answer = await request(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await answer.body.text();
  if (answer.statusCode !== 201) throw new Error(`POST ${path}: ${answer.statusCode} ${text}`);
}

function resultOf(rounds: readonly Round[], health: readonly HealthLatency[]) {
  const spread = (of: (round: Round) => number) => spreadOf(rounds.map(of));
  const rows = (...named: readonly (readonly [string, (round: Round) => number])[]) =>
    named.map(([label, of]) => [label, ...numbers(spread(of))]);
  const columns = ['', 'median', 'least', 'most'];
  const tables: readonly Table[] = [
    {
      title: `HTTP, a normalized entity of 2 KB, ${CONNECTIONS} connections, requests/s`,
      columns,
      rows: rows(
        ['bare Fastify, echo', (round) => round.echo],
        ['POST /validate', (round) => round.validate],
        ['POST /workbench/jsonld/expand', (round) => round.expand],
      ),
    },
    {
      title: 'On a thread of its own, operations/s',
      columns,
      rows: rows(
        ['bare Ajv, key-values in memory', (round) => round.ajv],
        ['validate, normalized entity, from its text', (round) => round.judge],
        ['bare jsonld.js expand, between JSON.parse and JSON.stringify', (round) => round.bareExpand],
        ['expand, from its text', (round) => round.ownExpand],
        ['bare jsonld.js compact, likewise', (round) => round.bareCompact],
        ['compact, from its text', (round) => round.ownCompact],
      ),
    },
    {
      title: 'Inference, 2,000 entities, MB/s',
      columns,
      rows: rows(
        ['genson-js', (round) => round.genson],
        ['infer, with formats and geometries, from values', (round) => round.infer],
      ),
    },
    {
      title: 'GET /health/live, ms',
      columns: ['', 'p50', 'p99', 'most'],
      rows: health.map(({ label, p50, p99, max }) => [label, ...[p50, p99, max].map((ms) => ms.toFixed(2))]),
    },
  ];
  return {
    tables,
    targets: [
      minTarget(
        'validate over HTTP / bare Fastify echo',
        spread((round) => round.validate / round.echo),
        0.6,
      ),
      minTarget(
        'expand / bare jsonld.js',
        spread((round) => round.ownExpand / round.bareExpand),
        0.8,
      ),
      minTarget(
        'compact / bare jsonld.js',
        spread((round) => round.ownCompact / round.bareCompact),
        0.8,
      ),
    ],
    data: { rounds, health },
  };
}

function numbers({ median, min, max }: Spread): readonly string[] {
  return [median, min, max].map((value) =>
    value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString('en'),
  );
}
