import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { EXIT } from '../../../sidecar/cli/exit-codes.js';
import { GatewayClient, GatewayRefusalError, LostAnswerError } from '../../../sidecar/cli/gateway-client.js';
import { fakeGateway, GATEWAY, jsonResponse } from '../../support/cli-context.js';
import { createTestClock } from '../../support/purge-harness.js';

/** A client of a gateway that is a function of the number of the request, from 1. */
function clientOf(t: TestContext, answer: (nth: number) => Response) {
  const heads: Headers[] = [];
  t.mock.method(globalThis, 'fetch', async (_url: string, { headers }: RequestInit) => {
    heads.push(new Headers(headers));
    return answer(heads.length);
  });
  const clock = createTestClock();
  const url = new URL('http://gateway.test/');
  const client = new GatewayClient({ url, clock, token: undefined, authorization: undefined });
  return { client, clock, heads };
}

const eventOf = (n: number) => new Response(`id: ${String(n)}\ndata: ${String(n)}\n\n`);
const problem = (status: number) => new Response(JSON.stringify({ detail: 'Later.' }), { status });

async function eventsOf(client: GatewayClient, last: number): Promise<unknown[]> {
  const events: unknown[] = [];
  for await (const event of client.events('/events', (one) => one === last)) events.push(event);
  return events;
}

describe('the events of a gateway', () => {
  it('a stream of events is resumed as often as it breaks off, as long as each try brings some', async (t) => {
    const { client, clock, heads } = clientOf(t, eventOf);
    assert.deepEqual(
      await eventsOf(client, 30),
      Array.from({ length: 30 }, (_, index) => index + 1),
    );
    assert.equal(heads.at(-1)?.get('last-event-id'), '29');
    assert.deepEqual(new Set(clock.sleeps), new Set([1000]));
  });

  it('a stream of events is given up when ten more tries in a row bring none', async (t) => {
    const { client, heads } = clientOf(t, (nth) => (nth === 1 ? eventOf(1) : new Response('')));
    await assert.rejects(eventsOf(client, 2), { exitCode: EXIT.failed });
    assert.equal(heads.length, 11);
  });

  it('a stream of events is resumed after answers that may pass, and not after a refusal', async (t) => {
    for (const status of [408, 429, 500, 503]) {
      const { client } = clientOf(t, (nth) => (nth === 1 ? problem(status) : eventOf(1)));
      assert.deepEqual(await eventsOf(client, 1), [1], String(status));
    }
    for (const status of [301, 401, 404, 501]) {
      const { client, heads } = clientOf(t, () => problem(status));
      await assert.rejects(eventsOf(client, 1), { exitCode: EXIT.refused }, String(status));
      assert.equal(heads.length, 1);
    }
  });
});

describe('a request to a gateway', () => {
  /** A client of the fake gateway. */
  function client(options: { readonly token?: string; readonly authorization?: string } = {}) {
    const { token, authorization } = options;
    return new GatewayClient({
      url: new URL(`${GATEWAY}//`),
      clock: createTestClock(),
      token,
      authorization,
    });
  }

  /** An error as fetch throws it. */
  const failure = (code: string) =>
    new TypeError('fetch failed', { cause: Object.assign(new Error(), { code }) });

  it('a request has the token, the Authorization for the broker, and the headers that it is given', async (t) => {
    const asked = fakeGateway(t, () => jsonResponse({}));
    await client({ token: 'secret', authorization: 'Bearer b' }).send('GET', '/a?b=c');
    await client().send('PUT', '/d', { body: '{}', headers: { 'if-match': '"e"' } });
    await client().send('POST', '/e', { body: 'x', headers: { 'content-type': 'application/gzip' } });
    assert.deepEqual(
      asked.map(({ method, target, body, headers, redirect }) => [
        ...[method, target, body, redirect, headers.get('content-type')],
        ...[headers.get('x-gateway-token'), headers.get('authorization'), headers.get('if-match')],
      ]),
      [
        ['GET', '/a?b=c', '', 'manual', null, 'secret', 'Bearer b', null],
        ['PUT', '/d', '{}', 'manual', 'application/json', null, null, '"e"'],
        ['POST', '/e', 'x', 'manual', 'application/gzip', null, null, null],
      ],
    );
  });

  it('an answer without success ends with 4 where the gateway refuses, and with 1 where it fails', async (t) => {
    for (const [status, exitCode] of [
      ...[300, 307, 400, 401, 404, 407, 409, 410, 428, 430, 499, 501].map(
        (one) => [one, EXIT.refused] as const,
      ),
      ...[408, 429, 500, 502, 503, 504].map((one) => [one, EXIT.failed] as const),
    ]) {
      fakeGateway(t, () => jsonResponse({ detail: 'Why.' }, status));
      const error: unknown = await client()
        .send('GET', '/')
        .catch((one: unknown) => one);
      assert.ok(error instanceof GatewayRefusalError);
      assert.deepEqual([error.exitCode, error.status, error.problem], [exitCode, status, { detail: 'Why.' }]);
      const hint = status === 401 ? '\nThe token is taken from NGSILD_GATEWAY_TOKEN.' : '';
      assert.equal(error.message, `The gateway answered ${status}: Why.${hint}`);
      t.mock.restoreAll();
    }
  });

  it('a refusal is told in the words of the gateway: its detail, else its title, with five errors, printable', async (t) => {
    const errors = Array.from({ length: 6 }, (_, index) => ({ pointer: `/${index}` }));
    for (const [body, words] of [
      [{ title: 'T', detail: 'D' }, 'D'],
      [{ title: 'T' }, 'T'],
      [{ title: 'T', detail: 7 }, 'T'],
      [{}, ''],
      [{ detail: 'D\u001b[2J' }, 'D\\u001b[2J'],
      [
        { detail: 'D', errors },
        ['D', ...errors.slice(0, 5).map((one) => `  ${JSON.stringify(one)}`)].join('\n'),
      ],
    ] as const) {
      fakeGateway(t, () => jsonResponse(body, 400));
      await assert.rejects(client().send('GET', '/'), { message: `The gateway answered 400: ${words}` });
      t.mock.restoreAll();
    }
    fakeGateway(t, () => new Response('x'.repeat(300), { status: 502 }));
    await assert.rejects(client().send('GET', '/'), {
      message: `The gateway answered 502: ${'x'.repeat(200)}`,
      problem: undefined,
    });
  });

  it('what may not be there is undefined for 404 alone', async (t) => {
    let status = 404;
    fakeGateway(t, () => jsonResponse({}, status));
    assert.equal(await client().find('/'), undefined);
    for (status of [400, 401, 410, 500]) await assert.rejects(client().find('/'), { status }, String(status));
    status = 200;
    assert.equal((await client().find('/'))?.text, '{}');
  });

  it('a request that was never sent is not taken for one whose answer was lost', async (t) => {
    for (const code of [
      ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'],
      'UND_ERR_CONNECT_TIMEOUT',
    ]) {
      fakeGateway(t, () => Promise.reject(failure(code)));
      const error: unknown = await client()
        .send('POST', '/')
        .catch((one: unknown) => one);
      assert.ok(error instanceof Error && !(error instanceof LostAnswerError), code);
      assert.match(error.message, new RegExp(`^The gateway at ${GATEWAY} cannot be reached.*: ${code}\\.$`));
      t.mock.restoreAll();
    }
    for (const code of ['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'UND_ERR_SOCKET', 'UND_ERR_HEADERS_TIMEOUT']) {
      fakeGateway(t, () => Promise.reject(failure(code)));
      await assert.rejects(client().send('POST', '/'), LostAnswerError, code);
      t.mock.restoreAll();
    }
    fakeGateway(t, () => Promise.reject(new TypeError('fetch failed', { cause: new Error('bad port') })));
    await assert.rejects(client().send('POST', '/'), (error) => !(error instanceof LostAnswerError));
  });

  it('an answer that breaks off is a lost answer', async (t) => {
    const broken = () => new ReadableStream({ pull: (stream) => stream.error(failure('ECONNRESET')) });
    fakeGateway(t, () => new Response(broken()));
    await assert.rejects(client().send('POST', '/'), LostAnswerError);
    await assert.rejects(client().json('POST', '/'), LostAnswerError);
  });

  it('a stream of events goes on after the last id, also when events without one came since', async (t) => {
    const streams = ['id: a\ndata: 1\n\n: beat\n\ndata: 2\n\n', 'data: 3\n\n', 'data: 4\n\n'];
    const asked = fakeGateway(t, (_request, nth) => new Response(streams[nth - 1]));
    assert.deepEqual(await eventsOf(client(), 4), [1, 2, 3, 4]);
    assert.deepEqual(
      asked.map(({ headers }) => [headers.get('accept'), headers.get('last-event-id')]),
      [null, 'a', 'a'].map((id) => ['text/event-stream', id]),
    );
  });

  it('a stream of events is not taken up again once its signal aborts', async (t) => {
    const controller = new AbortController();
    const asked = fakeGateway(t, () => new Response('data: 1\n\n'));
    const events = client().events('/', () => false, controller.signal);
    assert.equal((await events.next()).value, 1);
    controller.abort();
    await assert.rejects(events.next());
    assert.deepEqual([asked.length, asked[0]?.signal === controller.signal], [1, true]);
  });

  it('a stream of events that are not JSON is given up after ten more tries', async (t) => {
    const asked = fakeGateway(t, () => new Response('data: {\n\n'));
    await assert.rejects(eventsOf(client(), 1), { exitCode: EXIT.failed });
    assert.equal(asked.length, 11);
  });
});
