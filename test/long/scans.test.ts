import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { sendJson, startTestBroker, startTestGateway, stopAll } from '../support/gateway-harness.js';
import { BROKEN, ROOM, roomEntity, scanned, startScan } from '../support/scans.js';

after(stopAll);

it('a scan of 50,000 entities finds exactly those that break their model, and judges 1,000 a second at least', async () => {
  const broker = await startTestBroker();
  broker.entities.seed(50_000, roomEntity);
  const gateway = await startTestGateway({ BROKER_URL: broker.url, LOG_LEVEL: 'silent' });
  await sendJson(gateway.url, 'POST', '/api/v2/domains', { name: 'D' });
  await sendJson(gateway.url, 'POST', '/api/v2/domains/D/models', { name: 'Room', schema: ROOM });
  const startedMs = performance.now();
  const record = await scanned(gateway.url, await startScan(gateway.url, { query: 'type=Room' }));
  assert.ok(performance.now() - startedMs < 50_000);
  // They are counted of 3,000.
  const broken = BROKEN.map(({ entities }) => (entities / 3) * 50);
  const sum = broken.reduce((all, entities) => all + entities, 0);
  assert.deepEqual([record.state, record.checked, record.invalid], ['succeeded', 50_000, sum]);
  assert.deepEqual(
    record.findings.map(({ entities }) => entities).sort((one, other) => one - other),
    broken.sort((one, other) => one - other),
  );
});
