import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { EmbeddedBroker } from '../../sidecar/embedded-broker/index.js';
import { startTestBroker, startTestGateway, stopAll, type TestGateway } from '../support/gateway-harness.js';
import { startRecordingBroker } from '../support/recording-broker.js';
import { closeAll, exchange, request, statusOf } from './pass-through-wire.js';
import { column } from '../support/columns.js';

describe('tenants', () => {
  let broker: EmbeddedBroker;
  let gateway: TestGateway;

  before(async () => {
    broker = await startTestBroker();
    gateway = await startTestGateway({ BROKER_URL: broker.url });
    for (const tenant of [undefined, 'north', 'south']) {
      broker.entities.seed(4, (index) => ({ id: `urn:ngsi-ld:Car:${index}`, type: 'Car' }), tenant);
    }
  });
  after(stopAll);

  it('a purge in one tenant leaves the same entities in all other tenants', async () => {
    const purged = await gateway.purge('type=Car', { 'NGSILD-Tenant': 'north' });
    assert.equal(purged.status, 204);
    assert.equal(purged.headers.get('purge-deleted'), '4');
    assert.equal(broker.entities.count('north'), 0);
    assert.equal(broker.entities.count('south'), 4);
    assert.equal(broker.entities.count(), 4);
  });

  it('Fiware-Service can name the tenant of a purge', async () => {
    broker.entities.seed(2, (index) => ({ id: `urn:ngsi-ld:Bus:${index}`, type: 'Bus' }), 'west');
    const elsewhere = await gateway.purge('type=Bus', { 'Fiware-Service': 'south' });
    assert.equal(elsewhere.headers.get('purge-deleted'), '0');
    const purged = await gateway.purge('type=Bus', { 'Fiware-Service': 'west' });
    assert.equal(purged.headers.get('purge-deleted'), '2');
    assert.equal((await gateway.purge('type=Bus', { 'Fiware-Service': 'nowhere' })).status, 404);
  });

  it('every answer repeats the tenant, also for errors', async () => {
    const headers = { 'NGSILD-Tenant': 'south' };
    const answers = [
      await gateway.purge('type=Nothing', headers),
      await gateway.purge('type=Car&dryRun=true', headers),
      await gateway.purge('type=Car&limit=1', headers),
      await gateway.purge('type=Car&maxAffected=1', headers),
      await gateway.send('DELETE', '/ngsi-ld/v1/temporal/entities?type=Car', { headers }),
      await gateway.send('DELETE', '/ngsi-ld/v1//entities?type=Car', { headers }),
      await gateway.send('GET', '/ngsi-ld/v1/entities?type=Car', { headers }),
    ];
    assert.deepEqual(column(answers, 'status'), [204, 200, 400, 409, 204, 400, 200]);
    for (const answer of answers) assert.equal(answer.headers.get('ngsild-tenant'), 'south');
    assert.equal((await gateway.purge('type=Nothing')).headers.get('ngsild-tenant'), null);
  });

  it("an unknown tenant is answered with 404 and the broker's own problem inside", async () => {
    const refused = await gateway.purge('type=Car', { 'NGSILD-Tenant': 'nowhere' });
    assert.equal(refused.status, 404);
    assert.equal(refused.headers.get('ngsild-tenant'), 'nowhere');
    const problem = refused.problem();
    assert.equal(problem.type, 'https://uri.etsi.org/ngsi-ld/errors/NonexistentTenant');
    const inside = problem['broker'] as { status: number; type: string; detail: string };
    assert.equal(inside.status, 404);
    assert.equal(inside.type, 'https://uri.etsi.org/ngsi-ld/errors/NonexistentTenant');
    assert.match(inside.detail, /nowhere/);
  });

  it("every request of a purge has the caller's tenant, @context, credentials and trace, and no other header of the caller", async () => {
    broker.requests.clear();
    const forwarded = {
      'ngsild-tenant': 'south',
      'fiware-service': 'south',
      'fiware-servicepath': '/a/b',
      link: '<https://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context-v1.8.jsonld>; rel="http://www.w3.org/ns/json-ld#context"',
      authorization: 'Bearer secret-of-the-caller',
      'x-auth-token': 'secret-of-the-caller-too',
      via: '1.1 edge',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      tracestate: 'a=b',
      'x-request-id': 'r-1',
    };
    const purged = await gateway.purge('type=Car', { ...forwarded, cookie: 'session=1', 'x-other': '1' });
    assert.equal(purged.status, 204);
    const { entries } = broker.requests;
    assert.ok(entries.length >= 4, 'a page, a probe of the filter, one of the tenant, a delete');
    const probes = entries.filter(({ headers }) => headers['ngsild-tenant'] !== 'south');
    assert.deepEqual(
      probes.map(({ method, status, headers }) => [
        method,
        status,
        headers['ngsild-tenant'] === headers['fiware-service'],
      ]),
      [['GET', 404, true]],
    );
    for (const entry of entries) {
      const { method, path, headers } = entry;
      for (const [name, value] of Object.entries(forwarded)) {
        const isReplaced = probes.includes(entry) && (name === 'ngsild-tenant' || name === 'fiware-service');
        // The gateway adds itself to the end of Via.
        const received =
          name === 'via' ? headers.via?.replace(/, 1\.1 ngsi-ld-gateway-\w+$/, '') : headers[name];
        if (!isReplaced) assert.equal(received, value, `${name} of ${method} ${path}`);
      }
      for (const name of ['cookie', 'x-other', 'user-agent', 'prefer'])
        assert.equal(headers[name], undefined);
    }
  });
});

describe('a tenant whose name is not ASCII', () => {
  after(async () => {
    await closeAll();
    await stopAll();
  });

  it('a tenant whose name is not ASCII reaches the broker and the answer byte for byte', async () => {
    const name = Buffer.from('münchen-東京').toString('latin1');
    const broker = await startRecordingBroker();
    const gateway = await startTestGateway({ BROKER_URL: broker.url });
    for (const [query, status] of [
      ['type=Car', 204],
      ['type=Car&dryRun=true', 200],
      ['limit=1', 400],
    ] as const) {
      const head = `DELETE /ngsi-ld/v1/entities?${query}`;
      const answer = await exchange(gateway.port, request(head, [`NGSILD-Tenant: ${name}`]));
      assert.equal(statusOf(answer), status);
      assert.equal(/^ngsild-tenant: (.*)\r$/im.exec(answer)?.[1], name);
    }
    assert.ok(broker.requests.length > 0);
    const tenants = new Set(broker.requests.map(({ headers }) => headers['ngsild-tenant']));
    for (const tenant of tenants)
      assert.ok(tenant === name || String(tenant).includes('purgeprobe'), String(tenant));
    assert.ok(tenants.has(name));
  });
});

describe("the broker's own refusals", () => {
  after(stopAll);

  it('refusals by the broker reach the caller with status, type and WWW-Authenticate', async () => {
    const broker = await startRecordingBroker(() => ({
      status: 401,
      headers: { 'content-type': 'application/json', 'www-authenticate': 'Bearer realm="broker"' },
      body: JSON.stringify({ title: 'No token', detail: 'Send one' }),
    }));
    const gateway = await startTestGateway({ BROKER_URL: broker.url });
    const refused = await gateway.purge('type=Car');
    assert.equal(refused.status, 401);
    assert.equal(refused.headers.get('www-authenticate'), 'Bearer realm="broker"');
    const problem = refused.problem();
    assert.equal(problem.type, 'urn:ngsi-ld-gateway:problem:broker-refused');
    assert.deepEqual(problem['broker'], { status: 401, title: 'No token', detail: 'Send one' });
    assert.equal(problem['deleted'], undefined, 'no delete had begun');
  });
});
