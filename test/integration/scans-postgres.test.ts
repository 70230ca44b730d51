import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { send, startTestBroker, startTestGateway, stopAll } from '../support/gateway-harness.js';
import { createDatabase } from '../support/postgres.js';
import { BROKEN_ENTITIES, roomEntity, ROOMS, scanned, startScan, storeRoom } from '../support/scans.js';

after(stopAll);

it('a scan on PostgreSQL finds the same as on SQLite, and any gateway lists its entities', async () => {
  const database = await createDatabase();
  const broker = await startTestBroker();
  broker.entities.seed(ROOMS, roomEntity);
  const env = { BROKER_URL: broker.url, DATABASE_URL: database.url, LOG_LEVEL: 'silent' };
  const one = await startTestGateway(env);
  const two = await startTestGateway(env);
  await storeRoom(one.url);
  const record = await scanned(two.url, await startScan(one.url, { query: 'type=Room' }));
  assert.deepEqual([record.state, record.checked, record.invalid], ['succeeded', ROOMS, BROKEN_ENTITIES]);
  for (const gateway of [one, two]) {
    const page = await send(
      gateway.url,
      'GET',
      `/api/v2/scans/${record.id}/entities?finding=0&limit=5&offset=20`,
    );
    assert.equal(page.headers.get('x-total-count'), String(record.findings[0]?.entities));
    assert.equal((page.json() as unknown[]).length, 2);
  }
});
