import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Dispatcher } from 'undici';
import { Exchange } from '../../../../sidecar/purge/broker/client.js';
import type { BrokerReply } from '../../../../sidecar/purge/broker/index.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const CONTROLLER = controllerOf([]);

/** A controller that keeps the reason for which it was aborted. */
function controllerOf(aborted: Error[]): Dispatcher.DispatchController {
  return { abort: (reason: Error) => aborted.push(reason) } as unknown as Dispatcher.DispatchController;
}

/** Dispatches a request of an exchange that has no connection yet. */
function waiting(exchange: Exchange): Promise<BrokerReply> {
  const dispatcher = { dispatch: () => true } as unknown as Dispatcher;
  return exchange.run(dispatcher, { path: '/', method: 'GET' });
}

/** An exchange whose answer arrives when the test says so. */
function begun(exchange = new Exchange(1000)): {
  readonly handler: Exchange;
  readonly reply: Promise<BrokerReply>;
} {
  const reply = waiting(exchange);
  exchange.onRequestStart(CONTROLLER);
  return { handler: exchange, reply };
}

async function answered(exchange: Exchange): Promise<WeakRef<BrokerReply>> {
  const { handler, reply } = begun(exchange);
  handler.onResponseStart(CONTROLLER, 200, {});
  handler.onResponseData(CONTROLLER, Buffer.from('[{"id":"urn:x"}]'));
  handler.onResponseEnd();
  assert.equal((await reply).body, '[{"id":"urn:x"}]');
  return new WeakRef(await reply);
}

it('an exchange with the broker does not keep its answer alive', async () => {
  const exchanges = Array.from({ length: 10 }, () => new Exchange(1000));
  const replies = await Promise.all(exchanges.map(answered));
  // The last awaited value may still be on the stack.
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  assert.ok(replies.filter((reply) => reply.deref() !== undefined).length <= 1);
  for (const exchange of exchanges) exchange.cancel(new Error('too late'));
});

it('an exchange with the broker copies received data, whose memory is reused', async () => {
  const { handler, reply } = begun();
  const memory = Buffer.from('["urn:');
  handler.onResponseStart(CONTROLLER, 200, {});
  handler.onResponseData(CONTROLLER, memory);
  memory.write('a:1"] ');
  handler.onResponseData(CONTROLLER, memory);
  memory.fill('x');
  handler.onResponseEnd();
  assert.equal((await reply).body, '["urn:a:1"] ');
});

it('an exchange with the broker answers with the final status and its fields, ignoring interim ones', async () => {
  const { handler, reply } = begun();
  handler.onResponseStart(CONTROLLER, 103, { link: '</early>', early: 'hint' });
  handler.onResponseStart(CONTROLLER, 207, { link: ['<a>', '<b>'], none: undefined });
  handler.onResponseEnd();
  const { status, headers, body } = await reply;
  assert.deepEqual([status, [...headers], body], [207, [['link', '<a>, <b>']], '']);
});

it('an exchange with the broker strips a byte order mark', async () => {
  for (const chunks of [['\ufeff[]'], ['\ufeff', '[]']]) {
    const { handler, reply } = begun();
    handler.onResponseStart(CONTROLLER, 200, {});
    for (const chunk of chunks) handler.onResponseData(CONTROLLER, Buffer.from(chunk));
    handler.onResponseEnd();
    assert.equal((await reply).body, '[]');
  }
});

it('an exchange with the broker ends with the first given reason', () => {
  const aborted: Error[] = [];
  const { handler } = begun();
  handler.onRequestStart(controllerOf(aborted));
  const [first, second] = [new Error('first'), new Error('second')];
  handler.cancel(first);
  handler.cancel(second);
  assert.equal(handler.reason, first);
  assert.deepEqual(aborted, [first, first]);
});

it('an exchange with the broker that waits for a connection can be aborted at once, and nothing is sent afterwards', async () => {
  const aborted: Error[] = [];
  const exchange = new Exchange(1000);
  const reply = waiting(exchange);
  const reason = new Error('stopped');
  exchange.cancel(reason);
  await assert.rejects(reply, (error) => error === reason);
  exchange.onRequestStart(controllerOf(aborted));
  assert.deepEqual([aborted, exchange.hasStarted], [[reason], false]);
});

it('an exchange with the broker releases the connection once the answer is complete', async () => {
  const aborted: Error[] = [];
  const { handler, reply } = begun();
  handler.onRequestStart(controllerOf(aborted));
  handler.onResponseStart(CONTROLLER, 204, {});
  handler.onResponseEnd();
  handler.cancel(new Error('too late'));
  assert.deepEqual([aborted, (await reply).status], [[], 204]);
});
