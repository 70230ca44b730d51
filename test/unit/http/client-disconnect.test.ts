import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { after, before, it } from 'node:test';
import { request } from 'undici';
import { ClientDisconnect, disconnectSignal } from '../../../sidecar/http/client-disconnect.js';
import { listening, type Listening } from '../../support/listening.js';

const server = createServer();
let listened: Listening;
const url = () => listened.url;
const arrival = async (): Promise<ServerResponse> => {
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
  return response;
};
before(async () => {
  listened = await listening(server);
});
after(() => listened.close());

it('a client that disconnects aborts its work, and calls each remaining listener', async () => {
  const client = new AbortController();
  const arrived = arrival();
  const sent = request(url(), { signal: client.signal });
  const response = await arrived;
  const signal = new ClientDisconnect(response);
  const told: string[] = [];
  const removed = () => told.push('removed');
  signal.addEventListener('abort', () => told.push('first'));
  signal.addEventListener('abort', removed);
  signal.addEventListener('abort', () => told.push('last'));
  signal.removeEventListener('abort', removed);
  assert.equal(signal.aborted, false);
  const closed = once(response, 'close');
  client.abort();
  await assert.rejects(sent);
  await closed;
  assert.deepEqual(told, ['first', 'last']);
  assert.equal(signal.aborted, true);
  assert.match(String(signal.reason), /disconnected/);
});

it('a client that has its answer aborts nothing when it disconnects', async () => {
  const arrived = arrival();
  const sent = request(url());
  const response = await arrived;
  const signal = new ClientDisconnect(response);
  const told: string[] = [];
  signal.addEventListener('abort', () => told.push('told'));
  const closed = once(response, 'close');
  response.end('done');
  assert.equal(await (await sent).body.text(), 'done');
  await closed;
  assert.deepEqual(told, []);
  assert.equal(signal.aborted, false);
});

it('watching for a disconnect leaves no listener on the response', async () => {
  const arrived = arrival();
  const sent = request(url());
  const response = await arrived;
  const before = response.listenerCount('close');
  const signal = new ClientDisconnect(response);
  for (let times = 0; times < 20; times += 1) {
    const listener = () => undefined;
    signal.addEventListener('abort', listener);
    assert.equal(response.listenerCount('close'), before + 1);
    signal.removeEventListener('abort', listener);
  }
  assert.equal(response.listenerCount('close'), before);
  response.end();
  await (await sent).body.dump();
});

it('a disconnect aborts an AbortSignal as well, unless the client has its answer', async () => {
  for (const isAnswered of [false, true]) {
    const client = new AbortController();
    const arrived = arrival();
    const sent = request(url(), { signal: client.signal });
    const response = await arrived;
    const signal = disconnectSignal(response);
    const closed = once(response, 'close');
    if (isAnswered) {
      response.end('done');
      await (await sent).body.dump();
    } else {
      client.abort();
      await assert.rejects(sent);
    }
    await closed;
    assert.equal(signal.aborted, !isAnswered);
  }
});

it('a client that has disconnected before the work starts aborts the work at once', () => {
  const signalOn = (destroyed: boolean) => {
    const about = { writableFinished: false, req: { socket: { destroyed } } };
    return disconnectSignal(Object.assign(new EventEmitter(), about) as unknown as ServerResponse);
  };
  const [gone, there] = [signalOn(true), signalOn(false)];
  assert.deepEqual([gone.aborted, there.aborted], [true, false]);
  assert.match(String(gone.reason), /disconnected/);
});
