import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { it } from 'node:test';
import { endAfterUpload, UNREADABLE } from '../../../sidecar/http/lingering-close.js';

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

it('an answer on an open connection ends at once, and the connection is closed when the body stalls', async () => {
  const { body, destroyed, isEnded } = upload(true, 1);
  assert.equal(isEnded(), true);
  await destroyed;
  body.destroy();
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
