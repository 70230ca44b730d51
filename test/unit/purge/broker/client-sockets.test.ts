import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { it, type TestContext } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import {
  createBrokerClient,
  BrokerTimeoutError,
  BrokerUnreachableError,
  ReplyTooLargeError,
} from '../../../../sidecar/purge/broker/index.js';
import { listening } from '../../../support/listening.js';

const LIST = { method: 'GET', path: '/entities?type=Car' } as const;

async function serve(t: TestContext, listener: RequestListener): Promise<{ server: Server; url: URL }> {
  const server = createServer(listener);
  const { url, close } = await listening(server);
  t.after(close);
  return { server, url: new URL(url) };
}

function clientOf(
  t: TestContext,
  brokerUrl: URL,
  options: { timeoutMs?: number; replyMaxBytes?: number } = {},
) {
  const client = createBrokerClient({ brokerUrl, timeoutMs: 60_000, ...options });
  t.after(() => client.close());
  return client;
}

it('broker client on real sockets times out if the body stalls after its first bytes', async (t) => {
  const { url } = await serve(t, (_request, response) => response.write('['));
  const sent = clientOf(t, url, { timeoutMs: 400 }).send(LIST);
  await assert.rejects(sent, (error: unknown) => error instanceof BrokerTimeoutError && error.wasSent);
});

it('broker client on real sockets reports a connection that breaks in the middle of an answer as unreachable', async (t) => {
  const { url } = await serve(t, (request, response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('[', () => request.socket.destroy());
  });
  await assert.rejects(clientOf(t, url).send(LIST), (error: unknown) => {
    assert.ok(error instanceof BrokerUnreachableError);
    assert.equal(error.message, `The broker at ${url.href} could not be reached: connection broken.`);
    assert.equal(error.wasSent, true);
    return true;
  });
});

it('broker client on real sockets stops reading an endless answer at the maximum size', async (t) => {
  const { url } = await serve(t, (_request, response) => {
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
    };
    response.on('drain', more);
    more();
  });
  await assert.rejects(clientOf(t, url, { replyMaxBytes: 1_000_000 }).send(LIST), ReplyTooLargeError);
});

it('broker client on real sockets decodes a character that is split between two chunks', async (t) => {
  const { url } = await serve(t, (_request, response) => {
    const bytes = Buffer.from('"ü"');
    response.write(bytes.subarray(0, 2));
    setImmediate(() => response.end(bytes.subarray(2)));
  });
  assert.equal((await clientOf(t, url).send(LIST)).body, '"ü"');
});

it('broker client on real sockets reads answers that are compressed although it asks for none, errors too', async (t) => {
  const body = JSON.stringify([{ id: 'urn:a:1' }]);
  for (const [coding, bytes] of [
    ['gzip', gzipSync(body)],
    ['br', brotliCompressSync(body)],
    ['deflate, GZIP', gzipSync(deflateSync(body))],
  ] as const)
    for (const status of [200, 400]) {
      const { url } = await serve(t, (request, response) => {
        assert.equal(request.headers['accept-encoding'], 'identity');
        response.writeHead(status, { 'content-encoding': coding }).end(bytes);
      });
      const reply = await clientOf(t, url).send(LIST);
      assert.deepEqual([reply.status, reply.body, reply.isDamaged], [status, body, false]);
    }
});

it('broker client on real sockets limits the size of a compressed answer as it is unpacked', async (t) => {
  const { url } = await serve(t, (_request, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(2_000_000, ' '))),
  );
  await assert.rejects(clientOf(t, url, { replyMaxBytes: 1_000_000 }).send(LIST), ReplyTooLargeError);
});

it('broker client on real sockets does not take a part of a compressed answer for the whole', async (t) => {
  const { url } = await serve(t, (_request, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('[] '.repeat(1000)).subarray(0, -9)),
  );
  await assert.rejects(clientOf(t, url).send(LIST), BrokerUnreachableError);
});

it('broker client on real sockets leaves no connection open after it is closed, and sends nothing more', async (t) => {
  const { server, url } = await serve(t, (_request, response) => response.end('[]'));
  const client = clientOf(t, url);
  const [[socket]] = (await Promise.all([once(server, 'connection'), client.send(LIST)])) as [
    [Socket],
    unknown,
  ];
  assert.equal(socket.destroyed, false);
  const closed = once(socket, 'close');
  await client.close();
  await assert.rejects(client.send(LIST), BrokerUnreachableError);
  await closed;
});

it('broker client on real sockets has 150 requests in flight at the same time', async (t) => {
  const waiting: ServerResponse[] = [];
  const { url } = await serve(t, (_request, response) => {
    waiting.push(response);
    if (waiting.length === 150) for (const each of waiting) each.end('[]');
  });
  const client = clientOf(t, url);
  await Promise.all(Array.from({ length: 150 }, () => client.send(LIST)));
});
