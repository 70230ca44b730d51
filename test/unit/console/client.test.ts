import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import {
  addressOf,
  ApiError,
  call,
  callJson,
  callPage,
  callTagged,
  isOvertaken,
  isTokenWanted,
  OfflineError,
  type CallOptions,
} from '../../../console/api/client.js';
import { forgetToken, giveToken, isAskedForToken } from '../../../console/api/token.js';
import { shownJson } from '../../../console/models/model-schema.js';
import { localTime } from '../../../console/shared/gateway-clock.js';
import { FakePage, HOME, problem, settled } from './fake-page.js';

const WANTED = { type: 'urn:ngsi-ld-gateway:problem:unauthorized' };

const failure = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => assert.fail('it did not fail'),
    (error: unknown) => error,
  );

const apiError = async (work: Promise<unknown>): Promise<ApiError> => {
  const error = await failure(work);
  assert.ok(error instanceof ApiError, String(error));
  return error;
};

describe('requests of the console', () => {
  let page: FakePage;
  beforeEach(() => {
    page = new FakePage();
    page.enter();
  });
  afterEach(() => {
    forgetToken();
    giveToken(undefined);
    page.leave();
  });

  it('a request goes to the gateway below the path that the page came from, and is answered by no cache', async () => {
    assert.equal(addressOf('api/v2/x?a=b'), `${HOME}api/v2/x?a=b`);
    await call('PATCH', 'api/v2/x', { json: { a: null }, headers: { 'if-match': '"1"' } });
    const [{ method, url, headers, body, cache }] = page.sent as [(typeof page.sent)[number]];
    assert.deepEqual([method, url, body, cache], ['PATCH', `${HOME}api/v2/x`, '{"a":null}', 'no-store']);
    assert.deepEqual([...headers].sort(), [
      ['content-type', 'application/json'],
      ['if-match', '"1"'],
    ]);
  });

  it('numbers that no double holds are shown and sent as they came', async () => {
    const text = '{"maximum":9223372036854775807}';
    page.answer = () => new Response(text, { headers: { etag: '"1"' } });
    const { value } = await callTagged<object>('GET', 'x');
    assert.equal(shownJson(value), '{\n  "maximum": 9223372036854775807\n}');
    await call('PUT', 'x', { json: value });
    assert.equal(page.sent[1]?.body, text);
  });

  it('a body is sent as it is, with the media type that it was given alone', async () => {
    await call('PUT', 'x', { body: '{"a": 1e2}', headers: { 'content-type': 'text/x' } });
    await call('POST', 'x', { body: new FormData() });
    assert.equal(page.sent[0]?.body, '{"a": 1e2}');
    assert.deepEqual(
      page.sent.map(({ headers }) => headers.get('content-type')),
      ['text/x', null],
    );
  });

  it('the token of the tab is in the header of each request, and there is none where the tab has none', async () => {
    await call('GET', 'x');
    giveToken('one');
    await call('GET', 'x', { headers: { 'x-gateway-token': 'of another' } });
    giveToken('two');
    await call('DELETE', 'x');
    forgetToken();
    await call('GET', 'x');
    assert.deepEqual(
      page.sent.map(({ headers }) => headers.get('x-gateway-token')),
      [null, 'one', 'two', null],
    );
  });

  it('a request that was refused for want of the token is sent again, unchanged, with the one that is given', async () => {
    giveToken('wrong');
    page.answer = ({ headers }) =>
      headers.get('x-gateway-token') === 'right' ? Response.json({ a: 1 }) : problem(401, WANTED);
    const answer = callJson('POST', 'x', { json: { b: 2 } });
    await settled();
    assert.ok(isAskedForToken());
    assert.equal(page.sent.length, 1);
    giveToken('right');
    assert.deepEqual(await answer, { a: 1 });
    assert.deepEqual(
      page.sent.map(({ body }) => body),
      ['{"b":2}', '{"b":2}'],
    );
  });

  it('a request whose token is not given is refused, and not sent again', async () => {
    page.answer = () => problem(401, WANTED);
    const refused = apiError(call('GET', 'x'));
    await settled();
    giveToken(undefined);
    assert.ok(isTokenWanted(await refused));
    assert.equal(page.sent.length, 1);
  });

  it('requests that want the token at the same time share one question', async () => {
    page.answer = ({ headers }) =>
      headers.has('x-gateway-token') ? Response.json([]) : problem(401, WANTED);
    const answers = ['a', 'b', 'c'].map(async (path) => callJson('GET', path));
    await settled();
    giveToken('right');
    assert.deepEqual(await Promise.all(answers), [[], [], []]);
    assert.ok(!isAskedForToken());
    assert.equal(page.sent.length, 6);
  });

  it('a refusal that comes late, when another token was given meanwhile, asks for none', async () => {
    let refuse: (response: Response) => void = () => undefined;
    page.answer = (_request, index) =>
      index === 0 ? new Promise<Response>((resolve) => (refuse = resolve)) : Response.json({});
    const answer = call('GET', 'x');
    giveToken('newer');
    refuse(problem(401, WANTED));
    assert.equal((await answer).status, 200);
    assert.equal(page.sent[1]?.headers.get('x-gateway-token'), 'newer');
  });

  it('a token that was forgotten meanwhile is asked for', async () => {
    giveToken('old');
    page.answer = () => {
      forgetToken();
      return problem(401, WANTED);
    };
    const refused = apiError(call('GET', 'x'));
    await settled();
    assert.ok(isAskedForToken());
    assert.equal(page.sent.length, 1);
    giveToken(undefined);
    await refused;
  });

  it('no other refusal asks for the token: brokers, and gateways in front, answer 401 as well', async () => {
    for (const [status, members] of [
      [401, {}],
      [401, { type: 'about:blank' }],
      [403, { type: 'urn:ngsi-ld-gateway:problem:forbidden' }],
    ] as const) {
      page.answer = () => problem(status, members);
      assert.equal((await apiError(call('GET', 'x'))).problem.status, status);
      assert.ok(!isAskedForToken());
    }
    assert.ok(!isTokenWanted(new Error('unauthorized')));
  });

  it('a request without an answer may have arrived where it would change something, and only there', async () => {
    page.answer = () => {
      throw new TypeError('fetch failed');
    };
    const cases: readonly (readonly [string, string, CallOptions, boolean])[] = [
      ['GET', 'x', {}, false],
      ['DELETE', 'ngsi-ld/v1/entities?type=A', {}, true],
      ['DELETE', 'ngsi-ld/v1/entities?type=A&dryRun=true', {}, false],
      ['PUT', 'x?dryRun=true', {}, false],
      ['DELETE', 'ngsi-ld/v1/entities?dryRun=true&type=A', {}, true],
      ['DELETE', 'ngsi-ld/v1/entities?type=xdryRun=true', {}, true],
      ['POST', 'x', { isRead: true }, false],
      ['POST', 'x', { isRead: false }, true],
      ['POST', 'x', {}, true],
      ['PUT', 'x', {}, true],
      ['PATCH', 'x', {}, true],
    ];
    for (const [method, path, options, mayHaveArrived] of cases) {
      const error = await failure(call(method, path, options));
      assert.ok(error instanceof OfflineError);
      assert.equal(error.mayHaveArrived, mayHaveArrived, `${method} ${path}`);
      assert.ok(error.cause instanceof TypeError);
    }
  });

  it('a request that was given up is not taken for a gateway that is away', async () => {
    const aborter = new AbortController();
    page.answer = () => new Promise<Response>(() => undefined);
    const error = failure(call('DELETE', 'x', { signal: aborter.signal }));
    aborter.abort();
    assert.equal(((await error) as Error).name, 'AbortError');
  });

  it('a problem keeps all of its members, and the status is that of the answer', async () => {
    page.answer = () => problem(409, { detail: 'Why', status: 200, deleted: 5 }, { 'retry-after': '7' });
    const { problem: said, message, retryAfter } = await apiError(call('GET', 'x'));
    assert.deepEqual(said, { title: 'A title', detail: 'Why', status: 409, deleted: 5 });
    assert.deepEqual([message, retryAfter], ['Why', '7']);
    page.answer = () => problem(500);
    const other = await apiError(call('GET', 'x'));
    assert.deepEqual([other.message, other.retryAfter], ['A title', undefined]);
  });

  it('an answer of something in between is shown in its words, the first five hundred characters of them', async () => {
    const said = async (body: string) => {
      page.answer = () => new Response(body, { status: 502, statusText: 'Bad Gateway' });
      return (await apiError(call('GET', 'x'))).problem;
    };
    const title = { title: 'Bad Gateway', status: 502 };
    assert.deepEqual(await said(`<p>${'x'.repeat(600)}`), { ...title, detail: `<p>${'x'.repeat(497)}` });
    assert.deepEqual(await said(''), title);
    for (const body of ['null', '7', '{"title":3}', '[]'])
      assert.deepEqual(await said(body), { ...title, detail: body });
  });

  it('a thing was changed elsewhere where a condition of the request failed, and nowhere else', () => {
    for (const status of [400, 404, 409, 411, 412, 413, 428])
      assert.equal(isOvertaken(new ApiError({ title: '', status }, undefined)), status === 412);
    assert.ok(!isOvertaken(undefined) && !isOvertaken(new OfflineError(true, undefined)));
  });

  it('a page of a list has the number of all, and a document its ETag', async () => {
    const { signal } = new AbortController();
    page.answer = () => Response.json([1, 2], { headers: { 'x-total-count': '70', etag: '"7"' } });
    assert.deepEqual(await callPage('x', signal), { items: [1, 2], total: 70 });
    assert.deepEqual(await callTagged('GET', 'x'), { value: [1, 2], etag: '"7"' });
    page.answer = () => Response.json([1, 2]);
    assert.deepEqual(await callPage('x', signal), { items: [1, 2], total: 2 });
    assert.equal(page.sent[0]?.signal, signal);
  });

  it('each answer tells the time of the gateway, a refusal too', async () => {
    const iso = '2026-11-23T10:00:00Z';
    for (const [status, aheadMs] of [
      [200, 3_600_000],
      [404, -7_200_000],
    ] as const) {
      const date = new Date(Date.now() + aheadMs).toUTCString();
      page.answer = () => problem(status, {}, { date });
      await call('GET', 'x').catch(() => undefined);
      assert.ok(Math.abs(Date.parse(iso) - aheadMs - localTime(iso)) < 60_000);
    }
    page.answer = () => problem(200, {}, { date: new Date().toUTCString() });
    await call('GET', 'x');
  });
});
