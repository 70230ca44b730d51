import { request } from 'undici';
import { maxTarget, type Bench, type BenchResult } from './support/bench.js';
import { sized } from './support/command.js';
import { forkServer } from './support/forked-server.js';
import { startGateway } from './support/gateway.js';
import { digits } from './support/print.js';
import { spreadOf } from './support/statistics.js';
import { connectWire, type WireRequest } from './support/wire-load.js';

const CONNECTIONS = [64, 1] as const;
/** Contestants take turns, so that the load of the machine affects both equally. */
const TURN_REQUESTS = 500;
const TURNS = sized({ quick: 2, default: 8 });
/** V8 still compiles during the first 20,000 checked writes: after 4,000, that takes a fifth of the processor time. */
const WARM_UP_REQUESTS = sized({ quick: 2_000, default: 20_000 });

const SCHEMA = {
  type: 'object',
  properties: {
    type: { const: 'Vehicle' },
    speed: { type: 'number', minimum: 0 },
    plate: { type: 'string', pattern: '^[A-Z0-9 ]+$' },
    description: { type: 'string', maxLength: 2000 },
  },
  required: ['id', 'type', 'speed'],
};

const WRITE: WireRequest = {
  method: 'POST',
  target: '/ngsi-ld/v1/entities',
  status: 201,
  body: JSON.stringify({
    id: 'urn:ngsi-ld:Vehicle:1',
    type: 'Vehicle',
    speed: { type: 'Property', value: 42, observedAt: '2026-01-01T00:00:00Z' },
    plate: { type: 'Property', value: 'M AB 1234' },
    description: { type: 'Property', value: 'What this vehicle carries. '.repeat(28) },
  }),
};

/** The cost of a checked write compared with an unchecked one, through the same gateway, for an entity of 1 kB. */
export const writeChecks: Bench = {
  name: 'write-checks',
  async run({ rounds, log }) {
    const broker = await forkServer('pass-through-broker.js', '');
    const closers: (() => unknown)[] = [() => broker.close()];
    try {
      const unchecked = await startGateway(broker.url);
      closers.push(() => unchecked.close());
      const checked = await startGateway(broker.url, { WRITE_CHECK: 'enforce' });
      closers.push(() => checked.close());
      await post(checked.url, '/domains', { name: 'Bench' });
      await post(checked.url, '/domains/Bench/models', { name: 'Vehicle', schema: SCHEMA });
      const ratios: Record<string, number[]> = {};
      const rows: string[][] = [];
      for (const connections of CONNECTIONS) {
        const lanes = await Promise.all(
          [unchecked, checked].map(async ({ url }) => connectWire(url, connections)),
        );
        closers.push(() => lanes.forEach((lane) => lane.close()));
        log(`${connections} connections, warming up`);
        for (const lane of lanes)
          await lane.load(WRITE, connections === 1 ? TURN_REQUESTS : WARM_UP_REQUESTS);
        const found: number[] = [];
        const perSecond = [0, 0];
        for (let round = 1; round <= rounds; round += 1) {
          log(`${connections} connections, round ${round} of ${rounds}`);
          const elapsed = [0, 0];
          for (let turn = 0; turn < TURNS; turn += 1)
            for (const [index, lane] of lanes.entries())
              elapsed[index] = (elapsed[index] ?? 0) + (await lane.load(WRITE, TURN_REQUESTS)).elapsedMs;
          const [off = NaN, on = NaN] = elapsed;
          found.push(on / off);
          for (const [index, ms] of elapsed.entries())
            perSecond[index] = (perSecond[index] ?? 0) + (TURNS * TURN_REQUESTS * 1000) / ms / rounds;
        }
        ratios[`${connections}`] = found;
        rows.push([
          String(connections),
          ...perSecond.map((one) => digits(one)),
          digits(spreadOf(found).median),
        ]);
      }
      return resultOf(rows, ratios);
    } finally {
      for (const close of closers.reverse()) await close();
    }
  },
};

async function post(url: string, path: string, body: unknown): Promise<void> {
  const answer = await request(`${url}/api/v2${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await answer.body.text();
  if (answer.statusCode !== 201) throw new Error(`${path}: ${answer.statusCode} ${text}`);
}

function resultOf(
  rows: readonly (readonly string[])[],
  ratios: Readonly<Record<string, readonly number[]>>,
): BenchResult {
  return {
    tables: [
      {
        title: 'Writes of an entity of 1 kB, checked and not',
        columns: [
          'connections',
          'unchecked / s',
          'checked / s',
          'time of a checked one / of an unchecked one',
        ],
        rows,
      },
    ],
    targets: Object.entries(ratios).map(([connections, found]) =>
      maxTarget(`time of a checked write, ${connections} connections`, spreadOf(found), 1.5),
    ),
    data: { ratios },
  };
}
