import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { it } from 'node:test';
import {
  endAfterUpload,
  hasBody,
  sendAfterUpload,
  UNREADABLE,
} from '../../../sidecar/http/lingering-close.js';

/** A request whose body is still arriving, and the state of its answer and its connection. */
function upload(shouldKeepAlive: boolean, idleMs?: number) {
  const body = new PassThrough();
  let isEnded = false;
  let isDestroyed = false;
  let noteEnd: () => void;
  let noteDestroyed: () => void;
  const ended = new Promise<void>((resolve) => (noteEnd = resolve));
  const destroyed = new Promise<void>((resolve) => (noteDestroyed = resolve));
  const destroy = () => {
    isDestroyed = true;
    noteDestroyed();
  };
  const socket = { destroy, destroySoon: destroy };
  const req = Object.assign(body, { headers: { 'content-length': '99' }, complete: false, socket });
  const end = () => {
    isEnded = true;
    noteEnd();
  };
  endAfterUpload(
    req as unknown as IncomingMessage,
    { shouldKeepAlive, end } as unknown as ServerResponse,
    idleMs,
  );
  return { body, ended, destroyed, isEnded: () => isEnded, isDestroyed: () => isDestroyed };
}

it('an answer on a closing connection ends when the body has been read', async () => {
  const { body, ended, isEnded } = upload(false);
  body.write('some');
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isEnded(), false);
  body.end('more');
  await ended;
});

it('an answer on a closing connection ends when the body stalls', async () => {
  const { body, ended } = upload(false, 1);
  await ended;
  body.destroy();
});

it('a body that does not end is read for half a minute at most', async (t) => {
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  const timer = { refreshed: 0, ring: () => {}, refresh: () => (timer.refreshed += 1) };
  t.mock.method(globalThis, 'setTimeout', (ring: () => void) => Object.assign(timer, { ring }));
  const { body, ended, isEnded } = upload(false, 30);
  const refreshed = [];
  for (nowMs of [0, 29_999, 30_000, 30_001]) {
    body.write('more');
    await new Promise((resolve) => setImmediate(resolve));
    refreshed.push(timer.refreshed);
  }
  assert.deepEqual([refreshed, isEnded()], [[1, 2, 2, 2], false]);
  timer.ring();
  await ended;
  body.destroy();
});

it('an unreadable body ends its answer at once, or its connection if the answer was sent', async () => {
  const closing = upload(false);
  closing.body.emit(UNREADABLE);
  await closing.ended;
  closing.body.destroy();
  const open = upload(true);
  open.body.emit(UNREADABLE);
  await open.destroyed;
  open.body.destroy();
});

it('a request has a body if it announces one', () => {
  const announces = (headers: Readonly<Record<string, string>>) =>
    hasBody({ headers } as unknown as IncomingMessage);
  assert.deepEqual(
    [{}, { 'content-length': '0' }, { 'content-length': '1' }, { 'transfer-encoding': 'chunked' }].map(
      (headers) => announces(headers as Readonly<Record<string, string>>),
    ),
    [false, false, true, true],
  );
});

it('an answer on an open connection ends at once, and the connection is closed when the body stalls', async () => {
  const { body, destroyed, isEnded } = upload(true, 1);
  assert.equal(isEnded(), true);
  await destroyed;
  body.destroy();
});

it('a connection stays open for the next request once the rest of the body has been read', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { body, isDestroyed } = upload(true, 5000);
  const isRead = once(body, 'close');
  body.end('the rest');
  await isRead;
  t.mock.timers.tick(60_000);
  assert.equal(isDestroyed(), false);
});

it('at most 64 MB of an unwanted body are read after an answer on an open connection', async () => {
  const { body, destroyed, isDestroyed } = upload(true);
  const part = Buffer.alloc(1024 * 1024);
  let parts = 0;
  const feed = () => {
    while (!isDestroyed() && parts++ < 70 && body.write(part));
  };
  body.on('drain', feed);
  feed();
  await destroyed;
  assert.ok(parts > 60 && parts <= 66, `${parts} MB`);
  body.destroy();
});

/** The effects of an answer with this status. */
function answered(statusCode: number, shouldKeepAlive: boolean, complete = false) {
  const body = Object.assign(new PassThrough(), {
    headers: { 'content-length': '99' },
    complete,
    socket: { destroy: () => undefined, destroySoon: () => undefined },
  });
  const headers = new Map<string, unknown>([['connection', 'close']]);
  const reply = {
    statusCode,
    raw: { shouldKeepAlive },
    header: (name: string, value: unknown) => headers.set(name, value),
    headers: (all: Readonly<Record<string, unknown>>) => {
      for (const [name, value] of Object.entries(all)) headers.set(name, value);
    },
    removeHeader: (name: string) => headers.delete(name),
  };
  let payload: unknown;
  const done = (_error?: Error | null, other?: unknown) => (payload = other);
  const hook = sendAfterUpload as unknown as (...all: readonly unknown[]) => void;
  hook({ raw: body }, reply, 'late', done);
  return { body, headers, payload };
}

it('an answer to a client that has stopped sending ends the connection at once', () => {
  const { body, headers, payload } = answered(408, true);
  assert.equal(headers.get('connection'), 'close');
  assert.equal(payload, undefined);
  assert.equal(body.listenerCount('data'), 0);
  body.destroy();
});

it('an answer to a client that still sends is sent at once, and the connection stays open while the rest is read', () => {
  for (const status of [400, 413, 415]) {
    const { body, headers, payload } = answered(status, true);
    assert.equal(headers.has('connection'), false, `${status}`);
    assert.equal(payload, undefined);
    assert.equal(body.listenerCount('data'), 1);
    body.destroy();
  }
});

it('an answer on a closing connection is held open until the rest has been read', async () => {
  const { body, headers, payload } = answered(413, false);
  assert.deepEqual([headers.get('connection'), headers.get('content-length')], ['close', 4]);
  const parts: string[] = [];
  const answer = payload as PassThrough;
  const isOver = new Promise((resolve) => answer.once('end', resolve));
  answer.on('data', (part: Buffer) => parts.push(part.toString()));
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([parts, answer.readableEnded], [['late'], false]);
  body.end('rest');
  await isOver;
});

it('an answer to a request that has arrived is left unchanged', () => {
  const { body, headers, payload } = answered(413, true, true);
  assert.deepEqual([headers.get('connection'), payload, body.listenerCount('data')], ['close', undefined, 0]);
  body.destroy();
});
