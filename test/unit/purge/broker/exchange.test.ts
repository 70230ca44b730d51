import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Dispatcher } from 'undici';
import { Canceller, exchange } from '../../../../sidecar/purge/broker/exchange.js';
import type { BrokerReply } from '../../../../sidecar/purge/broker/index.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

type Handler = Dispatcher.DispatchHandler;
const CONTROLLER = controllerOf([]);

/** A controller that keeps what it was told to abort for. */
function controllerOf(aborted: Error[]): Dispatcher.DispatchController {
  return { abort: (reason: Error) => aborted.push(reason) } as unknown as Dispatcher.DispatchController;
}

/** An exchange whose answer comes when the test says so. */
function begun(canceller: Canceller): { readonly handler: Handler; readonly reply: Promise<BrokerReply> } {
  const handlers: Handler[] = [];
  const dispatch = (_options: unknown, handler: Handler) => handlers.push(handler) > 0;
  const request = { path: '/', method: 'GET' } as const;
  const reply = exchange({ dispatch } as unknown as Dispatcher, request, canceller, 1000);
  const [handler] = handlers;
  assert.ok(handler !== undefined);
  handler.onRequestStart?.(CONTROLLER, undefined);
  return { handler, reply };
}

async function answered(canceller: Canceller): Promise<WeakRef<BrokerReply>> {
  const { handler, reply } = begun(canceller);
  handler.onResponseStart?.(CONTROLLER, 200, {});
  handler.onResponseData?.(CONTROLLER, Buffer.from('[{"id":"urn:x"}]'));
  handler.onResponseEnd?.(CONTROLLER, {});
  assert.equal((await reply).body, '[{"id":"urn:x"}]');
  return new WeakRef(await reply);
}

it('an exchange with the broker leaves nothing of its answer in its canceller, which may live longer', async () => {
  const cancellers = Array.from({ length: 10 }, () => new Canceller());
  const replies = await Promise.all(cancellers.map(answered));
  // What was awaited last may still be on the stack.
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  assert.ok(replies.filter((reply) => reply.deref() !== undefined).length <= 1);
  for (const canceller of cancellers) canceller.cancel(new Error('too late'));
});

it('an exchange with the broker keeps received data although its memory is reused', async () => {
  const { handler, reply } = begun(new Canceller());
  const memory = Buffer.from('["urn:');
  handler.onResponseStart?.(CONTROLLER, 200, {});
  handler.onResponseData?.(CONTROLLER, memory);
  memory.write('a:1"] ');
  handler.onResponseData?.(CONTROLLER, memory);
  memory.fill('x');
  handler.onResponseEnd?.(CONTROLLER, {});
  assert.equal((await reply).body, '["urn:a:1"] ');
});

it('an exchange with the broker answers with the final status and its fields, ignoring interim ones', async () => {
  const { handler, reply } = begun(new Canceller());
  handler.onResponseStart?.(CONTROLLER, 103, { link: '</early>', early: 'hint' });
  handler.onResponseStart?.(CONTROLLER, 207, { link: ['<a>', '<b>'], none: undefined });
  handler.onResponseEnd?.(CONTROLLER, {});
  const { status, headers, body } = await reply;
  assert.deepEqual([status, [...headers], body], [207, [['link', '<a>, <b>']], '']);
});

it('an exchange with the broker accepts exactly as many bytes as allowed', async () => {
  for (const [bytes, isTaken] of [
    [1000, true],
    [1001, false],
  ] as const) {
    const canceller = new Canceller();
    const { handler } = begun(canceller);
    handler.onResponseStart?.(CONTROLLER, 200, {});
    handler.onResponseData?.(CONTROLLER, Buffer.alloc(bytes));
    assert.equal(canceller.reason === undefined, isTaken);
  }
});

it('an exchange with the broker strips a byte order mark', async () => {
  for (const chunks of [['\ufeff[]'], ['\ufeff', '[]']]) {
    const { handler, reply } = begun(new Canceller());
    handler.onResponseStart?.(CONTROLLER, 200, {});
    for (const chunk of chunks) handler.onResponseData?.(CONTROLLER, Buffer.from(chunk));
    handler.onResponseEnd?.(CONTROLLER, {});
    assert.equal((await reply).body, '[]');
  }
});

it('a canceller ends an exchange with the first reason given', () => {
  const aborted: Error[] = [];
  const canceller = new Canceller();
  canceller.attach(controllerOf(aborted));
  const [first, second] = [new Error('first'), new Error('second')];
  canceller.cancel(first);
  canceller.cancel(second);
  assert.equal(canceller.reason, first);
  assert.ok(aborted.every((reason) => reason === first) && aborted.length > 0);
});

it('a canceller ends an exchange that waits for a connection, and nothing is sent afterwards', () => {
  const aborted: Error[] = [];
  const rejected: Error[] = [];
  const canceller = new Canceller();
  canceller.onCancelledEarly((reason) => rejected.push(reason));
  const reason = new Error('stopped');
  canceller.cancel(reason);
  assert.deepEqual([rejected, canceller.hasStarted], [[reason], false]);
  canceller.attach(controllerOf(aborted));
  assert.deepEqual(aborted, [reason]);
});

it('a canceller lets go of the connection and of the caller once the answer is complete', () => {
  const aborted: Error[] = [];
  const rejected: Error[] = [];
  const canceller = new Canceller();
  canceller.onCancelledEarly((reason) => rejected.push(reason));
  canceller.attach(controllerOf(aborted));
  canceller.release();
  canceller.cancel(new Error('too late'));
  assert.deepEqual([aborted, rejected], [[], []]);
});

it('a canceller knows whether there was a connection', () => {
  const canceller = new Canceller();
  assert.equal(canceller.hasStarted, false);
  canceller.attach(CONTROLLER);
  assert.equal(canceller.hasStarted, true);
});
