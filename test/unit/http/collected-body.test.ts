import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { it, type TestContext } from 'node:test';
import { BodyMemory, collectBody, type CollectedBody } from '../../../sidecar/http/collected-body.js';
import { PacedRequest } from '../../../sidecar/http/request-pipeline.js';
import { yieldToEventLoop } from '../../../sidecar/shared/event-loop.js';
import { listening } from '../../support/listening.js';

const HEAD = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';

/** Starts a server that collects bodies; returns a function that opens a connection to it. */
async function collecting(t: TestContext, limit: number, memory: BodyMemory) {
  const bodies: PromiseWithResolvers<CollectedBody>[] = [];
  let answered = 0;
  const bodyAt = (index: number) => (bodies[index] ??= Promise.withResolvers<CollectedBody>());
  const server = createServer({ IncomingMessage: PacedRequest }, (req, res) => {
    const { resolve } = bodyAt(answered);
    answered += 1;
    void collectBody(req, limit, memory).then((body) => {
      resolve(body);
      res.end();
    });
  });
  const { port, close } = await listening(server);
  t.after(close);
  return {
    open: (): Socket => connect(port, '127.0.0.1').on('error', () => undefined),
    body: (index: number) => bodyAt(index).promise,
  };
}

it('a small body that arrives with its head is complete before it is handed over', async (t) => {
  const collected = Promise.withResolvers<boolean>();
  const server = createServer({ IncomingMessage: PacedRequest }, (req, res) => {
    void collectBody(req, 1000, new BodyMemory(1000)).then(() => {
      collected.resolve(req.complete);
      res.end();
    });
  });
  const { port, close } = await listening(server);
  t.after(close);
  connect(port, '127.0.0.1').write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc');
  // Otherwise its answer would be sent as one during the upload, without the hint that the connection stays open.
  assert.equal(await collected.promise, true);
});

it('bodies that are arriving share a memory, which those get back that break off', async (t) => {
  const memory = new BodyMemory(1500);
  const { open, body } = await collecting(t, 1000, memory);
  const piece = `${(900).toString(16)}\r\n${'x'.repeat(900)}\r\n`;
  const first = open();
  first.write(HEAD + piece);
  const second = open();
  second.write(HEAD + piece);
  const refused = await Promise.race([body(0), body(1)]);
  assert.ok(typeof refused === 'object' && !refused.isWhole);
  assert.equal(refused.why, 'busy');
  memory.release(refused.bytes.length);
  first.destroy();
  second.destroy();
  assert.equal(await Promise.all([body(0), body(1)]).then((all) => all.includes('gone')), true);
  open().write(`${HEAD}${piece}0\r\n\r\n`);
  const whole = await body(2);
  assert.ok(typeof whole === 'object' && whole.isWhole);
  assert.equal(whole.bytes.length, 900);
});

it('a body whose client disconnects before or while it is read takes no memory', async (t) => {
  for (const isBefore of [true, false]) {
    const memory = new BodyMemory(3);
    const collected = Promise.withResolvers<unknown>();
    const server = createServer((req) => {
      const collect = () => collectBody(req, 3, memory);
      if (isBefore) {
        req.once('close', () => collected.resolve(Promise.race([collect(), yieldToEventLoop()])));
        req.destroy();
      } else {
        collected.resolve(collect());
        process.nextTick(() => req.destroy());
      }
    });
    const { port, close } = await listening(server);
    t.after(close);
    const client = connect(port, '127.0.0.1').on('error', () => undefined);
    client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc');
    assert.equal(await collected.promise, 'gone');
    assert.equal(memory.reserve(3), true);
  }
});

it('what follows the part of a large body that was read is kept for its next reader', async (t) => {
  const collected = Promise.withResolvers<readonly [CollectedBody, IncomingMessage]>();
  const server = createServer({ IncomingMessage: PacedRequest }, (req) => {
    void collectBody(req, 1000, new BodyMemory(10_000)).then((body) => collected.resolve([body, req]));
  });
  const { port, close } = await listening(server);
  t.after(close);
  const client = connect(port, '127.0.0.1').on('error', () => undefined);
  const first = `${HEAD}${(1001).toString(16)}\r\n${'x'.repeat(1001)}\r\n`;
  const rest = '3\r\nabc\r\n0\r\n\r\n';
  client.write(first);
  const [body, req] = await collected.promise;
  assert.ok(typeof body === 'object' && !body.isWhole && body.why === 'large');
  client.write(rest);
  while (req.socket.bytesRead < first.length + rest.length) await yieldToEventLoop();
  assert.equal(String(body.bytes) + (await text(req)), `${'x'.repeat(1001)}abc`);
});
