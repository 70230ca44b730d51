import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { assertProblem, startBroker, type BrokerUnderTest } from './embedded-broker-client.js';
import { stopAll } from '../support/gateway-harness.js';
import { words } from '../support/words.js';

let sample: BrokerUnderTest;
let many: BrokerUnderTest;
before(async () => {
  sample = await startBroker({ sampleData: true });
  many = await startBroker();
  many.entities.seed(45, (index) => ({ id: `urn:ngsi-ld:N:${index}`, type: 'N', n: index }));
});
after(stopAll);
const encode = encodeURIComponent;

/** Returns the target of the link with the given relation. */
function linkOf(headers: Headers, relation: string): string | undefined {
  return new RegExp(`<([^>]*)>; rel="${relation}"`).exec(headers.get('link') ?? '')?.[1];
}

it('the sample data has fast and slow vehicles, and buildings', async () => {
  const fast = await sample.idsOf(`type=Vehicle&q=${encode('speed>100')}`);
  const all = await sample.idsOf('type=Vehicle');
  assert.ok(fast.length > 0 && fast.length < all.length);
  assert.ok((await sample.idsOf('type=Building')).length > 0);
});

it('each filter narrows a query, and several filters narrow it together', async () => {
  const select = (query: string) => many.idsOf(query);
  assert.deepEqual(
    await select('type=N&idPattern=:4[0-9]$&limit=3'),
    ['40', '41', '42'].map((n) => `urn:ngsi-ld:N:${n}`),
  );
  assert.deepEqual(await select('type=N&id=urn:ngsi-ld:N:9,urn:ngsi-ld:N:3,urn:x:1'), [
    'urn:ngsi-ld:N:3',
    'urn:ngsi-ld:N:9',
  ]);
  assert.deepEqual(await select('type=M&id=urn:ngsi-ld:N:9'), []);
  assert.deepEqual(await select(`type=M,N&attrs=n,x&q=${encode('n>=43')}`), [
    'urn:ngsi-ld:N:43',
    'urn:ngsi-ld:N:44',
  ]);
  assert.deepEqual(await select('attrs=x'), []);
  assert.equal((await select('local=true&limit=100')).length, 45);
  assert.equal((await select('type=*&limit=100')).length, 45);
  assert.deepEqual(await select('scopeQ=/A&type=N'), []);
  const near = 'type=Vehicle&georel=near;maxDistance==5000&geometry=Point&coordinates=[-3.7038,40.4168]';
  const nearby = await sample.idsOf(near);
  assert.ok(
    nearby.includes('urn:ngsi-ld:Vehicle:Car:A1') && !nearby.includes('urn:ngsi-ld:Vehicle:Truck:B2'),
  );
});

it('a query without a narrowing filter is 400 BadRequestData', async () => {
  const wide = ['', 'id=urn:x:1', 'idPattern=.*', 'scopeQ=/A', 'attrs=createdAt', 'local=false',
    `q=${encode('modifiedAt>2020-01-01T00:00:00Z')}`, 'limit=5&pick=id']; // oxfmt-ignore
  for (const query of wide)
    assertProblem(await many.send('GET', `/entities?${query}`), 400, 'BadRequestData');
});

it('a query parameter that is unknown, repeated, empty or malformed is refused, and named', async () => {
  const refused: readonly [string, number, string][] = [
    ['type=N&idpattern=x', 400, 'InvalidRequest'],
    ['type=N&type=M', 400, 'InvalidRequest'],
    ['type=', 400, 'InvalidRequest'],
    ['type=N&orderBy=n', 501, 'OperationNotSupported'],
    ['type=N&options=concise', 501, 'OperationNotSupported'],
    ['type=N&options=nonsense', 400, 'InvalidRequest'],
    ['type=N&q=n=5', 400, 'BadRequestData'],
    ['type=N&q=a{b}', 501, 'OperationNotSupported'],
    ['type=N&idPattern=(', 400, 'BadRequestData'],
    ['type=N&georel=within', 400, 'BadRequestData'],
    ['type=N&limit=-1', 400, 'BadRequestData'],
    ['type=N&limit=0', 400, 'BadRequestData'],
    ['type=N&limit=1e3', 400, 'BadRequestData'],
    ['type=N&count=yes', 400, 'BadRequestData'],
    ['type=N&attrs=n&pick=id', 400, 'BadRequestData'],
    ['type=N&id=nonsense', 400, 'BadRequestData'],
    ['type=*&local=false', 400, 'BadRequestData'],
    ['type=A;;B', 400, 'BadRequestData'],
  ];
  for (const [query, status, type] of refused) {
    const answer = await many.send('GET', `/entities?${query}`);
    assertProblem(answer, status, type);
  }
  const named = await many.send('GET', '/entities?type=N&idpattern=x');
  assert.match((named.body as { detail: string }).detail, /"idpattern"/);
});

it('a pattern that takes long to compile is refused, in q and in idPattern', async () => {
  const pattern = encode('"a{0,1000}a{0,1000}"');
  for (const filter of [`q=name~=${pattern}`, `idPattern=${pattern}`]) {
    const answer = await many.send('GET', `/entities?type=N&${filter}`);
    assertProblem(answer, 400);
    assert.match((answer.body as { detail: string }).detail, /pattern that is too large/);
  }
});

it('a query of the maximum length is answered', async () => {
  const ids = Array.from({ length: 8000 }, (_, index) => `urn:ngsi-ld:N:${index}`);
  assert.equal((await many.idsOf(`type=N&limit=1000&id=${ids.join(',')}`)).length, 45);
});

it('following the next links shows every entity once, oldest first, and ends', async () => {
  const seen: string[] = [];
  let target: string | undefined = '/ngsi-ld/v1/entities?type=N&pick=id&limit=10';
  while (target !== undefined) {
    assert.ok(seen.length < 1000, 'the links lead in a circle');
    const response = await fetch(many.url + target);
    seen.push(...((await response.json()) as { id: string }[]).map(({ id }) => id));
    target = linkOf(response.headers, 'next');
  }
  assert.deepEqual(seen, many.entities.ids());
});

it('the prev link leads to the previous page, and the context link is sent with the others', async () => {
  const { headers } = await many.send('GET', '/entities?type=N&limit=10&offset=15');
  assert.match(linkOf(headers, 'next') ?? '', /limit=10&offset=25$/);
  assert.match(linkOf(headers, 'prev') ?? '', /limit=10&offset=5$/);
  assert.match(linkOf(headers, 'http://www.w3.org/ns/json-ld#context') ?? '', /^https:/);
  const early = await many.send('GET', '/entities?type=N&limit=10&offset=4');
  assert.match(linkOf(early.headers, 'prev') ?? '', /limit=10&offset=0$/);
  const first = await many.send('GET', '/entities?type=N&limit=10&offset=0');
  assert.equal(linkOf(first.headers, 'prev'), undefined);
  const past = await many.send('GET', '/entities?type=N&offset=45');
  assert.deepEqual([past.body, linkOf(past.headers, 'next')], [[], undefined]);
});

it('count=true returns the count, with filters and with limit=0 too', async () => {
  const count = async (query: string) => {
    const answer = await many.send('GET', `/entities?${query}`);
    return [answer.headers.get('ngsild-results-count'), (answer.body as unknown[]).length];
  };
  assert.deepEqual(await count('type=N'), [null, 20]);
  assert.deepEqual(await count('type=N&count=true&limit=0'), ['45', 0]);
  assert.deepEqual(await count(`type=N&count=true&limit=2&q=${encode('n<5')}`), ['5', 2]);
  assert.deepEqual(await count('type=M&count=true'), ['0', 0]);
});

it('a limit over the maximum is refused, not reduced', async () => {
  assertProblem(await many.send('GET', '/entities?type=N&limit=1001'), 403, 'TooManyResults');
});

it('tenants are created by the first write, kept apart, and echoed', async () => {
  const tenant = { 'NGSILD-Tenant': 'city' };
  assertProblem(await many.send('GET', '/entities?type=N', undefined, tenant), 404, 'NonexistentTenant');
  assertProblem(
    await many.send('DELETE', '/entities/urn:ngsi-ld:N:1', undefined, tenant),
    404,
    'NonexistentTenant',
  );
  assertProblem(
    await many.send('POST', '/entityOperations/delete', ['urn:x:1'], tenant),
    404,
    'NonexistentTenant',
  );
  assertProblem(await many.send('POST', '/entities', { id: 'bad' }, tenant), 400);
  assertProblem(await many.send('GET', '/entities?type=N', undefined, tenant), 404, 'NonexistentTenant');

  const created = await many.send('POST', '/entities', { id: 'urn:ngsi-ld:N:1', type: 'N' }, tenant);
  assert.deepEqual([created.status, created.headers.get('ngsild-tenant')], [201, 'city']);
  const deleted = await many.send('DELETE', '/entities/urn:ngsi-ld:N:1', undefined, tenant);
  assert.deepEqual([deleted.status, deleted.headers.get('ngsild-tenant')], [204, 'city']);
  assert.equal(many.entities.has('urn:ngsi-ld:N:1'), true);
  assert.equal(many.entities.count('city'), 0);
});

it('a tenant may be given as Fiware-Service; NGSILD-Tenant takes precedence', async () => {
  const [own, older] = [{ 'NGSILD-Tenant': 'own' }, { 'Fiware-Service': 'older' }];
  for (const [headers, tenant] of [
    [older, 'older'],
    [{ ...older, ...own }, 'own'],
  ] as const) {
    const { status, headers: answered } = await many.send(
      'POST',
      '/entities',
      { id: 'urn:x:1', type: 'N' },
      headers,
    );
    assert.deepEqual([status, answered.get('ngsild-tenant')], [201, tenant]);
  }
  assert.deepEqual([many.entities.count('older'), many.entities.count('own')], [1, 1]);
});

it('the embedded broker lists the types and attributes in use', async () => {
  const types = await sample.send('GET', '/types');
  assert.deepEqual((types.body as { typeList: unknown }).typeList, ['Vehicle', 'Building']);
  const attributes = await many.send('GET', '/attributes');
  assert.deepEqual((attributes.body as { attributeList: unknown }).attributeList, ['n']);
});

it('resources of the standard that the embedded broker does not implement are 501, and unknown paths 404', async () => {
  for (const path of words(`
    /temporal/entityMaps/x /subscriptions /csourceRegistrations /jsonldContexts /types/N
  `)) {
    assertProblem(await many.send('GET', path), 501, 'OperationNotSupported');
  }
  assertProblem(await many.send('POST', '/entityOperations/query', {}), 501);
  assertProblem(await many.send('GET', '/nonsense'), 404);
  assertProblem(await many.send('GET', '/../../etc'), 404);
});
