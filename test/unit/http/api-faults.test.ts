import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify from 'fastify';
import { Type, type TProperties, type TSchema } from 'typebox';
import { compileValidator, refusalOf } from '../../../sidecar/http/api/validation.js';
import { Closed, OPTIONAL_PAGE, OrNull, PAGE, Query } from '../../../sidecar/http/api/schemas.js';
import { RequestRefusedError } from '../../../sidecar/http/refused.js';
import { readJson } from '../../../sidecar/shared/json/strict-json.js';
import { words } from '../../support/words.js';

interface Answer {
  readonly status: number;
  readonly detail: string;
  readonly errors: readonly object[];
  readonly parameter: string;
}

/** A server that answers with the checked request, as the API checks it, or with the refusal. */
function serverOf(schema: { readonly body?: TSchema; readonly querystring?: TSchema }) {
  const app = Fastify().withTypeProvider<TypeBoxTypeProvider>();
  app.setValidatorCompiler(compileValidator);
  app.setSchemaErrorFormatter(refusalOf);
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'string' },
    async (_request: unknown, body: string) => {
      const read = readJson(body);
      return 'value' in read ? read.value : assert.fail(body);
    },
  );
  app.setErrorHandler((error, _request, reply) =>
    error instanceof RequestRefusedError
      ? reply.code(error.problem.status).send(error.problem)
      : reply.send(error),
  );
  app.post('/', { schema }, async ({ query, body }) => ({ read: schema.body === undefined ? query : body }));
  return app;
}

/** The faults of a body; undefined if it has none. */
async function wrong(schema: TSchema, body: unknown): Promise<Answer | undefined> {
  const payload = typeof body === 'string' ? body : JSON.stringify(body);
  const headers = { 'content-type': 'application/json' };
  const answer = await serverOf({ body: schema }).inject({ method: 'POST', url: '/', headers, payload });
  if (answer.statusCode === 200) return undefined;
  assert.equal(answer.statusCode, 422);
  return answer.json<Answer>();
}

const BODY = Closed('Body', {
  name: Type.String(),
  schema: Type.Optional(Type.Unknown()),
  kind: Type.Optional(Type.Enum(['a', 'b'])),
});
const errorsOf = async (body: unknown) => (await wrong(BODY, body))?.errors;

it('each kind of fault has its pointer and a sentence', async () => {
  assert.equal(await wrong(BODY, { name: 'x' }), undefined);
  assert.deepEqual(await errorsOf({ 'a/b~': 1, kind: 'c', schema: 1 }), [
    { pointer: '', detail: 'must have the member "name"' },
    { pointer: '/a~1b~0', detail: 'is not a known member; the members here are name, schema, kind' },
    { pointer: '/kind', detail: 'must be one of ["a","b"]' },
  ]);
  assert.deepEqual(await errorsOf({ name: 7 }), [{ pointer: '/name', detail: 'must be a string' }]);
  assert.deepEqual(await errorsOf(null), [{ pointer: '', detail: 'must be an object' }]);
  const several = await wrong(BODY, { name: 7, kind: 'c' });
  assert.equal(several?.detail, 'The body is invalid: /name must be a string (and 1 more).');
  assert.equal((await wrong(BODY, []))?.detail, 'The body is invalid: it must be an object.');
});

it('the fault of a size or of a fixed value says what is valid', async () => {
  const sized = Closed('Sized', {
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 3 })),
    secret: Type.Optional(Type.String({ minLength: 8 })),
    ids: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: 2 })),
    plan: Type.Optional(Type.Literal(true)),
  });
  for (const [member, value, detail] of [
    ['name', '', 'must not be empty'],
    ['name', 'four', 'must have 3 characters or fewer'],
    ['secret', 'short', 'must have 8 characters or more'],
    ['ids', [], 'must not be empty'],
    ['ids', ['a', 'b', 'c'], 'must have 2 items or fewer'],
    ['plan', false, 'must be true'],
  ] as const)
    assert.deepEqual((await wrong(sized, { [member]: value }))?.errors, [{ pointer: `/${member}`, detail }]);
  const change = Type.Object({ rate: Type.Optional(Type.Integer()) }, { minProperties: 1 });
  assert.deepEqual((await wrong(change, {}))?.errors, [{ pointer: '', detail: 'must not be empty' }]);
});

it('the fault of an invalid number says which values are valid', async () => {
  const rate = Closed('Rate', { rate: OrNull(Type.Integer({ minimum: 1, maximum: 9 })) });
  for (const [value, detail] of [
    ['"1"', 'must be a whole number or null'],
    ['0', 'must be 1 or more'],
    ['10', 'must be 9 or less'],
    ['1.00000000000000000001', 'must be a number that an IEEE 754 double holds'],
  ] as const)
    assert.deepEqual((await wrong(rate, `{"rate":${value}}`))?.errors, [{ pointer: '/rate', detail }]);
  for (const value of ['1', '9', 'null']) assert.equal(await wrong(rate, `{"rate":${value}}`), undefined);
});

it('a body with a hundred members has all of its faults listed, and a larger body only the first', async () => {
  const body = (members: number) =>
    Object.fromEntries(Array.from({ length: members }, (_, index) => [`m${index}`, 1]));
  // One fault for the missing name.
  for (const [members, faults] of [
    [99, 100],
    [100, 100],
    [101, 1],
  ] as const)
    assert.equal((await errorsOf(body(members)))?.length, faults);
});

it('the name of an unknown member is quoted up to two hundred characters', async () => {
  for (const length of [200, 201, 5000])
    assert.deepEqual(await errorsOf({ name: 'x', ['m'.repeat(length)]: 1 }), [
      {
        pointer: `/${'m'.repeat(200)}`,
        detail: 'is not a known member; the members here are name, schema, kind',
      },
    ]);
});

it('the fault of a body that is itself a JSON Schema says where to put the schema', async () => {
  for (const keyword of words('$schema $id $ref $defs definitions properties allOf anyOf oneOf required')) {
    const detail = 'is a JSON Schema itself; send it inside a body such as {"name": "Car", "schema": …}';
    assert.deepEqual(
      await errorsOf({ [keyword]: [], title: 'Car', name: 7 }),
      [{ pointer: '', detail }],
      keyword,
    );
  }
  for (const title of ['not a name', 7, '', 'x'.repeat(129)])
    assert.match(JSON.stringify(await errorsOf({ properties: {}, title })), /\\"Vehicle\\"/);
  const unnamed = Closed('Unnamed', { schema: Type.Unknown() });
  assert.match(String((await wrong(unnamed, { properties: {} }))?.detail), /such as \{"schema": …\}/);
  // The body has a schema, or the route accepts no schema.
  assert.doesNotMatch(JSON.stringify(await errorsOf({ schema: {}, properties: {} })), /itself/);
  const other = Closed('Other', { name: Type.String() });
  assert.doesNotMatch(String((await wrong(other, { properties: {} }))?.detail), /itself/);
});

const PARAMETERS = {
  count: Type.Integer({ minimum: 1, maximum: 10, default: 5 }),
  most: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  flag: Type.Boolean({ default: false }),
  uri: Type.String({ minLength: 1, maxLength: 10 }),
  state: Type.Optional(Type.Enum(['waiting', 'running'])),
  name: Type.Optional(
    Type.String({ minLength: 1, maxLength: 5, pattern: '^[a-z]+$', description: 'a name: small letters.' }),
  ),
};

async function ask(query: string, parameters: TProperties = PARAMETERS) {
  const answer = await serverOf({ querystring: Query(parameters) }).inject({
    method: 'POST',
    url: `/?${query}`,
  });
  return answer.json<Answer & { readonly read: unknown }>();
}
const read = async (query: string, parameters?: TProperties) => (await ask(query, parameters)).read;

it('parameters have the types of their schemas, and omitted ones have their defaults', async () => {
  assert.deepEqual(await read('uri=urn:a:b'), { count: 5, flag: false, uri: 'urn:a:b' });
  const most = Number.MAX_SAFE_INTEGER;
  assert.deepEqual(await read(`uri=0123456789&count=10&flag=true&most=${most}&state=running&name=abcde`), {
    count: 10,
    most,
    flag: true,
    uri: '0123456789',
    state: 'running',
    name: 'abcde',
  });
});

it('a page has 100 items from the first unless the request says otherwise, and 1000 at most', async () => {
  assert.deepEqual(await read('', PAGE), { limit: 100, offset: 0 });
  assert.deepEqual(await read('limit=1000&offset=7', PAGE), { limit: 1000, offset: 7 });
  for (const query of ['limit=1001', 'limit=0', 'offset=-1', 'limit=1e2', 'limit=0x10', 'limit=+5'])
    for (const page of [PAGE, OPTIONAL_PAGE]) assert.equal((await ask(query, page)).status, 400, query);
  assert.deepEqual(await read('', OPTIONAL_PAGE), {});
});

it('the fault of an invalid parameter has its name, and says what would be valid', async () => {
  for (const [query, parameter, detail] of [
    ['', 'uri', 'is missing'],
    ['uri=', 'uri', 'is empty'],
    ['uri=x&count=', 'count', 'is empty'],
    ['uri=x&state=', 'state', 'is empty'],
    ['uri=x&name=', 'name', 'is empty'],
    ['uri=a&uri=b', 'uri', 'is given more than once'],
    ['uri=x&count=1&count=1', 'count', 'is given more than once'],
    ['uri=x&state=waiting&state=waiting', 'state', 'is given more than once'],
    ['uri=12345678901', 'uri', 'must have at most 10 characters'],
    ['uri=x&count=0', 'count', 'must be a whole number from 1 to 10'],
    ['uri=x&count=11', 'count', 'must be a whole number from 1 to 10'],
    ['uri=x&count=1e0', 'count', 'must be a whole number from 1 to 10'],
    ['uri=x&count=%201', 'count', 'must be a whole number from 1 to 10'],
    ['uri=x&count=1.0', 'count', 'must be a whole number from 1 to 10'],
    ['uri=x&most=9007199254740992', 'most', 'must be a whole number from 0 to 9007199254740991'],
    ['uri=x&flag=TRUE', 'flag', 'must be true or false'],
    ['uri=x&flag=1', 'flag', 'must be true or false'],
    ['uri=x&state=Waiting', 'state', 'must be one of waiting, running'],
    ['uri=x&name=a1', 'name', 'must be a name: small letters; it is "a1"'],
    ['uri=x&name=abcdef', 'name', 'must have at most 5 characters'],
    [
      'other=1&count=0',
      'other',
      'is not known here; the parameters here are count, most, flag, uri, state, name',
    ],
  ] as const) {
    const answer = await ask(query);
    assert.deepEqual([answer.status, answer.parameter], [400, parameter], query);
    assert.equal(answer.detail, `The parameter "${parameter}" ${detail}.`);
  }
});

it('an unknown parameter is refused, whatever its name, and quoted up to a hundred characters', async () => {
  for (const name of ['toString', '__proto__', 'constructor', 'y'.repeat(500)]) {
    const { status, parameter, detail } = await ask(`uri=x&${name}=1`);
    assert.deepEqual([status, parameter], [400, name.slice(0, 100)]);
    assert.match(detail, /is not known here/);
  }
  assert.match((await ask('x=1', {})).detail, /"x" is not known here: there are no parameters here\./);
});
