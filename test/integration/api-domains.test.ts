import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { stopAll } from '../support/gateway-harness.js';
import { etagOf, makeModel, startApi, type ApiClient } from './api-client.js';

after(stopAll);

interface Domain {
  readonly name: string;
  readonly description?: string;
  readonly compatibility: string;
  readonly createdAt: string;
  readonly modifiedAt: string;
}

let api: ApiClient;
before(async () => {
  ({ api } = await startApi());
});

it('domains are created with 201, Location and ETag, and read by that Location', async () => {
  const created = await api.post('/domains', { name: 'Mobility', description: 'What moves' });
  assert.equal(created.status, 201);
  assert.equal(created.headers.get('location'), `${api.url}/domains/Mobility`);
  const domain = created.json() as Domain;
  assert.equal(domain.name, 'Mobility');
  assert.equal(domain.description, 'What moves');
  assert.equal(new Date(domain.createdAt).toISOString(), domain.createdAt);
  const read = await api.get('/domains/Mobility');
  assert.equal(read.status, 200);
  assert.deepEqual(read.json(), domain);
  assert.equal(etagOf(read), etagOf(created));
});

it('an update of a domain keeps missing members, removes members that are null, and honours If-Match', async () => {
  const made = await api.post('/domains', { name: 'Changing', description: 'a', compatibility: 'full' });
  const put = (body: object, headers = {}) => api.put('/domains/Changing', body, headers);
  for (const [change, expected] of [
    [{}, ['a', 'full']],
    [{ description: 'b' }, ['b', 'full']],
    [{ compatibility: 'forward' }, ['b', 'forward']],
    [{ description: null, compatibility: null }, [undefined, 'none']],
  ] as const) {
    const answer = await put(change);
    assert.equal(answer.status, 200);
    const { description, compatibility } = answer.json() as Domain;
    assert.deepEqual([description, compatibility], expected);
    assert.deepEqual((await api.get('/domains/Changing')).json(), answer.json());
  }
  assert.equal((await put({ description: 'c' }, { 'if-match': etagOf(made) })).status, 412);
  assert.equal((await put({ compatibility: 'sideways' })).status, 422);
  assert.equal((await put({ name: 'Other' })).status, 422);
  assert.equal((await api.put('/domains/Missing', {})).status, 404);
});

it('creating a domain that exists is 409 and leaves the existing one unchanged', async () => {
  await api.post('/domains', { name: 'Twice', description: 'first' });
  const again = await api.post('/domains', { name: 'Twice', description: 'second' });
  assert.equal(again.status, 409);
  assert.match(again.problem().type, /AlreadyExists$/);
  assert.equal(((await api.get('/domains/Twice')).json() as Domain).description, 'first');
});

it('domains accept only names of the documented pattern: 422 at /name', async () => {
  for (const name of ['', '-st', 'a b', 'ä', 'a/b', 'a~b', '.', `a${'b'.repeat(128)}`, 7, null, ['a']]) {
    const refused = await api.post('/domains', { name });
    assert.equal(refused.status, 422, String(name));
    const { type, errors } = refused.problem();
    assert.match(type, /body-invalid$/);
    assert.equal((errors as { pointer: string }[])[0]?.pointer, '/name');
  }
  for (const name of ['a', '1st', 'A_b.c-9', `a${'b'.repeat(127)}`, 'constructor', 'toString']) {
    assert.equal((await api.post('/domains', { name })).status, 201, name);
    assert.equal((await api.get(`/domains/${name}`)).status, 200, name);
  }
});

it('domains refuse members that are unknown, missing or of a wrong type, each with its pointer', async () => {
  const refused = await api.post('/domains', { descriptoin: 'x', description: 7, 'a/b~c': 1 });
  assert.equal(refused.status, 422);
  const errors = refused.problem()['errors'] as readonly { pointer: string; detail: string }[];
  const found = errors.map(({ pointer }) => pointer).sort();
  assert.deepEqual(found, ['', '/a~1b~0c', '/description', '/descriptoin']);
  assert.match(errors.find(({ pointer }) => pointer === '')?.detail ?? '', /"name"/);
});

it('domains refuse text that cannot be stored, with its pointer', async () => {
  for (const description of ['a\u0000b', 'lone \ud800 surrogate']) {
    const refused = await api.post('/domains', { name: 'Odd', description });
    assert.equal(refused.status, 422);
    assert.equal((refused.problem()['errors'] as { pointer: string }[])[0]?.pointer, '/description');
  }
  assert.equal((await api.get('/domains/Odd')).status, 404);
});

it('domains are listed by name, in pages connected by Link, with the total', async () => {
  const { api } = await startApi();
  const names = ['a', 'B', 'c', 'D', 'e'];
  for (const name of names) await api.post('/domains', { name });
  const seen: string[] = [];
  let pages = 0;
  let target: string | undefined = '/domains?limit=2';
  while (target !== undefined) {
    const page = await api.get(target);
    assert.equal(page.status, 200);
    assert.equal(page.headers.get('x-total-count'), '5');
    pages += 1;
    const items = page.json() as readonly Domain[];
    assert.ok(items.length <= 2);
    seen.push(...items.map(({ name }) => name));
    const link: string | null = page.headers.get('link');
    const [, next] = /^<([^>]+)>; rel="next"$/.exec(link ?? '') ?? [];
    assert.equal(next === undefined, link === null);
    target = next?.slice(api.url.length);
  }
  assert.deepEqual(seen, ['B', 'D', 'a', 'c', 'e']);
  assert.equal(pages, 3);
  const behind = await api.get('/domains?offset=9');
  assert.deepEqual(behind.json(), []);
  assert.equal(behind.headers.get('link'), null);
  assert.equal(behind.headers.get('x-total-count'), '5');
});

it('listed domains have the number of their models, and otherwise equal the single domains', async () => {
  const { api } = await startApi();
  await makeModel(api, 'Mobility', 'Car');
  await makeModel(api, 'Mobility', 'Bike');
  await api.post('/domains', { name: 'Empty' });
  const alone = async (name: string) => (await api.get(`/domains/${name}`)).json() as Domain;
  assert.deepEqual((await api.get('/domains')).json(), [
    { ...(await alone('Empty')), models: 0 },
    { ...(await alone('Mobility')), models: 2 },
  ]);
});

it('domains refuse parameters that are unknown, repeated, empty or out of bounds, and name them', async () => {
  for (const [query, parameter] of [
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['offset=x', 'offset'],
    ['offset=9007199254740993', 'offset'],
    ['page=2', 'page'],
    ['Limit=2', 'Limit'],
    ['__proto__=1', '__proto__'],
    ['x%00y=1', 'x\u0000y'],
  ] as const) {
    const refused = await api.get(`/domains?${query}`);
    assert.equal(refused.status, 400, query);
    assert.equal(refused.problem()['parameter'], parameter, query);
  }
  assert.equal((await api.get('/domains/Mobility?x=1')).status, 400);
  assert.equal((await api.delete('/domains/Mobility?cascade=yes')).status, 400);
  assert.equal((await api.get('/domains/Mobility')).status, 200);
});

it('domains that hold models are deleted only with cascade=true; without, 409 names the models', async () => {
  const model = await makeModel(api, 'Full', 'Car');
  const refused = await api.delete('/domains/Full');
  assert.equal(refused.status, 409);
  const { type, dependents, total } = refused.problem();
  assert.match(type, /in-use$/);
  assert.deepEqual(dependents, [{ kind: 'model', domain: 'Full', name: 'Car', version: 1 }]);
  assert.equal(total, 1);
  assert.equal((await api.delete('/domains/Full?cascade=false')).status, 409);
  const gone = await api.delete('/domains/Full?cascade=true');
  assert.equal(gone.status, 204);
  assert.equal(gone.text, '');
  for (const target of ['/domains/Full', model, '/contexts/Full~Car'])
    assert.equal((await api.get(target)).status, 404, target);
});

it('missing domains are 404 for GET and DELETE', async () => {
  for (const [method, target] of [
    ['GET', '/domains/Nowhere'],
    ['DELETE', '/domains/Nowhere'],
    ['GET', '/domains/Nowhere/models'],
    ['GET', '/domains/no%20name'],
    ['GET', '/domains/%F0%9F%9A%97'],
    ['GET', `/domains/${'x'.repeat(900)}`],
  ] as const) {
    const answer = await api.send(method, target);
    assert.equal(answer.status, 404, target);
    assert.match(answer.problem().type, /ResourceNotFound$/);
  }
});

it('domains are deleted only while their ETag matches If-Match', async () => {
  const created = await api.post('/domains', { name: 'Watched' });
  const stale = etagOf(created);
  await makeModel(api, 'Watched', 'Car');
  const refused = await api.delete('/domains/Watched?cascade=true', { 'if-match': stale });
  assert.equal(refused.status, 412);
  assert.equal(refused.headers.get('etag'), etagOf(await api.get('/domains/Watched')));
  assert.equal((await api.delete('/domains/Watched', { 'if-none-match': '*' })).status, 412);
  const current = etagOf(refused);
  const gone = await api.delete('/domains/Watched?cascade=true', { 'if-match': `"other", ${current}` });
  assert.equal(gone.status, 204);
  assert.equal((await api.delete('/domains/Watched', { 'if-match': '*' })).status, 404);
});
