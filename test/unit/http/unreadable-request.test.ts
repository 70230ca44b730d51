import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { describe, it, type TestContext } from 'node:test';
import { answerUnreadable } from '../../../sidecar/http/unreadable-request.js';

/** A connection that keeps what is written to it. */
function connection() {
  const written: string[] = [];
  const socket = new Writable({
    autoDestroy: false,
    write(chunk, _encoding, done) {
      written.push(String(chunk));
      done();
    },
  });
  return { written, socket: socket as unknown as Socket };
}

const errorOf = (code: string | undefined) =>
  Object.assign(new Error('x'), code === undefined ? {} : { code });

describe('requests that cannot be read', () => {
  for (const [code, status, title] of [
    ['HPE_HEADER_OVERFLOW', 431, 'Request Header Fields Too Large'],
    ['ERR_HTTP_REQUEST_TIMEOUT', 408, 'Request Timeout'],
    ['HPE_INVALID_METHOD', 400, 'Bad Request'],
    [undefined, 400, 'Bad Request'],
  ] as const) {
    it(`an unreadable request is answered ${status} on a connection that ends with it (${code ?? 'no code'})`, (t: TestContext) => {
      t.mock.timers.enable({ apis: ['setTimeout'] });
      const { written, socket } = connection();
      answerUnreadable(errorOf(code), socket);
      const [head = '', body = ''] = written.join('').split('\r\n\r\n');
      const [line, ...fields] = head.split('\r\n');
      assert.equal(line, `HTTP/1.1 ${status} ${title}`);
      assert.deepEqual(fields.sort(), [
        'Connection: close',
        `Content-Length: ${Buffer.byteLength(body)}`,
        'Content-Type: application/problem+json',
      ]);
      const problem = JSON.parse(body) as Readonly<Record<string, unknown>>;
      assert.deepEqual([problem['status'], problem['title']], [status, title]);
      assert.match(String(problem['type']), /InvalidRequest$/);
      assert.ok(String(problem['detail']).length > 10);
      assert.equal(socket.writableEnded, true);
    });
  }

  it('an unreadable request is answered once, and not at all when its client has disconnected', () => {
    const { written, socket } = connection();
    answerUnreadable(errorOf('ECONNRESET'), socket);
    assert.deepEqual([written, socket.destroyed], [[], true]);
    const gone = connection();
    gone.socket.destroy();
    answerUnreadable(errorOf(undefined), gone.socket);
    assert.deepEqual(gone.written, []);
    const twice = connection();
    answerUnreadable(errorOf(undefined), twice.socket);
    const first = [...twice.written];
    answerUnreadable(errorOf('ECONNRESET'), twice.socket);
    assert.deepEqual([twice.written, twice.socket.destroyed], [first, false]);
    twice.socket.destroy();
  });

  it('the sender of an unreadable request has two seconds to read the answer before the connection is cut', (t: TestContext) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { socket } = connection();
    answerUnreadable(errorOf(undefined), socket);
    t.mock.timers.tick(1999);
    assert.equal(socket.destroyed, false);
    t.mock.timers.tick(1);
    assert.equal(socket.destroyed, true);
  });
});
