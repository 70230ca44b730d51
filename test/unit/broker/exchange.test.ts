import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Dispatcher } from 'undici';
import { createCut, exchange, type Cut } from '../../../sidecar/broker/exchange.js';
import type { BrokerReply } from '../../../sidecar/broker/reply.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

type Handler = Dispatcher.DispatchHandler;
const CONTROLLER = { abort: () => undefined } as unknown as Dispatcher.DispatchController;

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
});
