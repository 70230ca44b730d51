import { write } from './schema-service.js';
import type { Bench, BenchResult } from './support/bench.js';
import { sized } from './support/command.js';
import { startGateway } from './support/gateway.js';
import { requestsPerSecond } from './support/http-load.js';
import { spreadOf } from './support/statistics.js';
import { parkingEntity, PARKING_SCHEMA } from './support/workbench-parking.js';
import { measureAlternating } from './support/workbench-baselines.js';

const CONNECTIONS = 32;
const VALIDATIONS = sized({ quick: 2_000, default: 10_000 });
const SEARCHES = sized({ quick: 500, default: 2_000 });
/** Number of models besides that of the entity. */
const OTHERS = sized({ quick: 100, default: 300 });

interface Round {
  /** Requests per second. */
  readonly named: number;
  readonly byType: number;
  readonly search: number;
}

/** A validation that finds its model by the entity's type, and a search by an attribute, among 301 models. */
export const search: Bench = {
  name: 'search',
  async run({ rounds, log }) {
    const gateway = await startGateway('http://127.0.0.1:9');
    try {
      log('models');
      await write(gateway, 'POST', '/api/v2/domains', { name: 'Bench' }, 201);
      const models = '/api/v2/domains/Bench/models';
      await write(gateway, 'POST', models, { name: 'Parking', schema: PARKING_SCHEMA }, 201);
      for (let index = 0; index < OTHERS; index += 1)
        await write(gateway, 'POST', models, { name: `Model${String(index)}`, schema: schemaOf(index) }, 201);
      const load = { status: 200, connections: CONNECTIONS };
      const body = JSON.stringify(parkingEntity(1));
      const validate = (path: string) => async (requests: number) =>
        requestsPerSecond({ ...load, url: `${gateway.url}/api/v2/validate${path}`, body, requests });
      const url = `${gateway.url}/api/v2/models?attribute=special7`;
      const measured: Round[] = [];
      // The first round is a warm-up.
      for (let round = 0; round <= rounds; round += 1) {
        log(round === 0 ? 'warm-up' : `round ${String(round)}`);
        const [named, byType] = await measureAlternating(
          round % 2 === 0,
          VALIDATIONS,
          validate('/Bench/Parking'),
          validate(''),
        );
        const found = await requestsPerSecond({ ...load, url, requests: SEARCHES });
        if (round > 0) measured.push({ named, byType, search: found });
      }
      return resultOf(measured);
    } finally {
      await gateway.close();
    }
  },
};

/** One model in 30 has the attribute that is searched for. */
function schemaOf(index: number): object {
  const attribute = `special${String(index % 30)}`;
  return {
    ...PARKING_SCHEMA,
    title: `Model${String(index)}`,
    allOf: [{ properties: { type: { enum: [`Model${String(index)}`] }, [attribute]: { type: 'number' } } }],
  };
}

function resultOf(rounds: readonly Round[]): BenchResult {
  const row = (label: string, of: (round: Round) => number) => {
    const { median, min, max } = spreadOf(rounds.map(of));
    return [label, ...[median, min, max].map((value) => Math.round(value).toLocaleString('en'))];
  };
  return {
    tables: [
      {
        title: `Among ${String(OTHERS + 1)} models, ${String(CONNECTIONS)} connections, requests/s`,
        columns: ['', 'median', 'least', 'most'],
        rows: [
          row('POST /validate/{domain}/{model}', (round) => round.named),
          row('POST /validate, by type', (round) => round.byType),
          row('GET /models?attribute=', (round) => round.search),
        ],
      },
    ],
    targets: [],
    data: { rounds },
  };
}
