import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { stopAll } from '../support/gateway-harness.js';
import { CAR, etagOf, makeModel, startApi, type ApiClient } from './api-client.js';
import { column } from '../support/columns.js';
import { words } from '../support/words.js';

after(stopAll);

const URI = 'https://schemas.city.test/common.json';
const DOCUMENT = { definitions: { speed: { type: 'number' } } };
const target = (uri: string): string => `/references?uri=${encodeURIComponent(uri)}`;

interface Reference {
  readonly uri: string;
  readonly source: string;
  readonly size: number;
}

let api: ApiClient;
before(async () => {
  ({ api } = await startApi());
});

it('reference documents are stored by PUT, 201 when new and 200 when replaced, and are read unchanged', async () => {
  const created = await api.put(target(URI), DOCUMENT);
  assert.equal(created.status, 201);
  assert.equal(created.headers.get('location'), `${api.url}${target(URI)}`);
  const { uri, source, size } = created.json() as Reference;
  assert.deepEqual([uri, source], [URI, 'stored']);
  const read = await api.get(target(URI));
  assert.equal(read.status, 200);
  assert.equal(read.headers.get('content-type'), 'application/schema+json');
  assert.deepEqual(read.json(), DOCUMENT);
  assert.equal(Buffer.byteLength(read.text), size);
  assert.equal(etagOf(read), etagOf(created));
  const same = await api.put(target(URI), DOCUMENT);
  assert.equal(same.status, 200);
  assert.equal(same.headers.get('location'), null);
  assert.equal(etagOf(same), etagOf(created));
  const spelt = await api.put(target('HTTPS://schemas.city.test:443/./common.json'), DOCUMENT);
  assert.deepEqual([spelt.status, (spelt.json() as Reference).uri], [200, URI]);
  const replaced = await api.put(target(URI), { ...DOCUMENT, title: 'Common' });
  assert.equal(replaced.status, 200);
  assert.notEqual(etagOf(replaced), etagOf(created));
});

it('reference documents are listed by URI in pages, without their content', async () => {
  const { api } = await startApi();
  for (const name of ['b', 'a', 'c']) await api.put(target(`urn:doc:${name}`), DOCUMENT);
  const page = await api.get('/references?limit=2');
  assert.equal(page.headers.get('x-total-count'), '3');
  assert.deepEqual(column(page.json() as readonly Reference[], 'uri'), ['urn:doc:a', 'urn:doc:b']);
  assert.equal(page.headers.get('link'), `<${api.url}/references?limit=2&offset=2>; rel="next"`);
  assert.equal(((await api.get('/references?offset=2')).json() as readonly Reference[])[0]?.uri, 'urn:doc:c');
});

it('reference documents are written only if If-Match or If-None-Match allows it', async () => {
  const uri = 'urn:doc:guarded';
  assert.equal((await api.put(target(uri), DOCUMENT, { 'if-match': '*' })).status, 412);
  assert.equal((await api.get(target(uri))).status, 404);
  const neither = await api.put(target(uri), DOCUMENT, { 'if-match': '"x"', 'if-none-match': '*' });
  assert.equal(neither.status, 412);
  const made = await api.put(target(uri), DOCUMENT, { 'if-none-match': '*' });
  assert.equal(made.status, 201);
  const refused = await api.put(target(uri), {}, { 'if-none-match': '*' });
  assert.equal(refused.status, 412);
  assert.equal(refused.headers.get('etag'), etagOf(made));
  const changed = await api.put(target(uri), {}, { 'if-match': etagOf(made) });
  assert.equal(changed.status, 200);
  assert.equal((await api.put(target(uri), DOCUMENT, { 'if-match': etagOf(made) })).status, 412);
  const both = { 'if-match': etagOf(changed), 'if-none-match': '*' };
  assert.equal((await api.put(target(uri), DOCUMENT, both)).status, 412);
  assert.equal((await api.delete(target(uri), { 'if-match': etagOf(made) })).status, 412);
  assert.equal((await api.delete(target(uri), { 'if-none-match': '*' })).status, 412);
  assert.deepEqual((await api.get(target(uri))).json(), {});
  assert.equal((await api.delete(target(uri), { 'if-match': etagOf(changed) })).status, 204);
  assert.equal((await api.delete(target(uri))).status, 404);
});

it('reference documents need an absolute document URI: others are 400 naming the parameter', async () => {
  for (const uri of words(`
    common.json /common.json ftp://a.test/x file:///etc/passwd https://a.test/x#y https://a.test/x#
    https://u:secret@a.test/ //a.test/x schema:///schema.json javascript:alert(1)
  `)) {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const refused = await api.send(method, target(uri), method === 'PUT' ? { body: DOCUMENT } : {});
      assert.equal(refused.status, 400, `${method} ${uri}`);
      assert.equal(refused.problem()['parameter'], 'uri');
      assert.ok(!refused.problem().detail?.includes('secret'));
    }
  }
  for (const [method, path] of [
    ['PUT', '/references'],
    ['DELETE', '/references'],
    ['GET', '/references?uri='],
    ['GET', '/references?uri=urn:a:a&uri=urn:a:b'],
    ['GET', `/references?uri=urn:a:${'x'.repeat(2048)}`],
  ] as const) {
    const refused = await api.send(method, path, method === 'PUT' ? { body: DOCUMENT } : {});
    assert.equal(refused.status, 400, `${method} ${path}`);
    assert.equal(refused.problem()['parameter'], 'uri');
  }
  const mixed = await api.get(`${target(URI)}&limit=5`);
  assert.equal(mixed.problem()['parameter'], 'limit');
  for (const offset of [5, 0])
    assert.equal((await api.get(`${target(URI)}&offset=${offset}`)).problem()['parameter'], 'offset');
});

it('reference documents that no schema can refer to are 422', async () => {
  let deep: unknown = {};
  for (let level = 0; level < 300; level += 1) deep = { a: deep };
  for (const [document, type, pointer] of [
    [[1], /schema-invalid$/, ''],
    ['text', /schema-invalid$/, ''],
    [null, /schema-invalid$/, ''],
    [deep, /schema-too-large$/, '/a'.repeat(256)],
    [{ a: 'x'.repeat(1_048_576) }, /schema-too-large$/, ''],
    [{ $schema: 'http://json-schema.org/draft-03/schema#' }, /schema-dialect-unsupported$/, '/$schema'],
  ] as const) {
    const refused = await api.put(target('urn:doc:bad'), document);
    assert.equal(refused.status, 422, refused.text);
    assert.match(refused.problem().type, type);
    const [fault] = refused.problem()['errors'] as readonly { pointer: string }[];
    assert.ok(fault?.pointer.startsWith(pointer));
  }
  assert.equal((await api.get(target('urn:doc:bad'))).status, 404);
});

it('reference documents may have broken parts as long as no schema uses them', async () => {
  const broken = { type: 'objekt', $ref: '#/nowhere' };
  await api.put(target('urn:doc:parts'), { definitions: { broken, sound: { type: 'object' } } });
  const schemaOf = (part: string) => ({ $ref: `urn:doc:parts#/definitions/${part}` });
  const model = await makeModel(api, 'Parts', 'Sound', schemaOf('sound'));
  const refused = await api.put(model, { schema: schemaOf('broken') });
  assert.equal((refused.problem()['errors'] as readonly { pointer: string }[])[0]?.pointer, '/schema/$ref');
});

it('reference documents that models use cannot be deleted: 409', async () => {
  await api.put(target('urn:doc:used'), DOCUMENT);
  const schema = { ...CAR, allOf: [{ $ref: 'urn:doc:used#/definitions/speed' }] };
  const model = await makeModel(api, 'D', 'Car', schema);
  const bundled = (await api.get(`${model}/schema?bundled=true`)).text;
  const refused = await api.delete(target('urn:doc:used'));
  assert.equal(refused.status, 409);
  assert.deepEqual(refused.problem()['dependents'], [
    { kind: 'model', domain: 'D', name: 'Car', version: 1 },
  ]);
  await api.put(target('urn:doc:used'), { definitions: { speed: { type: 'string' } } });
  assert.equal((await api.get(`${model}/schema?bundled=true`)).text, bundled);
  assert.equal((await api.delete(model)).status, 204);
  assert.equal((await api.delete(target('urn:doc:used'))).status, 204);
});
