import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { describe, it } from 'node:test';
import { endAfterUpload } from '../../../sidecar/http/late-upload.js';

/** A request whose body is still coming, and its answer. */
function upload(shouldKeepAlive: boolean) {
  const body = new PassThrough();
  const socket = { isDestroyed: false, destroy: () => (socket.isDestroyed = true) };
  const req = Object.assign(body, { headers: { 'content-length': '99' }, complete: false, socket });
  const res = { shouldKeepAlive, isEnded: false, end: () => (res.isEnded = true) };
  endAfterUpload(req as unknown as IncomingMessage, res as unknown as ServerResponse);
  return { body, socket, res };
}

/** Lets streams emit what is due. */
const turn = async () => new Promise((resolve) => setImmediate(resolve));

describe('an answer on a connection that is to close', () => {
  it('ends when the body has come to its end', async () => {
    const { body, res } = upload(false);
    body.write('some');
    await turn();
    assert.equal(res.isEnded, false);
    body.end('more');
    await turn();
    assert.equal(res.isEnded, true);
  });

  it('ends when nothing of the body came for 5 s', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { res, body } = upload(false);
    t.mock.timers.tick(4999);
    assert.equal(res.isEnded, false);
    t.mock.timers.tick(1);
    assert.equal(res.isEnded, true);
    body.destroy();
  });
});

describe('an answer on a connection that stays open', () => {
  it('ends at once, and the connection is closed when nothing of the body came for 5 s', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { res, socket, body } = upload(true);
    assert.equal(res.isEnded, true);
    t.mock.timers.tick(4999);
    assert.equal(socket.isDestroyed, false);
    t.mock.timers.tick(1);
    assert.equal(socket.isDestroyed, true);
    body.destroy();
  });

  it('stays open when the body came to its end', async (t) => {
    const { socket, body } = upload(true);
    body.end('all');
    await turn();
    await turn();
    t.mock.timers.enable({ apis: ['setTimeout'] });
    t.mock.timers.tick(60_000);
    assert.equal(socket.isDestroyed, false);
  });
});
