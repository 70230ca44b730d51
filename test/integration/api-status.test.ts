import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { startTestBroker, startTestGateway, stopAll } from '../support/gateway-harness.js';
import { relayTo, startRecordingBroker } from '../support/recording-broker.js';
import { column, columns } from '../support/columns.js';
import { ROOT } from '../support/project.js';
import { valueOf } from '../unit/metrics/series.js';

after(stopAll);

interface Status {
  readonly version: string;
  readonly status: string;
  readonly broker: string;
  readonly database: string;
  readonly learnt: readonly { name: string; kind: string; collection: string; learntAt: string }[];
}

it('GET /api/v2/status says what purges have learnt about the broker, and needs no token', async () => {
  const broker = await startTestBroker();
  broker.entities.seed(3, (index) => ({ id: `urn:ngsi-ld:Car:${String(index)}`, type: 'Car' }));
  const relay = relayTo(broker);
  // A broker without batch delete.
  const held = await startRecordingBroker(async (request) =>
    request.url.includes('/entityOperations/delete') ? { status: 404 } : relay(request),
  );
  const gateway = await startTestGateway({ BROKER_URL: held.url, GATEWAY_TOKEN: 'the-shared-secret' });
  const read = async () => (await gateway.send('GET', '/api/v2/status')).json() as Status;
  const before = await read();
  assert.deepEqual(before, {
    version: before.version,
    status: 'up',
    broker: 'up',
    database: 'up',
    learnt: [],
  });
  const purged = await gateway.purge('type=Car', { 'x-gateway-token': 'the-shared-secret' });
  assert.equal(purged.status, 204);
  const { learnt } = await read();
  assert.deepEqual(columns(learnt, 'collection', 'name', 'kind'), [
    ['entities', 'no-batch', 'limit'],
    ['entities', 'honoured', 'proof'],
  ]);
  for (const { learntAt } of learnt) assert.ok(Math.abs(Date.parse(learntAt) - Date.now()) < 60_000);
});

it('GET /api/v2/status does not mention batches if a client only recreates some entities during a purge', async () => {
  const broker = await startTestBroker();
  const car = (index: number) => ({ id: `urn:ngsi-ld:Car:${String(index)}`, type: 'Car' });
  broker.entities.seed(100, car);
  const relay = relayTo(broker);
  const again = Array.from({ length: 30 }, (_, index) => JSON.stringify(car(index)));
  const busy = await startRecordingBroker(async (request) => {
    const answer = await relay(request);
    const headers = { 'content-type': 'application/json' };
    if (request.url.includes('/entityOperations/delete'))
      for (const body of again) await relay({ method: 'POST', url: '/ngsi-ld/v1/entities', headers, body });
    return answer;
  });
  const gateway = await startTestGateway({ BROKER_URL: busy.url });
  const purged = await gateway.purge('type=Car');
  assert.equal(purged.headers.get('purge-deleted'), '100', purged.text);
  const { learnt } = (await gateway.send('GET', '/api/v2/status')).json() as Status;
  assert.deepEqual(column(learnt, 'name'), ['honoured']);
});

it('GET /api/v2/status and GET /metrics give the version of the gateway', async () => {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const gateway = await startTestGateway({ BROKER_URL: 'http://127.0.0.1:9' });
  const status = (await gateway.send('GET', '/api/v2/status')).json() as Status;
  assert.equal(status.version, version);
  const { text } = await gateway.send('GET', '/metrics');
  assert.equal(valueOf(text, 'build_info', { version }), 1);
});

it('GET /api/v2/status is 200 while the broker is unavailable, and says so', async () => {
  const gateway = await startTestGateway({ BROKER_URL: 'http://127.0.0.1:9' });
  const answer = await gateway.send('GET', '/api/v2/status');
  assert.equal(answer.status, 200);
  const { version: _version, ...parts } = answer.json() as Status;
  assert.deepEqual(parts, { status: 'down', broker: 'down', database: 'up', learnt: [] });
});
