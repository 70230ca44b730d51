import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { EmbeddedBroker } from '../../sidecar/embedded-broker/index.js';
import { startTestBroker, startTestGateway, stopAll } from '../support/gateway-harness.js';
import { Gate, isDelete, relayTo, startRecordingBroker } from '../support/recording-broker.js';
import type { RecordingBroker } from '../support/recording-broker.js';
import { closeAll, connect } from './pass-through-wire.js';

after(async () => {
  await closeAll();
  await stopAll();
});

interface SlowBroker {
  readonly broker: EmbeddedBroker;
  readonly slow: RecordingBroker;
  /** Deletes wait until this opens. */
  readonly gate: Gate;
}

/** A broker with 30 cars whose deletes take as long as the test wants. */
async function startSlowBroker(): Promise<SlowBroker> {
  const broker = await startTestBroker();
  broker.entities.seed(30, (index) => ({ id: `urn:ngsi-ld:Car:${index}`, type: 'Car' }));
  const relay = relayTo(broker);
  const gate = new Gate();
  const slow = await startRecordingBroker(async (request) => {
    if (isDelete(request)) await gate.passed;
    return relay(request);
  });
  return { broker, slow, gate };
}

const SETTINGS = { PURGE_BATCH_SIZE: '5', PURGE_CONCURRENCY: '2' };
const GONE = 'purge stopped: its caller is gone';

describe('a purge whose caller disconnects', () => {
  for (const how of ['ends the connection', 'resets the connection'] as const) {
    it(`a purge whose caller disconnects (${how}) sends no further delete, and those in flight finish`, async () => {
      const { broker, slow, gate } = await startSlowBroker();
      const gateway = await startTestGateway({ ...SETTINGS, BROKER_URL: slow.url });
      const caller = await connect(gateway.port);
      caller.send('DELETE /ngsi-ld/v1/entities?type=Car HTTP/1.1\r\nHost: g\r\n\r\n');
      await slow.arrived(isDelete, 2);
      if (how === 'ends the connection') caller.socket.destroy();
      else caller.socket.resetAndDestroy();
      // The deletes are let through only when the gateway has seen the end: events that are behind it have come by then.
      for (let turn = 0; turn < 3; turn += 1) await gateway.send('GET', '/health/ready');
      gate.open();
      const line = await gateway.log.until(GONE);
      assert.equal(slow.requests.filter(isDelete).length, 2);
      assert.equal(line['deleted'], 10);
      assert.equal(broker.entities.count(), 20);
      assert.deepEqual(gateway.log.with('purge finished'), []);
    });
  }

  it('a purge whose caller disconnects while it is listing asks for no further page', async () => {
    const gate = new Gate();
    const slow = await startRecordingBroker(async () =>
      gate.passed.then(() => ({ status: 200, headers: { 'content-type': 'application/json' }, body: '[]' })),
    );
    const gateway = await startTestGateway({ ...SETTINGS, BROKER_URL: slow.url });
    const caller = await connect(gateway.port);
    caller.send('DELETE /ngsi-ld/v1/entities?type=Car HTTP/1.1\r\nHost: g\r\n\r\n');
    await slow.arrived(() => true);
    caller.socket.destroy();
    const line = await gateway.log.until(GONE);
    assert.equal(line['requests'], 1);
    assert.equal(slow.requests.length, 1);
    gate.open();
  });
});

describe('closing', () => {
  it('a closing gateway answers a running purge with 503 and its counts; the deletes in flight finish', async () => {
    const { broker, slow, gate } = await startSlowBroker();
    const gateway = await startTestGateway({ ...SETTINGS, BROKER_URL: slow.url });
    const running = gateway.purge('type=Car');
    await slow.arrived(isDelete, 2);
    const closed = gateway.gateway.close();
    const late = await gateway.purge('type=Car');
    assert.equal(late.status, 503);
    assert.equal(late.problem()['deleted'], undefined, 'nothing had begun');
    const passed = await gateway.send('GET', '/ngsi-ld/v1/entities?type=Car&count=true&limit=1');
    assert.equal(passed.status, 200, 'pass-through goes on');
    gate.open();
    const stopped = await running;
    assert.equal(stopped.status, 503);
    assert.equal(stopped.problem().type, 'urn:ngsi-ld-gateway:problem:shutting-down');
    assert.equal(stopped.problem()['deleted'], 10);
    assert.equal(stopped.problem()['failed'], 0);
    assert.match(stopped.headers.get('retry-after') ?? '', /^\d+$/);
    await closed;
    assert.equal(broker.entities.count(), 20);
    assert.equal(slow.requests.filter(isDelete).length, 2);
    await assert.rejects(fetch(`${gateway.url}/health/live`), 'nobody listens any more');
  });

  it('a closing gateway waits for an answer that its client reads slowly', async () => {
    const SIZE = 32 * 1024 * 1024;
    const slow = await startRecordingBroker(() => ({
      status: 200,
      headers: { 'content-length': String(SIZE) },
      body: 'x'.repeat(SIZE),
    }));
    const gateway = await startTestGateway({ BROKER_URL: slow.url });
    const client = await connect(gateway.port);
    client.send('GET /ngsi-ld/v1/entities HTTP/1.1\r\nHost: g\r\nConnection: close\r\n\r\n');
    await client.until(/^HTTP\/1\.1 200/);
    client.socket.pause();
    const closed = gateway.gateway.close();
    client.socket.resume();
    const answer = await client.closed();
    assert.equal(answer.length - answer.indexOf('\r\n\r\n') - 4, SIZE);
    await closed;
  });

  it('idle connections do not keep the gateway from closing', async () => {
    const broker = await startTestBroker();
    const gateway = await startTestGateway({ BROKER_URL: broker.url, SHUTDOWN_GRACE_MS: '3600000' });
    const idle = await connect(gateway.port);
    const used = await connect(gateway.port);
    used.send('GET /health/live HTTP/1.1\r\nHost: g\r\n\r\n');
    await used.until(/up"\}$/);
    await gateway.gateway.close();
    await Promise.all([idle.closed(), used.closed()]);
  });
});
