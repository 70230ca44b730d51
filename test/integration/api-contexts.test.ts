import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { stopAll } from '../support/gateway-harness.js';
import { CAR_WITH_BRAND, etagOf, makeModel, startApi, type ApiClient } from './api-client.js';
import { columns } from '../support/columns.js';

after(stopAll);

interface Context {
  readonly name: string;
  readonly kind: string;
  readonly version: number;
  readonly url: string;
  readonly warnings?: readonly { readonly code: string; readonly pointer: string }[];
}

const CORE = 'https://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context-v1.9.jsonld';
const TERMS = { brand: 'https://city.test/brand' };

let api: ApiClient;
before(async () => {
  ({ api } = await startApi());
});

it('contexts are created from a map, an array, a URL or an object with @context, and served as application/ld+json', async () => {
  for (const [name, context] of [
    ['Map', TERMS],
    ['List', [TERMS, CORE]],
    ['Url', CORE],
    ['Wrapped', { '@context': TERMS }],
  ] as const) {
    const created = await api.post('/contexts', { name, '@context': context });
    assert.equal(created.status, 201, created.text);
    assert.equal(created.headers.get('location'), `${api.url}/contexts/${name}`);
    const { url, kind, version } = created.json() as Context;
    assert.deepEqual([url, kind, version], [`${api.url}/contexts/${name}`, 'custom', 1]);
    const served = await api.get(`/contexts/${name}`);
    assert.equal(served.headers.get('content-type'), 'application/ld+json');
    assert.deepEqual(served.json(), name === 'Wrapped' ? context : { '@context': context });
    assert.equal(etagOf(served), etagOf(created));
  }
});

it('contexts are served to scripts of any origin and to caches that revalidate them, problems included', async () => {
  await api.post('/contexts', { name: 'Open', '@context': TERMS });
  for (const target of ['/contexts/Open', '/contexts/Nowhere', '/contexts/Open?x=1']) {
    const { headers } = await api.get(target, { origin: 'https://app.test' });
    assert.equal(headers.get('access-control-allow-origin'), '*', target);
    assert.equal(headers.get('access-control-expose-headers'), 'ETag, Link', target);
    assert.equal(headers.get('cache-control'), 'no-cache', target);
    assert.equal(headers.get('x-content-type-options'), 'nosniff', target);
  }
  const preflight = await api.send('OPTIONS', '/contexts/Open', {
    headers: {
      origin: 'https://app.test',
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'if-none-match',
    },
  });
  assert.equal(preflight.status, 204);
  assert.equal(preflight.headers.get('access-control-allow-origin'), '*');
  assert.equal(preflight.headers.get('access-control-allow-methods'), 'GET, HEAD');
  assert.equal(preflight.headers.get('access-control-allow-headers'), '*');
  const list = await api.get('/domains', { origin: 'https://app.test' });
  assert.equal(list.headers.get('access-control-allow-origin'), null);
});

it('contexts get new versions by PUT; earlier versions do not change', async () => {
  await api.post('/contexts', { name: 'Growing', '@context': TERMS });
  const more = { ...TERMS, speed: 'https://city.test/speed' };
  const updated = await api.put('/contexts/Growing', { '@context': more });
  assert.equal(updated.status, 200);
  assert.equal((updated.json() as Context).version, 2);
  const same = await api.put('/contexts/Growing', { '@context': more });
  assert.equal((same.json() as Context).version, 2);
  assert.equal(etagOf(same), etagOf(updated));
  const [first, second] = [
    await api.get('/contexts/Growing?version=1'),
    await api.get('/contexts/Growing?version=2'),
  ];
  assert.deepEqual(first.json(), { '@context': TERMS });
  assert.deepEqual(second.json(), { '@context': more });
  assert.equal((await api.get('/contexts/Growing?version=3')).status, 404);
  assert.equal((await api.get('/contexts/Growing?version=0')).status, 400);
});

it('large answers, such as lists of contexts, are compressed for clients that accept gzip, with the ETag of the plain answer', async () => {
  for (const target of ['/contexts', '/openapi.json']) {
    const [packed, plain] = [
      await api.get(target, { 'accept-encoding': 'gzip' }),
      await api.get(target, { 'accept-encoding': 'identity' }),
    ];
    const codings = [packed, plain].map(({ headers }) => headers.get('content-encoding'));
    assert.deepEqual(codings, ['gzip', null], target);
    assert.deepEqual([packed.text, etagOf(packed)], [plain.text, etagOf(plain)]);
    const known = await api.get(target, { 'if-none-match': etagOf(plain) });
    for (const { headers } of [packed, plain, known])
      assert.equal(headers.get('vary'), 'accept-encoding', target);
    assert.equal(known.status, 304);
  }
  const small = await api.get('/contexts/Growing', { 'accept-encoding': 'gzip' });
  assert.equal(small.headers.get('content-encoding'), null, 'it fits into one packet as it is');
});

it('the ETag of an earlier version of a context is not accepted by writes, and gives 304 only for that version', async () => {
  await api.post('/contexts', { name: 'Earlier', '@context': TERMS });
  await api.put('/contexts/Earlier', { '@context': { ...TERMS, speed: 'https://city.test/speed' } });
  const earlier = etagOf(await api.get('/contexts/Earlier?version=1'));
  const current = await api.get('/contexts/Earlier', { 'if-none-match': earlier });
  assert.equal(current.status, 200);
  assert.match(current.text, /speed/);
  const known = await api.get('/contexts/Earlier?version=1', { 'if-none-match': earlier });
  assert.equal(known.status, 304);
  assert.equal((await api.delete('/contexts/Earlier', { 'if-match': earlier })).status, 412);
});

it('contexts are changed and deleted only while their ETag matches If-Match', async () => {
  const stale = etagOf(await api.post('/contexts', { name: 'Guarded', '@context': TERMS }));
  const body = { '@context': { other: 'urn:other' } };
  const current = etagOf(await api.put('/contexts/Guarded', body, { 'if-match': stale }));
  assert.equal(etagOf(await api.get('/contexts/Guarded')), current);
  assert.equal((await api.put('/contexts/Guarded', body, { 'if-match': stale })).status, 412);
  assert.equal((await api.put('/contexts/Guarded', body, { 'if-none-match': '*' })).status, 412);
  assert.equal((await api.delete('/contexts/Guarded', { 'if-match': stale })).status, 412);
  assert.equal((await api.delete('/contexts/Guarded', { 'if-match': current })).status, 204);
  assert.equal((await api.put('/contexts/Guarded', body, { 'if-none-match': '*' })).status, 404);
  assert.equal((await api.put('/contexts/Guarded', body)).status, 404, 'PUT makes no new context');
});

it('invalid contexts are 422 with the place and the reason', async () => {
  await api.post('/contexts', { name: 'Kept', '@context': TERMS });
  for (const [context, pointer] of [
    [{ brand: 7 }, '/@context/brand'],
    [{ brand: { '@id': 'urn:b', '@type': 'no type' } }, '/@context/brand'],
    [[TERMS, 7], '/@context/1'],
    [7, '/@context'],
    ['https://nowhere.test/context.jsonld', '/@context'],
    [[TERMS, { '@import': 'http://169.254.169.254/latest' }], '/@context/1'],
  ] as const) {
    for (const refused of [
      await api.post('/contexts', { name: 'New', '@context': context }),
      await api.put('/contexts/Kept', { '@context': context }),
    ]) {
      assert.equal(refused.status, 422, refused.text);
      assert.match(refused.problem().type, /context-invalid$/);
      const errors = refused.problem()['errors'] as readonly { pointer: string; detail: string }[];
      assert.ok(
        errors.some((fault) => fault.pointer.startsWith(pointer) && fault.detail !== ''),
        refused.text,
      );
    }
  }
  assert.equal((await api.get('/contexts/New')).status, 404);
  assert.deepEqual((await api.get('/contexts/Kept')).json(), { '@context': TERMS });
  for (const [body, pointer] of [
    [{ name: 'New' }, ''],
    [{ name: 'a~b', '@context': TERMS }, '/name'],
    [{ name: 'New', context: TERMS, '@context': TERMS }, '/context'],
  ] as const) {
    const refused = await api.post('/contexts', body);
    assert.equal(refused.status, 422);
    assert.equal((refused.problem()['errors'] as { pointer: string }[])[0]?.pointer, pointer);
  }
});

it('contexts are accepted with warnings of surprising effects', async () => {
  const context = { location: 'https://city.test/location' };
  const created = await api.post('/contexts', { name: 'Warned', '@context': [context, CORE] });
  assert.equal(created.status, 201);
  const { warnings = [] } = created.json() as Context;
  assert.deepEqual(columns(warnings, 'code', 'pointer'), [['core-term', '/@context/0/location']]);
});

it('contexts of models are created, changed and deleted with their model, and are read-only: writes are 405', async () => {
  const model = await makeModel(api, 'Mobility', 'Car');
  const generated = await api.get('/contexts/Mobility~Car');
  assert.match(generated.text, /speed/);
  assert.equal((await api.get('/contexts/Mobility%7ECar')).text, generated.text);
  await api.put(model, { schema: CAR_WITH_BRAND });
  assert.match((await api.get('/contexts/Mobility~Car')).text, /brand/);
  assert.doesNotMatch((await api.get('/contexts/Mobility~Car?version=1')).text, /brand/);
  for (const name of ['Mobility~Car', 'ngsi-ld-core-context-v1.8']) {
    for (const refused of [
      await api.put(`/contexts/${name}`, { '@context': TERMS }),
      await api.delete(`/contexts/${name}`),
    ]) {
      assert.equal(refused.status, 405, name);
      assert.match(refused.problem().type, /read-only$/);
      assert.equal(refused.headers.get('allow'), 'GET, HEAD, OPTIONS');
    }
  }
  assert.equal((await api.delete(model)).status, 204);
  assert.equal((await api.get('/contexts/Mobility~Car')).status, 404);
});

it('contexts of models with the longest names are served', async () => {
  const [domain, name] = ['d', 'm'].map((letter) => letter.repeat(128));
  await makeModel(api, String(domain), String(name));
  assert.equal((await api.get(`/contexts/${domain}~${name}`)).status, 200);
  assert.equal((await api.get(`/contexts/${domain}%7E${name}`)).status, 200);
});

it('a change of a context lists the models whose terms change their meaning; a dry run writes nothing', async () => {
  await api.post('/contexts', { name: 'Prefix', '@context': { city: 'https://city.test/' } });
  await makeModel(api, 'Followed', 'Car');
  const context = ['Prefix', { speed: 'city:speed' }];
  await api.put('/domains/Followed/models/Car', { context });
  const body = { '@context': { city: 'https://other.test/' } };
  const dry = await api.put('/contexts/Prefix?dryRun=true', body);
  assert.equal(dry.status, 200, dry.text);
  const breaking = { class: 'breaking', reason: 'meaning' };
  const differences = [
    { pointer: '', ...breaking, detail: '"city" means https://other.test/, meant https://city.test/' },
    {
      pointer: '/properties/speed',
      ...breaking,
      detail: '"speed" means https://other.test/speed, meant https://city.test/speed',
    },
  ];
  const entry = { domain: 'Followed', model: 'Car', status: 'unchanged', change: 'breaking' };
  const dependents = [{ ...entry, differences }];
  assert.deepEqual(dry.json(), { dryRun: true, status: 'updated', warnings: [], dependents });
  const before = await api.get('/contexts/Prefix');
  assert.match(before.text, /city\.test/);
  assert.equal(etagOf(dry), etagOf(before));
  const done = await api.put('/contexts/Prefix', body, { 'if-match': etagOf(dry) });
  assert.deepEqual((done.json() as { dependents: unknown }).dependents, dependents);
  assert.match((await api.get('/contexts/Prefix')).text, /other\.test/);
  const same = await api.put('/contexts/Prefix?dryRun=true', body);
  assert.deepEqual(same.json(), { dryRun: true, status: 'unchanged', warnings: [], dependents: [] });
});

it('a change of a context is 409 if a context that uses it could then not be processed, and names it; in a dry run too', async () => {
  await api.post('/contexts', { name: 'Root', '@context': TERMS });
  const own = { name: 'Follower', '@context': [`${api.url}/contexts/Root`, { size: 'urn:own:size' }] };
  await api.post('/contexts', own);
  const body = { '@context': { '@protected': true, size: 'urn:other:size' } };
  for (const query of ['?dryRun=true', '']) {
    const refused = await api.put(`/contexts/Root${query}`, body);
    assert.equal(refused.status, 409, refused.text);
    const { type, detail = '', dependents, total } = refused.problem();
    assert.match(type, /in-use$/);
    assert.match(detail, /by context "Follower", .* could no longer be processed .* "size": .*protected/);
    assert.deepEqual([dependents, total], [[{ kind: 'context', name: 'Follower', version: 1 }], 1]);
  }
  assert.deepEqual((await api.get('/contexts/Root')).json(), { '@context': TERMS });
});

it('a dry run of creating a context has the warnings and refusals of the creation, and creates nothing', async () => {
  const core = { name: 'Tried', '@context': { location: 'https://city.test/location' } };
  const dry = await api.post('/contexts?dryRun=true', core);
  assert.equal(dry.status, 200, dry.text);
  const { warnings, ...rest } = dry.json() as Context & { readonly dryRun: boolean };
  assert.deepEqual(rest, { dryRun: true, status: 'created', dependents: [] });
  assert.deepEqual(
    warnings?.map(({ code }) => code),
    ['core-term'],
  );
  assert.equal((await api.get('/contexts/Tried')).status, 404);
  await api.post('/contexts', { name: 'There', '@context': TERMS });
  await api.post('/domains', { name: 'Town' });
  for (const [name, context, status] of [
    ['There', TERMS, 409],
    ['Town', TERMS, 409],
    ['ngsi-ld-core-context-v1.8', TERMS, 409],
    ['Bad', { brand: 7 }, 422],
  ] as const)
    for (const query of ['?dryRun=true', ''])
      assert.equal((await api.post(`/contexts${query}`, { name, '@context': context })).status, status, name);
});

it('contexts that other contexts use cannot be deleted: 409 naming the users', async () => {
  await api.post('/contexts', { name: 'Base', '@context': TERMS });
  const using = { name: 'Derived', '@context': [`${api.url}/contexts/Base`, { x: 'urn:x:x' }] };
  assert.equal((await api.post('/contexts', using)).status, 201);
  const refused = await api.delete('/contexts/Base');
  assert.equal(refused.status, 409);
  assert.deepEqual(refused.problem()['dependents'], [{ kind: 'context', name: 'Derived', version: 1 }]);
  assert.equal((await api.delete('/contexts/Derived')).status, 204);
  assert.equal((await api.delete('/contexts/Base')).status, 204);
});

it('contexts are listed, core contexts first, with their URLs in brokers', async () => {
  const { api } = await startApi();
  await api.post('/contexts', { name: 'A', '@context': TERMS });
  await makeModel(api, 'Mobility', 'Car');
  const list = await api.get('/contexts?limit=1000');
  const contexts = list.json() as readonly Context[];
  assert.equal(list.headers.get('x-total-count'), String(contexts.length));
  const core = contexts.filter(({ kind }) => kind === 'core');
  for (const version of ['1.3', '1.4', '1.5', '1.6', '1.7', '1.8', '1.9'])
    assert.ok(
      core.some(({ name }) => name.endsWith(`-v${version}`)),
      version,
    );
  assert.deepEqual(columns(contexts.slice(core.length), 'name', 'kind'), [
    ['A', 'custom'],
    ['Mobility', 'generated'],
    ['Mobility~Car', 'generated'],
  ]);
  for (const { url, name } of contexts) {
    assert.equal(url, `${api.url}/contexts/${name}`);
    const served = await api.get(`/contexts/${name}`);
    assert.equal(served.status, 200);
    assert.ok('@context' in (served.json() as object));
  }
  for (const { name } of core) {
    const statuses = [];
    for (const version of [1, 2])
      statuses.push((await api.get(`/contexts/${name}?version=${version}`)).status);
    assert.deepEqual(statuses, [200, 404], name);
  }
  for (const limit of [3, core.length, contexts.length]) {
    const names: string[] = [];
    for (let offset = 0; offset < contexts.length; offset += limit) {
      const page = (await api.get(`/contexts?limit=${limit}&offset=${offset}`)).json() as readonly Context[];
      names.push(...page.map(({ name }) => name));
    }
    assert.deepEqual(
      names,
      contexts.map(({ name }) => name),
    );
  }
  const taken = await api.post('/contexts', { name: core[0]?.name, '@context': TERMS });
  assert.equal(taken.status, 409);
});
