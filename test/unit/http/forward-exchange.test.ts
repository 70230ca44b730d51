import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { PassThrough } from 'node:stream';
import { after, before, it } from 'node:test';
import { errors, type Dispatcher } from 'undici';
import {
  ForwardExchange,
  type ForwardFailure,
  type PassThroughResult,
} from '../../../sidecar/http/forward-exchange.js';
import { Slots, type SlotRequest, type SlotHolder } from '../../../sidecar/http/slots.js';
import { yieldToEventLoop } from '../../../sidecar/shared/event-loop.js';
import { listening, type Listening } from '../../support/listening.js';

/** Places that report who has a place, who waits, and who is watched. */
class CountedSlots extends Slots {
  taken = 0;
  readonly entered: SlotRequest[] = [];
  readonly givenUp: SlotRequest[] = [];
  readonly watched = new Set<SlotHolder>();

  override acquire(seeker: SlotRequest): void {
    this.entered.push(seeker);
    this.taken += 1;
    super.acquire(seeker);
  }

  override release(): void {
    this.taken -= 1;
    super.release();
  }

  override cancel(seeker: SlotRequest): void {
    this.givenUp.push(seeker);
    super.cancel(seeker);
  }

  override watch(holder: SlotHolder): void {
    this.watched.add(holder);
    super.watch(holder);
  }

  override unwatch(holder: SlotHolder): void {
    this.watched.delete(holder);
    super.unwatch(holder);
  }
}

/** The side of undici, which a test plays. */
function controllerOf() {
  const aborts: Error[] = [];
  const controller = {
    aborted: false,
    paused: false,
    reason: null,
    rawHeaders: null,
    pause: () => void (controller.paused = true),
    resume: () => void (controller.paused = false),
    abort: (error: Error) => void aborts.push(error),
  };
  return { aborts, controller: controller as unknown as Dispatcher.DispatchController };
}

const server = createServer();
let listened: Listening;
before(async () => {
  listened = await listening(server);
});
after(() => listened.close());

/** A request that has arrived, and all its results. */
async function arrived(text: string, { max = 1, throws = false } = {}) {
  const [wholeSlots, uploadSlots] = [0, 1].map(
    () => new CountedSlots({ max, waitMs: 60_000, idleMs: 60_000 }),
  ) as [CountedSlots, CountedSlots];
  const failures: (ForwardFailure & { readonly error: unknown })[] = [];
  const ends: PassThroughResult[] = [];
  const dispatched: { options: Dispatcher.DispatchOptions; handler: Dispatcher.DispatchHandler }[] = [];
  const dispatcher = {
    dispatch: (options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) => {
      if (throws) throw new errors.InvalidArgumentError('no');
      dispatched.push({ options, handler });
      return true;
    },
  } as unknown as Dispatcher;
  const request = once(server, 'request') as Promise<[IncomingMessage, ServerResponse]>;
  const client: Socket = connect(listened.port, '127.0.0.1');
  let answer = '';
  client.on('data', (bytes) => (answer += String(bytes))).on('error', () => undefined);
  client.write(text);
  const [req, res] = await request;
  const exchange = new ForwardExchange(
    req,
    res,
    {
      dispatcher,
      wholeSlots,
      uploadSlots,
      bytesPerSecond: 1000,
      onError: (error, failure) => failures.push({ error, ...failure }),
      onEnded: (end) => ends.push(end),
    },
    { origin: 'http://b', path: '/p/x?y', headers: ['a', '1'], brokerTimeout: 1234 },
  );
  const closed = once(res, 'close');
  return {
    exchange,
    wholeSlots,
    uploadSlots,
    failures,
    ends,
    dispatched,
    client,
    req,
    res,
    closed,
    /** Resolves once the connection has ended. */
    answer: async () => {
      if (!client.closed) await once(client, 'close');
      return answer;
    },
    start: async () => {
      exchange.start(false);
      await yieldToEventLoop();
    },
    release: async () => {
      client.destroy();
      await closed;
    },
  };
}

/** The same after it was sent, with the side of undici; a request with a body is sent one turn later. */
async function sent(text: string) {
  const all = await arrived(text);
  await all.start();
  await yieldToEventLoop();
  const [{ handler, options } = assert.fail()] = all.dispatched;
  return { ...all, ...controllerOf(), handler, options };
}
const GET = 'GET /ngsi-ld/v1/x?secret HTTP/1.1\r\nHost: g\r\nConnection: close\r\n\r\n';
const UPLOAD = 'POST /ngsi-ld/v1/x HTTP/1.1\r\nHost: g\r\nContent-Length: 10\r\n\r\nabc';

it('the broker gets the request with the time limits for the head and the rest of its answer', async () => {
  const { dispatched, release } = await sent(GET);
  assert.deepEqual(dispatched[0]?.options, {
    origin: 'http://b',
    path: '/p/x?y',
    method: 'GET',
    headers: ['a', '1'],
    body: null,
    headersTimeout: 1234,
    bodyTimeout: 1234,
  });
  await release();
});

it('a request that was answered returns its slot, and is reported with its status', async () => {
  const { wholeSlots, ends, failures, closed, answer, handler, controller } = await sent(GET);
  handler.onRequestStart?.(controller, {});
  handler.onResponseStart?.(controller, 201, { 'x-a': '1', 'content-length': '2' }, 'Made');
  handler.onResponseData?.(controller, Buffer.from('[]'));
  assert.equal(wholeSlots.taken, 1);
  handler.onResponseEnd?.(controller, {});
  assert.equal(wholeSlots.taken, 0);
  await closed;
  assert.match(await answer(), /^HTTP\/1\.1 201 Made\r\nx-a: 1\r\n[^]*\r\n\r\n\[\]$/);
  assert.deepEqual(
    ends.map(({ method, status }) => [method, status]),
    [['GET', 201]],
  );
  assert.deepEqual(failures, []);
});

it('a client that disconnects returns its slot, aborts the request to the broker, and is reported without a status', async () => {
  const { wholeSlots, ends, failures, release, handler, controller, aborts } = await sent(GET);
  handler.onRequestStart?.(controller, {});
  await release();
  assert.equal(aborts.length, 1);
  handler.onResponseError?.(controller, aborts[0] ?? new Error('none'));
  assert.equal(wholeSlots.taken, 0);
  assert.deepEqual(
    ends.map(({ status }) => status),
    [undefined],
  );
  assert.deepEqual(failures, []);
});

it('a request whose client disconnects while it waits leaves the queue', async () => {
  const { start, wholeSlots, exchange, dispatched, release } = await arrived(GET, { max: 0 });
  await start();
  assert.deepEqual(wholeSlots.entered, [exchange]);
  await release();
  assert.deepEqual(wholeSlots.givenUp, [exchange]);
  assert.deepEqual(dispatched, []);
});

it('a place that is given to a disconnected client is returned', async () => {
  const { start, wholeSlots, exchange, dispatched, release } = await arrived(GET, { max: 0 });
  await start();
  await release();
  exchange.admit();
  assert.equal(wholeSlots.taken, 0);
  assert.deepEqual(dispatched, []);
});

it('a client that is turned away before it may send its body gets an answer that closes the connection', async () => {
  const { exchange, client, release } = await arrived(
    'POST /ngsi-ld/v1/x HTTP/1.1\r\nHost: g\r\nContent-Length: 9\r\n\r\n',
  );
  exchange.start(true);
  exchange.reject();
  const [answer] = (await once(client, 'data')) as [Buffer];
  assert.match(String(answer), /^HTTP\/1\.1 503 [^]*\r\nConnection: close\r\n/i);
  await release();
});

it('a request that cannot be sent returns its slot, and is answered', async () => {
  const { start, wholeSlots, failures, closed, answer } = await arrived(GET, { throws: true });
  await start();
  await closed;
  assert.equal(wholeSlots.taken, 0);
  assert.match(await answer(), /^HTTP\/1\.1 400 /);
  assert.equal(failures[0]?.kind, 'unacceptable-request');
});

it('a truncated answer is reported without a status, and its place is returned', async () => {
  const { wholeSlots, failures, ends, closed, handler, controller } = await sent(GET);
  handler.onResponseStart?.(controller, 200, { 'content-length': '9' });
  handler.onResponseData?.(controller, Buffer.from('abc'));
  handler.onResponseError?.(controller, new errors.ResponseContentLengthMismatchError());
  await closed;
  assert.equal(wholeSlots.taken, 0);
  assert.deepEqual(
    failures.map(({ kind, status }) => [kind, status]),
    [['unusable-reply', undefined]],
  );
  assert.deepEqual(
    ends.map(({ status }) => status),
    [undefined],
  );
});

it('a 304 with the Content-Length of the whole representation is complete', async () => {
  const { handler, controller, failures, ends, closed, answer } = await sent(GET);
  handler.onResponseStart?.(controller, 304, { 'content-length': '9' });
  handler.onResponseError?.(controller, new errors.ResponseContentLengthMismatchError());
  await closed;
  assert.match(await answer(), /^HTTP\/1\.1 304 /);
  assert.deepEqual([failures, ends.map(({ status }) => status)], [[], [304]]);
});

it('interim answers may come as long as an upload continues, and then for the time of an answer', async (t) => {
  const { client, req, release, handler, options, controller, aborts } = await sent(UPLOAD);
  handler.onRequestStart?.(controller, {});
  const timers: { readonly ms: number | undefined; readonly ring: () => void; rounds: number }[] = [];
  t.mock.method(globalThis, 'setTimeout', (ring: () => void, ms?: number) => {
    const timer = { ms, ring, rounds: 1, refresh: () => (timer.rounds += 1) };
    timers.push(timer);
    return timer;
  });
  handler.onResponseStart?.(controller, 102, {});
  const [timer = assert.fail()] = timers;
  timer.ring();
  timer.ring();
  assert.deepEqual([timer.ms, timer.rounds, timers.length, aborts], [1234, 3, 1, []]);
  t.mock.restoreAll();
  const ended = once(req, 'end');
  (options.body as NodeJS.ReadableStream).resume();
  client.write('defghij');
  await ended;
  timer.ring();
  assert.ok(aborts[0] instanceof errors.HeadersTimeoutError);
  assert.equal(timer.rounds, 3);
  await release();
});

for (const [what, end] of [
  [
    'an answer',
    (handler: Dispatcher.DispatchHandler, controller: Dispatcher.DispatchController) =>
      handler.onResponseStart?.(controller, 200, {}),
  ],
  [
    'a failure',
    (handler: Dispatcher.DispatchHandler, controller: Dispatcher.DispatchController) =>
      handler.onResponseError?.(controller, new errors.SocketError('gone')),
  ],
] as const) {
  it(`the time limit after interim answers ends with ${what}`, async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { start, dispatched, release } = await arrived(GET);
    await start();
    const [{ handler } = assert.fail()] = dispatched;
    const { controller, aborts } = controllerOf();
    handler.onRequestStart?.(controller, {});
    handler.onResponseStart?.(controller, 100, {});
    end(handler, controller);
    t.mock.timers.tick(10_000);
    assert.deepEqual(aborts, []);
    await release();
  });
}

it('an upload takes a place for uploads, and is watched until it has arrived', async () => {
  const { dispatched, wholeSlots, uploadSlots, exchange, client, req, release } = await sent(UPLOAD);
  assert.deepEqual([wholeSlots.entered, uploadSlots.entered], [[], [exchange]]);
  assert.deepEqual([...uploadSlots.watched], [exchange]);
  const ended = once(req, 'end');
  (dispatched[0]?.options.body as NodeJS.ReadableStream | undefined)?.resume();
  client.write('defghij');
  await ended;
  assert.deepEqual([...uploadSlots.watched], []);
  await release();
});

it('a client that does not read its answer is watched until it does', async () => {
  const { wholeSlots, exchange, res, release, handler, controller } = await sent(GET);
  handler.onResponseStart?.(controller, 200, {});
  const wholeAnswer = res.write.bind(res);
  res.write = () => false;
  handler.onResponseData?.(controller, Buffer.from('abc'));
  res.write = wholeAnswer;
  assert.deepEqual([controller.paused, [...wholeSlots.watched]], [true, [exchange]]);
  res.emit('drain');
  assert.deepEqual([controller.paused, wholeSlots.watched.size], [false, 0]);
  await release();
});

it('a client that reads its answer is still watched while its upload continues', async () => {
  const { uploadSlots, exchange, res, release, handler, controller } = await sent(UPLOAD);
  handler.onResponseStart?.(controller, 200, {});
  const wholeAnswer = res.write.bind(res);
  res.write = () => false;
  handler.onResponseData?.(controller, Buffer.from('abc'));
  res.write = wholeAnswer;
  res.emit('drain');
  assert.deepEqual([controller.paused, [...uploadSlots.watched]], [false, [exchange]]);
  await release();
});

it('each byte of a body extends the idle time of its client only by its share', async (t) => {
  const { req, exchange, release } = await sent(UPLOAD);
  const beforeMs = exchange.idleSinceMs;
  t.mock.method(performance, 'now', () => beforeMs + 60_000);
  req.emit('data', Buffer.from('d'));
  assert.equal(exchange.idleSinceMs, beforeMs + 1);
  await release();
});

it('a client that sends much at once saves up no idle time', async (t) => {
  const { req, exchange, release } = await sent(UPLOAD);
  const nowMs = exchange.idleSinceMs + 1000;
  t.mock.method(performance, 'now', () => nowMs);
  req.emit('data', Buffer.alloc(10_000));
  assert.equal(exchange.idleSinceMs, nowMs);
  await release();
});

it('the idle time of a client starts when the broker has accepted all data so far', async (t) => {
  const { dispatched, exchange, release } = await sent(UPLOAD);
  const body = dispatched[0]?.options.body as PassThrough;
  const beforeMs = exchange.idleSinceMs;
  while (body.write(Buffer.alloc(64 * 1024)));
  assert.equal(exchange.idleSinceMs, Infinity);
  const drainedMs = performance.now() + 1000;
  t.mock.method(performance, 'now', () => drainedMs);
  const drained = once(body, 'drain');
  body.resume();
  await drained;
  assert.ok(beforeMs < drainedMs);
  assert.equal(exchange.idleSinceMs, drainedMs);
  await release();
});

it('an upload is no longer watched once its request is over', async () => {
  const { uploadSlots, release, handler, controller } = await sent(UPLOAD);
  handler.onResponseError?.(controller, new errors.SocketError('gone'));
  assert.deepEqual([[...uploadSlots.watched], uploadSlots.taken], [[], 0]);
  await release();
});

it('a body that arrives with its head is sent in one piece', async () => {
  const { dispatched, wholeSlots, uploadSlots, release } = await sent(`${UPLOAD}defghij`);
  assert.deepEqual(dispatched[0]?.options.body, Buffer.from('abcdefghij'));
  assert.deepEqual([wholeSlots.entered.length, uploadSlots.entered.length], [1, 0]);
  assert.equal(wholeSlots.watched.size, 0);
  await release();
});

it('an upload that is cut off is answered 408 with the end of its connection, and aborted at the broker', async () => {
  const { handler, controller, aborts, exchange, failures, closed, answer } = await sent(UPLOAD);
  handler.onRequestStart?.(controller, {});
  exchange.abort();
  await closed;
  assert.match(await answer(), /^HTTP\/1\.1 408 [^]*\r\nConnection: close\r\n/);
  assert.deepEqual([aborts.length, failures.map(({ kind }) => kind)], [1, ['slow-client']]);
});
