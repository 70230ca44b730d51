import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type BrokerRequest,
  BrokerTimeoutError,
  BrokerUnreachableError,
  RequestAbortedError,
  type BrokerReply,
} from '../../../../sidecar/purge/broker/index.js';
import {
  BrokerFailedError,
  BrokerRefusedError,
  BrokerReplyError,
  PurgeStoppedError,
} from '../../../../sidecar/purge/errors.js';
import {
  StaleListError,
  MustSplitError,
  Requester,
  type RequestResult,
  RateLimiter,
  type RetryPolicy,
} from '../../../../sidecar/purge/requests/index.js';
import { HandClock } from '../../../support/hand-clock.js';
import { replyOf } from '../../../support/replies.js';
import { createTestClock } from '../../../support/purge-harness.js';
import { rateLimiterOf } from './hand-made-rate-limiter.js';

const POLICY: RetryPolicy = { maxAttempts: 6, minDelayMs: 200, maxDelayMs: 10_000, awayMs: 30_000 };
const REFUSED = new BrokerUnreachableError('refused', false);
const RESET = new BrokerUnreachableError('broken', true);
const DONE = replyOf(204);

/** A request in flight, to be answered by the test. */
interface Exchange {
  readonly request: BrokerRequest;
  answer(reply: BrokerReply): void;
  fail(error: Error): void;
}

/** A requester whose broker and clock are controlled by the test: nothing happens by itself. */
function byHand(
  retry: Partial<RetryPolicy> = {},
  {
    rateLimiter,
    reserve,
    maxPerRequest,
    ended = [],
    beforeDelete,
    connected,
    onRetry,
    random = () => 0,
    isStopped = false,
  }: {
    readonly rateLimiter?: RateLimiter;
    /** False if the request must not be sent. */
    readonly reserve?: (deletes: number) => Promise<unknown>;
    readonly maxPerRequest?: () => number;
    /** Reservations that were given back. */
    readonly ended?: number[];
    readonly beforeDelete?: () => Promise<void> | undefined;
    /** When requests have a connection. */
    readonly connected?: Promise<void>;
    readonly onRetry?: () => void;
    readonly random?: () => number;
    /** The purge was stopped before its requester was made. */
    readonly isStopped?: boolean;
  } = {},
) {
  const clock = new HandClock();
  const sent: Exchange[] = [];
  const stop = new AbortController();
  if (isStopped) stop.abort();
  const budget = {
    maxPerRequest: maxPerRequest?.() ?? Infinity,
    async reserve(deletes: number) {
      if ((await reserve?.(deletes)) === false) return undefined;
      return () => void ended.push(deletes);
    },
  };
  const hasBudget = reserve !== undefined || maxPerRequest !== undefined;
  const dependencies = {
    client: {
      send: async (request: BrokerRequest) =>
        new Promise<BrokerReply>((resolve, reject) => {
          request.signal?.addEventListener('abort', () => reject(new RequestAbortedError('cut off')));
          connected?.then(() => request.beforeSending?.()).catch(reject);
          sent.push({ request, answer: resolve, fail: reject });
        }),
      close: async () => {},
    },
    retry: { ...POLICY, ...retry },
    clock,
    ...(onRetry === undefined ? {} : { onRetry }),
    random,
  };
  const requester = new Requester(
    { headers: {}, rateLimiter, beforeDelete, ...(hasBudget ? { budget } : {}) },
    dependencies,
    stop.signal,
    { method: 'GET', path: '/probe', operation: 'answer' },
  );
  /** Lets everything happen that is not waiting. */
  const turn = async () => {
    for (let turns = 0; turns < 5; turns++) await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    requester,
    stop,
    turn,
    /** Paths that were sent and are not answered yet, in order. */
    open: () => sent.map(({ request }) => request.path),
    pass: (ms: number) => clock.pass(ms),
    /** Ends the requests to a path that are in flight. */
    async end(path: string, how: BrokerReply | Error) {
      const meant = sent.filter(({ request }) => request.path === path);
      assert.ok(meant.length > 0, `nothing to ${path} is under way`);
      for (const exchange of meant) {
        sent.splice(sent.indexOf(exchange), 1);
        if (how instanceof Error) exchange.fail(how);
        else exchange.answer(how);
      }
      await turn();
    },
    delete: (path: string, item?: string): Promise<RequestResult> =>
      requester.send({
        method: 'DELETE',
        path,
        operation: 'delete',
        ...(item === undefined ? {} : { item }),
      }),
    /** The first answer of a purge. */
    async begin() {
      const first = requester.send({ method: 'GET', path: '/first', operation: 'list' });
      await turn();
      await this.end('/first', replyOf(200, []));
      await first;
    },
  };
}

type Hand = ReturnType<typeof byHand>;

async function begun(retry?: Partial<RetryPolicy>): Promise<Hand> {
  const hand = byHand(retry);
  await hand.begin();
  return hand;
}

const isAnswered = async (ended: Promise<RequestResult>) => assert.equal((await ended).kind, 'answered');

it('a requester sends only a probe while the broker may be unavailable, whatever waits or ends in the meantime', async () => {
  const hand = await begun();
  const [one, two] = [hand.delete('/1'), hand.delete('/2')];
  await hand.turn();
  await hand.end('/1', REFUSED);
  const three = hand.delete('/3');
  await hand.end('/2', DONE);
  assert.deepEqual(hand.open(), []);
  await hand.pass(199);
  assert.deepEqual(hand.open(), []);
  await hand.pass(1);
  assert.deepEqual(hand.open(), ['/probe']);
  const four = hand.delete('/4');
  await hand.end('/probe', REFUSED);
  await hand.pass(200);
  assert.deepEqual(hand.open(), ['/probe']);
  await hand.end('/probe', replyOf(200, []));
  assert.deepEqual(hand.open().sort(), ['/1', '/3', '/4']);
  for (const path of ['/1', '/3', '/4']) await hand.end(path, DONE);
  for (const ended of [one, two, three, four]) await isAnswered(ended);
});

it('a requester continues at once if another request is answered after a connection broke, whatever the answer', async () => {
  for (const answer of [replyOf(500), DONE]) {
    const hand = await begun();
    const all = [hand.delete('/1'), hand.delete('/2')];
    await hand.turn();
    await hand.end('/1', RESET);
    const three = hand.delete('/3');
    await hand.turn();
    assert.deepEqual(hand.open(), ['/2']);
    await hand.end('/2', answer);
    assert.deepEqual(hand.open(), ['/3']);
    await hand.pass(200);
    const again = answer === DONE ? ['/1', '/3'] : ['/1', '/2', '/3'];
    assert.deepEqual(hand.open().sort(), again);
    for (const path of again) await hand.end(path, DONE);
    for (const ended of [...all, three]) await isAnswered(ended);
  }
});

it('a requester does not take a time-out or broken connection as a sign that the broker is back', async () => {
  for (const end of [new BrokerTimeoutError('late', true), RESET]) {
    const hand = await begun();
    const all = [hand.delete('/1'), hand.delete('/2')];
    await hand.turn();
    await hand.end('/1', RESET);
    const three = hand.delete('/3');
    await hand.end('/2', end);
    assert.deepEqual(hand.open(), [], 'all wait for the probe');
    await hand.pass(200);
    assert.deepEqual(hand.open(), ['/probe']);
    await hand.end('/probe', DONE);
    await hand.pass(200);
    for (const path of ['/1', '/2', '/3']) await hand.end(path, DONE);
    for (const ended of [...all, three]) await isAnswered(ended);
  }
});

it('a request that brings the broker down each time gets one try more than its limit', async () => {
  const hand = await begun({ maxAttempts: 3 });
  const one = hand.delete('/1');
  await hand.turn();
  let sends = 0;
  while (hand.open().includes('/1')) {
    sends += 1;
    await hand.end('/1', REFUSED);
    for (const how of [REFUSED, DONE]) {
      await hand.pass(1000);
      await hand.end('/probe', how);
    }
    await hand.pass(10_000);
  }
  assert.equal((await one).kind, 'gave-up');
  assert.equal(sends, 4);
});

it('a requester counts a failure as a try if the broker answers the first probe', async () => {
  const hand = await begun({ maxAttempts: 2 });
  const one = hand.delete('/1');
  await hand.turn();
  for (let attempt = 1; attempt <= 2; attempt++) {
    await hand.end('/1', replyOf(503));
    await hand.pass(200);
    await hand.end('/probe', DONE);
    await hand.pass(200);
  }
  assert.equal((await one).kind, 'gave-up');
});

it('a requester counts no failure of an outage as one in a row, even if it grants each request one further try', async () => {
  const hand = await begun();
  const paths = Array.from({ length: 19 }, (_, index) => `/${index}`);
  const all = paths.map((path) => hand.delete(path));
  await hand.turn();
  for (let outage = 1; outage <= 2; outage++) {
    for (const path of paths) await hand.end(path, REFUSED);
    for (const how of [REFUSED, DONE]) {
      await hand.pass(1000);
      await hand.end('/probe', how);
    }
    await hand.pass(10_000);
  }
  await hand.end('/0', replyOf(500));
  await hand.pass(10_000);
  for (const path of paths) await hand.end(path, DONE);
  for (const ended of all) await isAnswered(ended);
});

it('a requester respects the Retry-After of an answer to its probe, and ends if that is too long', async () => {
  const hand = await begun();
  const one = hand.delete('/1');
  await hand.turn();
  await hand.end('/1', RESET);
  await hand.pass(200);
  await hand.end('/probe', replyOf(429, '', { 'retry-after': '10' }));
  await hand.pass(9999);
  assert.deepEqual(hand.open(), []);
  await hand.pass(1);
  await hand.end('/1', DONE);
  await isAnswered(one);

  const two = assert.rejects(hand.delete('/2'), { reason: 'retry-after-too-long' });
  await hand.turn();
  await hand.end('/2', RESET);
  await hand.pass(200);
  await hand.end('/probe', replyOf(429, '', { 'retry-after': '3600' }));
  await two;
  await assert.rejects(hand.delete('/3'), { reason: 'retry-after-too-long' });
  assert.deepEqual(hand.open(), []);
});

it('a requester does not give up because many first tries fail at the same time', async () => {
  const hand = await begun();
  const paths = Array.from({ length: 50 }, (_, index) => `/${index}`);
  const all = paths.map((path) => hand.delete(path, path));
  await hand.turn();
  for (const path of paths) await hand.end(path, replyOf(500));
  await hand.pass(200);
  assert.deepEqual(hand.open(), paths);
  for (const path of paths) await hand.end(path, DONE);
  for (const ended of all) await isAnswered(ended);
});

it('a requester gives up if a second try fails after twenty failures in a row', async () => {
  const hand = await begun();
  const paths = Array.from({ length: 20 }, (_, index) => `/${index}`);
  const all = paths.map((path) => hand.delete(path, path));
  await hand.turn();
  for (const path of paths) await hand.end(path, replyOf(500));
  await hand.pass(200);
  assert.equal(hand.open().length, 20);
  const ended = assert.rejects(all[0] ?? assert.fail(), { reason: 'nothing-but-failures' });
  await hand.end('/0', replyOf(500));
  await ended;
  for (const path of paths.slice(1)) await hand.end(path, DONE);
  for (const other of all.slice(1)) await isAnswered(other);
});

it('a requester fails all waiting requests when the time is up, and sends nothing more', async () => {
  const hand = await begun({ awayMs: 300 });
  const all = [hand.delete('/1'), hand.delete('/2')];
  await hand.turn();
  const ended = Promise.allSettled(all);
  for (const path of ['/1', '/2']) await hand.end(path, REFUSED);
  for (const ms of [200, 100]) {
    await hand.pass(ms);
    await hand.end('/probe', REFUSED);
  }
  for (const end of await ended) {
    assert.ok(end.status === 'rejected' && end.reason instanceof BrokerFailedError);
    assert.equal(end.reason.reason, 'away-too-long');
  }
  await assert.rejects(hand.delete('/3'), BrokerFailedError);
  assert.deepEqual(hand.open(), []);
});

it('a requester of a purge that was stopped before sends nothing', async () => {
  const hand = byHand({}, { isStopped: true });
  await assert.rejects(hand.delete('/1'), PurgeStoppedError);
  assert.deepEqual([hand.open(), hand.requester.requestCounts.requests], [[], 0]);
});

it('a requester returns every status except redirects, 401, the 404 of an unknown tenant, and 403 unless told to', async () => {
  const UNKNOWN_TENANT = { type: 'https://uri.etsi.org/ngsi-ld/errors/NonexistentTenant' };
  for (const [reply, ends, endsIfTold = ends] of [
    [replyOf(299)],
    [replyOf(300), BrokerReplyError],
    [replyOf(301), BrokerReplyError],
    [replyOf(399), BrokerReplyError],
    [replyOf(400)],
    [replyOf(401), BrokerRefusedError],
    [replyOf(402)],
    [replyOf(403), BrokerRefusedError, 'answered'],
    [replyOf(404)],
    [replyOf(404, UNKNOWN_TENANT), BrokerRefusedError],
    [replyOf(409)],
  ] as const) {
    for (const accepts403 of [false, true]) {
      const hand = await begun();
      const look = { method: 'GET', path: '/1', operation: 'look' } as const;
      const one = hand.requester.send(accepts403 ? { ...look, accepts403 } : look);
      const end = accepts403 ? endsIfTold : ends;
      const isReturned = end === undefined || end === 'answered';
      const ended = isReturned ? isAnswered(one) : assert.rejects(one, end, String(reply.status));
      await hand.turn();
      await hand.end('/1', reply);
      await ended;
    }
  }
});

it('a requester counts an aborted query as sent', async () => {
  const hand = await begun();
  const one = assert.rejects(
    hand.requester.send({ method: 'GET', path: '/1', operation: 'look' }),
    PurgeStoppedError,
  );
  await hand.turn();
  hand.stop.abort();
  await one;
  assert.equal(hand.requester.requestCounts.requests, 2);
});

it('a requester counts a request that is repeated after an outage as a retry, though its first try does not count', async () => {
  const hand = await begun();
  const one = hand.delete('/1');
  await hand.turn();
  await hand.end('/1', REFUSED);
  for (const how of [REFUSED, DONE]) {
    await hand.pass(1000);
    await hand.end('/probe', how);
  }
  await hand.end('/1', DONE);
  await isAnswered(one);
  // The first answer, two probes, and the delete twice.
  assert.deepEqual(hand.requester.requestCounts, { requests: 5, retries: 1 });
});

describe('a requester of a purge with a rate', () => {
  const paced = (acquire: RateLimiter['acquire']) => byHand({}, { rateLimiter: rateLimiterOf({ acquire }) });
  const request = { method: 'DELETE', path: '/1', operation: 'delete', deletes: 3 } as const;

  it('a requester with a rate sends a delete only when its rate allows, and delays no query', async () => {
    const taken: number[] = [];
    let pass = () => {};
    const hand = paced(async (amount) => {
      taken.push(amount);
      await new Promise<void>((resolve) => (pass = resolve));
      return true;
    });
    const one = hand.requester.send(request);
    const look = hand.requester.send({ method: 'GET', path: '/look', operation: 'look' });
    await hand.turn();
    assert.deepEqual([hand.open(), taken], [['/look'], [3]]);
    pass();
    await hand.turn();
    assert.deepEqual(hand.open(), ['/look', '/1']);
    await hand.end('/1', DONE);
    await hand.end('/look', replyOf(200, []));
    for (const ended of [one, look]) await isAnswered(ended);
  });

  it('a requester with a rate puts as many deletes into one request as its rate allows, at least one', () => {
    for (const [burst, most] of [
      [0.2, 1],
      [1, 1],
      [7.9, 7],
      [Infinity, Infinity],
    ] as const) {
      const rateLimiter = rateLimiterOf({ burst });
      assert.equal(byHand({}, { rateLimiter }).requester.burst, most);
    }
    assert.equal(byHand().requester.burst, Infinity);
  });

  it('the size of a batch does not limit the deletes in a second', async () => {
    const hand = byHand({}, { maxPerRequest: () => 32.5 });
    assert.deepEqual([hand.requester.maxPerRequest, hand.requester.burst], [32, Infinity]);
  });

  it('a requester charges nothing for a delete that got stale while it waited for its share of the rate', async () => {
    for (const reserve of [undefined, async () => {}]) {
      let isFresh = true;
      const given: number[] = [];
      const rateLimiter = rateLimiterOf({
        acquire: async () => {
          isFresh = false;
          return true;
        },
        refund: (amount: number) => void given.push(amount),
      });
      const booked: string[] = [];
      const hand = byHand({}, { rateLimiter, ...(reserve === undefined ? {} : { reserve }) });
      const sent = hand.requester.send({
        ...request,
        deletes: 1,
        isStale: () => !isFresh,
        onSend: () => booked.push('booked'),
      });
      await assert.rejects(sent, StaleListError);
      assert.deepEqual([booked, given, hand.open()], [[], [1], []]);
    }
  });

  it('a requester gives back the share of the rate of a delete that its bound forbids', async () => {
    const given: number[] = [];
    const rateLimiter = rateLimiterOf({ refund: (amount) => void given.push(amount) });
    const hand = byHand({}, { rateLimiter, reserve: async () => false });
    assert.equal((await hand.requester.send({ ...request, deletes: 1 })).kind, 'gave-up');
    assert.deepEqual([given, hand.open()], [[1], []]);
  });

  it('a requester does not send a delete that got stale while it waited for a connection, and does not report it as unclear', async () => {
    let isStale = false;
    let connect = () => {};
    const connected = new Promise<void>((resolve) => (connect = resolve));
    const hand = byHand({}, { connected });
    const unclear: string[] = [];
    const sent = hand.requester.send({
      ...request,
      deletes: 1,
      isStale: () => isStale,
      onUnclear: () => unclear.push('unclear'),
    });
    await hand.turn();
    isStale = true;
    connect();
    await assert.rejects(sent, StaleListError);
    assert.deepEqual([unclear, hand.requester.requestCounts.requests], [[], 0]);
  });

  it('a requester with a rate does not send a request that is now too large for the rate, but has it split', async () => {
    const hand = paced(async () => false);
    await assert.rejects(hand.requester.send(request), MustSplitError);
    assert.deepEqual(hand.open(), []);
  });

  it('a requester with a rate sends an indivisible request once the rate has allowed all of it', async () => {
    const clock = createTestClock();
    const hand = byHand({}, { rateLimiter: new RateLimiter(clock, 1) });
    const startedMs = clock.now();
    void hand.requester.send({ ...request, isIndivisible: true });
    while (hand.open().length === 0) await hand.turn();
    assert.equal(clock.now() - startedMs, (request.deletes - 1) * 1000);
  });

  it('a requester does not send a request that became too large for its rate while being reserved, but has it split', async () => {
    const rateLimiter = new RateLimiter(createTestClock(), 10);
    const ended: number[] = [];
    let reserved = () => {};
    const reserve = async () => new Promise<void>((resolve) => (reserved = resolve));
    const hand = byHand({}, { rateLimiter, reserve, ended });
    const sent = assert.rejects(hand.requester.send(request), MustSplitError);
    await hand.turn();
    rateLimiter.setRate(1);
    reserved();
    await sent;
    assert.deepEqual([hand.open(), ended], [[], [3]]);
  });

  it('a stop during a pause that began while a delete was being reserved fails only that delete', async () => {
    let reserved = () => {};
    const reserve = async () => new Promise<void>((resolve) => (reserved = resolve));
    const hand = byHand({}, { reserve });
    const refusals = [
      assert.rejects(hand.requester.send({ ...request, deletes: 1 }), PurgeStoppedError),
      assert.rejects(
        hand.requester.send({ method: 'GET', path: '/list', operation: 'list' }),
        PurgeStoppedError,
      ),
    ];
    await hand.turn();
    await hand.end('/list', replyOf(429, '', { 'retry-after': '3' }));
    reserved();
    await hand.turn();
    hand.stop.abort();
    await Promise.all(refusals);
    await hand.turn();
  });

  it('a requester waits for the check before a delete, even if the check has to wait only after the reserve or the rate', async () => {
    for (const waitsFor of ['reserve', 'rate'] as const) {
      let granted = () => {};
      let answered = () => {};
      const grant = async () => new Promise<void>((resolve) => (granted = resolve));
      let asked: Promise<void> | undefined;
      const beforeDelete = () => {
        const wait = asked;
        asked = undefined;
        return wait;
      };
      const rateLimiter = rateLimiterOf({ acquire: async () => grant().then(() => true) });
      const hand = byHand(
        {},
        { beforeDelete, ...(waitsFor === 'rate' ? { rateLimiter } : { reserve: grant }) },
      );
      const sent = hand.requester.send({ ...request, path: '/1', deletes: 1 });
      await hand.turn();
      asked = new Promise<void>((resolve) => (answered = resolve));
      granted();
      await hand.turn();
      assert.deepEqual(hand.open(), []);
      answered();
      await hand.turn();
      if (waitsFor === 'rate') granted();
      await hand.turn();
      await hand.end('/1', DONE);
      await isAnswered(sent);
    }
  });

  it('deletes that wait for a pause at a rate add up to no more than one burst', async () => {
    let tokens = 3;
    const rateLimiter = rateLimiterOf({
      acquire: async (amount) => {
        tokens -= amount;
        return true;
      },
      refund: (amount) => void (tokens += amount),
    });
    const hand = byHand({}, { rateLimiter });
    const send = (path: string) => hand.requester.send({ ...request, path, deletes: 1 });
    const first = send('/1');
    await hand.turn();
    await hand.end('/1', replyOf(429, '', { 'retry-after': '3' }));
    assert.equal(tokens, 2);
    const all = [first, send('/2'), send('/3')];
    await hand.pass(2999);
    assert.equal(tokens, 2, 'nothing is taken while the pause lasts');
    await hand.pass(1);
    for (const path of ['/1', '/2', '/3']) await hand.end(path, DONE);
    for (const ended of all) await isAnswered(ended);
    assert.equal(tokens, -1);
  });

  it('a requester with a rate sends nothing if the rate limiter fails, or if the purge is stopped in the meantime', async () => {
    const broken = paced(async () => Promise.reject(new Error('no rate limiter')));
    await assert.rejects(broken.requester.send(request), { message: 'no rate limiter' });
    const stopped = paced(
      (_amount, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('aborted')));
        }),
    );
    const ended = assert.rejects(stopped.requester.send(request), PurgeStoppedError);
    await stopped.turn();
    stopped.stop.abort();
    await ended;
    assert.deepEqual([broken.open(), stopped.open()], [[], []]);
  });
});

it('a requester delays every request for a Retry-After, which a shorter one does not cut', async () => {
  let retries = 0;
  const hand = byHand({}, { onRetry: () => (retries += 1) });
  await hand.begin();
  const all = [hand.delete('/1'), hand.delete('/2'), hand.delete('/3')];
  await hand.turn();
  await hand.end('/1', replyOf(429, '', { 'retry-after': '10' }));
  await hand.end('/2', replyOf(429, '', { 'retry-after': '2' }));
  const late = hand.delete('/4');
  await hand.pass(9999);
  assert.deepEqual(hand.open(), ['/3']);
  // A later Retry-After extends the wait of all requests.
  await hand.end('/3', replyOf(503, '', { 'retry-after': '5' }));
  await hand.pass(4999);
  assert.deepEqual(hand.open(), []);
  await hand.pass(1);
  assert.deepEqual([hand.open(), retries], [['/probe'], 0]);
  await hand.end('/probe', DONE);
  assert.deepEqual(hand.open().sort(), ['/1', '/2', '/3', '/4']);
  assert.deepEqual([retries, hand.requester.requestCounts.retries], [3, 3]);
  for (const path of ['/1', '/2', '/3', '/4']) await hand.end(path, DONE);
  for (const ended of [...all, late]) await isAnswered(ended);
});

it('a requester delays the other requests even if the throttled request has no tries left', async () => {
  const hand = await begun({ maxAttempts: 1 });
  const one = hand.delete('/1');
  await hand.turn();
  await hand.end('/1', replyOf(429, '', { 'retry-after': '3' }));
  assert.equal((await one).kind, 'gave-up');
  const two = hand.delete('/2');
  await hand.pass(2999);
  assert.deepEqual(hand.open(), []);
  await hand.pass(1);
  await hand.end('/2', DONE);
  await isAnswered(two);
});

const throttled = replyOf(429, '', { 'retry-after': '1' });

it('a requester gives up after twenty pauses in a row that the broker requested and that did not help', async () => {
  const hand = await begun({ maxAttempts: 100 });
  const one = assert.rejects(hand.delete('/1'), { reason: 'nothing-but-failures' });
  await hand.turn();
  for (let failures = 1; failures <= 20; failures++) {
    assert.deepEqual(hand.open(), ['/1'], `${failures}`);
    await hand.end('/1', throttled);
    await hand.pass(10_000);
  }
  assert.deepEqual(hand.open(), []);
  await one;
});

it('a requester counts requests that are throttled together as one failure', async () => {
  const hand = await begun();
  const paths = Array.from({ length: 40 }, (_, index) => `/${index}`);
  const all = paths.map((path) => hand.delete(path));
  await hand.turn();
  for (let attempt = 1; attempt <= 3; attempt++) {
    for (const path of paths) await hand.end(path, throttled);
    await hand.pass(10_000);
  }
  assert.equal(hand.open().length, 40);
  for (const path of paths) await hand.end(path, DONE);
  for (const ended of all) await isAnswered(ended);
});

it('a requester gives up at the twentieth failure in a row if each request has a single try', async () => {
  const hand = await begun({ maxAttempts: 1 });
  for (let failures = 1; failures <= 20; failures++) {
    const ended = hand.delete('/1').catch((error: unknown) => error);
    await hand.turn();
    await hand.end('/1', replyOf(500));
    const end = await ended;
    const isOver = end instanceof BrokerFailedError && end.reason === 'nothing-but-failures';
    assert.equal(isOver, failures === 20, `${failures}`);
  }
});

it('a requester ends all requests with the first error that ends one', async () => {
  const hand = await begun();
  const ends = ['/1', '/2', '/3'].map((path) => hand.delete(path).catch((error: unknown) => error));
  await hand.turn();
  for (const path of ['/1', '/2', '/3']) await hand.end(path, replyOf(429, path, { 'retry-after': '3600' }));
  const [first, ...others] = await Promise.all(ends);
  assert.ok(first instanceof BrokerFailedError && first.failure.problem?.detail === '/1');
  for (const other of others) assert.equal(other, first);
});

it('a requester whose failures are forgiven sends again, and starts counting again', async () => {
  const hand = await begun();
  const paths = Array.from({ length: 20 }, (_, index) => `/${index}`);
  const all = paths.map((path) => assert.rejects(hand.delete(path), { reason: 'nothing-but-failures' }));
  await hand.turn();
  for (let attempt = 1; attempt <= 2; attempt++) {
    for (const path of paths) await hand.end(path, replyOf(500));
    await hand.pass(10_000);
  }
  await Promise.all(all);
  await assert.rejects(hand.delete('/late'), { reason: 'nothing-but-failures' });
  hand.requester.resetFailures();
  const one = hand.delete('/one');
  await hand.turn();
  for (let attempt = 1; attempt <= 3; attempt++) {
    await hand.end('/one', replyOf(500));
    await hand.pass(10_000);
  }
  await hand.end('/one', DONE);
  await isAnswered(one);
});

it('a requester reserves the deletes of a request once, before its first try, and nothing for a query', async () => {
  const reserved: number[] = [];
  const ended: number[] = [];
  let go = () => {};
  const hand = byHand(
    {},
    {
      ended,
      reserve: async (deletes) => {
        reserved.push(deletes);
        await new Promise<void>((resolve) => (go = resolve));
      },
    },
  );
  await hand.begin();
  const one = hand.requester.send({ method: 'POST', path: '/1', operation: 'delete', deletes: 7 });
  await hand.turn();
  assert.deepEqual([hand.open(), reserved], [[], [7]]);
  go();
  await hand.turn();
  await hand.end('/1', replyOf(500));
  await hand.pass(10_000);
  assert.deepEqual([hand.open(), reserved, ended], [['/1'], [7], []]);
  await hand.end('/1', DONE);
  await isAnswered(one);
  assert.deepEqual(ended, [7]);
});

it('a requester gives up a forbidden request at once, and does not count it as a failure of the broker', async () => {
  const hand = byHand({}, { reserve: async () => false });
  await hand.begin();
  for (let index = 0; index < 30; index++) {
    const settled = await hand.requester.send({
      method: 'DELETE',
      path: '/1',
      operation: 'delete',
      deletes: 1,
    });
    assert.equal(settled.kind === 'gave-up' && settled.failure.kind, 'withheld');
  }
  assert.deepEqual([hand.open(), hand.requester.requestCounts.retries], [[], 0]);
});

it('a requester does not send a request that cannot be reserved', async () => {
  const full = new Error('the bound is reached');
  const hand = byHand({}, { reserve: async () => Promise.reject(full) });
  await hand.begin();
  const ended = hand.requester.send({ method: 'DELETE', path: '/1', operation: 'delete', deletes: 1 });
  await assert.rejects(ended, full);
  assert.deepEqual(hand.open(), []);
});

const query = { method: 'GET', path: '/look', operation: 'look' } as const;

it('a last look ends all waiting requests, and gives queries one try', async () => {
  const hand = await begun();
  const waiting = assert.rejects(hand.delete('/1'), PurgeStoppedError);
  await hand.turn();
  await hand.end('/1', replyOf(500));
  assert.equal(hand.requester.beginFinalQueries(), true);
  await waiting;
  const one = hand.requester.send(query);
  await hand.end('/look', replyOf(200, []));
  await isAnswered(one);
  const two = assert.rejects(hand.requester.send(query), BrokerFailedError);
  await hand.end('/look', replyOf(503));
  await two;
  assert.deepEqual(hand.open(), []);
});

it('a last look deletes nothing, and starts no query after ten seconds', async () => {
  const hand = await begun();
  hand.requester.beginFinalQueries();
  await assert.rejects(hand.delete('/1'), PurgeStoppedError);

  const late = await begun();
  late.requester.beginFinalQueries();
  await late.pass(10_000);
  await assert.rejects(late.requester.send(query), PurgeStoppedError);
  for (const { open } of [hand, late]) assert.deepEqual(open(), []);
});

it('a last look is not allowed after a stop, nor during a Retry-After of the broker', async () => {
  const stopped = await begun();
  stopped.stop.abort();
  assert.equal(stopped.requester.beginFinalQueries(), false);

  for (const seconds of ['5', '3600']) {
    const asked = await begun();
    const one = asked.delete('/1');
    one.catch(() => {});
    await asked.turn();
    await asked.end('/1', replyOf(429, '', { 'retry-after': seconds }));
    assert.equal(asked.requester.beginFinalQueries(), false);
    await assert.rejects(one);
  }
});

it('a last look ends if the purge is stopped', async () => {
  const hand = await begun();
  hand.requester.beginFinalQueries();
  const one = hand.requester.send(query);
  const ended = assert.rejects(one);
  hand.stop.abort();
  await ended;
  await assert.rejects(hand.requester.send(query), PurgeStoppedError);
});

describe('a requester whose purge another process may take over', () => {
  const request = { method: 'DELETE', path: '/1', operation: 'delete', deletes: 1 } as const;

  it('a requester checks before each try of a delete that the purge is still its own, waits on request, and checks again', async () => {
    let asked = 0;
    let wait: Promise<void> | undefined;
    const hand = byHand(
      { minDelayMs: 1 },
      {
        beforeDelete: () => {
          asked += 1;
          return wait;
        },
      },
    );
    await hand.begin();
    assert.equal(asked, 0, 'a query asks nothing');
    let go = () => {};
    wait = new Promise((resolve) => (go = resolve));
    const one = hand.requester.send(request);
    await hand.turn();
    assert.deepEqual([hand.open(), asked], [[], 1]);
    wait = undefined;
    go();
    await hand.turn();
    assert.deepEqual([hand.open(), asked], [['/1'], 2]);
    await hand.end('/1', replyOf(500));
    await hand.pass(1000);
    assert.deepEqual([hand.open(), asked], [['/1'], 3]);
    await hand.end('/1', DONE);
    await isAnswered(one);
  });

  it('a requester sends no delete, and no further try of a delete, once the purge is no longer its own', async () => {
    let isOwn = true;
    const hand = byHand(
      { minDelayMs: 1 },
      {
        beforeDelete: () => {
          if (!isOwn) throw new PurgeStoppedError('taken over');
          return undefined;
        },
      },
    );
    await hand.begin();
    const one = assert.rejects(hand.requester.send(request), PurgeStoppedError);
    await hand.turn();
    isOwn = false;
    await assert.rejects(hand.requester.send({ ...request, path: '/2' }), PurgeStoppedError);
    await hand.end('/1', replyOf(500));
    await hand.pass(1000);
    await one;
    assert.deepEqual(hand.open(), []);
  });

  for (const [what, end] of [
    ['is not its own any more', 'taken over'],
    ['was stopped', 'stopped'],
  ] as const)
    it(`a requester takes back a delete that waits for a connection if the purge ${what}`, async () => {
      let isOwn = true;
      let connect = () => {};
      const connected = new Promise<void>((resolve) => (connect = resolve));
      const hand = byHand(
        {},
        {
          connected,
          beforeDelete: () => {
            if (!isOwn) throw new PurgeStoppedError('taken over');
            return undefined;
          },
        },
      );
      await hand.begin();
      let unclear = 0;
      const onUnclear = () => (unclear += 1);
      const one = hand.requester.send({ ...request, onUnclear });
      await hand.turn();
      if (end === 'stopped') hand.stop.abort();
      else isOwn = false;
      connect();
      await assert.rejects(one, PurgeStoppedError);
      assert.deepEqual([unclear, hand.requester.requestCounts.requests], [0, 1], 'nothing was sent');
    });
});
