import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { it, type TestContext } from 'node:test';
import { createSocketErrorHandlers } from '../../../sidecar/http/unreadable-request.js';

/** A connection that collects the data written to it. */
function connection() {
  const written: string[] = [];
  const socket = new Writable({
    autoDestroy: false,
    write(chunk, _encoding, done) {
      written.push(String(chunk));
      done();
    },
  });
  return { written, socket: Object.assign(socket, { resume: () => socket }) as unknown as Socket };
}

/** The listener for errors of a connection on which an answer is pending, or none. */
function clientErrorOn(answer?: ServerResponse) {
  const pipeline = { currentResponse: () => answer };
  return createSocketErrorHandlers({ pipeline, onRefused: () => undefined }).clientError;
}

it('a request whose head does not arrive in time is answered 408', (t: TestContext) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { written, socket } = connection();
  clientErrorOn()(Object.assign(new Error('x'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket);
  assert.match(written.join(''), /^HTTP\/1\.1 408 Request Timeout\r\n[^]*\r\nConnection: close\r\n/);
  assert.equal(socket.writableEnded, true);
});

it('the sender of an unreadable request has two seconds to read the answer before the connection is closed', (t: TestContext) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { socket } = connection();
  clientErrorOn()(new Error('x'), socket);
  t.mock.timers.tick(1999);
  assert.equal(socket.destroyed, false);
  t.mock.timers.tick(1);
  assert.equal(socket.destroyed, true);
});

it('an unreadable body closes the connection if its answer has already started', () => {
  const { written, socket } = connection();
  const req = Object.assign(new EventEmitter(), { complete: false, headers: {} });
  const answer = Object.assign(new EventEmitter(), { req, headersSent: true }) as unknown as ServerResponse;
  clientErrorOn(answer)(Object.assign(new Error('x'), { code: 'HPE_INVALID_CHUNK_SIZE' }), socket);
  assert.deepEqual([written, socket.destroyed], [[], true]);
});
