import assert from 'node:assert/strict';
import { request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { after, before, it } from 'node:test';
import { once } from 'node:events';
import { stopAll } from '../support/gateway-harness.js';
import { startApi, type ApiClient } from './api-client.js';

after(stopAll);

const JSON_TYPES = [
  'application/json',
  'application/ld+json',
  'application/schema+json',
  'application/geo+json',
];

let api: ApiClient;
let port: number;
before(async () => {
  ({ api, port } = await startApi({ BODY_LIMIT_BYTES: '10000' }));
});
const postText = (raw: string | Uint8Array, type = 'application/json') =>
  api.send('POST', '/domains', { raw, headers: { 'content-type': type } });

it('bodies are accepted as JSON under each of its media types, with and without parameters', async () => {
  for (const [index, type] of [
    ...JSON_TYPES,
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/ld+json;profile="http://www.w3.org/ns/json-ld#compacted"',
  ].entries()) {
    assert.equal((await postText(`{"name":"d${index}"}`, type)).status, 201, type);
  }
  assert.equal((await postText('\ufeff{"name":"bom"}')).status, 201);
});

it('bodies that are encoded, or have another or no media type, are 415, and Accept lists the accepted types', async () => {
  for (const type of ['text/plain', 'application/xml', 'application/jsonx', 'text/json', 'nonsense', '*/*']) {
    const refused = await postText('{"name":"no"}', type);
    assert.equal(refused.status, 415, type);
    assert.match(refused.problem().type, /media-type-not-supported$/);
    assert.equal(refused.headers.get('accept'), JSON_TYPES.join(', '));
  }
  const gzip = await api.send('POST', '/domains', {
    raw: '{"name":"no"}',
    headers: { 'content-encoding': 'gzip' },
  });
  assert.equal(gzip.status, 415);
  const untyped = await api.send('POST', '/domains', {
    raw: Buffer.from('{}'),
    headers: { 'content-type': '' },
  });
  assert.equal(untyped.status, 415);
  assert.equal((await api.get('/domains/no')).status, 404);
});

it('a body that is not JSON is 400 with line and column', async () => {
  for (const [text, line, column] of [
    ['', 1, 1],
    ['{"name":"a"', 1, 12],
    ['{\n  "name": "a",\n}', 3, 1],
    ['{"name":"a"} x', 1, 14],
    ["{'name':'a'}", 1, 2],
    ['{"name":"a\n"}', 1, 11],
    ['{"name":01}', 1, 10],
    ['{"name":NaN}', 1, 9],
    ['{"name":"\\x"}', 1, 10],
  ] as const) {
    const refused = await postText(text);
    assert.equal(refused.status, 400, text);
    const problem = refused.problem();
    assert.match(problem.type, /InvalidRequest$/);
    assert.deepEqual(
      [problem['line'], problem['column']],
      [line, column],
      `${text}: ${problem.detail ?? ''}`,
    );
  }
  const utf16 = await postText(Buffer.from('{"name":"a"}', 'utf16le'));
  assert.equal(utf16.status, 400);
  const latin1 = Buffer.from('{"name":"a","description":"\u00fc"}', 'latin1');
  assert.equal((await postText(latin1)).status, 400);
});

it('a body with a repeated member is 400 at any depth', async () => {
  for (const text of [
    '{"name":"a","name":"b"}',
    '{"name":"a","n\\u0061me":"b"}',
    '{"name":"a","x":[{"y":{"z":1,"z":1}}]}',
  ]) {
    const refused = await postText(text);
    assert.equal(refused.status, 400, text);
    assert.match(refused.problem().detail ?? '', /twice/);
  }
  assert.equal((await api.get('/domains/a')).status, 404);
});

it('a member called __proto__ is refused if it is unknown, like any other member, and changes nothing', async () => {
  const unknown = await postText('{"name":"a","__proto__":{"description":"x"}}');
  assert.equal(unknown.status, 422);
  assert.match(unknown.text, /__proto__/);
  assert.equal((await api.get('/domains/a')).status, 404);
  const context = '{"name":"a","@context":{"__proto__":"https://a.example/x"}}';
  assert.equal((await api.send('POST', '/contexts', { raw: context })).status, 422);
  const document = '{"document":{"__proto__":{"x":1}}}';
  assert.equal((await api.send('POST', '/workbench/jsonld/expand', { raw: document })).status, 400);
  const inferred = await api.send('POST', '/workbench/schema/infer', { raw: '{"a":{"__proto__":1}}' });
  assert.match(inferred.text, /"__proto__":\{"type":"integer"\}/);
  assert.ok(!('description' in {}) && !('x' in {}));
});

it('bodies nested thousands of levels deep are 422', async () => {
  for (const text of ['['.repeat(4000) + ']'.repeat(4000), `${'{"a":'.repeat(1000)}1${'}'.repeat(1000)}`]) {
    const refused = await postText(text);
    assert.equal(refused.status, 422);
    assert.match(refused.problem().type, /limit-exceeded$/);
    assert.match(refused.problem().detail ?? '', /nested/);
  }
});

it('bodies with thousands of unknown members are 422, and only a few are listed', async () => {
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`m${index}`, 0]));
  const refused = await api.post('/domains', many);
  assert.equal(refused.status, 422);
  assert.equal((refused.problem()['errors'] as readonly unknown[]).length, 1);
  const some = await api.post('/domains', Object.fromEntries(Object.entries(many).slice(0, 100)));
  assert.equal((some.problem()['errors'] as readonly unknown[]).length, 100);
});

it('an announced but empty body is accepted if the operation needs no body', async () => {
  await api.post('/domains', { name: 'Announced' });
  const headers = { 'content-type': 'application/json', 'content-length': '0' };
  assert.equal((await api.send('DELETE', '/domains/Announced', { headers })).status, 204);
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const announced = { ...form, 'content-length': '0' };
  assert.equal((await api.send('DELETE', '/domains/Announced', { headers: announced })).status, 404);
  // fetch itself announces the empty body of a POST.
  assert.equal((await api.send('POST', '/domains', { headers: form })).status, 400);
});

it('a missing body is 400 if the operation needs one, and so is a body if the operation accepts none', async () => {
  assert.equal((await api.send('POST', '/domains')).status, 400);
  const empty = await api.send('POST', '/domains', { headers: { 'content-type': 'application/json' } });
  assert.equal(empty.status, 400);
  await api.post('/domains', { name: 'Stays' });
  const refused = await api.send('DELETE', '/domains/Stays', { body: { cascade: true } });
  assert.equal(refused.status, 400);
  assert.equal((await api.get('/domains/Stays')).status, 200);
});

for (const [how, chunked] of [
  ['announced', false],
  ['in chunks', true],
] as const) {
  it(`a body (${how}) larger than BODY_LIMIT_BYTES is 413, and its sender receives the answer`, async () => {
    for (const size of [10_001, 8_000_000]) {
      const body = Buffer.alloc(size, ' ');
      const sent = request(`${api.url}/domains`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(chunked ? {} : { 'content-length': size }) },
      });
      sent.end(body);
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      assert.equal(response.statusCode, 413);
      assert.equal(response.headers['content-type'], 'application/problem+json');
      const chunks = await response.toArray();
      const problem = JSON.parse(Buffer.concat(chunks as Buffer[]).toString()) as { type: string };
      assert.match(problem.type, /body-too-large$/);
    }
  });
}

it('bodies that end before they are complete store nothing', async () => {
  const socket = connect(port, '127.0.0.1');
  socket.end(
    'POST /api/v2/domains HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"name":"Half"}',
  );
  socket.resume();
  await once(socket, 'close');
  assert.equal((await api.get('/domains/Half')).status, 404);
});
