import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { ROUTE_RULES } from '../../sidecar/auth/route-rules.js';
import type { EmbeddedBroker } from '../../sidecar/embedded-broker/index.js';
import { startTestBroker, startTestGateway, stopAll, type TestGateway } from '../support/gateway-harness.js';

const TOKEN = 'correct-horse-battery-staple';

after(stopAll);

const car = (index: number) => ({ id: `urn:ngsi-ld:Car:${index}`, type: 'Car' });

describe('with GATEWAY_TOKEN set', () => {
  let broker: EmbeddedBroker;
  let gateway: TestGateway;

  before(async () => {
    broker = await startTestBroker();
    gateway = await startTestGateway({ BROKER_URL: broker.url, GATEWAY_TOKEN: TOKEN });
  });
  beforeEach(() => {
    broker.entities.seed(3, car);
    broker.requests.clear();
  });

  const WRONG: readonly (readonly [what: string, headers: Readonly<Record<string, string>>])[] = [
    ['no token', {}],
    ['another token', { 'x-gateway-token': 'x'.repeat(TOKEN.length) }],
    ['the beginning of the token', { 'x-gateway-token': TOKEN.slice(0, -1) }],
    ['more than the token', { 'x-gateway-token': `${TOKEN}x` }],
    ['the token in another case', { 'x-gateway-token': TOKEN.toUpperCase() }],
    ['the token elsewhere', { authorization: `Bearer ${TOKEN}` }],
  ];
  for (const [what, headers] of WRONG) {
    it(`a purge with ${what} is 401 and sends the broker nothing`, async () => {
      for (const path of ['/ngsi-ld/v1/entities', '/ngsi-ld/v1/entities/', '/ngsi-ld/v1/temporal/entities']) {
        const refused = await gateway.send('DELETE', `${path}?type=Car`, { headers });
        assert.equal(refused.status, 401);
        assert.equal(refused.problem().type, 'urn:ngsi-ld-gateway:problem:unauthorized');
        assert.equal(refused.headers.get('www-authenticate'), 'GatewayToken');
        assert.ok(!refused.text.includes(TOKEN));
      }
      assert.equal(broker.requests.total, 0);
      assert.equal(broker.entities.count(), 3);
    });
  }

  it('a caller without the token does not learn why a query would be refused', async () => {
    assert.equal((await gateway.purge('limit=1')).status, 401);
    assert.equal((await gateway.purge('limit=1', { 'x-gateway-token': TOKEN })).status, 400);
  });

  it('a purge with the token is executed', async () => {
    const purged = await gateway.purge('type=Car', { 'x-gateway-token': TOKEN });
    assert.equal(purged.status, 204);
    assert.equal(broker.entities.count(), 0);
  });

  it('while the token is being replaced, purges with the old or the new token are executed', async () => {
    const NEW = 'another-secret-of-both';
    const replacing = await startTestGateway({ BROKER_URL: broker.url, GATEWAY_TOKEN: `${NEW},${TOKEN}` });
    for (const token of [TOKEN, NEW]) {
      broker.entities.seed(3, car);
      assert.equal((await replacing.purge('type=Car', { 'x-gateway-token': token })).status, 204, token);
      assert.equal(broker.entities.count(), 0);
    }
    const both = await replacing.purge('type=Car', { 'x-gateway-token': `${NEW},${TOKEN}` });
    assert.equal(both.status, 401);
  });

  it('forwarded requests need no token', async () => {
    assert.equal((await gateway.send('GET', '/ngsi-ld/v1/entities?type=Car')).status, 200);
    assert.equal((await gateway.send('DELETE', '/ngsi-ld/v1/entities/urn:ngsi-ld:Car:1')).status, 204);
    assert.equal((await gateway.send('GET', '/health/ready')).status, 200);
  });

  it('neither the token nor the policy ever reaches the broker', async () => {
    const headers = { 'X-Gateway-Token': TOKEN, 'X-Purge-Policy': 'concurrency=1' };
    await gateway.purge('type=Car', headers);
    await gateway.send('GET', '/ngsi-ld/v1/entities?type=Car', { headers });
    await gateway.send('DELETE', '/ngsi-ld/v1/entities/urn:ngsi-ld:Car:1', { headers });
    await gateway.send('GET', '/health/ready', { headers });
    assert.ok(broker.requests.total >= 5);
    const seen = JSON.stringify(broker.requests.entries);
    assert.ok(!seen.includes(TOKEN));
    assert.doesNotMatch(seen, /x-gateway-token|x-purge-policy/i);
  });
});

describe('X-Purge-Policy', () => {
  const MANY = 60;
  let broker: EmbeddedBroker;
  let gateway: TestGateway;

  before(async () => {
    broker = await startTestBroker();
    gateway = await startTestGateway({
      BROKER_URL: broker.url,
      PURGE_PAGE_SIZE: '40',
      PURGE_BATCH_SIZE: '20',
      PURGE_MAX_AFFECTED: '100',
    });
  });
  beforeEach(() => {
    broker.entities.seed(MANY, car);
    broker.requests.clear();
  });

  const purge = async (policy: string, query = 'type=Car') =>
    gateway.purge(query, { 'x-purge-policy': policy });
  const limits = () =>
    broker.requests.entries
      .filter(({ method }) => method === 'GET')
      .map(({ search }) => Number(new URLSearchParams(search).get('limit')));
  const batches = () => broker.requests.entries.flatMap(({ items }) => (items === undefined ? [] : [items]));

  it('X-Purge-Policy reduces the sizes of pages and batches', async () => {
    assert.equal((await purge('page-size=7, batch-size=3')).status, 204);
    assert.equal(Math.max(...limits()), 7);
    assert.equal(Math.max(...batches()), 3);
    assert.equal(
      batches().reduce((sum, size) => sum + size, 0),
      MANY,
    );
  });

  it('X-Purge-Policy never raises a limit', async () => {
    const purged = await purge('page-size=1000, batch-size=1000, max-affected=1000, concurrency=1000');
    assert.equal(purged.status, 204);
    assert.equal(Math.max(...limits()), 40);
    assert.equal(Math.max(...batches()), 20);
    broker.entities.seed(101, car, 'full');
    const refused = await gateway.purge('type=Car', {
      'x-purge-policy': 'max-affected=1000',
      'ngsild-tenant': 'full',
    });
    assert.equal(refused.status, 409);
    assert.equal(refused.problem()['maxAffected'], 100);
  });

  it('X-Purge-Policy reduces the deletes in flight', async () => {
    let inFlight = 0;
    let most = 0;
    // The latency makes every request of the broker wait on this clock once, so that concurrent
    // requests overlap.
    const counting = await startTestBroker({
      behaviour: { latencyMs: 1 },
      clock: {
        now: () => Date.now(),
        monotonicMs: () => Date.now(),
        sleep: async () => {
          inFlight += 1;
          most = Math.max(most, inFlight);
          await new Promise((resolve) => setImmediate(resolve));
          inFlight -= 1;
        },
      },
    });
    const measured = await startTestGateway({
      BROKER_URL: counting.url,
      PURGE_BATCH_SIZE: '2',
      PURGE_CONCURRENCY: '8',
    });
    for (const [policy, bound] of [
      ['concurrency=1', 1],
      ['concurrency=3', 3],
      ['concurrency=99', 8],
    ] as const) {
      counting.entities.seed(MANY, car);
      most = 0;
      assert.equal((await measured.purge('type=Car', { 'x-purge-policy': policy })).status, 204);
      // A request for a page may run at the same time as the deletes.
      assert.ok(most <= bound + 1, `${policy}: ${most} in flight`);
    }
  });

  it('X-Purge-Policy lowers maxAffected, and the caller may lower it further', async () => {
    const refused = await purge('max-affected=10');
    assert.equal(refused.status, 409);
    assert.equal(refused.problem()['maxAffected'], 10);
    assert.equal((await purge('max-affected=10', 'type=Car&maxAffected=5')).problem()['maxAffected'], 5);
    assert.equal((await purge('max-affected=10', 'type=Car&maxAffected=50')).problem()['maxAffected'], 10);
    assert.equal(broker.entities.count(), MANY);
  });

  it('the policy dry-run-only refuses a purge with 403, and allows a dry run', async () => {
    for (const policy of ['dry-run-only=?1', 'dry-run-only']) {
      const refused = await purge(policy);
      assert.equal(refused.status, 403);
      assert.equal(refused.problem().type, 'urn:ngsi-ld-gateway:problem:forbidden-by-policy');
    }
    assert.equal((await purge('dry-run-only=?1', 'type=Car&dryRun=true')).status, 200);
    assert.equal(broker.entities.count(), MANY);
    assert.equal((await purge('dry-run-only=?0')).status, 204);
  });

  it('a caller limited to dry runs can write nothing under /api/v2 but dry runs, scans and computations', async () => {
    const headers = { 'x-purge-policy': 'dry-run-only', 'content-type': 'application/json' };
    const open: string[] = [];
    for (const route of Object.keys(ROUTE_RULES)) {
      const [method = '', url = ''] = route.split(' ');
      if (!url.startsWith('/api/v2') || ['GET', 'OPTIONS'].includes(method)) continue;
      const path = url.replace(/:\w+/g, 'x');
      const body = method === 'DELETE' ? null : '{}';
      const { status, text } = await gateway.send(method, path, { headers, body });
      if (status !== 403) open.push(route);
      else assert.match(text, /forbidden-by-policy/);
      const dryRun = await gateway.send(method, `${path}?dryRun=true`, { headers, body });
      assert.ok(dryRun.status >= 400 && dryRun.status < 500, `${route}: ${dryRun.text}`);
    }
    assert.deepEqual(open, [
      'POST /api/v2/purges',
      'POST /api/v2/purges/:purge/cancel',
      'POST /api/v2/purges/:purge/restore',
      'POST /api/v2/scans',
      'PATCH /api/v2/scans/:scan',
      'POST /api/v2/scans/:scan/cancel',
      'POST /api/v2/retention-policies/preview',
      'POST /api/v2/retention-policies/:retentionPolicy/run',
      'POST /api/v2/workbench/schema/infer',
      'POST /api/v2/workbench/jsonld/expand',
      'POST /api/v2/workbench/jsonld/compact',
      'POST /api/v2/validate',
      'POST /api/v2/validate/:domain/:model',
    ]);
  });

  for (const garbage of ['max-affected=0', 'max-affected=10,,page-size=1', '__proto__=1'])
    it(`X-Purge-Policy: ${garbage} is 400, since ignoring it could lose a bound`, async () => {
      const refused = await purge(garbage);
      assert.equal(refused.status, 400);
      assert.match(refused.problem().detail ?? '', /X-Purge-Policy/);
      assert.equal(broker.requests.total, 0);
    });
});
