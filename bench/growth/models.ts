import { request } from 'undici';
import { write } from '../schema-service.js';
import { sized } from '../support/command.js';
import { startGateway } from '../support/gateway.js';
import { cpuTimed, Curves, minimumOf, type GrowthBench } from './part.js';

const AMOUNTS = sized({ quick: [10, 30, 100], default: [10, 30, 100, 300, 1_000, 3_000] });
const WRITERS = 4;
/** Requests per round. */
const REQUESTS = 10;
const MODELS = '/api/v2/domains/Bench/models';

const READS = {
  'list: GET /models, a page of 100': '/api/v2/models?limit=100',
  'search: GET /models?attribute=, ten results': '/api/v2/models?attribute=special&limit=10',
  'context of the domain, unchanged': '/api/v2/domains/Bench/context',
  'GET of one model': `${MODELS}/Model0`,
} as const;
const AFTER_WRITE = 'context of the domain, after a new version of a model';

/** The CPU time of reads by the number of models, compared with the read of one model. */
export const modelReads: GrowthBench = async ({ rounds, log }) => {
  const curves = new Curves([AFTER_WRITE, ...Object.keys(READS)], (name) => name === 'GET of one model');
  const gateway = await startGateway('http://127.0.0.1:9');
  const read = async (path: string) => {
    const { statusCode, body } = await request(`${gateway.url}${path}`);
    await body.dump({ limit: Infinity });
    if (statusCode !== 200) throw new Error(`${path} answered ${statusCode}`);
  };
  try {
    await write(gateway, 'POST', '/api/v2/domains', { name: 'Bench' }, 201);
    let made = 0;
    let version = 0;
    for (const amount of AMOUNTS) {
      log(`${amount} models`);
      const writers = Array.from({ length: WRITERS }, async () => {
        while (made < amount) {
          const number = made++;
          await write(gateway, 'POST', MODELS, { name: `Model${number}`, schema: schemaOf(number, 0) }, 201);
        }
      });
      await Promise.all(writers);
      for (const [name, path] of Object.entries(READS)) {
        const work = async () => {
          for (let nth = 0; nth < REQUESTS; nth += 1) await read(path);
        };
        const ms = await minimumOf(rounds + 1, async () => cpuTimed(gateway.pid, work));
        curves.add(name, amount, ms / REQUESTS);
      }
      const afterWrite = async () => {
        const schema = schemaOf(0, (version += 1));
        await write(gateway, 'PUT', `${MODELS}/Model0`, { schema }, 200);
        return cpuTimed(gateway.pid, async () => read('/api/v2/domains/Bench/context'));
      };
      curves.add(AFTER_WRITE, amount, await minimumOf(rounds, afterWrite));
    }
  } finally {
    await gateway.close();
  }
  return [
    { name: 'models', title: 'CPU time of a read', x: 'models', y: 'ms of a core', curves: curves.all() },
  ];
};

/** Ten attributes; one in ten models has the attribute that is searched for. */
function schemaOf(number: number, version: number): object {
  const names = Array.from({ length: 10 }, (_, index) => `attribute${index}of${number % 50}`);
  if (number % 10 === 0) names.push('special');
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      id: { type: 'string' },
      type: { enum: [`Model${number}`] },
      ...Object.fromEntries(names.map((name) => [name, { type: 'number', minimum: 0 }])),
      ...(version === 0 ? {} : { [`added${version}`]: { type: 'string' } }),
    },
  };
}
