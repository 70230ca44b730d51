import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { it, type TestContext } from 'node:test';
import { createSocketErrorHandlers } from '../../../sidecar/http/unreadable-request.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;

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

/** Listeners on a connection whose answers are pending one after the other. */
function answers(...open: readonly ServerResponse[]) {
  const queue = [...open];
  const refusals: (readonly [string, object])[] = [];
  const listeners = createSocketErrorHandlers({
    pipeline: { currentResponse: () => queue[0] },
    onRefused: (reason, fields) => refusals.push([reason, fields]),
  });
  const endFirst = () => queue.shift()?.emit('close');
  return { ...listeners, refusals, endFirst };
}

/** A pending answer. */
function answerTo(complete: boolean, headersSent = false): ServerResponse {
  const req = Object.assign(new EventEmitter(), {
    complete,
    method: 'POST',
    url: '/a?b',
    headers: { 'x-request-id': 'mine' },
  });
  return Object.assign(new EventEmitter(), { req, headersSent }) as unknown as ServerResponse;
}

const errorOf = (code: string | undefined) =>
  Object.assign(new Error('x'), code === undefined ? {} : { code });

/** The head and body that were written. */
function parsed(written: readonly string[]) {
  const [head = '', body = ''] = written.join('').split('\r\n\r\n');
  const [line, ...fields] = head.split('\r\n');
  const headers = new Map(fields.map((field) => field.split(': ') as [string, string]));
  return { line, headers, body, problem: JSON.parse(body) as Readonly<Record<string, unknown>> };
}

for (const [code, status, title] of [
  ['HPE_HEADER_OVERFLOW', 431, 'Request Header Fields Too Large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', 408, 'Request Timeout'],
  ['HPE_INVALID_METHOD', 400, 'Bad Request'],
  [undefined, 400, 'Bad Request'],
] as const) {
  it(`an unreadable request is answered ${status} under its own id, and its connection ends (${code ?? 'no code'})`, (t: TestContext) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { written, socket } = connection();
    const { clientError, refusals } = answers();
    clientError(errorOf(code), socket);
    const { line, headers, body, problem } = parsed(written);
    assert.equal(line, `HTTP/1.1 ${status} ${title}`);
    assert.equal(headers.get('Connection'), 'close');
    assert.equal(headers.get('Content-Length'), String(Buffer.byteLength(body)));
    assert.equal(headers.get('Content-Type'), 'application/problem+json');
    const reqId = headers.get('X-Request-Id') ?? '';
    assert.match(reqId, UUID);
    assert.deepEqual([problem['status'], problem['title']], [status, title]);
    assert.match(String(problem['type']), /InvalidRequest$/);
    assert.ok(String(problem['detail']).length > 10);
    assert.equal(socket.writableEnded, true);
    const detail = problem['detail'];
    assert.deepEqual(refusals, [['unreadable', { reqId, code, status, detail }]]);
  });
}

it('an unreadable request is answered once, or not at all if its client has disconnected', () => {
  const { written, socket } = connection();
  const gone = answers();
  gone.clientError(errorOf('ECONNRESET'), socket);
  assert.deepEqual([written, socket.destroyed, gone.refusals], [[], true, []]);
  const closed = connection();
  closed.socket.destroy();
  gone.clientError(errorOf(undefined), closed.socket);
  assert.deepEqual([closed.written, gone.refusals], [[], []]);
  const twice = connection();
  const { clientError, refusals } = answers();
  clientError(errorOf(undefined), twice.socket);
  const first = [...twice.written];
  clientError(errorOf('HPE_INVALID_METHOD'), twice.socket);
  clientError(errorOf('ECONNRESET'), twice.socket);
  assert.deepEqual([twice.written, twice.socket.destroyed, refusals.length], [first, false, 1]);
  twice.socket.destroy();
});

it('the sender of an unreadable request has two seconds to read the answer before the connection is closed', (t: TestContext) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { socket } = connection();
  answers().clientError(errorOf(undefined), socket);
  t.mock.timers.tick(1999);
  assert.equal(socket.destroyed, false);
  t.mock.timers.tick(1);
  assert.equal(socket.destroyed, true);
});

it('an unreadable request behind others is answered after all of them', () => {
  const { written, socket } = connection();
  const { clientError, endFirst, refusals } = answers(answerTo(true), answerTo(true, true));
  clientError(errorOf('HPE_INVALID_METHOD'), socket);
  endFirst();
  assert.deepEqual([written, socket.writableEnded], [[], false]);
  endFirst();
  assert.match(parsed(written).line ?? '', / 400 /);
  assert.notEqual(parsed(written).headers.get('X-Request-Id'), 'mine');
  assert.equal(refusals.length, 1);
  socket.destroy();
});

it('a client that disconnects in the middle of its next request also counts as disconnected for the previous one', () => {
  const { written, socket } = connection();
  const { clientError, refusals } = answers(answerTo(true));
  clientError(errorOf('HPE_INVALID_EOF_STATE'), socket);
  assert.deepEqual([written, socket.writableEnded, refusals], [[], true, []]);
});

it('an unreadable body is answered under the id of its request', () => {
  const { written, socket } = connection();
  const { clientError, refusals } = answers(answerTo(false));
  clientError(errorOf('HPE_INVALID_CHUNK_SIZE'), socket);
  assert.equal(parsed(written).headers.get('X-Request-Id'), 'mine');
  const detail = 'This is not an HTTP/1.1 request.';
  const fields = { reqId: 'mine', code: 'HPE_INVALID_CHUNK_SIZE', method: 'POST', path: '/a' };
  assert.deepEqual(refusals, [['unreadable', { ...fields, status: 400, detail }]]);
  socket.destroy();
});

it('an unreadable body closes the connection if its answer has already started', () => {
  const { written, socket } = connection();
  answers(answerTo(false, true)).clientError(errorOf('HPE_INVALID_CHUNK_SIZE'), socket);
  assert.deepEqual([written, socket.destroyed], [[], true]);
});

it('an unreadable body that is only being discarded is reported to its reader', () => {
  const { written, socket } = connection();
  const answer = answerTo(false, true);
  let told = 0;
  answer.req.once('unreadable', () => (told += 1));
  answers(answer).clientError(errorOf('HPE_INVALID_CHUNK_SIZE'), socket);
  assert.deepEqual([written, socket.destroyed, told], [[], false, 1]);
  socket.destroy();
});

const connectOn = (socket: Socket) =>
  ({
    method: 'CONNECT',
    url: 'a:443',
    headers: { 'x-request-id': 'tunnel-1' },
    socket,
  }) as unknown as IncomingMessage;

it('a CONNECT is answered 405 under its id, and its connection ends', () => {
  const { written, socket } = connection();
  const { connect, refusals } = answers();
  connect(connectOn(socket), socket);
  const { line, headers, problem } = parsed(written);
  assert.equal(line, 'HTTP/1.1 405 Method Not Allowed');
  assert.match(headers.get('Allow') ?? '', /^GET, /);
  assert.deepEqual([headers.get('Connection'), headers.get('X-Request-Id')], ['close', 'tunnel-1']);
  assert.match(String(problem['type']), /method-not-allowed$/);
  const { detail } = problem;
  assert.deepEqual(refusals, [
    ['method', { reqId: 'tunnel-1', method: 'CONNECT', path: 'a:443', status: 405, detail }],
  ]);
  assert.equal(socket.writableEnded, true);
  socket.emit('error', new Error('reset'));
  socket.destroy();
});

it('a CONNECT behind a pending request closes the connection', () => {
  const { written, socket } = connection();
  answers(answerTo(true)).connect(connectOn(socket), socket);
  assert.deepEqual([written, socket.destroyed], [[], true]);
});
