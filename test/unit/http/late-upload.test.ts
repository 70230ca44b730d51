import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { describe, it } from 'node:test';
import { endAfterUpload } from '../../../sidecar/http/late-upload.js';

/** A request whose body is still coming, and what becomes of its answer and its connection. */
function upload(shouldKeepAlive: boolean, idleMs?: number) {
  const body = new PassThrough();
  let isEnded = false;
  let noteEnd: () => void;
  let noteDestroyed: () => void;
  const ended = new Promise<void>((resolve) => (noteEnd = resolve));
  const destroyed = new Promise<void>((resolve) => (noteDestroyed = resolve));
  const socket = { destroy: () => noteDestroyed() };
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
  return { body, ended, destroyed, isEnded: () => isEnded };
}

describe('an answer on a connection that is to close', () => {
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
});

describe('an answer on a connection that stays open', () => {
  it('an answer on an open connection ends at once, and the connection is closed when the body stalls', async () => {
    const { body, destroyed, isEnded } = upload(true, 1);
    assert.equal(isEnded(), true);
    await destroyed;
    body.destroy();
  });

  it('an answer on an open connection is followed by at most 64 MB of an unwanted body', async () => {
    const { body, destroyed } = upload(true);
    const part = Buffer.alloc(1024 * 1024);
    let parts = 0;
    const feed = () => {
      while (parts++ < 70 && body.write(part));
    };
    body.on('drain', feed);
    feed();
    await destroyed;
    assert.ok(parts > 60, `${parts} MB`);
    body.destroy();
  });
});
