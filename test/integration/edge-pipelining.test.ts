import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { startTestBroker, startTestGateway, stopAll } from '../support/gateway-harness.js';
import {
  Gate,
  holdBack,
  isDelete,
  type RecordedRequest,
  relayTo,
  startRecordingBroker,
} from '../support/recording-broker.js';
import { closeAll, connect } from './pass-through-wire.js';

after(async () => {
  await closeAll();
  await stopAll();
});

const HOST = 'Host: g\r\n';
const GET = `GET /ngsi-ld/v1/entities?type=Slow HTTP/1.1\r\n${HOST}\r\n`;
const PURGE = `DELETE /ngsi-ld/v1/entities?type=Car HTTP/1.1\r\n${HOST}\r\n`;
const LIVE = `GET /health/live HTTP/1.1\r\n${HOST}\r\n`;
const isSlow = ({ url }: RecordedRequest) => url.includes('type=Slow');
const isOther = (request: RecordedRequest) => !isSlow(request);

/** Starts a gateway whose broker answers nothing about type Slow until the gate opens. */
async function start(env: Readonly<Record<string, string>> = {}) {
  const broker = await startTestBroker();
  broker.entities.seed(30, (index) => ({ id: `urn:ngsi-ld:Car:${index}`, type: 'Car' }));
  const { held: slow, gate } = await holdBack(broker, isSlow);
  const gateway = await startTestGateway({ BROKER_URL: slow.url, SHUTDOWN_GRACE_MS: '3600000', ...env });
  /** Resolves when everything sent before has reached the gateway and the broker. */
  const settled = async () => {
    for (let turn = 0; turn < 3; turn += 1) await gateway.send('GET', '/ngsi-ld/v1/entities?type=Probe');
  };
  return { broker, slow, gate, gateway, settled };
}

const isOwn = (request: RecordedRequest) => isOther(request) && !request.url.includes('type=Probe');

/** Matches a text with at least that many answers. */
const answered = (number: number) => new RegExp(`^(?:(?:[^H]|H(?!TTP/))*HTTP/){${number}}`);
const statuses = (answers: string) => answers.match(/(?<=HTTP\/1\.1 )\d+/g)?.map(Number);

it('pipelined requests are processed one after the other, each after the previous answer has ended', async () => {
  const { slow, gate, gateway, settled } = await start();
  const client = await connect(gateway.port);
  client.send(GET + PURGE + LIVE.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
  await slow.arrived(isSlow);
  await settled();
  assert.equal(slow.requests.filter(isOwn).length, 0, 'the purge has to wait');
  gate.open();
  const answers = await client.closed();
  assert.deepEqual(statuses(answers), [200, 204, 200]);
  assert.equal(slow.requests.filter(isDelete).length, 1);
});

it('pipelined requests with bodies are answered in order', async () => {
  const { gate, gateway, slow } = await start();
  const client = await connect(gateway.port);
  const create = (name: string, size: number) => {
    const body = JSON.stringify({ id: `urn:ngsi-ld:New:${name}`, type: 'New', p: 'x'.repeat(size) });
    return `POST /ngsi-ld/v1/entities HTTP/1.1\r\n${HOST}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  };
  client.send(GET);
  client.send(create('a', 10) + create('b', 300_000) + LIVE + create('c', 200_000));
  await slow.arrived(isSlow);
  gate.open();
  const answers = await client.until(answered(5));
  assert.deepEqual(statuses(answers), [200, 201, 201, 200, 201]);
});

it('pipelined requests with Expect: 100-continue get 100 only when it is their turn', async () => {
  const { gate, gateway, slow, settled } = await start();
  const client = await connect(gateway.port);
  const body = JSON.stringify({ id: 'urn:ngsi-ld:New:1', type: 'New' });
  client.send(
    `${GET}POST /ngsi-ld/v1/entities HTTP/1.1\r\n${HOST}Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`,
  );
  await slow.arrived(isSlow);
  await settled();
  assert.equal(client.text(), '');
  gate.open();
  await client.until(/HTTP\/1\.1 100 Continue\r\n\r\n$/);
  client.send(body);
  await client.until(/HTTP\/1\.1 201/);
});

it('pipelined requests are dropped when the client disconnects: a purge waiting behind an open answer never starts', async () => {
  const { broker, slow, gateway, settled } = await start();
  for (const end of ['destroy', 'resetAndDestroy', 'end'] as const) {
    const before = slow.requests.filter(isSlow).length;
    const client = await connect(gateway.port);
    client.send(GET + PURGE.repeat(20));
    await slow.arrived(isSlow, before + 1);
    client.socket[end]();
    await settled();
  }
  assert.equal(slow.requests.filter(isOwn).length, 0);
  assert.equal(broker.entities.count(), 30);
  // The close ends although the grace time is an hour and the slow requests are never answered.
  await gateway.gateway.close();
  assert.equal(slow.requests.filter(isOwn).length, 0);
  assert.equal(gateway.log.with('purge finished').length, 0);
});

it('a purge ends when its client disconnects, also with pipelined requests behind it', async () => {
  const broker = await startTestBroker();
  const gate = new Gate();
  const slow = await startRecordingBroker(async (request) => {
    await gate.passed;
    return relayTo(broker)(request);
  });
  const gateway = await startTestGateway({ BROKER_URL: slow.url });
  const client = await connect(gateway.port);
  client.send(PURGE + GET.repeat(50));
  await slow.arrived(() => true);
  client.socket.destroy();
  await gateway.log.until('purge stopped: its caller is gone');
  assert.equal(slow.requests.length, 1);
  gate.open();
});

it('too many pipelined requests close their connection; other connections stay open', async () => {
  const { broker, slow, gateway } = await start();
  const flood = await connect(gateway.port);
  // A hundred requests may wait for the first one.
  flood.send(GET + PURGE.repeat(101));
  await flood.closed();
  await gateway.log.until('connection closed: too many requests waited on it');
  assert.equal((await gateway.send('GET', '/health/live')).status, 200);
  assert.equal(gateway.log.with('connection closed: too many requests waited on it').length, 1);
  assert.equal(slow.requests.filter(isOwn).length, 0);
  assert.equal(broker.entities.count(), 30);
  await gateway.gateway.close();
});

it('dropping too many pipelined requests does not create a stack trace for each', async (t) => {
  const { slow, gateway } = await start();
  const flood = await connect(gateway.port);
  flood.send(GET);
  await slow.arrived(isSlow);
  const before = Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace');
  t.after(() =>
    Object.defineProperty(
      Error,
      'prepareStackTrace',
      before ?? { value: undefined, writable: true, configurable: true },
    ),
  );
  let stacks = 0;
  Error.prepareStackTrace = (error) => {
    stacks += 1;
    return String(error);
  };
  // All in one piece, as a single read receives them.
  flood.send(LIVE.repeat(1200));
  await flood.closed();
  await gateway.log.until('connection closed: too many requests waited on it');
  assert.equal((await gateway.send('GET', '/health/live')).status, 200);
  assert.ok(stacks < 300, `${stacks} stacks`);
});

it('a client may pipeline a hundred requests at once, repeatedly', async () => {
  const { gateway } = await start();
  const client = await connect(gateway.port);
  for (let round = 1; round <= 5; round += 1) {
    client.send(LIVE.repeat(101));
    await client.until(answered(101 * round));
  }
  await gateway.gateway.close();
});

it('a closing gateway finishes the open answer, and starts no purge that is pipelined behind it', async () => {
  const { broker, slow, gate, gateway } = await start();
  const client = await connect(gateway.port);
  client.send(GET + PURGE.repeat(3));
  await slow.arrived(isSlow);
  const closed = gateway.gateway.close();
  gate.open();
  await closed;
  assert.deepEqual(statuses(await client.closed()), [200, 503, 503, 503]);
  assert.deepEqual([slow.requests.filter(isDelete).length, broker.entities.count()], [0, 30]);
});
