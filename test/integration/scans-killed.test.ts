import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { PATIENT, sendJson, startTestBroker, startTestGateway, stopAll } from '../support/gateway-harness.js';
import { GatewayProcess } from '../support/gateway-process.js';
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
import { temporaryFolder } from '../support/temporary-folder.js';

after(stopAll);

it('a scan whose gateway is killed starts again: nothing is missing, and nothing is counted twice', async () => {
  const folder = temporaryFolder();
  const broker = await startTestBroker();
  broker.entities.seed(ROOMS, roomEntity);
  const env = { PORT: '0', BROKER_URL: broker.url, DATABASE_PATH: join(folder, 'scans.db') };
  const killed = await GatewayProcess.start(env);
  const url = await killed.url();
  await storeRoom(url);
  const id = await startScan(url, { query: 'type=Room', maxPerSecond: 400 });
  await judgedAtLeast(url, id, 200);
  killed.signal('SIGKILL');
  await killed.ended;
  const { url: again } = await startTestGateway({ ...env, ...PATIENT });
  await sendJson(again, 'PATCH', `/api/v2/scans/${id}`, { maxPerSecond: null });
  const record = await scanned(again, id);
  assert.deepEqual(
    [record.state, record.matched, record.checked, record.invalid],
    ['succeeded', ROOMS, ROOMS, BROKEN_ENTITIES],
  );
  assert.match(record.warnings.join(), /the scan started again/);
  await assertKept(again, record);
});
