import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import Fastify, { type InjectOptions } from 'fastify';
import { createBodyCheck } from '../../../sidecar/http/api/body-check.js';
import { registerApi, type ApiOptions } from '../../../sidecar/http/api/register-api.js';
import { RequestRefusedError } from '../../../sidecar/http/errors.js';
import { createTokenCheck } from '../../../sidecar/http/gateway-token.js';
import type { ImportSource } from '../../../sidecar/schemas/repository/transfer.js';

/** What a service does, by the names of its methods; the others do nothing. */
type Doing = Readonly<Record<string, (...given: readonly unknown[]) => unknown>>;

const IMPORT_LIMIT = 2000;

/** The API over a service that notes its calls; to make one takes longer than any request. */
function makeApi(bodyLimit: number) {
  const state: { doing: Doing; calls: string[] } = { doing: {}, calls: [] };
  const room = new Proxy(
    {},
    {
      get:
        (_target, name: string) =>
        async (...given: readonly unknown[]) => {
          state.calls.push(name);
          return state.doing[name]?.(...given);
        },
    },
  );
  const store = { domains: room, models: room, contexts: room, references: room };
  const schemas = { store, domains: room, models: room, contexts: room, references: room };
  const options = {
    ...{ schemas, workbench: room, transfer: room, purges: room, retention: room, hasToken: true },
    ...{ baseUrlOf: () => 'http://gw', checkToken: createTokenCheck(['secret']), bodyLimit },
    importLimit: IMPORT_LIMIT,
  };
  const app = Fastify();
  app.setErrorHandler((error: Error & { readonly statusCode?: number }, _request, reply) => {
    const status = error instanceof RequestRefusedError ? error.problem.status : (error.statusCode ?? 500);
    return reply.code(status).send({ detail: error.message });
  });
  registerApi(app, options as unknown as ApiOptions);
  return { app, state };
}

const apis = new Map<number, ReturnType<typeof makeApi>>();

/** Sends a request to the API. */
async function request(sent: InjectOptions, doing: Doing = {}, bodyLimit = 1000) {
  const { app, state } = apis.get(bodyLimit) ?? makeApi(bodyLimit);
  apis.set(bodyLimit, { app, state });
  Object.assign(state, { doing, calls: [] });
  const headers = { 'x-gateway-token': 'secret', ...sent.headers };
  const answer = await app.inject({ ...sent, headers });
  return { status: answer.statusCode, text: answer.body, headers: answer.headers, calls: state.calls };
}

const DOMAIN = { name: 'D', compatibility: 'none', createdAt: 1, modifiedAt: 2, etag: 'e' };
const JSON_TYPE = { 'content-type': 'application/json' };

describe('requests to the API', () => {
  it('a body may have as many bytes as its route and BODY_LIMIT_BYTES both allow', async () => {
    const ofBytes = (bytes: number) => {
      const empty = JSON.stringify({ name: 'D', description: '' }).length;
      return JSON.stringify({ name: 'D', description: 'x'.repeat(bytes - empty) });
    };
    const create = async (payload: string, bodyLimit: number) => {
      const sent = { method: 'POST', url: '/api/v2/domains', headers: JSON_TYPE, payload } as const;
      return (await request(sent, { create: () => DOMAIN }, bodyLimit)).status;
    };
    assert.equal(await create(ofBytes(1000), 1000), 201);
    assert.equal(await create(ofBytes(1001), 1000), 413);
    // Within BODY_LIMIT_BYTES; more than a name and a description can have.
    assert.equal(await create(ofBytes(64 * 1024 + 1), 1_000_000), 413);
    assert.equal(await create(ofBytes(64 * 1024), 1_000_000), 422);
  });

  it('a body may hold 100,000 arrays, objects and items, and not one more', async () => {
    const put = async (items: number) => {
      const payload = `[${'0,'.repeat(items - 1)}0]`;
      const reference = { uri: 'urn:a', content: {}, createdAt: 1, modifiedAt: 2, etag: 'e' };
      const doing = { put: () => ({ reference, outcome: 'replaced' }) };
      const sent = {
        method: 'PUT',
        url: '/api/v2/references?uri=urn:a',
        headers: JSON_TYPE,
        payload,
      } as const;
      return request(sent, doing, 1_000_000);
    };
    assert.deepEqual([(await put(100_000)).status, (await put(100_001)).status], [200, 422]);
    assert.deepEqual((await put(100_001)).calls, []);
  });

  it('every write and every private read needs the token, before its body is read', async () => {
    for (const [method, url, status] of [
      ['POST', '/domains', 401],
      ['PUT', '/domains/D', 401],
      ['PATCH', '/purges/p', 401],
      ['DELETE', '/domains/D', 401],
      ['POST', '/import', 401],
      ['GET', '/purges', 401],
      ['HEAD', '/purges/p/ids', 401],
      ['GET', '/purges/p/events', 401],
      ['GET', '/retention-policies/r/preview', 401],
      ['GET', '/domains', 200],
      ['OPTIONS', '/contexts/C', 204],
    ] as const) {
      for (const token of ['', 'other']) {
        const headers = { ...JSON_TYPE, 'x-gateway-token': token };
        const doing = { list: () => ({ items: [], total: 0 }) };
        const sent = {
          method,
          url: `/api/v2${url}`,
          headers,
          ...(method === 'POST' ? { payload: '{' } : {}),
        };
        const { status: answered, calls } = await request(sent, doing);
        assert.equal(answered, status, `${method} ${url}`);
        if (status === 401) assert.deepEqual(calls, []);
      }
    }
  });

  it('a condition that is not understood is refused in every write, also where none is honoured', async () => {
    for (const header of [{ 'if-none-match': '"a"' }, { 'if-match': 'a' }]) {
      const headers = { ...JSON_TYPE, ...header };
      const sent = { method: 'POST', url: '/api/v2/domains', headers, payload: '{"name":"D"}' } as const;
      const { status, calls } = await request(sent, { create: () => DOMAIN });
      assert.deepEqual([status, calls], [400, []]);
    }
  });

  it('a body where none is taken is refused, even null', async () => {
    for (const payload of ['null', '{}', '0', 'false', '""']) {
      const sent = { method: 'POST', url: '/api/v2/purges/p/cancel', headers: JSON_TYPE, payload } as const;
      const { status, calls } = await request(sent);
      assert.deepEqual([status, calls], [400, []], payload);
    }
  });

  it('HEAD of an archive or a list of ids ends what would have been sent', async () => {
    for (const [url, name] of [
      ['/export', 'export'],
      ['/purges/p/ids', 'ids'],
    ] as const) {
      const stream = Readable.from(['x']);
      const { status, text } = await request(
        { method: 'HEAD', url: `/api/v2${url}` },
        { [name]: () => stream },
      );
      assert.deepEqual([status, text, stream.destroyed], [200, '', true], url);
    }
  });

  it('scripts of other origins may read contexts with their ETag and links, and nothing else', async () => {
    const held = {
      bytes: Buffer.from('{}'),
      mediaType: 'application/ld+json',
      etag: 'e',
      lifecycle: undefined,
    };
    const doing = { document: () => held, list: () => ({ items: [], total: 0 }) };
    const { headers } = await request({ method: 'GET', url: '/api/v2/contexts/C' }, doing);
    assert.equal(headers['access-control-allow-origin'], '*');
    assert.equal(headers['access-control-expose-headers'], 'ETag, Link');
    for (const url of ['/domains', '/contexts', '/purges']) {
      const other = await request({ method: 'GET', url: `/api/v2${url}` }, doing);
      assert.equal(other.headers['access-control-allow-origin'], undefined, url);
    }
  });
});

describe('what is sent to be imported', () => {
  const BOUNDARY = 'boundary';
  const part = (disposition: string, content: string) =>
    `--${BOUNDARY}\r\ncontent-disposition: form-data; ${disposition}\r\n\r\n${content}\r\n`;
  const file = (name: string, content: string) => part(`name="f"; filename="${name}"`, content);
  const FORM = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };

  /** Imports a body. @returns the status, and what reached the import */
  async function imported(payload: string, headers: Readonly<Record<string, string>>) {
    const sources: ImportSource[] = [];
    const doing: Doing = { import: (source) => void sources.push(source as ImportSource) };
    const sent = { method: 'POST', url: '/api/v2/import', headers, payload } as const;
    // The report is not looked at: there is none, which is no answer either.
    const { status, text } = await request(sent, doing);
    return { status, text, source: sources[0] };
  }

  it('an archive is taken under each of the names of its media type', async () => {
    for (const [type, kind] of [
      ['application/gzip', 'gzip'],
      ['application/x-gzip', 'gzip'],
      ['application/zip', 'zip'],
      ['application/x-zip-compressed', 'zip'],
      ['application/json', 'documents'],
      ['Application/GZip; a=b', 'gzip'],
    ] as const)
      assert.equal((await imported('{}', { 'content-type': type })).source?.kind, kind, type);
    for (const type of ['text/plain', 'application/x-tar', 'application/ld+json'])
      assert.deepEqual((await imported('{}', { 'content-type': type })).status, 415, type);
  });

  it('an encoded body is refused in every form', async () => {
    const form = `${file('a', 'x')}--${BOUNDARY}--\r\n`;
    for (const headers of [{ 'content-type': 'application/gzip' }, JSON_TYPE, FORM]) {
      const { status, source } = await imported(form, { ...headers, 'content-encoding': 'gzip' });
      assert.deepEqual([status, source], [415, undefined], headers['content-type']);
      const identity = await imported(form, { ...headers, 'content-encoding': 'Identity' });
      assert.notEqual(identity.source, undefined, headers['content-type']);
    }
  });

  it('a form is its files by their paths', async () => {
    const form = `${file('a/b.json', '1')}${file('c.json', '22')}--${BOUNDARY}--\r\n`;
    const { source } = await imported(form, FORM);
    assert.ok(source?.kind === 'parts');
    assert.deepEqual(
      source.parts.map(({ name, bytes }) => [name, String(bytes)]),
      [
        ['a/b.json', '1'],
        ['c.json', '22'],
      ],
    );
  });

  it('a form with a field, without a file, or that breaks off is refused', async () => {
    for (const form of [
      `${file('a', 'x')}${part('name="b"', 'y')}--${BOUNDARY}--\r\n`,
      `${part('name="b"', 'y')}--${BOUNDARY}--\r\n`,
      `--${BOUNDARY}--\r\n`,
      file('a', 'x').slice(0, -4),
    ]) {
      const { status, source } = await imported(form, FORM);
      assert.deepEqual([status, source], [400, undefined], form);
    }
  });

  it('the files of a form may have as many bytes as an import in all, and not one more', async () => {
    const form = (...sizes: readonly number[]) =>
      [...sizes.map((size) => file('a', 'x'.repeat(size))), `--${BOUNDARY}--\r\n`].join('');
    for (const sizes of [[IMPORT_LIMIT], [1000, IMPORT_LIMIT - 1000]])
      assert.notEqual((await imported(form(...sizes), FORM)).source, undefined, sizes.join());
    for (const sizes of [[IMPORT_LIMIT + 1], [1000, IMPORT_LIMIT - 999], [1, 1, IMPORT_LIMIT - 1]]) {
      const { status, source } = await imported(form(...sizes), FORM);
      assert.deepEqual([status, source], [413, undefined], sizes.join());
    }
  });
});

describe('the check of a body', () => {
  const SCHEMA = {
    type: 'object',
    properties: { name: { type: 'string' }, schema: true, kind: { enum: ['a', 'b'] } },
    required: ['name'],
    additionalProperties: false,
  };

  function faultsOf(body: unknown, schema: object = SCHEMA): RequestRefusedError['problem'] | undefined {
    try {
      createBodyCheck(schema as never)(body);
      return undefined;
    } catch (error) {
      assert.ok(error instanceof RequestRefusedError);
      assert.equal(error.problem.status, 422);
      return error.problem;
    }
  }
  const errorsOf = (body: unknown) => faultsOf(body)?.['errors'] as readonly object[] | undefined;

  it('each kind of fault has its pointer and a sentence', () => {
    assert.equal(faultsOf({ name: 'x' }), undefined);
    assert.deepEqual(errorsOf({ 'a/b~': 1, kind: 'c', schema: 1 }), [
      { pointer: '', detail: 'must have the member "name"' },
      { pointer: '/a~1b~0', detail: 'is not a known member' },
      { pointer: '/kind', detail: 'must be one of ["a","b"]' },
    ]);
    assert.deepEqual(errorsOf({ name: 7 }), [{ pointer: '/name', detail: 'must be a string' }]);
    assert.deepEqual(errorsOf(null), [{ pointer: '', detail: 'must be an object' }]);
    assert.equal(
      faultsOf({ name: 7, kind: 'c' })?.detail,
      'The body is invalid: /name must be a string (and 1 more).',
    );
    assert.equal(faultsOf([])?.detail, 'The body is invalid: it must be an object.');
    const rate = { type: ['integer', 'null'], minimum: 1, maximum: 9 };
    for (const [value, detail] of [
      ['1', 'must be a whole number or null'],
      [0, 'must be 1 or more'],
      [10, 'must be 9 or less'],
    ])
      assert.deepEqual(faultsOf(value, rate)?.['errors'], [{ pointer: '', detail }]);
  });

  it('a body with a hundred members has all of its faults listed, and one with more the first alone', () => {
    const body = (members: number) =>
      Object.fromEntries(Array.from({ length: members }, (_, index) => [`m${index}`, 1]));
    // One for the name that is missing.
    assert.equal(errorsOf(body(99))?.length, 100);
    assert.equal(errorsOf(body(100))?.length, 100);
    assert.equal(errorsOf(body(101))?.length, 1);
  });

  it('the name of an unknown member is repeated to two hundred characters', () => {
    for (const length of [200, 201, 5000])
      assert.deepEqual(errorsOf({ name: 'x', ['m'.repeat(length)]: 1 }), [
        { pointer: `/${'m'.repeat(200)}`, detail: 'is not a known member' },
      ]);
  });

  it('a body that is a JSON Schema itself, by any of its keywords, is told where to put it', () => {
    for (const keyword of [
      ...[
        '$schema',
        '$id',
        '$ref',
        '$defs',
        'definitions',
        'properties',
        'allOf',
        'anyOf',
        'oneOf',
        'required',
      ],
    ]) {
      const [fault, ...others] = errorsOf({ [keyword]: [], title: 'Car' }) ?? [];
      assert.deepEqual(others, []);
      assert.match(
        JSON.stringify(fault),
        /is a JSON Schema itself.*\{\\"name\\": \\"Car\\", \\"schema\\": …\}/,
        keyword,
      );
    }
    for (const title of ['not a name', 7, '', 'x'.repeat(129)])
      assert.match(JSON.stringify(errorsOf({ properties: {}, title })), /\\"Vehicle\\"/);
    const unnamed = faultsOf({ properties: {} }, { ...SCHEMA, required: [] });
    assert.match(String(unnamed?.detail), /such as \{"schema": …\}/);
    // It holds a schema, or no schema is taken.
    assert.doesNotMatch(JSON.stringify(errorsOf({ schema: {}, properties: {} })), /itself/);
    const without = { ...SCHEMA, properties: { name: { type: 'string' } } };
    assert.doesNotMatch(String(faultsOf({ properties: {} }, without)?.detail), /itself/);
  });
});
