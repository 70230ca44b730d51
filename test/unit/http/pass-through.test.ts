import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { after, before, beforeEach, it } from 'node:test';
import type { Dispatcher } from 'undici';
import {
  createPassThrough,
  type PassThroughResult,
  type PassThroughOptions,
} from '../../../sidecar/http/pass-through.js';
import { yieldToEventLoop } from '../../../sidecar/shared/event-loop.js';
import { listening, type Listening } from '../../support/listening.js';

const server = createServer();
let listened: Listening;
let clients: Socket[];
before(async () => {
  listened = await listening(server);
});
beforeEach(() => {
  clients = [];
});
after(() => listened.close());

/** A pass-through to a broker that never answers. */
function passing(options: Partial<PassThroughOptions> = {}) {
  const sent: Dispatcher.DispatchOptions[] = [];
  const ends: PassThroughResult[] = [];
  const dispatcher = {
    dispatch: (one: Dispatcher.DispatchOptions) => {
      sent.push(one);
      return true;
    },
  } as unknown as Dispatcher;
  const passThrough = createPassThrough({
    dispatcher,
    brokerUrl: new URL('http://broker:1026/prefix/'),
    viaName: 'me',
    strippedHeaders: [],
    brokerTimeoutMs: 30_000,
    onEnded: (end) => ends.push(end),
    ...options,
  });
  return {
    sent,
    ends,
    /** Sends a request, and waits until the request was handled. */
    pass: async (text: string, isClosed = false) => {
      const request = once(server, 'request');
      const client = connect(listened.port, '127.0.0.1');
      clients.push(client.on('error', () => undefined));
      client.write(text);
      const [req, res] = (await request) as Parameters<typeof passThrough>;
      if (isClosed) {
        const closed = once(res, 'close');
        client.destroy();
        await closed;
      }
      passThrough(req, res);
      await yieldToEventLoop();
      await yieldToEventLoop();
      return res;
    },
  };
}
const get = (path: string, fields = '') => `GET ${path} HTTP/1.1\r\nHost: g\r\n${fields}\r\n`;
const UPLOAD = 'POST /up HTTP/1.1\r\nHost: g\r\nContent-Length: 10\r\n\r\nabc';

it('as many whole requests and as many uploads reach the broker as each kind has places', async () => {
  const { sent, pass } = passing({ slots: { whole: 1, uploads: 2 } });
  const paths = () => sent.map(({ path }) => path);
  for (let round = 0; round < 3; round += 1) await pass(UPLOAD);
  assert.deepEqual(paths(), ['/prefix/up', '/prefix/up']);
  for (let round = 0; round < 3; round += 1) await pass(get('/whole'));
  assert.deepEqual(paths(), ['/prefix/up', '/prefix/up', '/prefix/whole']);
  for (const client of clients) client.destroy();
});

it('a request whose client has disconnected is not sent', async () => {
  const { sent, pass } = passing();
  await pass(get('/x'), true);
  assert.deepEqual(sent, []);
});
