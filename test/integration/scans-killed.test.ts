import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, it } from 'node:test';
import { send, sendJson, startTestBroker, stopAll, stopLater } from '../support/gateway-harness.js';
import { GatewayProcess } from '../support/gateway-process.js';
import { BROKEN, ROOM, roomEntity, scanned, startScan, type Scan } from '../support/scans.js';

after(stopAll);

it('a scan whose gateway is killed begins anew: nothing is missing, and nothing is counted twice', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'killed-scan-'));
  stopLater(async () => rmSync(folder, { recursive: true, force: true }));
  const broker = await startTestBroker();
  broker.entities.seed(3000, roomEntity);
  const env = { PORT: '0', BROKER_URL: broker.url, DATABASE_PATH: join(folder, 'scans.db') };
  const killed = await GatewayProcess.start(env);
  const url = await killed.url();
  await sendJson(url, 'POST', '/api/v2/domains', { name: 'D' });
  await sendJson(url, 'POST', '/api/v2/domains/D/models', { name: 'Room', schema: ROOM });
  const id = await startScan(url, { query: 'type=Room', maxPerSecond: 400 });
  for (let checked = 0; checked < 200;) {
    await sleep(20);
    ({ checked } = (await send(url, 'GET', `/api/v2/scans/${id}`)).json() as Scan);
  }
  killed.signal('SIGKILL');
  await killed.ended;
  const next = await GatewayProcess.start(env);
  const again = await next.url();
  await sendJson(again, 'PATCH', `/api/v2/scans/${id}`, { maxPerSecond: null });
  const record = await scanned(again, id);
  const broken = BROKEN.reduce((sum, { entities }) => sum + entities, 0);
  assert.deepEqual(
    [record.state, record.matched, record.checked, record.invalid],
    ['succeeded', 3000, 3000, broken],
  );
  assert.match(record.warnings.join(), /the scan began anew/);
  for (const [position, { entities }] of record.findings.entries()) {
    const headers = { accept: 'application/x-ndjson' };
    const path = `/api/v2/scans/${id}/entities?finding=${String(position)}`;
    const lines = (await send(again, 'GET', path, { headers })).text.trimEnd().split('\n');
    assert.equal(new Set(lines).size, entities);
    assert.equal(lines.length, entities);
  }
  next.signal('SIGKILL');
  await next.ended;
});
