import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { startTestBroker, startTestGateway, stopAll } from '../support/gateway-harness.js';
import { exchange, request } from './pass-through-wire.js';
import { words } from '../support/words.js';

const TOKEN = 'a-token-of-tests';

after(stopAll);

/** A purge with many header fields before the important ones, as appending proxies leave them. */
function crowded(fields: number, last: readonly string[]): string {
  const filler = Array.from({ length: fields }, () => 'a: b');
  return request('DELETE /ngsi-ld/v1/entities?type=Car', [...filler, ...last]);
}

async function start() {
  const broker = await startTestBroker();
  const seed = (tenant?: string) =>
    broker.entities.seed(3, (n) => ({ id: `urn:ngsi-ld:Car:${n}`, type: 'Car' }), tenant);
  seed();
  seed('t1');
  const gateway = await startTestGateway({ BROKER_URL: broker.url, GATEWAY_TOKEN: TOKEN });
  return { broker, gateway };
}

it('a policy after many other header fields applies, or the request is refused', async () => {
  const { broker, gateway } = await start();
  for (const fields of [10, 400, 490, 900, 990, 995, 1000, 1500, 3000, 9000]) {
    const last = [`X-Gateway-Token: ${TOKEN}`, 'X-Purge-Policy: dry-run-only, max-affected=1'];
    const answer = await exchange(gateway.port, crowded(fields, last));
    assert.match(answer, /^HTTP\/1\.1 (?:403|431) /, `${fields} fields: ${answer.slice(0, 40)}`);
    assert.equal(broker.entities.count(), 3);
  }
});

it('a purge whose tenant comes after many other header fields uses that tenant or is refused', async () => {
  const { broker, gateway } = await start();
  for (const fields of [10, 990, 995, 998, 1000, 2000]) {
    const answer = await exchange(
      gateway.port,
      crowded(fields, [`X-Gateway-Token: ${TOKEN}`, 'NGSILD-Tenant: t1']),
    );
    assert.match(answer, fields === 10 ? /^HTTP\/1\.1 204 / : /^HTTP\/1\.1 431 /);
    assert.equal(broker.entities.count(), 3);
  }
  assert.equal(broker.entities.count('t1'), 0);
});

it('header fields that select or authorise a purge are refused when they are empty or repeated', async () => {
  const { broker, gateway } = await start();
  for (const name of words(`
    NGSILD-Tenant Fiware-Service Fiware-ServicePath NGSILD-Snapshot NGSILD-EntityMap Authorization
    X-Auth-Token X-Gateway-Token X-Purge-Policy
  `)) {
    for (const fields of [
      [`${name}:`],
      [`${name}: \t`],
      [`${name}: a`, `${name}: b`],
      [`${name}: a`, 'Link: <a>', `${name.toUpperCase()}: a`],
    ]) {
      const token = name === 'X-Gateway-Token' ? [] : [`X-Gateway-Token: ${TOKEN}`];
      const answer = await exchange(gateway.port, crowded(1, [...token, ...fields]));
      assert.match(answer, /^HTTP\/1\.1 400 /, fields.join(' | '));
      assert.match(answer, new RegExp(`The header field ${name} is`, 'i'));
    }
  }
  assert.deepEqual([broker.entities.count(), broker.entities.count('t1')], [3, 3]);
});

it('header fields that select or authorise a purge are refused with underscores instead of dashes, and nothing is deleted', async () => {
  const { broker, gateway } = await start();
  broker.requests.clear();
  for (const field of [
    'NGSILD_Tenant',
    'ngsild_tenant',
    'Fiware_Service',
    'FIWARE_SERVICEPATH',
    'X_Purge-Policy',
  ])
    for (const last of [[`${field}: t1`], [`${field}: t1`, 'NGSILD-Tenant: t2']]) {
      for (const line of ['DELETE /ngsi-ld/v1/entities?type=Car', 'POST /ngsi-ld/v1/entities']) {
        const answer = await exchange(gateway.port, request(line, [`X-Gateway-Token: ${TOKEN}`, ...last]));
        assert.match(answer, new RegExp(`^HTTP/1.1 400 .*Write the header field ${field} with dashes`, 's'));
      }
    }
  assert.equal(broker.requests.total, 0);
  assert.deepEqual([broker.entities.count(), broker.entities.count('t1')], [3, 3]);
});

it('header fields of forwarded requests follow the same rules as those of purges', async () => {
  const { broker, gateway } = await start();
  const lines = (last: readonly string[]) => request('GET /ngsi-ld/v1/entities?type=Car', last);
  broker.requests.clear();
  for (const last of [
    ['NGSILD-Tenant:'],
    ['NGSILD-Tenant: t1', 'NGSILD-Tenant: t1'],
    Array.from({ length: 1001 }, () => 'a: b'),
  ])
    assert.match(await exchange(gateway.port, lines(last)), /^HTTP\/1\.1 4(?:00|31) /);
  assert.equal(broker.requests.total, 0);
});
