import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import type { EmbeddedBroker } from '../../sidecar/embedded-broker/index.js';
import { startTestBroker, startTestGateway, stopAll, type TestGateway } from '../support/gateway-harness.js';
import { TEMPORAL } from '../support/temporal-harness.js';

after(stopAll);

async function start(
  env: Readonly<Record<string, string>>,
): Promise<{ readonly broker: EmbeddedBroker; readonly gateway: TestGateway }> {
  const broker = await startTestBroker();
  const entity = (type: string) => (index: number) => ({
    id: `urn:ngsi-ld:${type}:${index}`,
    type,
    speed: { type: 'Property', value: index, observedAt: '2025-01-01T00:00:00Z' },
  });
  broker.entities.seed(4, entity('Car'));
  broker.entities.seed(3, entity('Bus'));
  broker.temporal.seed(2, entity('Car'));
  return { broker, gateway: await startTestGateway({ BROKER_URL: broker.url, ...env }) };
}

const WHOLE = ['local=true', 'type=*', 'q=!typo', 'q=speed!=99', 'q=%28speed%3E=0%7C!speed%29'];

it('a purge that may empty a tenant needs maxAffected by default, and under PURGE_WHOLE_TENANT=bounded', async () => {
  for (const env of [{}, { PURGE_WHOLE_TENANT: 'bounded' }]) {
    const { broker, gateway } = await start(env);
    for (const query of WHOLE) {
      for (const path of ['/ngsi-ld/v1/entities', TEMPORAL]) {
        const refused = await gateway.send('DELETE', `${path}?${query}`);
        assert.equal(refused.status, 400, query);
        assert.equal(refused.problem()['parameter'], 'maxAffected');
      }
      const preview = await gateway.purge(`${query}&dryRun=true`);
      assert.deepEqual([preview.status, (preview.json() as { matched: number }).matched], [200, 7], query);
    }
    assert.equal((await gateway.purge('q=!typo&maxAffected=6')).status, 409);
    assert.equal(broker.entities.count(), 7);
    assert.equal((await gateway.purge('q=!typo&maxAffected=7')).status, 204);
    assert.equal(broker.entities.count(), 0);
  }
});

it('a purge that may empty a tenant needs no bound under PURGE_WHOLE_TENANT=allow, and respects other bounds', async () => {
  for (const query of WHOLE) {
    const { broker, gateway } = await start({ PURGE_WHOLE_TENANT: 'allow' });
    const answer = await gateway.purge(query);
    assert.equal(answer.status, 204, answer.text);
    assert.equal(broker.entities.count(), 0, query);
  }
  const { broker, gateway } = await start({ PURGE_WHOLE_TENANT: 'allow', PURGE_MAX_AFFECTED: '6' });
  assert.equal((await gateway.purge('local=true')).status, 409);
  assert.equal((await gateway.purge('local=true', { 'x-purge-policy': 'max-affected=5' })).status, 409);
  assert.equal((await gateway.purge('id=urn:ngsi-ld:Car:1')).status, 400, 'too wide for the standard');
  assert.equal((await gateway.purge('')).status, 400);
  assert.equal(broker.entities.count(), 7);
  assert.equal((await gateway.send('DELETE', `${TEMPORAL}?local=true`)).status, 204);
  assert.equal(broker.temporal.ids().length, 0);
});

it('PURGE_WHOLE_TENANT=refuse forbids purges that may empty a tenant, but not dry runs and other purges', async () => {
  const { broker, gateway } = await start({ PURGE_WHOLE_TENANT: 'refuse' });
  for (const query of WHOLE) {
    for (const path of ['/ngsi-ld/v1/entities', TEMPORAL]) {
      for (const more of ['', '&maxAffected=1000']) {
        const refused = await gateway.send('DELETE', `${path}?${query}${more}`);
        assert.equal(refused.status, 403, query);
        assert.match(refused.problem().type, /forbidden-by-policy$/);
        assert.match(refused.problem().detail ?? '', /PURGE_WHOLE_TENANT/);
      }
    }
  }
  assert.equal((await gateway.purge('local=true&dryRun=true')).status, 200);
  assert.equal((await gateway.send('DELETE', `${TEMPORAL}?local=true&dryRun=true`)).status, 200);
  assert.deepEqual([broker.entities.count(), broker.temporal.ids().length], [7, 2]);
  assert.equal((await gateway.purge('type=Car')).status, 204);
  assert.equal(broker.entities.count(), 3);
});
