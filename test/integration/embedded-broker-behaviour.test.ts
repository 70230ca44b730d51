import assert from 'node:assert/strict';
import { after, before, beforeEach, it } from 'node:test';
import { goodBehaviour } from '../../sidecar/embedded-broker/behaviour.js';
import { assertProblem, startBroker, type BrokerUnderTest } from './embedded-broker-client.js';
import { stopAll } from '../support/gateway-harness.js';
import { column, columns } from '../support/columns.js';

const slept: number[] = [];
const clock = {
  now: () => 0,
  monotonicMs: () => 0,
  sleep: async (ms: number) => {
    slept.push(ms);
  },
};
let behaviour: BrokerUnderTest['behaviour'];
let entities: BrokerUnderTest['entities'];
let requests: BrokerUnderTest['requests'];
let send: BrokerUnderTest['send'];
before(async () => {
  ({ behaviour, entities, requests, send } = await startBroker({ clock }));
});
after(stopAll);
const idAt = (index: number) => `urn:ngsi-ld:X:${index}`;

beforeEach(async () => {
  Object.assign(behaviour, goodBehaviour());
  if (entities.count() > 0) await send('POST', '/entityOperations/delete', entities.ids());
  entities.seed(30, (index) => ({ id: idAt(index), type: 'X' }));
  requests.clear();
});

it('failFirst of the embedded broker makes the first requests fail without effect, and later ones succeed', async () => {
  Object.assign(behaviour, { failFirst: 2, faultKinds: ['429-retry-after', '503'], retryAfter: '7' });
  const throttled = await send('DELETE', `/entities/${idAt(0)}`);
  assertProblem(throttled, 429);
  assert.equal(throttled.headers.get('retry-after'), '7');
  const failed = await send('DELETE', `/entities/${idAt(0)}`);
  assertProblem(failed, 503);
  assert.equal(failed.headers.get('retry-after'), null);
  assert.equal(entities.has(idAt(0)), true);
  assert.equal((await send('DELETE', `/entities/${idAt(0)}`)).status, 204);
});

it('the fault reset-before keeps the entity, reset-after deletes it, and both close the connection without an answer', async () => {
  for (const kind of ['reset-before', 'reset-after'] as const) {
    Object.assign(behaviour, { failFirst: 1, faultKinds: [kind] });
    await assert.rejects(send('DELETE', `/entities/${idAt(1)}`));
    assert.equal(entities.has(idAt(1)), kind === 'reset-before');
  }
  assert.deepEqual(column(requests.entries, 'status'), [0, 0]);
});

it('the configured latency delays every request, measured by the injected clock', async () => {
  slept.length = 0;
  behaviour.latencyMs = 250;
  await send('GET', '/entities?type=X');
  await send('GET', '/types');
  assert.deepEqual(slept, [250, 250]);
});

const page = async (query: string) => {
  const { body, headers, status } = await send('GET', `/entities?type=X&${query}`);
  assert.equal(status, 200);
  return {
    size: (body as unknown[]).length,
    next: /offset=(\d+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1],
    headers,
  };
};

it('short pages of the embedded broker have next links that reach every entity', async () => {
  behaviour.shortPages = true;
  const seen: string[] = [];
  for (let offset: string | undefined = '0'; offset !== undefined;) {
    const { body, headers } = await send('GET', `/entities?type=X&limit=10&offset=${offset}`);
    const items = body as { id: string }[];
    assert.ok(items.length >= 1 && items.length <= 10);
    assert.ok(seen.length < 1000, 'the links lead in a circle');
    seen.push(...items.map(({ id }) => id));
    offset = /offset=(\d+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
  }
  assert.deepEqual(seen, entities.ids());
});

it('an empty page of the embedded broker can have a next link to the same offset', async () => {
  behaviour.emptyPagesWithNext = 1;
  const first = await page('limit=10&offset=10');
  assert.deepEqual([first.size, first.next], [0, '10']);
  assert.equal((await page('limit=10&offset=10')).size, 10);
});

it('a page past the end of the embedded broker can repeat the last entity', async () => {
  behaviour.repeatLastPastEnd = true;
  const { body, headers } = await send('GET', '/entities?type=X&limit=10&offset=500&count=true');
  assert.deepEqual(column(body as { id: string }[], 'id'), [idAt(29)]);
  assert.equal(headers.get('ngsild-results-count'), '30');
  assert.equal((await page('limit=10&offset=20')).size, 10);
});

it('counts and links of the embedded broker can be missing', async () => {
  Object.assign(behaviour, { noCount: true, noPageLinks: true });
  const { headers, next } = await page('count=true');
  assert.deepEqual([headers.get('ngsild-results-count'), next], [null, undefined]);
});

it('the embedded broker limits pages and ignores parameters as configured', async () => {
  behaviour.maxPageSize = 5;
  assertProblem(await send('GET', '/entities?type=X&limit=6'), 403, 'TooManyResults');
  assert.equal((await page('')).size, 5);
  behaviour.ignoreParameters = ['q', 'nonsense'];
  assert.equal((await page('limit=5&q=missing&nonsense=1')).size, 5);
});

const batch = async (ids: readonly string[]) => {
  const { status, body } = await send('POST', '/entityOperations/delete', ids);
  return { status, success: (body as { success?: string[] } | undefined)?.success };
};

it('locked entities of the embedded broker are not deleted, and deleting them is an error', async () => {
  behaviour.isLocked = (id) => id === idAt(3);
  assertProblem(await send('DELETE', `/entities/${idAt(3)}`), 409, 'Conflict');
  assert.deepEqual(await batch([idAt(2), idAt(3)]), { status: 207, success: [idAt(2)] });
  assert.equal(entities.has(idAt(3)), true);
});

it('ghosts of the embedded broker are reported as deleted but remain', async () => {
  behaviour.isGhost = (id) => id === idAt(4);
  assert.equal((await send('DELETE', `/entities/${idAt(4)}`)).status, 204);
  assert.equal((await batch([idAt(4)])).status, 204);
  assert.equal(entities.has(idAt(4)), true);
});

it('the request log records method, route, query, headers, status and batch size of each request', async () => {
  await send('GET', '/entities?type=X&limit=1', undefined, { 'NGSILD-Tenant': 'nowhere' });
  await send('DELETE', `/entities/${idAt(0)}`);
  await send('POST', '/entityOperations/delete', [idAt(1), idAt(2)]);
  assert.deepEqual(columns(requests.entries, 'method', 'route', 'search', 'status', 'items'), [
    ['GET', '/ngsi-ld/v1/entities', 'type=X&limit=1', 404, undefined],
    ['DELETE', '/ngsi-ld/v1/entities/{id}', '', 204, undefined],
    ['POST', '/ngsi-ld/v1/entityOperations/delete', '', 204, 2],
  ]);
  assert.equal(requests.entries[0]?.headers['ngsild-tenant'], 'nowhere');
  assert.equal(requests.counts.get('DELETE /ngsi-ld/v1/entities/{id}'), 1);
  assert.equal(requests.total, 3);
});

it('closing the embedded broker frees its port and can be repeated; a port in use is an error', async () => {
  const first = await startBroker();
  await assert.rejects(startBroker({ port: first.port }), { code: 'EADDRINUSE' });
  await first.close();
  await first.close();
  const second = await startBroker({ port: first.port });
  assert.equal(second.url, first.url);
});
