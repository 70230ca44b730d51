import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { after, it } from 'node:test';
import { send, sendJson, startTestBroker, startTestGateway, stopAll } from '../support/gateway-harness.js';
import { GatewayProcess } from '../support/gateway-process.js';
import { createDatabase } from '../support/postgres.js';
import { BROKEN, ROOM, roomEntity, type Scan, scanned, startScan } from '../support/scans.js';

after(stopAll);

it('a scan whose gateway dies goes on in another gateway, with nothing missing and nothing counted twice', async () => {
  const database = await createDatabase();
  const broker = await startTestBroker();
  broker.entities.seed(3000, roomEntity);
  const env = { BROKER_URL: broker.url, DATABASE_URL: database.url, LOG_LEVEL: 'warn', JOB_LEASE_MS: '2000' };
  const dying = await GatewayProcess.start({ ...env, PORT: '0', INSTANCE_NAME: 'one' });
  const url = await dying.url();
  await sendJson(url, 'POST', '/api/v2/domains', { name: 'D' });
  await sendJson(url, 'POST', '/api/v2/domains/D/models', { name: 'Room', schema: ROOM });
  const id = await startScan(url, { query: 'type=Room', maxPerSecond: 400 });
  for (let checked = 0; checked < 200;) {
    await pause(20);
    ({ checked } = (await send(url, 'GET', `/api/v2/scans/${id}`)).json() as Scan);
  }
  // It takes over what nobody works on any longer.
  const other = await startTestGateway({ ...env, INSTANCE_NAME: 'two' });
  dying.signal('SIGKILL');
  await dying.ended;
  await sendJson(other.url, 'PATCH', `/api/v2/scans/${id}`, { maxPerSecond: null });
  const record = await scanned(other.url, id);
  const broken = BROKEN.reduce((sum, { entities }) => sum + entities, 0);
  assert.deepEqual(
    [record.state, record.worker, record.matched, record.checked, record.invalid],
    ['succeeded', 'two', 3000, 3000, broken],
  );
  assert.match(
    record.warnings.join(),
    /Nothing was heard of the gateway one any longer: the scan began anew/,
  );
  for (const [position, { entities }] of record.findings.entries()) {
    const path = `/api/v2/scans/${id}/entities?finding=${String(position)}`;
    const { text } = await send(other.url, 'GET', path, { headers: { accept: 'application/x-ndjson' } });
    const lines = text.trimEnd().split('\n');
    assert.deepEqual([lines.length, new Set(lines).size], [entities, entities]);
  }
});
