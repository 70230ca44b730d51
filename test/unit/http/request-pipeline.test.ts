import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { it } from 'node:test';
import { createRequestPipeline, type RequestPipeline } from '../../../sidecar/http/request-pipeline.js';
import { yieldToEventLoop } from '../../../sidecar/shared/event-loop.js';

/** A connection, whose requests are started by their names. */
function connectionOn(turns: RequestPipeline, started: string[] = []) {
  const socket = Object.assign(new EventEmitter(), {
    destroyed: false,
    destroy() {
      this.destroyed = true;
    },
  }) as unknown as Socket;
  /** A request arrives: the first one has the socket, the others wait for it. */
  const arrive = (name: string, isFirst = false) => {
    const res = Object.assign(new EventEmitter(), { closed: false, socket: isFirst ? socket : null });
    const req = { socket, isDestroyed: false, destroy: () => (req.isDestroyed = true) };
    turns.serialized(() => started.push(name))(
      req as unknown as IncomingMessage,
      res as unknown as ServerResponse,
    );
    return {
      req,
      res: res as unknown as ServerResponse,
      /** node:http gives the socket to the request. */
      turn: () => res.emit('socket', socket),
      close: () => {
        res.closed = true;
        res.emit('close');
      },
    };
  };
  return { socket, started, arrive };
}

it('a request starts at once if no other is being answered, and otherwise in its turn', async () => {
  const turns = createRequestPipeline();
  const { socket, started, arrive } = connectionOn(turns);
  const first = arrive('a', true);
  const second = arrive('b');
  assert.deepEqual(started, ['a']);
  assert.equal(turns.currentResponse(socket), first.res);
  assert.equal(turns.count, 1);
  first.close();
  assert.equal(turns.currentResponse(socket), undefined);
  second.turn();
  await yieldToEventLoop();
  assert.deepEqual(started, ['a', 'b']);
  assert.equal(turns.currentResponse(socket), second.res);
  second.close();
  assert.equal(turns.count, 0);
});

it('a request whose connection has ended before its turn is not started', async () => {
  const { started, arrive } = connectionOn(createRequestPipeline());
  arrive('a', true).close();
  const second = arrive('b');
  second.turn();
  second.close();
  await yieldToEventLoop();
  assert.deepEqual(started, ['a']);
});

it('a hundred requests may wait on a connection at a time; one more closes the connection', () => {
  const tooMany: unknown[] = [];
  const turns = createRequestPipeline((req) => tooMany.push(req));
  const { socket, arrive } = connectionOn(turns);
  arrive('first', true);
  for (let n = 0; n < 100; n += 1) arrive(`${n}`);
  assert.equal(socket.destroyed, false);
  const last = arrive('last');
  assert.equal(socket.destroyed, true);
  assert.deepEqual(tooMany, [last.req]);
  // Requests in the same piece are dropped without another report.
  const behind = arrive('behind');
  assert.deepEqual([behind.req.isDestroyed, tooMany.length], [true, 1]);
});

it('any number of requests may wait on a connection one after the other', () => {
  const turns = createRequestPipeline(() => assert.fail('too many'));
  const { socket, arrive } = connectionOn(turns);
  let open = arrive('first', true);
  for (let n = 0; n < 300; n += 1) {
    const next = arrive(`${n}`);
    open.close();
    next.turn();
    open = next;
  }
  assert.equal(socket.destroyed, false);
  assert.equal(turns.count, 1);
});

it('turns are idle when every pending answer has ended, on all connections', async () => {
  const turns = createRequestPipeline();
  await turns.idle();
  const [one, other] = [connectionOn(turns).arrive('a', true), connectionOn(turns).arrive('b', true)];
  let idle = 0;
  for (let times = 0; times < 2; times += 1) void turns.idle().then(() => (idle += 1));
  one.close();
  await yieldToEventLoop();
  assert.equal(idle, 0);
  other.close();
  await yieldToEventLoop();
  assert.equal(idle, 2);
  await turns.idle();
});
