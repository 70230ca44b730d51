import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, describe, it } from 'node:test';
import { startTestBroker, startTestGateway, stopAll } from '../support/gateway-harness.js';
import {
  closeAll,
  connect,
  exchange,
  problemOf,
  request,
  startFixedBroker,
  startGateway,
  startRawBroker,
  statusOf,
  type Client,
} from './pass-through-wire.js';
import { column } from '../support/columns.js';

after(async () => {
  await closeAll();
  await stopAll();
});

const BUSY = 'urn:ngsi-ld-gateway:problem:connections-busy';
const UPLOAD =
  'POST /ngsi-ld/v1/entities HTTP/1.1\r\nHost: g\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{';
const GET = request('GET /ngsi-ld/v1/entities?type=T');
const HOUR = 3_600_000;
/** Long enough for progress even on a busy machine. */
const SOON_MS = 1000;

const connectMany = async (port: number, number: number): Promise<Client[]> =>
  Promise.all(Array.from({ length: number }, async () => connect(port)));

/** Waits until that many requests have reached a broker. */
async function arrived(broker: { readonly received: readonly string[] }, number: number): Promise<void> {
  while (broker.received.filter((text) => text.includes('\r\n\r\n')).length < number)
    await new Promise((resolve) => setImmediate(resolve));
}

/** Sends a text, and then more bytes slowly until its connection ends. */
function drip(client: Client, begin: string, drop: string): void {
  client.send(begin);
  const timer = setInterval(() => client.send(drop), 20);
  client.socket.once('close', () => clearInterval(timer));
}

/** Starts a broker that answers a request once it has received all of it. */
const startPatientBroker = async () =>
  startRawBroker((socket, text) => {
    const length = Number(/^content-length: (\d+)/im.exec(text)?.[1] ?? 0);
    if (text.length < text.indexOf('\r\n\r\n') + 4 + length) return false;
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]');
    return true;
  });

it('300 stalled uploads do not delay other requests to the broker: reads and small writes are answered at once', async () => {
  const broker = await startTestBroker();
  const gateway = await startTestGateway({ BROKER_URL: broker.url, BROKER_TIMEOUT_MS: String(HOUR) });
  const uploads = await connectMany(gateway.port, 300);
  for (const client of uploads) client.send(UPLOAD);
  const startedMs = performance.now();
  for (let n = 1; n <= 5; n += 1) {
    assert.equal((await gateway.send('GET', '/ngsi-ld/v1/entities?type=T')).status, 200);
    const created = await gateway.sendJson('POST', '/ngsi-ld/v1/entities', {
      id: `urn:ngsi-ld:T:${n}`,
      type: 'T',
    });
    assert.equal(created.status, 201);
  }
  assert.equal((await gateway.purge('type=T')).status, 204);
  assert.ok(performance.now() - startedMs < 6000);
  for (const { socket } of uploads) socket.destroy();
  // The close ends only after every request has ended.
  await gateway.gateway.close();
});

it('requests that wait for a connection to the broker are 503 with Retry-After if none becomes free in time', async () => {
  const broker = await startRawBroker(() => undefined);
  const gateway = await startGateway(broker.url, {
    slots: { whole: 2, uploads: 2, waitMs: 50, idleMs: HOUR },
    brokerTimeoutMs: HOUR,
  });
  const open = await connectMany(gateway.port, 4);
  open.forEach((client, n) => client.send(n < 2 ? GET : UPLOAD));
  await arrived(broker, 4);
  for (const text of [GET, UPLOAD.replace('Host', 'Connection: close\r\nHost')]) {
    const client = await connect(gateway.port);
    client.send(text);
    const answer = await client.until(/\}$/);
    assert.equal(statusOf(answer), 503);
    assert.equal(problemOf(answer).type, BUSY);
    assert.match(answer, /^retry-after: 1\r$/im);
  }
  assert.equal(broker.received.length, 4, 'nothing of them reached the broker');
});

it('clients that disconnect, waiting for a connection to the broker or using one, leave every connection usable', async () => {
  const broker = await startPatientBroker();
  const gateway = await startGateway(broker.url, {
    slots: { whole: 1, uploads: 1, waitMs: HOUR, idleMs: HOUR },
  });
  for (let round = 0; round < 3; round += 1) {
    const clients = await connectMany(gateway.port, 30);
    for (const [n, client] of clients.entries()) {
      client.send(n % 3 === 0 ? UPLOAD : GET);
      if (n % 3 === 1 || n % 3 === 0) client.socket.destroy();
    }
    await Promise.all(clients.filter((_, n) => n % 3 === 2).map(async (client) => client.closed()));
    const upload = UPLOAD.replace('Host', 'Connection: close\r\nHost') + ' '.repeat(99_999);
    assert.equal(statusOf(await exchange(gateway.port, upload)), 200);
    assert.equal(statusOf(await exchange(gateway.port, GET)), 200);
  }
});

it('a client that blocks others by not sending its body is answered 408, and the next client gets its place', async () => {
  const broker = await startPatientBroker();
  const gateway = await startGateway(broker.url, {
    slots: { whole: 1, uploads: 2, waitMs: HOUR, idleMs: SOON_MS },
  });
  const stalled = await connectMany(gateway.port, 2);
  for (const client of stalled) client.send(UPLOAD);
  await arrived(broker, 2);
  const others = await connectMany(gateway.port, 4);
  for (const client of others) client.send(UPLOAD + ' '.repeat(99_999));
  for (const client of others) assert.equal(statusOf(await client.until(/\[\]$/)), 200);
  for (const client of stalled) {
    const answer = await client.until(/\}$/);
    assert.equal(statusOf(answer), 408);
    assert.equal(problemOf(answer).status, 408);
  }
  assert.deepEqual(column(gateway.failures, 'kind'), ['slow-client', 'slow-client']);
});

it('a client that blocks others by sending single bytes is answered 408, and the next client gets its place', async () => {
  const broker = await startPatientBroker();
  const gateway = await startGateway(broker.url, {
    slots: { whole: 1, uploads: 2, waitMs: HOUR, idleMs: SOON_MS },
  });
  const dripping = await connectMany(gateway.port, 2);
  for (const client of dripping) drip(client, UPLOAD, ' ');
  await arrived(broker, 2);
  const other = await connect(gateway.port);
  other.send(UPLOAD + ' '.repeat(99_999));
  assert.equal(statusOf(await other.until(/\[\]$/)), 200);
  assert.equal(gateway.failures[0]?.kind, 'slow-client');
  const answers = dripping.map((client) => client.text());
  assert.ok(answers.some((answer) => statusOf(answer) === 408));
});

it('a client that blocks others by not reading its answer is disconnected, and the next client gets its place', async () => {
  const big = 'x'.repeat(64 * 1024 * 1024);
  const broker = await startRawBroker((socket, text) => {
    const body = text.includes('Big') ? big : '[]';
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    return true;
  });
  const gateway = await startGateway(broker.url, {
    slots: { whole: 2, uploads: 1, waitMs: HOUR, idleMs: 20 },
  });
  const readers = await connectMany(gateway.port, 2);
  for (const client of readers) {
    client.send(request('GET /ngsi-ld/v1/entities?type=Big'));
    await client.until(/^HTTP\/1\.1 200/);
    client.socket.pause();
  }
  assert.equal(statusOf(await exchange(gateway.port, GET)), 200);
  assert.ok(gateway.failures.length >= 1);
  assert.deepEqual([...new Set(gateway.failures.map(({ kind }) => kind))], ['slow-client']);
});

it('a client whose body the broker does not read keeps its place, and other clients wait', async () => {
  const broker = await startRawBroker((socket) => {
    socket.pause();
    return false;
  });
  const gateway = await startGateway(broker.url, {
    // On a busy machine, the first client may make no progress for a while before all buffers are
    // full.
    slots: { whole: 1, uploads: 1, waitMs: 3000, idleMs: 1000 },
    brokerTimeoutMs: HOUR,
  });
  const size = 64 * 1024 * 1024;
  const client = await connect(gateway.port);
  client.send(UPLOAD.replace('100000', String(size)) + 'x'.repeat(size - 1));
  await arrived(broker, 1);
  const other = await connect(gateway.port);
  other.send(UPLOAD);
  assert.equal(statusOf(await other.until(/\}$/)), 503);
  assert.deepEqual(column(gateway.failures, 'kind'), ['busy']);
});

it('a client that has sent its body keeps its place until the broker answers, and other clients wait', async () => {
  const uploaded: Socket[] = [];
  const broker = await startRawBroker((socket, text) => {
    const isWhole = text.length >= text.indexOf('\r\n\r\n') + 4 + 100_000;
    if (isWhole) uploaded.push(socket);
    return isWhole;
  });
  const gateway = await startGateway(broker.url, {
    slots: { whole: 1, uploads: 1, waitMs: 300, idleMs: 10 },
    brokerTimeoutMs: HOUR,
  });
  const client = await connect(gateway.port);
  client.send(UPLOAD);
  await arrived(broker, 1);
  client.send(' '.repeat(99_999));
  while (uploaded.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const other = await connect(gateway.port);
  other.send(UPLOAD);
  while (gateway.failures.length === 0) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(column(gateway.failures, 'kind'), ['busy']);
  assert.equal(statusOf(await other.until(/\}$/)), 503);
  uploaded[0]?.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]');
  assert.equal(statusOf(await client.until(/\[\]$/)), 200);
});

it('a slow client keeps its place as long as no other request needs it', async () => {
  const broker = await startPatientBroker();
  const gateway = await startGateway(broker.url, {
    slots: { whole: 1, uploads: 1, waitMs: HOUR, idleMs: 1 },
  });
  const client = await connect(gateway.port);
  client.send(UPLOAD);
  await arrived(broker, 1);
  for (let n = 0; n < 20; n += 1) assert.equal(statusOf(await exchange(gateway.port, GET)), 200);
  client.send(' '.repeat(99_999));
  assert.equal(statusOf(await client.until(/\[\]$/)), 200);
});

describe('a client that stalls', { concurrency: true }, () => {
  const start = async () => {
    const broker = await startTestBroker();
    const gateway = await startTestGateway(
      { BROKER_URL: broker.url, SHUTDOWN_GRACE_MS: String(HOUR) },
      { minDataRate: { idleMs: SOON_MS } },
    );
    return { broker, gateway };
  };
  for (const line of [
    'POST /ngsi-ld/v1/entities',
    'POST /api/v2/domains',
    'POST /api/v2/workbench/jsonld/expand',
    'DELETE /ngsi-ld/v1/entities?type=T',
  ]) {
    for (const framing of ['Content-Length: 100', 'Transfer-Encoding: chunked'] as const) {
      // A purge refuses such a body as soon as it is announced.
      if (line.startsWith('DELETE') && framing.startsWith('Content')) continue;
      it(`a client that stalls in its body (${line}, ${framing}) is answered 408, and its connection is closed`, async () => {
        const { broker, gateway } = await start();
        const client = await connect(gateway.port);
        client.send(`${line} HTTP/1.1\r\nHost: g\r\nContent-Type: application/json\r\n${framing}\r\n\r\n`);
        const answer = await client.closed();
        assert.equal(statusOf(answer), 408);
        assert.equal(problemOf(answer).status, 408);
        await gateway.gateway.close();
        assert.equal(broker.entities.count(), 0);
        assert.deepEqual(
          gateway.log.lines.filter(({ level }) => level >= 40),
          [],
        );
      });
    }
  }

  for (const line of ['POST /ngsi-ld/v1/entities', 'POST /api/v2/domains', 'PUT /api/v2/contexts/c']) {
    for (const [framing, drop] of [
      ['Content-Length: 60000', ' '],
      ['Transfer-Encoding: chunked', '1\r\n \r\n'],
    ] as const) {
      it(`a client that sends its body in single bytes (${line}, ${framing}) is answered 408, and its connection is closed`, async () => {
        const { broker, gateway } = await start();
        const client = await connect(gateway.port);
        drip(
          client,
          `${line} HTTP/1.1\r\nHost: g\r\nContent-Type: application/json\r\n${framing}\r\n\r\n`,
          drop,
        );
        assert.equal(statusOf(await client.closed()), 408);
        await gateway.gateway.close();
        assert.equal(broker.entities.count(), 0);
      });
    }
  }

  for (const size of [10, 300_000]) {
    it(`a client that reads its answer too slowly is disconnected, after ${size} bytes of body`, async () => {
      const big = 'x'.repeat(64 * 1024 * 1024);
      const broker = await startRawBroker((socket, text) => {
        if (text.length < text.indexOf('\r\n\r\n') + 4 + size) return false;
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${big.length}\r\n\r\n${big}`);
        return true;
      });
      const gateway = await startTestGateway(
        { BROKER_URL: broker.url.href, SHUTDOWN_GRACE_MS: String(HOUR) },
        { minDataRate: { idleMs: SOON_MS, bytesPerSecond: 100 * 1024 * 1024 } },
      );
      const client = await connect(gateway.port);
      client.socket.pause();
      client.send(
        `POST /ngsi-ld/v1/entities HTTP/1.1\r\nHost: g\r\nContent-Length: ${size}\r\n\r\n${'x'.repeat(size)}`,
      );
      const timer = setInterval(() => void client.socket.read(16 * 1024), 5);
      // The close ends only after every request has ended.
      await gateway.gateway.close();
      clearInterval(timer);
      assert.ok(client.text().length < big.length);
    });
  }

  it('after a 408, the rest of the body has no effect', async () => {
    const { broker, gateway } = await start();
    broker.entities.seed(3, (n) => ({ id: `urn:ngsi-ld:T:${n}`, type: 'T' }));
    const json = 'Host: g\r\nContent-Type: application/json\r\n';
    for (const [begin, end] of [
      [`POST /api/v2/domains HTTP/1.1\r\n${json}Content-Length: 12\r\n\r\n{"name"`, ':"D"}'],
      [
        `DELETE /ngsi-ld/v1/entities?type=T HTTP/1.1\r\n${json}Transfer-Encoding: chunked\r\n\r\n`,
        '0\r\n\r\n',
      ],
    ] as const) {
      const client = await connect(gateway.port);
      client.send(begin);
      assert.equal(statusOf(await client.until(/\}$/)), 408);
      client.send(end);
      await client.closed();
    }
    assert.equal((await gateway.send('GET', '/api/v2/domains/D')).status, 404);
    await gateway.gateway.close();
    assert.equal(broker.entities.count(), 3);
  });

  it('a client that stops reading a large answer is disconnected', async () => {
    const big = 'x'.repeat(64 * 1024 * 1024);
    const broker = await startFixedBroker(`HTTP/1.1 200 OK\r\nContent-Length: ${big.length}\r\n\r\n${big}`);
    const gateway = await startTestGateway(
      { BROKER_URL: broker.url.href, SHUTDOWN_GRACE_MS: String(HOUR) },
      { minDataRate: { idleMs: SOON_MS } },
    );
    const client = await connect(gateway.port);
    client.send(GET);
    await client.until(/^HTTP\/1\.1 200/);
    client.socket.pause();
    // The close ends only after every request has ended.
    await gateway.gateway.close();
  });

  it('a client that never sends a first request is disconnected', async () => {
    const { gateway } = await start();
    assert.equal(await (await connect(gateway.port)).closed(), '');
  });

  it('a client that waits for a slow answer is not disconnected, however long it takes', async () => {
    let answer = () => {};
    const broker = await startRawBroker((socket) => {
      answer = () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]');
      return true;
    });
    const gateway = await startTestGateway(
      { BROKER_URL: broker.url.href },
      { minDataRate: { idleMs: SOON_MS } },
    );
    const waiting = await connect(gateway.port);
    waiting.send(GET);
    await arrived(broker, 1);
    // A connection that has been idle since a later time has been closed by then.
    await (await connect(gateway.port)).closed();
    answer();
    assert.equal(statusOf(await waiting.closed()), 200);
  });
});

it('a client that follows a purge without events is not disconnected, however long it takes', async () => {
  const broker = await startRawBroker(() => true);
  const gateway = await startTestGateway(
    { BROKER_URL: broker.url.href, SHUTDOWN_GRACE_MS: '0' },
    { minDataRate: { idleMs: SOON_MS, bytesPerSecond: 100 * 1024 * 1024 } },
  );
  const started = await gateway.sendJson('POST', '/api/v2/purges', { target: 'entities', query: 'type=T' });
  const { id } = started.json() as { id: string };
  const watcher = await connect(gateway.port);
  watcher.send(`GET /api/v2/purges/${id}/events HTTP/1.1\r\nHost: g\r\n\r\n`);
  await watcher.until(/data: /);
  for (let count = 0; count < 3; count += 1) await (await connect(gateway.port)).closed();
  await gateway.send('POST', `/api/v2/purges/${id}/cancel`);
  await watcher.until(/"state":"cancel/);
});

describe('a broker that stalls', { concurrency: true }, () => {
  const tooSlow = async (begin: string, repeat: string | undefined) => {
    const broker = await startRawBroker((socket) => {
      socket.write(begin);
      if (repeat === undefined) return true;
      const timer = setInterval(() => socket.write(repeat), 5);
      socket.once('close', () => clearInterval(timer));
      return true;
    });
    const gateway = await startGateway(broker.url, { brokerTimeoutMs: SOON_MS });
    const client = await connect(gateway.port);
    client.send(GET);
    const answer = await client.closed();
    assert.deepEqual(column(gateway.failures, 'kind'), ['timeout']);
    return answer;
  };
  const hints = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n';

  it('a broker that sends interim answers forever is 504', async () => {
    const answer = await tooSlow(hints, hints);
    assert.equal(statusOf(answer), 504);
    assert.match(problemOf(answer).type, /broker-timeout$/);
  });

  it('a broker that stops after one interim answer is 504', async () => {
    assert.equal(statusOf(await tooSlow(hints, undefined)), 504);
  });

  it('a broker whose head never ends is 504', async () => {
    assert.equal(statusOf(await tooSlow('HTTP/1.1 200 OK\r\nX-A: ', 'a')), 504);
  });

  it('a broker that stops in the middle of a body breaks the client’s connection, so a partial answer never looks complete', async () => {
    const answer = await tooSlow('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n[', undefined);
    assert.match(answer, /^HTTP\/1\.1 200 [^]*\r\n\r\n\[$/);
  });
});
