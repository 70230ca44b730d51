import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { sendJson, startTestBroker, startTestGateway, stopAll } from '../support/gateway-harness.js';
import { GatewayProcess } from '../support/gateway-process.js';
import { createDatabase } from '../support/postgres.js';
import {
  assertKept,
  BROKEN_ENTITIES,
  judgedAtLeast,
  roomEntity,
  ROOMS,
  scanned,
  startScan,
  storeRoom,
} from '../support/scans.js';

after(stopAll);

it('a scan whose gateway is killed continues in another gateway; nothing is missing or counted twice', async () => {
  const database = await createDatabase();
  const broker = await startTestBroker();
  broker.entities.seed(ROOMS, roomEntity);
  const env = { BROKER_URL: broker.url, DATABASE_URL: database.url, LOG_LEVEL: 'warn', JOB_LEASE_MS: '2000' };
  const dying = await GatewayProcess.start({ ...env, PORT: '0', INSTANCE_NAME: 'one' });
  const url = await dying.url();
  await storeRoom(url);
  const id = await startScan(url, { query: 'type=Room', maxPerSecond: 400 });
  await judgedAtLeast(url, id, 200);
  // This gateway takes over jobs that no process owns.
  const other = await startTestGateway({ ...env, INSTANCE_NAME: 'two' });
  dying.signal('SIGKILL');
  await dying.ended;
  await sendJson(other.url, 'PATCH', `/api/v2/scans/${id}`, { maxPerSecond: null });
  const record = await scanned(other.url, id);
  assert.deepEqual(
    [record.state, record.worker, record.matched, record.checked, record.invalid],
    ['succeeded', 'two', ROOMS, ROOMS, BROKEN_ENTITIES],
  );
  assert.match(record.warnings.join(), /The gateway one stopped responding: the scan started again/);
  await assertKept(other.url, record);
});
