import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { it, type TestContext } from 'node:test';
import { buildConnector, MockAgent, Pool, type Dispatcher } from 'undici';
import {
  createBrokerClient,
  type BrokerReply,
  type BrokerRequest,
  BrokerTimeoutError,
  BrokerUnreachableError,
  ReplyTooLargeError,
  RequestAbortedError,
} from '../../../../sidecar/purge/broker/index.js';
import type { BrokerRequestEnd } from '../../../../sidecar/purge/broker/client.js';
import { failureKind } from '../../../../sidecar/http/forward-problem.js';
import { yieldToEventLoop } from '../../../../sidecar/shared/event-loop.js';
import { listening } from '../../../support/listening.js';

const ORIGIN = 'http://broker.test:1026';
const LIST: BrokerRequest = { method: 'GET', path: '/entities?type=Car' };

interface Options {
  readonly base?: string;
  readonly timeoutMs?: number;
  readonly replyMaxBytes?: number;
  readonly viaName?: string;
  readonly onEnded?: (end: BrokerRequestEnd) => void;
  readonly onReply?: (reply: BrokerReply) => void;
}

/** A client whose connections are mocked; nothing reaches the network. */
function mockedClient(t: TestContext, { base = ORIGIN, ...options }: Options = {}) {
  const agent = new MockAgent();
  agent.disableNetConnect();
  t.after(() => agent.close());
  const client = createBrokerClient({
    brokerUrl: new URL(base),
    timeoutMs: 60_000,
    dispatcher: agent,
    ...options,
  });
  return { client, broker: agent.get(ORIGIN) };
}

for (const [base, root] of [
  [ORIGIN, ''],
  [`${ORIGIN}/`, ''],
  [`${ORIGIN}/context/broker`, '/context/broker'],
  [`${ORIGIN}/context/broker//`, '/context/broker'],
] as const) {
  it(`the broker client sends requests below the base URL ${base}`, async (t) => {
    const { client, broker } = mockedClient(t, { base });
    broker.intercept({ path: `${root}/ngsi-ld/v1/entities?type=Car` }).reply(200, '[]');
    assert.equal((await client.send(LIST)).body, '[]');
  });
}

it('the broker client sends the path as the caller encoded it', async (t) => {
  const { client, broker } = mockedClient(t);
  const path = '/entities/urn%3Angsi-ld%3ACar%3A%2F..%2F1?deleteAll=true';
  broker.intercept({ path: (sent) => sent === `/ngsi-ld/v1${path}`, method: 'DELETE' }).reply(204, '');
  assert.equal((await client.send({ method: 'DELETE', path })).status, 204);
});

it('the broker client asks for JSON and sends the given headers, without a body', async (t) => {
  const { client, broker } = mockedClient(t);
  const sent: Dispatcher.DispatchOptions[] = [];
  broker.intercept({ path: () => true }).reply(200, (options) => {
    sent.push(options as unknown as Dispatcher.DispatchOptions);
    return '[]';
  });
  await client.send({ ...LIST, headers: { 'ngsild-tenant': 'city', link: '<c>; rel="x"' } });
  assert.deepEqual(sent[0]?.headers, {
    accept: 'application/json',
    'accept-encoding': 'identity',
    'cache-control': 'no-cache',
    'ngsild-tenant': 'city',
    link: '<c>; rel="x"',
  });
  assert.equal(sent[0].body ?? undefined, undefined);
});

it('the broker client appends its own name to Via, and sends no Via without a name', async (t) => {
  const others = '1.1 client, 1.0 proxy';
  for (const [viaName, given, sent] of [
    ['me', others, `${others}, 1.1 me`],
    ['me', undefined, '1.1 me'],
    [undefined, others, others],
    [undefined, undefined, undefined],
  ] as const) {
    const { client, broker } = mockedClient(t, viaName === undefined ? {} : { viaName });
    let via: unknown;
    broker.intercept({ path: () => true }).reply(200, ({ headers }) => {
      via = (headers as Readonly<Record<string, string>>)['via'];
      return '[]';
    });
    await client.send({ ...LIST, headers: given === undefined ? {} : { via: given } });
    assert.equal(via, sent);
  }
});

it('the broker client sends a body as application/json, whatever the given headers say', async (t) => {
  const { client, broker } = mockedClient(t);
  const isJson = (headers: Record<string, string>) => headers['content-type'] === 'application/json';
  broker.intercept({ path: () => true, method: 'POST', headers: isJson, body: '["urn:a:1"]' }).reply(204, '');
  const request = { method: 'POST', path: '/entityOperations/delete', jsonBody: '["urn:a:1"]' } as const;
  const { status } = await client.send({ ...request, headers: { 'content-type': 'text/plain' } });
  assert.equal(status, 204);
});

it('the broker client returns every status as a reply, including errors and redirects', async (t) => {
  const { client, broker } = mockedClient(t);
  for (const status of [200, 204, 207, 301, 400, 404, 429, 500, 503]) {
    broker.intercept({ path: () => true }).reply(status, '');
    assert.equal((await client.send(LIST)).status, status);
  }
});

it('the broker client reads the whole body as UTF-8, with header names in lower case and repeated headers joined', async (t) => {
  const { client, broker } = mockedClient(t);
  const headers = { 'NGSILD-Results-Count': '1', Link: ['<a>; rel="x"', '<b>; rel="next"'] };
  broker.intercept({ path: () => true }).reply(200, '["Zoë 🚗"]', { headers: headers });
  const reply = await client.send(LIST);
  assert.equal(reply.body, '["Zoë 🚗"]');
  assert.equal(reply.headers.get('ngsild-results-count'), '1');
  assert.equal(reply.headers.get('link'), '<a>; rel="x", <b>; rel="next"');
  assert.equal(reply.headers.get('constructor'), undefined);
});

it('the broker client refuses a body above the maximum size, and accepts one that just fits', async (t) => {
  const { client, broker } = mockedClient(t, { replyMaxBytes: 10 });
  broker.intercept({ path: () => true }).reply(200, '0123456789');
  assert.equal((await client.send(LIST)).body, '0123456789');
  broker.intercept({ path: () => true }).reply(200, '01234567890');
  await assert.rejects(client.send(LIST), ReplyTooLargeError);
});

it('replies of the broker are refused above 16 MiB', async (t) => {
  const { client, broker } = mockedClient(t);
  const most = 16 * 1024 * 1024;
  broker.intercept({ path: () => true }).reply(200, Buffer.alloc(most, ' '));
  assert.equal((await client.send(LIST)).body.length, most);
  broker.intercept({ path: () => true }).reply(200, Buffer.alloc(most + 1, ' '));
  await assert.rejects(client.send(LIST), ReplyTooLargeError);
});

it('replies of the broker are refused while they arrive if reading them would take too much time or memory', async (t) => {
  const { client, broker } = mockedClient(t);
  for (const body of [`[${'[],'.repeat(1_000_000)}1]`, '['.repeat(1000) + ']'.repeat(1000)]) {
    broker.intercept({ path: () => true }).reply(200, body);
    await assert.rejects(client.send(LIST), ReplyTooLargeError);
  }
});

it('replies of the broker are refused above the limit of a request, which cannot exceed that of the client', async (t) => {
  const { client, broker } = mockedClient(t, { replyMaxBytes: 100 });
  for (const [bound, bytes] of [
    [10, 11],
    [1000, 101],
  ] as const) {
    broker.intercept({ path: () => true }).reply(200, Buffer.alloc(bytes, ' '));
    await assert.rejects(client.send({ ...LIST, replyMaxBytes: bound }), ReplyTooLargeError);
  }
});

it('the broker client gives up with BrokerTimeoutError if the answer takes longer than the time-out', async (t) => {
  const { client, broker } = mockedClient(t, { timeoutMs: 15 });
  broker
    .intercept({ path: () => true })
    .reply(200, '[]')
    .delay(60_000);
  const isTimeout = (error: unknown) => error instanceof BrokerTimeoutError && /15 ms/.test(error.message);
  await assert.rejects(client.send(LIST), isTimeout);
});

it('the broker client distinguishes a request that never got a connection from one that was sent', async () => {
  const dispatcher = { dispatch: () => true } as unknown as Dispatcher;
  const client = createBrokerClient({ brokerUrl: new URL('http://broker.test'), timeoutMs: 5, dispatcher });
  const sent = client.send(LIST);
  await assert.rejects(sent, (error: unknown) => error instanceof BrokerTimeoutError && !error.wasSent);
});

it('the broker client sends nothing if a request is refused while its connection is being made', async (t) => {
  let requests = 0;
  const server = createServer((_request, response) => {
    requests += 1;
    response.writeHead(204).end();
  });
  const { url, close } = await listening(server);
  t.after(close);
  const brokerUrl = new URL(url);
  const connect = buildConnector({});
  const over = new Error('over');
  let reason: Error | undefined;
  let next: Error | undefined = over;
  const dispatcher = new Pool(brokerUrl.origin, {
    // Other work runs while the connection is being made.
    connect: (options, callback) => {
      reason = next;
      connect(options, callback);
    },
  });
  t.after(() => dispatcher.destroy());
  const client = createBrokerClient({ brokerUrl, timeoutMs: 60_000, dispatcher });
  const beforeSending = () => {
    if (reason !== undefined) throw reason;
  };
  const request = { method: 'DELETE', path: '/entities/1', beforeSending } as const;
  await assert.rejects(client.send(request), (error) => error === over);
  assert.equal(requests, 0);
  next = undefined;
  assert.equal((await client.send(request)).status, 204);
  assert.equal(requests, 1);
});

for (const [code, reason] of [
  ['ECONNRESET', 'connection broken'],
  ['EPIPE', 'connection broken'],
  ['UND_ERR_SOCKET', 'connection broken'],
  ['ECONNREFUSED', 'connection refused'],
  ['ENOTFOUND', 'its host name does not resolve'],
  ['EAI_AGAIN', 'its host name does not resolve'],
  ['ETIMEDOUT', 'connection timed out'],
  ['UND_ERR_CONNECT_TIMEOUT', 'connection timed out'],
  ['EHOSTUNREACH', 'this machine has no route to its address (EHOSTUNREACH)'],
  ['EPROTO', 'EPROTO'],
  [
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'its certificate is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT); NODE_EXTRA_CA_CERTS=ca.pem adds an authority of your own',
  ],
  ['CERT_HAS_EXPIRED', 'its certificate is not trusted (CERT_HAS_EXPIRED)'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'it does not speak TLS, although its URL begins with https'],
] as const) {
  it(`the broker client reports ${code} as BrokerUnreachableError with the URL of the broker, but without the message of the system`, async (t) => {
    const { client, broker } = mockedClient(t);
    const cause = Object.assign(new Error(`${code} 10.1.2.3:1026 broker.test`), { code });
    broker.intercept({ path: () => true }).replyWithError(cause);
    await assert.rejects(client.send(LIST), (error: unknown) => {
      assert.ok(error instanceof BrokerUnreachableError);
      assert.equal(error.message, `The broker at http://broker.test:1026/ could not be reached: ${reason}.`);
      assert.doesNotMatch(error.message, /10\.1\.2\.3/);
      assert.equal(error.cause, cause);
      return true;
    });
  });
}

it('the broker client reports each answer with its headers', async (t) => {
  const dates: (string | undefined)[] = [];
  const { client, broker } = mockedClient(t, { onReply: ({ headers }) => dates.push(headers.get('date')) });
  broker
    .intercept({ path: () => true })
    .reply(500, '', { headers: { Date: 'Mon, 01 Jun 2026 11:00:00 GMT' } });
  await client.send(LIST);
  broker.intercept({ path: () => true }).replyWithError(new Error('x'));
  await assert.rejects(client.send(LIST));
  assert.deepEqual(dates, ['Mon, 01 Jun 2026 11:00:00 GMT']);
});

it('the broker client reports an answer that is not HTTP as such', async (t) => {
  const server = createTcpServer((socket) => socket.end('220 mail.example ESMTP\r\n').on('error', () => {}));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const brokerUrl = new URL(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}`);
  const client = createBrokerClient({ brokerUrl, timeoutMs: 60_000 });
  t.after(() => client.close());
  await assert.rejects(client.send(LIST), (error: unknown) => {
    assert.ok(error instanceof BrokerUnreachableError);
    assert.match(error.message, /could not be reached: its answer is not HTTP\.$/);
    assert.equal(failureKind(error.cause), 'unusable-reply');
    return true;
  });
});

it('the broker client rejects with RequestAbortedError if the signal aborts', async (t) => {
  const { client, broker } = mockedClient(t);
  const caller = new AbortController();
  broker
    .intercept({ path: () => true })
    .reply(200, '[]')
    .delay(60_000);
  const sent = client.send({ ...LIST, signal: caller.signal });
  caller.abort();
  await assert.rejects(sent, RequestAbortedError);
});

it('the broker client sends nothing if the signal has already aborted', async (t) => {
  const { client, broker } = mockedClient(t);
  let sent = 0;
  broker.intercept({ path: () => true }).reply(200, () => {
    sent += 1;
    return '[]';
  });
  await assert.rejects(client.send({ ...LIST, signal: AbortSignal.abort() }), RequestAbortedError);
  assert.equal(sent, 0);
});

it('the broker client leaves no listener on a signal that outlives the request', async (t) => {
  const { client, broker } = mockedClient(t);
  const caller = new AbortController();
  const remove = t.mock.method(caller.signal, 'removeEventListener');
  const add = t.mock.method(caller.signal, 'addEventListener');
  broker.intercept({ path: () => true }).reply(200, '[]');
  await client.send({ ...LIST, signal: caller.signal });
  assert.equal(remove.mock.callCount(), add.mock.callCount());
});

it('the observer of the broker client is called once for each request, with the status or the code of the error', async (t) => {
  const ends: BrokerRequestEnd[] = [];
  const { client, broker } = mockedClient(t, { replyMaxBytes: 3, onEnded: (end) => ends.push(end) });
  broker.intercept({ path: '/ngsi-ld/v1/a' }).reply(503, '');
  broker.intercept({ path: '/ngsi-ld/v1/b', method: 'DELETE' }).reply(204, '');
  broker.intercept({ path: '/ngsi-ld/v1/c' }).reply(200, 'long');
  broker.intercept({ path: '/ngsi-ld/v1/d' }).replyWithError(new Error('broken'));
  await client.send({ method: 'GET', path: '/a' });
  await client.send({ method: 'DELETE', path: '/b' });
  await assert.rejects(client.send({ method: 'GET', path: '/c' }), ReplyTooLargeError);
  await assert.rejects(client.send({ method: 'GET', path: '/d' }), BrokerUnreachableError);
  await assert.rejects(
    client.send({ method: 'GET', path: '/e', signal: AbortSignal.abort() }),
    RequestAbortedError,
  );
  assert.deepEqual(
    ends.map(({ method, status, noAnswer }) => [method, status ?? noAnswer]),
    [
      ['GET', 503],
      ['DELETE', 204],
      ['GET', 'too_large'],
      ['GET', 'unreachable'],
      ['GET', 'cut_off'],
    ],
  );
  for (const { ms } of ends) assert.ok(ms >= 0 && ms < 60_000);
});

/** The turns of the event loop in which the answers to simultaneous requests were returned. */
async function turnsOf(t: TestContext, request: BrokerRequest, body: string): Promise<readonly number[]> {
  const { client, broker } = mockedClient(t);
  broker
    .intercept({ path: () => true, method: request.method })
    .reply(200, body)
    .times(8);
  let turn = 0;
  const over = new AbortController();
  const counting = (async () => {
    for (; !over.signal.aborted; turn += 1) await yieldToEventLoop();
  })();
  const sent = Array.from({ length: 8 }, async () => client.send(request).then(() => turn));
  const turns = await Promise.all(sent);
  over.abort();
  await counting;
  return turns;
}

it('the broker client returns one large answer, or answer to a large request, in each turn of the event loop', async (t) => {
  const jsonBody = JSON.stringify(Array.from({ length: 500 }, (_, index) => `urn:ngsi-ld:Car:${index}`));
  const batch: BrokerRequest = { method: 'POST', path: '/entityOperations/delete', jsonBody };
  assert.equal(new Set(await turnsOf(t, LIST, `["${'x'.repeat(8192)}"]`)).size, 8, 'a large answer');
  assert.equal(new Set(await turnsOf(t, batch, '')).size, 8, 'a large request');
});
