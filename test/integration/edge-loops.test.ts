import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import { after, it } from 'node:test';
import { startTestGateway, stopAll, stopLater } from '../support/gateway-harness.js';
import { startRecordingBroker } from '../support/recording-broker.js';
import { exchange, problemOf, request, statusOf } from './pass-through-wire.js';

after(stopAll);

const LOOP = 'urn:ngsi-ld-gateway:problem:loop-detected';
const ENTITIES = '/ngsi-ld/v1/entities';

/**
 * A proxy to a gateway that starts later, since each gateway of a ring needs the address of the
 * next.
 */
async function startWayBack() {
  let port: number | undefined;
  let connections = 0;
  const sockets = new Set<net.Socket>();
  const server = net.createServer((client) => {
    connections += 1;
    const onward = net.connect(port ?? 1, '127.0.0.1');
    for (const socket of [client, onward]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
    }
    client.pipe(onward).pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stopLater(async () => {
    for (const socket of sockets) socket.destroy();
    if (server.listening) await once(server.close(), 'close');
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    leadTo: (to: number) => (port = to),
    get connections() {
      return connections;
    },
  };
}

/** Starts a ring of gateways, each of which has the next as its broker. */
async function startRing(size: number) {
  const wayBack = await startWayBack();
  let next = wayBack.url;
  let gateway = await startTestGateway({ BROKER_URL: next });
  const last = gateway;
  for (let count = 1; count < size; count += 1) {
    next = gateway.url;
    gateway = await startTestGateway({ BROKER_URL: next });
  }
  wayBack.leadTo(gateway.port);
  return { first: gateway, last, wayBack };
}

/** Returns the entry that a gateway appends to Via. */
async function viaOf(gateway: { readonly url: string }, broker: { readonly requests: readonly unknown[] }) {
  await fetch(`${gateway.url}${ENTITIES}?type=T`);
  const { headers } = broker.requests.at(-1) as { headers: Record<string, string> };
  return headers['via'] ?? '';
}

for (const size of [1, 2, 3]) {
  it(`gateways that form a ring (${size}) end a request with 508 once it comes back`, async () => {
    const { first, wayBack } = await startRing(size);
    for (const [method, body] of [
      ['GET', undefined],
      ['POST', '{}'],
    ] as const) {
      const before = wayBack.connections;
      const answer = await first.send(
        method,
        `${ENTITIES}?type=T`,
        body === undefined ? {} : { body, headers: { 'content-type': 'application/json' } },
      );
      assert.equal(answer.status, 508);
      assert.equal(answer.problem().type, LOOP);
      assert.ok(wayBack.connections - before <= 1, `${wayBack.connections - before} connections`);
    }
  });

  it(`gateways that form a ring (${size}) end a purge and a check of /health/ready`, async () => {
    const { first, wayBack } = await startRing(size);
    const purge = await first.purge('type=T');
    assert.ok(purge.status >= 500, String(purge.status));
    assert.match(purge.text, /508/);
    assert.equal((await first.send('GET', '/health/ready')).status, 503);
    assert.ok(wayBack.connections <= 4, `${wayBack.connections} connections`);
  });
}

it('each gateway process adds its own name to Via, after the existing entries', async () => {
  const broker = await startRecordingBroker();
  const gateways = await Promise.all([1, 2].map(() => startTestGateway({ BROKER_URL: broker.url })));
  const names = new Set<string>();
  for (const gateway of gateways) {
    const via = await viaOf(gateway, broker);
    assert.match(via, /^1\.1 ngsi-ld-gateway-[0-9a-f]{16}$/);
    names.add(via);
    const begun = broker.requests.length;
    await gateway.purge('type=T');
    await gateway.purge('type=T', { via: '1.1 edge' });
    const purged = new Set(broker.requests.slice(begun).map(({ headers }) => headers.via));
    assert.deepEqual(purged, new Set([via, `1.1 edge, ${via}`]));
  }
  assert.equal(names.size, 2);
});

it('a request whose Via already names the gateway is 508, before anything reaches the broker', async () => {
  const broker = await startRecordingBroker();
  const gateway = await startTestGateway({ BROKER_URL: broker.url });
  const via = await viaOf(gateway, broker);
  const begun = broker.requests.length;
  for (const line of [
    `GET ${ENTITIES}?type=T`,
    `DELETE ${ENTITIES}?type=T`,
    `DELETE ${ENTITIES}/urn:ngsi-ld:T:1`,
    'GET /api/v2/domains',
  ]) {
    for (const fields of [
      [`Via: ${via}`],
      [`via: 1.0 fred, ${via} (a comment), 1.1 nowhere`],
      ['Via: 1.1 a', `Via: ${via}`, 'Via: 1.1 b'],
      [`Via: ${via}`, 'Connection: via'],
    ]) {
      const answer = await exchange(gateway.port, request(line, fields));
      assert.equal(statusOf(answer), 508, `${line} ${fields.join(' | ')}`);
      assert.equal(problemOf(answer).type, LOOP);
    }
  }
  assert.equal(broker.requests.length, begun);
});

it('a request whose Via names ten gateways is 508, and one that names nine is forwarded', async () => {
  const broker = await startRecordingBroker();
  const gateway = await startTestGateway({ BROKER_URL: broker.url });
  const others = (number: number) =>
    Array.from({ length: number }, (_, n) => `1.1 ngsi-ld-gateway-${String(n).padStart(16, '0')}`);
  const send = async (via: readonly string[]) =>
    gateway.send('GET', `${ENTITIES}?type=T`, { headers: { via: via.join(', ') } });
  assert.equal((await send(others(9))).status, 200);
  const refused = await send(others(10));
  assert.equal(refused.status, 508);
  assert.equal(refused.problem().type, LOOP);
  assert.equal(broker.requests.length, 1);
});
