import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { after, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  bodyOf,
  closeAll,
  closeLater,
  connect,
  exchange,
  problemOf,
  request,
  startGateway,
  startRawBroker,
  statusOf,
} from './pass-through-wire.js';
import { listening } from '../support/listening.js';
import { untilTrue } from '../support/waiting.js';
import { isThorough } from '../support/thoroughness.js';

after(closeAll);

const MB = 1024 * 1024;
const TOTAL = 50 * MB;
const BLOCK = Buffer.alloc(MB / 4, 'x');

/** Writes `bytes` bytes at the pace of the reader. */
async function pour(bytes: number, sink: NodeJS.WritableStream): Promise<void> {
  for (let sent = 0; sent < bytes; sent += BLOCK.length) {
    if (!sink.write(BLOCK)) await once(sink, 'drain');
  }
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Runs `work` and returns the peak growth of memory during it, in bytes. */
async function memoryGrowth(work: () => Promise<void>): Promise<number> {
  const held = () => {
    collectGarbage(); // finds free memory
    collectGarbage(); // waits until the memory of freed buffers has been returned
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = held();
  let most = before;
  let isRunning = true;
  let turns = 0;
  const sample = () => {
    if (turns % 250 === 0) most = Math.max(most, held());
    turns += 1;
    if (isRunning) setImmediate(sample);
  };
  sample();
  await work();
  isRunning = false;
  return most - before;
}

async function startBroker(handler: http.RequestListener) {
  const { url, close } = await listening(http.createServer(handler));
  closeLater(close);
  return { url: new URL(url) };
}

const FRAMINGS = isThorough ? (['Content-Length', 'chunked'] as const) : (['chunked'] as const);

for (const framing of FRAMINGS) {
  it(`an upload of 50 MB (${framing}) streams in little memory`, async () => {
    const broker = await startBroker((req, res) => {
      let received = 0;
      req.on('data', (chunk: Buffer) => (received += chunk.length));
      req.on('end', () => res.end(String(received)));
    });
    const gateway = await startGateway(broker.url);
    const growth = await memoryGrowth(async () => {
      const upload = http.request({
        port: gateway.port,
        method: 'POST',
        path: '/ngsi-ld/v1/entityOperations/create',
        headers: framing === 'chunked' ? {} : { 'Content-Length': TOTAL },
      });
      await pour(TOTAL, upload);
      upload.end();
      const [res] = (await once(upload, 'response')) as [http.IncomingMessage];
      assert.equal((await res.setEncoding('utf8').toArray()).join(''), String(TOTAL));
    });
    assert.ok(growth < 20 * MB, `${Math.round(growth / MB)} MB`);
  });

  it(`a download of 50 MB (${framing}) streams in little memory`, async () => {
    const broker = await startBroker((_req, res) => {
      if (framing === 'Content-Length') res.setHeader('Content-Length', TOTAL);
      void pour(TOTAL, res).then(() => res.end());
    });
    const gateway = await startGateway(broker.url);
    const growth = await memoryGrowth(async () => {
      const download = http.get({ port: gateway.port, path: '/ngsi-ld/v1/entities' });
      const [res] = (await once(download, 'response')) as [http.IncomingMessage];
      let received = 0;
      for await (const chunk of res) received += (chunk as Buffer).length;
      assert.equal(received, TOTAL);
    });
    assert.ok(growth < 20 * MB, `${Math.round(growth / MB)} MB`);
  });
}

/**
 * Resolves when the number of bytes that a socket has taken stays the same over many turns of the
 * event loop.
 */
async function stalled(socket: net.Socket): Promise<number> {
  let last = -1;
  for (let calm = 0; calm < 500; calm += 1) {
    await new Promise(setImmediate);
    if (socket.bytesWritten !== last) calm = 0;
    last = socket.bytesWritten;
  }
  return last - socket.writableLength;
}

it('if a client stops reading, the broker has to stop sending', async () => {
  let serving: http.ServerResponse | undefined;
  const broker = await startBroker((_req, res) => {
    serving = res;
    res.setHeader('Content-Length', TOTAL);
    void pour(TOTAL, res).catch(() => undefined);
  });
  const gateway = await startGateway(broker.url);
  const client = net.connect(gateway.port, '127.0.0.1').pause();
  client.write(request('GET /ngsi-ld/v1/entities'));
  while (!serving?.socket) await new Promise(setImmediate);
  const sent = await stalled(serving.socket);
  assert.ok(sent < 40 * MB, `the broker got rid of ${Math.round(sent / MB)} MB`);
  client.destroy();
});

it('if a broker stops reading, the client has to stop sending', async () => {
  const broker = await startRawBroker((socket) => {
    socket.pause();
    return true;
  });
  const gateway = await startGateway(broker.url);
  const upload = http.request({ port: gateway.port, method: 'POST', path: '/ngsi-ld/v1/x' });
  upload.on('error', () => undefined);
  void pour(TOTAL, upload).catch(() => undefined);
  const [socket] = (await once(upload, 'socket')) as [net.Socket];
  const sent = await stalled(socket);
  assert.ok(sent < 40 * MB, `the client got rid of ${Math.round(sent / MB)} MB`);
  upload.destroy();
});

it('the head and every piece of an answer are forwarded as soon as they arrive', async () => {
  let answering: net.Socket | undefined;
  const broker = await startRawBroker((socket) => {
    answering = socket;
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    return true;
  });
  const gateway = await startGateway(broker.url);
  const client = await connect(gateway.port);
  client.send(request('GET /ngsi-ld/v1/x'));
  await client.until(/\r\n\r\n$/);
  answering?.write('3\r\none\r\n');
  await client.until(/one\r\n$/);
  answering?.write('3\r\ntwo\r\n0\r\n\r\n');
  assert.match(await client.closed(), /two\r\n0\r\n\r\n$/);
});

it('the head of an answer with Content-Length is forwarded before its body arrives', async () => {
  let answering: net.Socket | undefined;
  const broker = await startRawBroker((socket) => {
    answering = socket;
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n');
    return true;
  });
  const gateway = await startGateway(broker.url);
  const client = await connect(gateway.port);
  client.send(request('GET /ngsi-ld/v1/x'));
  await client.until(/\r\n\r\n$/);
  answering?.write('one');
  assert.equal(bodyOf(await client.closed()), 'one');
});

it('a body that arrives in pieces after its head reaches the broker piece by piece', async () => {
  const broker = await startRawBroker((socket, text) => {
    if (bodyOf(text) !== 'onetwo') return false;
    socket.write('HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n');
    return true;
  });
  const gateway = await startGateway(broker.url);
  const client = await connect(gateway.port);
  client.send(request('POST /ngsi-ld/v1/x', ['Content-Length: 6']));
  await untilTrue(() => gateway.inFlight() === 1);
  client.send('one');
  await untilTrue(() => broker.received.join('').endsWith('one'));
  client.send('two');
  assert.equal(statusOf(await client.closed()), 201);
  assert.match(broker.received[0] ?? '', /\r\ncontent-length: 6\r\n/i);
});

const expecting = request('POST /ngsi-ld/v1/x', ['Expect: 100-continue', 'Content-Length: 3']);

it('100-continue is answered once the broker is connected; the broker never sees Expect', async () => {
  const broker = await startRawBroker((socket, text) => {
    if (bodyOf(text) !== 'abc') return false;
    socket.write('HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n');
    return true;
  });
  const gateway = await startGateway(broker.url);
  const client = await connect(gateway.port);
  client.send(expecting);
  await client.until(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
  client.send('abc');
  assert.match(await client.closed(), /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 Created\r\n/);
  assert.doesNotMatch(broker.received.join(''), /expect/i);
});

it('a request with 100-continue is answered with 502 if the broker is unreachable, and its body is never requested', async () => {
  const gone = await startRawBroker(() => true);
  await gone.close();
  const gateway = await startGateway(gone.url);
  const answer = await exchange(gateway.port, expecting.replace('Connection: close\r\n', ''));
  assert.equal(statusOf(answer), 502);
  assert.equal(problemOf(answer).status, 502);
  assert.match(answer, /\r\nConnection: close\r\n/);
});

it('a request with 100-continue but without a body is answered at once', async () => {
  const broker = await startRawBroker((socket) => {
    socket.write('HTTP/1.1 204 No Content\r\n\r\n');
    return true;
  });
  const gateway = await startGateway(broker.url);
  const text = request('DELETE /ngsi-ld/v1/entities/urn:x', ['Expect: 100-continue']);
  assert.equal(statusOf(await exchange(gateway.port, text)), 204);
});
