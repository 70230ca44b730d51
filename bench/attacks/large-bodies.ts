import type { Attack, AttackContext } from './attack.js';
import { tally } from './sockets.js';

const MB = 1024 * 1024;
const LEVELS = 100_000;

const nested = (levels: number, open: string, close: string) =>
  `${open.repeat(levels)}1${close.repeat(levels)}`;

async function sendAll(
  { send, signal }: AttackContext,
  rounds: number,
  requests: readonly (readonly [target: string, body: string | Buffer, method?: string])[],
): Promise<string> {
  const statuses: number[] = [];
  for (let round = 0; round < rounds && !signal.aborted; round += 1) {
    const sent = requests.map(async ([target, body, method = 'POST']) => send(method, target, { body }));
    statuses.push(...(await Promise.all(sent)));
  }
  return tally(statuses);
}

/** Eight bodies of 5 MB at once, repeatedly, to routes that accept only small ones and to one that accepts them. */
export const largeBodies: Attack = {
  name: 'bodies of 5 MB',
  run: async (scene) => {
    const string = Buffer.from(`{"name":"${'x'.repeat(5 * MB - 20)}"}`);
    const arrays = Buffer.from(`{"a":[${'[],'.repeat(1_700_000)}1]}`);
    const numbers = Buffer.from(`[${'1,'.repeat(2_500_000)}1]`);
    const eight = <Value>(value: Value) => Array.from({ length: 8 }, () => value);
    const reference = '/api/v2/references?uri=https://a.example/x';
    const outcomes = [
      await sendAll(scene, 5, eight(['/api/v2/domains', string])),
      await sendAll(scene, 5, eight(['/api/v2/domains', arrays])),
      await sendAll(scene, 2, eight([reference, arrays, 'PUT'])),
      await sendAll(scene, 2, eight([reference, numbers, 'PUT'])),
      await sendAll(scene, 2, eight([reference, string, 'PUT'])),
    ];
    return outcomes.join('; ');
  },
};

/** Eight bodies of 128 kB in chunks of one byte, at once. */
export const tinyChunks: Attack = {
  name: 'tiny chunks',
  run: async ({ sockets }) => {
    const head = ['POST /api/v2/validate HTTP/1.1', 'Host: 127.0.0.1', 'Content-Type: application/json'];
    const body = `${'1\r\n \r\n'.repeat(MB / 8)}0\r\n\r\n`;
    const bytes = Buffer.from(`${[...head, 'Transfer-Encoding: chunked'].join('\r\n')}\r\n\r\n${body}`);
    return tally(await Promise.all(Array.from({ length: 8 }, async () => sockets.exchange(bytes))));
  },
};

/** Schemas, contexts and documents that are deep, wide, cyclic or slow. */
export const workbenchBombs: Attack = {
  name: 'workbench bombs',
  run: async (scene) => {
    const { send } = scene;
    await send('POST', '/api/v2/domains', { body: '{"name":"Bombs"}' });
    const models = '/api/v2/domains/Bombs/models';
    const model = (name: string, schema: unknown) => [models, JSON.stringify({ name, schema })] as const;
    const text = (pattern: string) => ({ type: 'object', properties: { name: { type: 'string', pattern } } });
    await send('POST', models, { body: model('Slow', text('^(a|a)*$'))[1] });
    const slow = JSON.stringify({ id: 'urn:a:1', type: 'Slow', name: `${'a'.repeat(60)}!` });
    const many = <Value>(number: number, of: (index: number) => Value) =>
      Array.from({ length: number }, (_, i) => of(i));
    const terms = Object.fromEntries(many(5000, (index) => [`t${index}`, `https://a.example/${index}`]));
    const scoped = many(50, () => 0).reduce<object>(
      (inner) => ({ a: { '@id': 'https://a.example/a', '@context': inner } }),
      {},
    );
    const deepScoped = JSON.parse(nested(400, '{"a":', '}')) as object;
    return sendAll(scene, 2, [
      ['/api/v2/workbench/schema/infer', nested(LEVELS, '[', ']')],
      ['/api/v2/workbench/schema/infer', nested(LEVELS, '{"a":', '}')],
      ['/api/v2/workbench/schema/infer', `[${many(50_000, (i) => `{"a${i}":1}`).join()}]`],
      ['/api/v2/workbench/jsonld/expand', `{"document":${nested(LEVELS, '{"a":', '}')}}`],
      [
        '/api/v2/workbench/jsonld/expand',
        JSON.stringify({ document: deepScoped, context: { '@version': 1.1, ...scoped } }),
      ],
      [
        '/api/v2/workbench/jsonld/expand',
        JSON.stringify({ document: many(20_000, (i) => ({ [`t${i % 5000}`]: i })), context: terms }),
      ],
      [
        '/api/v2/workbench/jsonld/compact',
        JSON.stringify({
          document: many(20_000, (i) => ({ [`https://a.example/${i % 5000}`]: i })),
          context: terms,
        }),
      ],
      model('Pattern', text(`(${'a?'.repeat(30)}${'a'.repeat(30)})*$`)),
      model('Bounded', text('^((((a{0,99}){0,99}){0,99}){0,99})$')),
      model('Enum', { type: 'object', properties: { a: { enum: many(100_000, (i) => `v${i}`) } } }),
      model('OneOf', {
        type: 'object',
        properties: {
          a: { oneOf: many(3000, (i) => ({ type: 'object', properties: { [`p${i}`]: { minimum: i } } })) },
        },
      }),
      model('Deep', JSON.parse(nested(450, '{"properties":{"a":', '}}').replace('1', '{}'))),
      model('Cyclic', {
        $defs: { a: { $ref: '#/$defs/b' }, b: { allOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }] } },
        $ref: '#/$defs/a',
      }),
      ...many(10, () => ['/api/v2/validate/Bombs/Slow', slow] as const),
    ]);
  },
};
