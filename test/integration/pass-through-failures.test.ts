import assert from 'node:assert/strict';
import { once } from 'node:events';
import type net from 'node:net';
import { after, it } from 'node:test';
import { Agent, Pool } from 'undici';
import { createPassThrough } from '../../sidecar/http/pass-through.js';
import {
  bodyOf,
  closeAll,
  connect,
  exchange,
  problemOf,
  request,
  startFixedBroker,
  startGateway,
  startRawBroker,
  statusOf,
  type Gateway,
  type RawBroker,
} from './pass-through-wire.js';
import { column } from '../support/columns.js';
import { freePort } from '../support/free-port.js';
import { untilTrue } from '../support/waiting.js';

after(closeAll);

const GET = request('GET /ngsi-ld/v1/entities?type=T');

async function using(
  broker: Promise<RawBroker>,
  options: Parameters<typeof startGateway>[1],
  run: (gateway: Gateway, broker: RawBroker) => Promise<void>,
): Promise<void> {
  const started = await broker;
  const gateway = await startGateway(started.url, options);
  await run(gateway, started);
  await untilTrue(() => gateway.inFlight() === 0);
}

it('an unreachable broker is 502 problem+json with the tenant, logged once', async () => {
  const gateway = await startGateway(new URL(`http://127.0.0.1:${await freePort()}`));
  const answer = await exchange(
    gateway.port,
    request('GET /ngsi-ld/v1/entities/urn:%41?x=secret', ['NGSILD-Tenant: t1']),
  );
  assert.equal(statusOf(answer), 502);
  assert.match(answer, /\r\nContent-Type: application\/problem\+json\r\n/);
  assert.match(answer, /\r\nNGSILD-Tenant: t1\r\n/);
  const problem = problemOf(answer);
  assert.deepEqual(
    [problem.type, problem.status, problem.instance],
    ['urn:ngsi-ld-gateway:problem:broker-unreachable', 502, '/ngsi-ld/v1/entities/urn:%41'],
  );
  assert.doesNotMatch(answer, /127\.0\.0\.1|ECONNREFUSED/);
  const [{ reqId, ...failure } = assert.fail('no failure was reported'), ...others] = gateway.failures;
  assert.deepEqual(
    [failure, others],
    [{ method: 'GET', path: '/ngsi-ld/v1/entities/urn:%41', kind: 'unreachable', status: 502 }, []],
  );
  assert.match(reqId, /\S{8}/);
});

it('HEAD with an unreachable broker is answered with only the head of the problem', async () => {
  const gateway = await startGateway(new URL(`http://127.0.0.1:${await freePort()}`));
  const answer = await exchange(gateway.port, request('HEAD /ngsi-ld/v1/entities'));
  assert.equal(statusOf(answer), 502);
  assert.equal(bodyOf(answer), '');
});

it('a silent broker is 504 problem+json, and its connection is closed', async () => {
  await using(
    startRawBroker(() => true),
    { brokerTimeoutMs: 20 },
    async (gateway, broker) => {
      const answer = await exchange(gateway.port, GET);
      assert.equal(statusOf(answer), 504);
      assert.equal(problemOf(answer).type, 'urn:ngsi-ld-gateway:problem:broker-timeout');
      await untilTrue(() => broker.sockets.every((socket) => socket.destroyed));
      assert.deepEqual(column(gateway.failures, 'kind'), ['timeout']);
    },
  );
});

it('a broker that closes before it answers is 502, and a DELETE is not retried', async () => {
  const broker = startRawBroker((socket) => {
    socket.destroy();
    return true;
  });
  await using(broker, {}, async (gateway, { received }) => {
    assert.equal(statusOf(await exchange(gateway.port, request('DELETE /ngsi-ld/v1/entities/urn:x'))), 502);
    assert.equal(received.length, 1);
  });
});

it('a query whose kept-alive connection breaks is sent once more, but no request that may change something', async () => {
  const second = async (line: string) => {
    // The broker closes the connection after the second request was sent.
    const broker = startRawBroker((socket, text) => {
      if (socket.bytesRead > text.length) socket.destroy();
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      return true;
    });
    let outcome: unknown;
    await using(broker, {}, async (gateway, { received }) => {
      await exchange(gateway.port, GET);
      const status = statusOf(await exchange(gateway.port, request(line)));
      outcome = [status, received.join('').split(line).length - 1];
    });
    return outcome;
  };
  for (const method of ['GET', 'HEAD', 'OPTIONS'])
    assert.deepEqual(await second(`${method} /ngsi-ld/v1/types`), [200, 2], method);
  for (const method of ['POST', 'PATCH', 'PUT', 'DELETE'])
    assert.deepEqual(await second(`${method} /ngsi-ld/v1/entities/urn:x`), [502, 1], method);
});

it('a query that breaks every connection is sent twice, and then answered with 502', async () => {
  const broker = startRawBroker((socket) => {
    socket.destroy();
    return true;
  });
  await using(broker, {}, async (gateway, { received }) => {
    assert.equal(statusOf(await exchange(gateway.port, GET)), 502);
    assert.equal(received.length, 2);
  });
});

it('a query whose connection the broker closes after a while is not sent again', async () => {
  const broker = startRawBroker((socket) => {
    setTimeout(() => socket.destroy(), 1100);
    return true;
  });
  await using(broker, {}, async (gateway, { received }) => {
    assert.equal(statusOf(await exchange(gateway.port, GET)), 502);
    assert.equal(received.length, 1);
  });
});

it('a request through a closed dispatcher is 503', async () => {
  const dispatcher = new Agent();
  await dispatcher.close();
  const gateway = await startGateway(new URL('http://127.0.0.1:9'), { dispatcher });
  const answer = await exchange(gateway.port, GET);
  assert.equal(statusOf(answer), 503);
});

const framings = {
  'Content-Length': 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc',
  chunks: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n',
  'Content-Length on a closing connection':
    'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 100\r\n\r\nabc',
  'chunks on a closing connection':
    'HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n',
};
for (const [framing, answer] of Object.entries(framings)) {
  for (const ending of ['end', 'resetAndDestroy'] as const) {
    it(`an incomplete answer never looks complete (${framing}, ${ending})`, async () => {
      let broken: net.Socket | undefined;
      const broker = startRawBroker((socket) => {
        broken = socket;
        socket.write(answer);
        return true;
      });
      await using(broker, {}, async (gateway) => {
        const client = await connect(gateway.port);
        client.send('GET /ngsi-ld/v1/x HTTP/1.1\r\nHost: g\r\n\r\n');
        await client.until(/abc/);
        broken?.[ending]();
        const got = await client.closed();
        assert.doesNotMatch(got, /\r\n0\r\n\r\n/);
        assert.deepEqual(column(gateway.failures, 'status'), [undefined]);
      });
    });
  }
}

it('an incomplete answer ends with a connection reset for an HTTP/1.0 client, whose bodies end with the connection', async () => {
  let broken: net.Socket | undefined;
  const broker = startRawBroker((socket) => {
    broken = socket;
    socket.write(framings.chunks);
    return true;
  });
  await using(broker, {}, async (gateway) => {
    const client = await connect(gateway.port);
    const error = once(client.socket, 'error');
    client.send('GET /ngsi-ld/v1/x HTTP/1.0\r\n\r\n');
    await client.until(/abc/);
    broken?.destroy();
    assert.equal(((await error)[0] as NodeJS.ErrnoException).code, 'ECONNRESET');
  });
});

const closes = (broker: RawBroker) =>
  untilTrue(() => broker.sockets.length > 0 && broker.sockets.every((each) => each.destroyed));

it('if a client disconnects before the answer, its request ends without a failure', async () => {
  await using(
    startRawBroker(() => true),
    {},
    async (gateway, broker) => {
      const client = await connect(gateway.port);
      client.send(GET);
      await untilTrue(() => broker.received.length > 0 && broker.received[0] !== '');
      client.socket.destroy();
      await closes(broker);
      assert.deepEqual(gateway.failures, []);
    },
  );
});

it('if a client disconnects during a download, its request ends without a failure', async () => {
  const broker = startRawBroker((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\nabc');
    return true;
  });
  await using(broker, {}, async (gateway, started) => {
    const client = await connect(gateway.port);
    client.send(GET);
    await client.until(/abc/);
    client.socket.destroy();
    await closes(started);
    assert.deepEqual(gateway.failures, []);
  });
});

for (const framing of ['Content-Length: 1000', 'Transfer-Encoding: chunked']) {
  it(`if a client disconnects during an upload (${framing}), the broker never sees a complete body`, async () => {
    await using(
      startRawBroker(() => false),
      {},
      async (gateway, broker) => {
        const client = await connect(gateway.port);
        client.send(request('POST /ngsi-ld/v1/x', [framing], '3\r\nxyz\r\n'));
        await untilTrue(() => broker.received[0]?.includes('xyz') === true);
        client.socket.destroy();
        await closes(broker);
        assert.doesNotMatch(broker.received[0] ?? '', /0\r\n\r\n$/);
        assert.deepEqual(gateway.failures, []);
      },
    );
  });
}

it('a client that disconnects while its request waits for a connection sends nothing to the broker', async () => {
  const broker = await startRawBroker(() => true);
  const dispatcher = new Pool(broker.url.origin, { connections: 1 });
  const gateway = await startGateway(broker.url, { dispatcher });
  const first = await connect(gateway.port);
  first.send(request('GET /ngsi-ld/v1/first'));
  await untilTrue(() => broker.received[0]?.includes('first') === true);
  const second = await connect(gateway.port);
  second.send(request('DELETE /ngsi-ld/v1/entities/urn:second'));
  await untilTrue(() => gateway.inFlight() === 2);
  second.socket.destroy();
  await untilTrue(() => gateway.inFlight() === 1);
  broker.sockets[0]?.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
  assert.equal(statusOf(await first.closed()), 200);
  assert.equal(statusOf(await Promise.race([exchange(gateway.port, GET), answerNext(broker)])), 200);
  assert.doesNotMatch(broker.received.join(''), /second/);

  async function answerNext({ received, sockets }: RawBroker): Promise<never> {
    await untilTrue(() => received.some((text) => text.includes('type=T')));
    sockets.at(-1)?.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    return new Promise(() => undefined);
  }
});

const upload = (length: number, closes: boolean) =>
  `POST /ngsi-ld/v1/x HTTP/1.1\r\nHost: g\r\n${closes ? 'Connection: close\r\n' : ''}Content-Length: ${length}\r\n\r\n`;
const part = 'x'.repeat(65_536);

it('an early answer of the broker reaches the client, and the connection stays usable', async () => {
  const broker = startFixedBroker('HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig');
  await using(broker, {}, async (gateway) => {
    const client = await connect(gateway.port);
    client.send(upload(part.length * 20, false));
    client.send(part);
    assert.equal(statusOf(await client.until(/big$/)), 413);
    client.send(part.repeat(19));
    client.send(GET);
    assert.match(await client.closed(), /^[^]*big[^]*big$/);
    assert.deepEqual(gateway.failures, []);
  });
});

it('an early answer reaches a client that reads only after sending everything, on a closing connection', async () => {
  const broker = startFixedBroker('HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig');
  await using(broker, {}, async (gateway, { sockets }) => {
    const client = await connect(gateway.port);
    client.socket.pause();
    client.send(upload(part.length * 20, true));
    client.send(part);
    await untilTrue(() => sockets[0]?.destroyed === true);
    for (let sent = 1; sent < 20; sent += 1) {
      client.send(part);
      await new Promise(setImmediate);
    }
    client.socket.resume();
    assert.match(await client.closed(), /^HTTP\/1\.1 413 [^]*big$/);
  });
});

it('an early answer of the gateway itself reaches the client', async () => {
  const gateway = await startGateway(new URL(`http://127.0.0.1:${await freePort()}`));
  const client = await connect(gateway.port);
  client.send(upload(part.length * 20, true));
  client.send(part);
  assert.equal(statusOf(await client.until(/\}$/)), 502);
  client.send(part.repeat(19));
  assert.equal(problemOf(await client.closed()).status, 502);
});

it('after an early answer, the gateway does not read an upload without end', async () => {
  const gateway = await startGateway(new URL(`http://127.0.0.1:${await freePort()}`));
  const client = await connect(gateway.port);
  const { socket } = client;
  socket.setMaxListeners(0);
  client.send(upload(part.length * 10_000, false));
  client.send(part);
  await client.until(/\}$/);
  let parts = 1;
  for (; !socket.destroyed && parts < 2000; parts += 1) {
    if (!socket.write(part))
      await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => undefined);
  }
  assert.ok(parts < 1500, `${parts} parts of 64 kB were read`);
});

it('createPassThrough refuses a broker URL that is not a base URL', () => {
  for (const url of ['ftp://x/', 'http://u@x/', 'http://:p@x/', 'http://x/?a', 'http://x/#a']) {
    assert.throws(
      () =>
        createPassThrough({
          dispatcher: new Agent(),
          brokerUrl: new URL(url),
          viaName: 'g',
          strippedHeaders: [],
          brokerTimeoutMs: 1,
        }),
      TypeError,
      url,
    );
  }
});
