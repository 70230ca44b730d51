import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { CuttingProxy } from '../support/cutting-proxy.js';
import {
  PATIENT,
  startTestGateway,
  stopAll,
  stopLater,
  type TestGateway,
} from '../support/gateway-harness.js';
import { createDatabase } from '../support/postgres.js';
import { startRecordingBroker } from '../support/recording-broker.js';
import { ApiClient, makeModel } from './api-client.js';

after(stopAll);

const SCHEMA = { type: 'object', properties: { type: { const: 'Car' }, speed: { type: 'number' } } };

const write = async (gateway: TestGateway, speed: unknown) => {
  const { status, headers } = await gateway.sendJson('POST', '/ngsi-ld/v1/entities', {
    id: 'urn:ngsi-ld:Car:1',
    type: 'Car',
    speed,
  });
  return `${status} ${headers.get('write-check') ?? ''}`;
};

/** Sends a request with a method override, which only gateways that enforce a policy refuse. */
async function overridden(gateway: TestGateway): Promise<number> {
  const headers = { 'x-http-method-override': 'PATCH' };
  return (await gateway.send('POST', '/ngsi-ld/v1/subscriptions', { headers })).status;
}

/**
 * Repeats a write until its answer is the expected one; changes by another gateway apply within two
 * seconds.
 */
async function until(gateway: TestGateway, speed: unknown, wanted: string): Promise<void> {
  for (let found = ''; found !== wanted; found = await write(gateway, speed)) await pause(20);
}

describe('write policies on PostgreSQL', { timeout: 300_000 }, () => {
  it('a policy applies in all gateways on the database, and after a restart without the database once it is back', async () => {
    const database = await createDatabase();
    const broker = await startRecordingBroker(() => ({ status: 204 }));
    const proxy = await CuttingProxy.start(Number(new URL(database.url).port));
    stopLater(() => proxy.close());
    const cuttable = new URL(database.url);
    cuttable.port = String(proxy.port);
    const start = (url: string, setting = 'off') =>
      startTestGateway({
        BROKER_URL: broker.url,
        DATABASE_URL: url,
        WRITE_CHECK: setting,
        LOG_LEVEL: 'warn',
        ...PATIENT,
      });
    const [one, two] = [await start(database.url), await start(cuttable.href)];
    const api = await ApiClient.of(one.url);
    await makeModel(api, 'D', 'Car', SCHEMA);
    assert.equal(await write(two, 'fast'), '204 ');
    const policy = { mode: 'enforce', onUnjudged: 'refuse' };
    assert.equal((await api.put('/write-policies/cars', policy)).status, 201);
    assert.equal(await write(one, 'fast'), '400 ');
    await until(two, 'fast', '400 ');
    assert.equal(await write(two, 1), '204 valid');

    const idle = await start(database.url);
    assert.equal((await api.put('/write-policies/cars', { mode: 'off' })).status, 200);
    for (let status = 400; status !== 204; status = await overridden(idle)) await pause(100);
    assert.equal((await api.put('/write-policies/cars', policy)).status, 200);
    // No write has passed through this gateway that would make it read the policies.
    for (let status = 204; status !== 400; status = await overridden(idle)) await pause(100);
    await until(two, 'fast', '400 ');

    proxy.refuse();
    assert.equal(await write(two, 'fast'), '400 ', 'the policies that were read last apply');
    const [lenient, strict] = [await start(cuttable.href), await start(cuttable.href, 'enforce')];
    assert.equal(await write(lenient, 'fast'), '204 not-judged');
    assert.equal(await write(strict, 1), '503 ');
    const sent = broker.requests.length;
    assert.equal(await write(strict, 'fast'), '503 ');
    assert.equal(broker.requests.length, sent);

    proxy.cutAll();
    for (const gateway of [two, lenient, strict]) {
      await until(gateway, 'fast', '400 ');
      assert.equal(await write(gateway, 1), '204 valid');
    }
    assert.equal((await api.delete('/write-policies/cars')).status, 204);
    await until(two, 'fast', '204 ');
    await until(strict, 'fast', '400 ');
  });
});
