import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { stopAll, type Answer } from '../support/gateway-harness.js';
import { CAR, CAR_WITH_BRAND, etagOf, makeModel, startApi, type ApiClient } from './api-client.js';

after(stopAll);

const WITHOUT_VERSION = ['', '/versions', '/versions/diff', '/examples', '/examples/a.json'];
const PARTS = [...WITHOUT_VERSION, '/schema', '/context', '/openapi', '/files', '/files/schema.json'];

/** Returns the answers of all reads of a model. */
async function readsOf(
  api: ApiClient,
  model: string,
  context: string,
  query = '',
): Promise<readonly Answer[]> {
  const targets = PARTS.filter((part) => query === '' || !WITHOUT_VERSION.includes(part));
  return Promise.all(
    [...targets.map((part) => model + part), `/contexts/${context}`].map((one) => api.get(one + query)),
  );
}

describe('the lifecycle of models', () => {
  let api: ApiClient;
  before(async () => {
    ({ api } = await startApi());
  });

  it('every read of a deprecated model says when it was deprecated and when it will be removed', async () => {
    const model = await makeModel(api, 'Mobility', 'Van');
    await api.put(`${model}/examples/a.json`, { id: 'urn:ngsi-ld:Van:1', type: 'Van' });
    const fields = (answer: Answer) => ['deprecation', 'sunset'].map((name) => answer.headers.get(name));
    for (const answer of await readsOf(api, model, 'Mobility~Van'))
      assert.deepEqual(fields(answer), [null, null]);
    const before = Math.floor(Date.now() / 1000);
    const put = await api.put(model, { status: 'deprecated', sunset: '2999-12-31T23:59:59Z' });
    const { status, deprecatedAt = '', sunset } = put.json() as Record<string, string>;
    assert.deepEqual([status, sunset], ['deprecated', '2999-12-31T23:59:59.000Z']);
    const seconds = Math.floor(Date.parse(deprecatedAt) / 1000);
    assert.ok(seconds >= before && seconds <= Date.now() / 1000, deprecatedAt);
    for (const query of ['', '?version=1'])
      for (const answer of await readsOf(api, model, 'Mobility~Van', query)) {
        assert.equal(answer.status, 200);
        assert.deepEqual(fields(answer), [`@${seconds}`, 'Tue, 31 Dec 2999 23:59:59 GMT']);
      }
    const etag = etagOf(await api.get(`${model}/schema`));
    const known = await api.get(`${model}/schema`, { 'if-none-match': etag });
    assert.deepEqual([known.status, fields(known)[0]], [304, `@${seconds}`]);
    await api.put(model, { status: 'published', sunset: null });
    for (const answer of await readsOf(api, model, 'Mobility~Van'))
      assert.deepEqual(fields(answer), [null, null]);
  });

  it('validation by a deprecated model warns once, at the first entity', async () => {
    const model = await makeModel(api, 'Mobility', 'Car');
    const entity = { id: 'urn:ngsi-ld:Car:1', type: 'Car', speed: 3 };
    type Verdict = {
      readonly valid: boolean;
      readonly warnings: readonly { readonly code: string; readonly detail: string }[];
    };
    const verdictsOf = async (body: unknown) =>
      [(await api.post('/validate/Mobility/Car', body)).json()].flat() as readonly Verdict[];
    assert.deepEqual((await verdictsOf(entity))[0]?.warnings, []);
    await api.put(model, { status: 'deprecated', sunset: '2099-12-31T00:00:00Z' });
    const [verdict] = await verdictsOf(entity);
    assert.deepEqual(
      [verdict?.valid, verdict?.warnings.map(({ code }) => code)],
      [true, ['deprecated-model']],
    );
    assert.match(
      verdict?.warnings[0]?.detail ?? '',
      /^uses the model Car, which has been deprecated since \d{4}-\d\d-\d\d, and will be removed on 2099-12-31/,
    );
    const counts = (await verdictsOf([entity, entity, entity])).map(({ warnings }) => warnings.length);
    assert.deepEqual(counts, [1, 0, 0]);
  });

  it('a draft can be replaced before it is published', async () => {
    const model = await makeModel(api, 'Mobility', 'Bus', CAR, { status: 'draft' });
    const replaced = await api.put(model, { schema: CAR_WITH_BRAND });
    const { outcome, version } = replaced.json() as Record<string, unknown>;
    assert.deepEqual([outcome, version], ['replaced', 1]);
    assert.deepEqual((await api.get(`${model}/schema?version=1`)).json(), CAR_WITH_BRAND);
    await api.put(model, { status: 'published' });
    const back = await api.put(model, { status: 'draft' });
    assert.equal(back.status, 409);
    assert.match(back.problem().type, /model-published$/);
    const refused = await api.put(model, { sunset: 'soon' });
    assert.equal(refused.status, 422);
    assert.equal((refused.problem() as { errors?: { pointer: string }[] }).errors?.[0]?.pointer, '/sunset');
  });

  it('a model that is deleted and created again is never answered from old cache entries, whichever version is requested', async () => {
    const model = await makeModel(api, 'Mobility', 'Ferry', CAR);
    const reads = () => readsOf(api, model, 'Mobility~Ferry', '?version=1');
    const old = await reads();
    for (const { headers } of old) assert.equal(headers.get('cache-control'), 'no-cache');
    await api.delete(model);
    await makeModel(api, 'Mobility', 'Ferry', CAR_WITH_BRAND, { contextBase: 'https://new.test/' });
    const etags = new Set(old.map(etagOf));
    for (const answer of await reads()) assert.ok(!etags.has(etagOf(answer)), answer.text);
  });
});

it('the context of a domain is served under two URLs, to any web page, and is 304 for its ETag', async () => {
  const { api, url } = await startApi();
  await makeModel(api, 'Lines', 'Tram', CAR, { context: { speed: 'https://official.test/speed' } });
  const targets = ['/domains/Lines/context', '/contexts/Lines'];
  const [first, second] = await Promise.all(targets.map((target) => api.get(target)));
  assert.ok(first !== undefined && second !== undefined);
  assert.equal(first.text, second.text);
  assert.equal(etagOf(first), etagOf(second));
  for (const answer of [first, second]) {
    assert.equal(answer.headers.get('content-type'), 'application/ld+json');
    assert.equal(answer.headers.get('access-control-allow-origin'), '*');
    assert.equal(answer.headers.get('cache-control'), 'no-cache');
    assert.equal(answer.headers.get('link'), null);
  }
  for (const target of targets) {
    const known = await api.get(target, { 'if-none-match': etagOf(first) });
    assert.equal(known.status, 304);
  }
  const [terms] = (first.json() as { '@context': readonly Record<string, string>[] })['@context'];
  assert.equal(terms?.['speed'], 'https://official.test/speed');

  const listed = (await api.get('/contexts?limit=1000')).json() as readonly Record<string, unknown>[];
  const { kind, version, url: stable } = listed.find(({ name }) => name === 'Lines') ?? {};
  assert.deepEqual([kind, version, stable], ['generated', undefined, `${url}/api/v2/contexts/Lines`]);
  assert.equal((await api.get('/contexts/Lines?version=1')).status, 404);
  assert.equal((await api.put('/contexts/Lines', { '@context': {} })).status, 405);
  assert.equal((await api.delete('/contexts/Lines')).status, 405);
  assert.equal((await api.get('/domains/Nowhere/context')).status, 404);
});

it('the context of a domain links to its warnings if its models give a term different meanings', async () => {
  const { api } = await startApi();
  await makeModel(api, 'Lines', 'Tram');
  const before = await api.get('/contexts/Lines');
  await makeModel(api, 'Lines', 'Boat', CAR, { contextBase: 'https://boats.test/' });
  for (const target of ['/domains/Lines/context', '/contexts/Lines']) {
    const answer = await api.get(target);
    assert.notEqual(etagOf(answer), etagOf(before));
    assert.equal(
      answer.headers.get('link'),
      `<${api.url}/domains/Lines/context/warnings>; rel="describedby"`,
    );
  }
  // The type that the schema requires is a term as well.
  const warnings = await api.get('/domains/Lines/context/warnings?limit=1&offset=1');
  assert.equal(warnings.headers.get('x-total-count'), '2');
  const [warning] = warnings.json() as readonly Record<string, unknown>[];
  assert.deepEqual(
    [warning?.['code'], warning?.['term'], warning?.['models']],
    ['ambiguous-term', 'speed', ['Boat', 'Tram']],
  );
});

it('a domain and a custom context cannot have the same name: the second one is refused', async () => {
  const { api } = await startApi();
  await api.post('/domains', { name: 'Lines' });
  const context = await api.post('/contexts', { name: 'Lines', '@context': {} });
  assert.deepEqual([context.status, /domain "Lines"/.test(context.problem().detail ?? '')], [409, true]);
  await api.post('/contexts', { name: 'Roads', '@context': { a: 'https://a.test/' } });
  for (const name of ['Roads', 'ngsi-ld-core-context-v1.8']) {
    const domain = await api.post('/domains', { name });
    assert.deepEqual([domain.status, domain.problem().detail?.includes(`context "${name}"`)], [409, true]);
  }
  await api.delete('/contexts/Roads');
  assert.equal((await api.post('/domains', { name: 'Roads' })).status, 201);
});

it('a model shows its own context; a context that does not exist is refused with a pointer', async () => {
  const { api } = await startApi();
  await api.post('/contexts', { name: 'terms', '@context': { speed: 'https://official.test/speed' } });
  const model = await makeModel(api, 'Lines', 'Tram', CAR, { context: 'terms' });
  assert.equal(((await api.get(model)).json() as Record<string, unknown>)['context'], 'terms');
  const context = (await api.get(`${model}/context`)).json() as { '@context': readonly unknown[] };
  const served = context['@context'];
  assert.deepEqual(served[1], `${api.url}/contexts/terms`);
  assert.deepEqual((await api.get(`${model}/files/context.jsonld`)).json(), { '@context': served });
  assert.equal((await api.delete('/contexts/terms')).status, 409);
  const expanded = await api.post('/workbench/jsonld/expand', {
    document: { '@context': `${api.url}/contexts/Lines~Tram`, id: 'urn:t', type: 'Tram', speed: 1 },
  });
  assert.match(expanded.text, /"https:\/\/official\.test\/speed"/);
  const refused = await api.put(model, { context: ['missing'] });
  assert.equal(refused.status, 422);
  assert.match(refused.problem().type, /context-invalid$/);
  assert.equal((refused.problem() as { errors?: { pointer: string }[] }).errors?.[0]?.pointer, '/context/0');
});
