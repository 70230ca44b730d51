import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { it, type TestContext } from 'node:test';
import { closeIdleClients } from '../../../sidecar/http/idle-clients.js';
import type { RequestPipeline } from '../../../sidecar/http/request-pipeline.js';
import { yieldToEventLoop } from '../../../sidecar/shared/event-loop.js';

const PACE = { idleMs: 8000, bytesPerSecond: 1000 };
/** Time between two checks. */
const LOOK_MS = 1000;

/** A server with one client in the middle of its upload, on a clock that only the test moves. */
function serverOf(t: TestContext) {
  let nowMs = 0;
  t.mock.timers.enable({ apis: ['setInterval'] });
  t.mock.method(performance, 'now', () => nowMs);
  const told: string[] = [];
  const req = Object.assign(new EventEmitter(), {
    complete: false,
    readableLength: 0,
    isPaused: () => false,
  });
  req.on('timeout', () => told.push('too slow'));
  const answer = { req } as unknown as ServerResponse;
  const pipeline: Pick<RequestPipeline, 'currentResponse'> = { currentResponse: () => answer };
  const server = new EventEmitter();
  closeIdleClients(server as unknown as Server, pipeline as RequestPipeline, PACE);
  t.after(() => server.emit('close'));
  const socket = Object.assign(new EventEmitter(), { writableLength: 0, bytesRead: 0, bytesWritten: 0 });
  server.emit('connection', socket);
  return {
    told,
    /** Lets time pass in which the event loop did nothing, followed by one check. */
    stall: async (ms: number) => {
      nowMs += ms;
      t.mock.timers.tick(LOOK_MS);
      await yieldToEventLoop();
      await yieldToEventLoop();
    },
  };
}

it('a client that sends nothing for the whole idle time is refused as too slow', async (t) => {
  const { told, stall } = serverOf(t);
  // The first check finds out that the client has to send.
  for (let look = 1; look <= 9; look += 1) await stall(LOOK_MS);
  assert.deepEqual(told, []);
  await stall(LOOK_MS);
  assert.deepEqual(told, ['too slow']);
});

it('time in which the gateway itself was busy does not count against a client', async (t) => {
  const { told, stall } = serverOf(t);
  await stall(LOOK_MS);
  for (let look = 1; look <= 4; look += 1) await stall(60_000);
  assert.deepEqual(told, []);
  await stall(LOOK_MS);
  assert.deepEqual(told, ['too slow']);
});

/** A connection in the middle of an answer, on a clock that only the test moves. */
function connectionOf(t: TestContext, { isRead = true } = {}) {
  let nowMs = 0;
  t.mock.timers.enable({ apis: ['setInterval'] });
  t.mock.method(performance, 'now', () => nowMs);
  const told: string[] = [];
  const socket = Object.assign(new EventEmitter(), {
    writableLength: 0,
    bytesRead: 0,
    bytesWritten: 0,
    destroy: () => told.push('destroyed'),
  });
  const answerOf = () => {
    const req = Object.assign(new EventEmitter(), { complete: false, readableLength: 0, paused: false });
    if (isRead) req.on('error', (error: Error) => told.push(error.constructor.name));
    return { req: Object.assign(req, { isPaused: () => req.paused }), headersSent: false };
  };
  const on: { answer: ReturnType<typeof answerOf> | undefined } = { answer: answerOf() };
  const server = Object.assign(new EventEmitter(), { timeout: 0 });
  const pipeline: Pick<RequestPipeline, 'currentResponse'> = {
    currentResponse: () => on.answer as unknown as ServerResponse,
  };
  closeIdleClients(server as unknown as Server, pipeline as RequestPipeline, PACE);
  t.after(() => server.emit('close'));
  server.emit('connection', socket);
  return {
    server,
    socket,
    told,
    on,
    answerOf,
    /** Runs this many checks, with a callback before each. */
    look: async (times: number, before: () => void = () => undefined) => {
      for (let look = 1; look <= times; look += 1) {
        before();
        nowMs += LOOK_MS;
        t.mock.timers.tick(LOOK_MS);
        await yieldToEventLoop();
        await yieldToEventLoop();
      }
    },
  };
}

it('a client that keeps the minimum pace is never refused', async (t) => {
  const { told, look, socket } = connectionOf(t);
  await look(50, () => (socket.bytesRead += 1000));
  assert.deepEqual(told, []);
});

it('a client below the minimum pace is refused once it is too far behind', async (t) => {
  const { told, look, socket } = connectionOf(t);
  // Half a second further behind with each check.
  await look(17, () => (socket.bytesRead += 500));
  assert.deepEqual(told, []);
  await look(1, () => (socket.bytesRead += 500));
  assert.deepEqual(told, ['RequestRefusedError']);
});

it('a slow client loses its connection if its body is not being read or its answer has started', async (t) => {
  const unread = connectionOf(t, { isRead: false });
  await unread.look(10);
  assert.deepEqual(unread.told, ['destroyed']);
  t.mock.reset();
  const begun = connectionOf(t);
  if (begun.on.answer !== undefined) begun.on.answer.headersSent = true;
  await begun.look(10);
  assert.deepEqual(begun.told, ['destroyed']);
});

it('a client is not too slow while its body waits to be read, or while its answer is being made', async (t) => {
  const { told, look, on } = connectionOf(t);
  const { req } = on.answer ?? assert.fail();
  req.paused = true;
  await look(20);
  req.paused = false;
  req.readableLength = 1;
  await look(20);
  req.readableLength = 0;
  req.complete = true;
  await look(20);
  on.answer = undefined;
  await look(20);
  assert.deepEqual(told, []);
});

it('the idle time of a client starts again with its next request', async (t) => {
  const { told, look, on, answerOf } = connectionOf(t);
  await look(8);
  on.answer = answerOf();
  await look(9);
  assert.deepEqual(told, []);
  await look(1);
  assert.deepEqual(told, ['RequestRefusedError']);
});

/** Five thousand bytes of an answer are due: five seconds at the minimum pace, plus the idle time. */
async function assertHasTimeForAnswer({ told, look, socket, on }: ReturnType<typeof connectionOf>) {
  (on.answer ?? assert.fail()).req.complete = true;
  [socket.bytesWritten, socket.writableLength] = [5000, 5000];
  await look(14);
  assert.deepEqual(told, []);
  await look(1);
  assert.deepEqual(told, ['destroyed']);
}

it('a client may take as long to read its answer as the minimum pace requires, plus the idle time', async (t) => {
  await assertHasTimeForAnswer(connectionOf(t));
});

it('the time to read an answer does not depend on the bytes that the client sent before', async (t) => {
  const connection = connectionOf(t);
  const { look, socket } = connection;
  await look(3, () => (socket.bytesRead += 100_000_000));
  await assertHasTimeForAnswer(connection);
});

it('bytes that the gateway adds to an answer do not count as read by its client', async (t) => {
  const { told, look, socket, on } = connectionOf(t);
  (on.answer ?? assert.fail()).req.complete = true;
  const add = () => {
    socket.bytesWritten += 500;
    socket.writableLength += 500;
  };
  await look(16, add);
  assert.deepEqual(told, []);
  await look(3, add);
  assert.deepEqual(told[0], 'destroyed');
});

it('a closed connection is no longer watched, and neither are those of a closed server', async (t) => {
  const one = connectionOf(t);
  await one.look(5);
  one.socket.emit('close');
  await one.look(20);
  assert.deepEqual(one.told, []);
  t.mock.reset();
  const other = connectionOf(t);
  await other.look(5);
  other.server.emit('close');
  await other.look(20);
  assert.deepEqual(other.told, []);
});

it('a connection that times out is closed only if the client has to continue', (t) => {
  const { server, socket, told, on, answerOf } = connectionOf(t);
  assert.equal(server.timeout, PACE.idleMs);
  const standstill = () => {
    server.emit('timeout', socket);
    return told.splice(0);
  };
  // Its body does not arrive.
  assert.deepEqual(standstill(), ['RequestRefusedError']);
  // node:http has told the reader of the body.
  on.answer?.req.on('timeout', () => undefined);
  assert.deepEqual(standstill(), []);
  // The client waits for its answer.
  on.answer = answerOf();
  on.answer.req.complete = true;
  assert.deepEqual(standstill(), []);
  // The client does not read its answer.
  socket.writableLength = 1;
  assert.deepEqual(standstill(), ['destroyed']);
  // The client sends no request.
  on.answer = undefined;
  assert.deepEqual(standstill(), ['destroyed']);
});
