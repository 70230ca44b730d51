import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { send, startTestBroker, stopAll } from '../support/gateway-harness.js';
import { GatewayProcess } from '../support/gateway-process.js';
import { holdBack, isDelete, startRecordingBroker } from '../support/recording-broker.js';
import { closeAll, connect } from './pass-through-wire.js';

after(async () => {
  await closeAll();
  await stopAll();
});

const CLEAN = { code: 0, signal: null };
/**
 * Far beyond the time limit of any test, so that a process that waits for it makes the test fail.
 */
const LONG_GRACE = { SHUTDOWN_GRACE_MS: '3600000' };

it('SIGTERM ends a gateway that is still starting as process 1 of a container', async () => {
  // A bucket that never answers, so the start waits for it.
  const bucket = await startRecordingBroker(async () => new Promise(() => undefined));
  const gateway = await GatewayProcess.start({
    NODE_OPTIONS: "--import=data:text/javascript,Object.defineProperty(process,'pid',{value:1})",
    PORT: '0',
    ARCHIVE_URL: 's3://bucket',
    AWS_ENDPOINT_URL: bucket.url,
    AWS_ACCESS_KEY_ID: 'key',
    AWS_SECRET_ACCESS_KEY: 'secret',
  });
  await bucket.arrived(() => true, 1);
  gateway.signal('SIGTERM');
  assert.deepEqual(await gateway.ended, { code: 143, signal: null });
});

it("on SIGTERM, deletes in flight finish, the purge's caller is answered, new purges are refused, and the exit code is 0", async () => {
  const broker = await startTestBroker();
  broker.entities.seed(30, (index) => ({ id: `urn:ngsi-ld:Car:${index}`, type: 'Car' }));
  const { held: slow, gate } = await holdBack(broker);
  const gateway = await GatewayProcess.start({
    PORT: '0',
    BROKER_URL: slow.url,
    PURGE_BATCH_SIZE: '5',
    PURGE_CONCURRENCY: '2',
    ...LONG_GRACE,
  });
  const url = await gateway.url();
  const running = send(url, 'DELETE', '/ngsi-ld/v1/entities?type=Car');
  await slow.arrived(isDelete, 2);

  gateway.signal('SIGTERM');
  await gateway.until(/"msg":"shutting down"/);
  const late = await send(url, 'DELETE', '/ngsi-ld/v1/entities?type=Car');
  assert.equal(late.status, 503);
  assert.equal(late.problem().type, 'urn:ngsi-ld-gateway:problem:shutting-down');
  assert.equal((await send(url, 'GET', '/ngsi-ld/v1/entities?type=Car')).status, 200);
  assert.equal((await send(url, 'GET', '/health/ready')).status, 503);

  gate.open();
  const stopped = await running;
  assert.equal(stopped.status, 503);
  assert.equal(stopped.problem()['deleted'], 10);
  assert.deepEqual(await gateway.ended, CLEAN);
  assert.equal(gateway.stderr, '');
  assert.equal(broker.entities.count(), 20);
  assert.equal(slow.requests.filter(isDelete).length, 2);
});

it('repeated SIGTERM ends the gateway, however long the grace time is', async () => {
  const broker = await startRecordingBroker(async () => new Promise(() => undefined));
  const gateway = await GatewayProcess.start({ PORT: '0', BROKER_URL: broker.url, ...LONG_GRACE });
  const url = await gateway.url();
  const passed = send(url, 'GET', '/ngsi-ld/v1/entities?type=Car');
  await broker.arrived(() => true);
  const insisting = setInterval(() => gateway.signal('SIGTERM'), 50);
  try {
    await gateway.until(/"signal":"SIGTERM","msg":"hurrying"/);
  } finally {
    clearInterval(insisting);
  }
  assert.equal((await passed).status, 503);
  assert.deepEqual(await gateway.ended, CLEAN);
});

it('SIGINT ends an idle gateway at once with code 0, also with open connections', async () => {
  const gateway = await GatewayProcess.start({ PORT: '0', ...LONG_GRACE });
  const url = await gateway.url();
  const idle = await connect(Number(new URL(url).port));
  assert.equal((await send(url, 'GET', '/ngsi-ld/v1/types')).status, 200);
  gateway.signal('SIGINT');
  assert.deepEqual(await gateway.ended, CLEAN);
  assert.equal(await idle.closed(), '');
});
