import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Dispatcher } from 'undici';
import {
  createCut,
  exchange,
  type Cut,
  type BrokerReply,
} from '../../../../sidecar/purge/broker/exchange.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

type Handler = Dispatcher.DispatchHandler;
const CONTROLLER = controllerOf([]);

/** A controller that keeps what it was told to abort for. */
function controllerOf(aborted: Error[]): Dispatcher.DispatchController {
  return { abort: (reason: Error) => aborted.push(reason) } as unknown as Dispatcher.DispatchController;
}

/** An exchange whose answer comes when the test says so. */
function begun(cut: Cut): { readonly handler: Handler; readonly reply: Promise<BrokerReply> } {
  const handlers: Handler[] = [];
  const dispatch = (_options: unknown, handler: Handler) => handlers.push(handler) > 0;
  const request = { path: '/', method: 'GET' } as const;
  const reply = exchange({ dispatch } as unknown as Dispatcher, request, cut, 1000);
  const [handler] = handlers;
  assert.ok(handler !== undefined);
  handler.onRequestStart?.(CONTROLLER, undefined);
  return { handler, reply };
}

async function answered(cut: Cut): Promise<WeakRef<BrokerReply>> {
  const { handler, reply } = begun(cut);
  handler.onResponseStart?.(CONTROLLER, 200, {});
  handler.onResponseData?.(CONTROLLER, Buffer.from('[{"id":"urn:x"}]'));
  handler.onResponseEnd?.(CONTROLLER, {});
  assert.equal((await reply).body, '[{"id":"urn:x"}]');
  return new WeakRef(await reply);
}

describe('an exchange with the broker', () => {
  it('leaves nothing of its answer in its cut, which may be kept for longer', async () => {
    const cuts = Array.from({ length: 10 }, createCut);
    const replies = await Promise.all(cuts.map(answered));
    // What was awaited last may still be on the stack.
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
    assert.ok(replies.filter((reply) => reply.deref() !== undefined).length <= 1);
    for (const cut of cuts) cut.because(new Error('too late'));
  });

  it('keeps what it received, although its memory is used again', async () => {
    const { handler, reply } = begun(createCut());
    const memory = Buffer.from('["urn:');
    handler.onResponseStart?.(CONTROLLER, 200, {});
    handler.onResponseData?.(CONTROLLER, memory);
    memory.write('a:1"] ');
    handler.onResponseData?.(CONTROLLER, memory);
    memory.fill('x');
    handler.onResponseEnd?.(CONTROLLER, {});
    assert.equal((await reply).body, '["urn:a:1"] ');
  });

  it('answers with the last status and its fields, interim ones before it left out', async () => {
    const { handler, reply } = begun(createCut());
    handler.onResponseStart?.(CONTROLLER, 103, { link: '</early>', early: 'hint' });
    handler.onResponseStart?.(CONTROLLER, 207, { link: ['<a>', '<b>'], none: undefined });
    handler.onResponseEnd?.(CONTROLLER, {});
    const { status, headers, body } = await reply;
    assert.deepEqual([status, [...headers], body], [207, [['link', '<a>, <b>']], '']);
  });

  it('takes as many bytes as allowed, and not one more', async () => {
    for (const [bytes, isTaken] of [
      [1000, true],
      [1001, false],
    ] as const) {
      const cut = createCut();
      const { handler } = begun(cut);
      handler.onResponseStart?.(CONTROLLER, 200, {});
      handler.onResponseData?.(CONTROLLER, Buffer.alloc(bytes));
      assert.equal(cut.reason === undefined, isTaken);
    }
  });

  it('leaves out the byte order mark of a text', async () => {
    for (const chunks of [['\ufeff[]'], ['\ufeff', '[]']]) {
      const { handler, reply } = begun(createCut());
      handler.onResponseStart?.(CONTROLLER, 200, {});
      for (const chunk of chunks) handler.onResponseData?.(CONTROLLER, Buffer.from(chunk));
      handler.onResponseEnd?.(CONTROLLER, {});
      assert.equal((await reply).body, '[]');
    }
  });
});

describe('a cut', () => {
  it('ends an exchange for the first reason that was given', () => {
    const aborted: Error[] = [];
    const cut = createCut();
    cut.started(controllerOf(aborted));
    const [first, second] = [new Error('first'), new Error('second')];
    cut.because(first);
    cut.because(second);
    assert.equal(cut.reason, first);
    assert.ok(aborted.every((reason) => reason === first) && aborted.length > 0);
  });

  it('ends an exchange that waits for a connection, and lets nothing of it be sent afterwards', () => {
    const aborted: Error[] = [];
    const rejected: Error[] = [];
    const cut = createCut();
    cut.waits((reason) => rejected.push(reason));
    const reason = new Error('stopped');
    cut.because(reason);
    assert.deepEqual([rejected, cut.hasStarted], [[reason], false]);
    cut.started(controllerOf(aborted));
    assert.deepEqual(aborted, [reason]);
  });

  it('tells whether there was a connection', () => {
    const cut = createCut();
    assert.equal(cut.hasStarted, false);
    cut.started(CONTROLLER);
    assert.equal(cut.hasStarted, true);
  });
});
