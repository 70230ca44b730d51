import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { EXIT } from '../../../sidecar/cli/exit-codes.js';
import {
  fakeGateway,
  FakeContext,
  GATEWAY,
  jsonResponse,
  type AskedGateway,
} from '../../support/cli-context.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { words } from '../../support/words.js';

const ENV = {
  NGSILD_GATEWAY_URL: GATEWAY,
  NGSILD_GATEWAY_TOKEN: 'secret',
  NGSILD_AUTHORIZATION: 'Bearer b',
};

const RECORD = {
  id: 'p-1',
  state: 'running',
  target: 'entities',
  query: 'type=A',
  tenant: null,
  dryRun: false,
  matched: 7,
  deleted: 0,
  alreadyGone: 0,
  failed: 0,
  unknown: 0,
  requests: 1,
  warnings: [],
  createdAt: '2026-01-01T00:00:00.000Z',
};
const over = (members: object) => ({ ...RECORD, state: 'succeeded', deleted: 7, ...members });
const eventsOf = (...records: readonly object[]) =>
  new Response(records.map((record, at) => `id: ${at}\ndata: ${JSON.stringify(record)}\n\n`).join(''));

/** An answer that arrives after others. */
async function later(answer: Response): Promise<Response> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  return answer;
}

/** Runs a command against a gateway that is a function. */
async function run(
  t: TestContext,
  words: readonly string[],
  answer: (request: AskedGateway, nth: number) => Response | Promise<Response>,
  context = new FakeContext({ env: ENV }),
) {
  const asked = fakeGateway(t, answer);
  const code = await context.run(...words);
  t.mock.restoreAll();
  const requests = asked.map(({ method, target, body }) => `${method} ${target}${body && ` ${body}`}`);
  return { code, requests, out: context.out, err: context.err, context };
}

it('a purge is started with all its options, and followed by its id', async (t) => {
  const { code, requests, out } = await run(
    t,
    words(`
      purge type=A --tenant city --link https://a.example/c --max-affected 9 --rate 5 --yes --temporal
    `),
    ({ method }) => (method === 'POST' ? jsonResponse(RECORD, 202) : eventsOf(RECORD, over({}))),
  );
  const link =
    '<https://a.example/c>; rel=\\"http://www.w3.org/ns/json-ld#context\\"; type=\\"application/ld+json\\"';
  assert.deepEqual(requests, [
    `POST /api/v2/purges {"target":"temporal","query":"type=A","tenant":"city","maxAffected":9,"maxPerSecond":5,"link":"${link}"}`,
    'GET /api/v2/purges/p-1/events',
  ]);
  assert.deepEqual([code, out.split(' in ', 1)[0]], [0, 'Deleted 7 entities']);
});

it('a preview is a dry run of the same collection, tenant and context, without a list of ids', async (t) => {
  for (const [words, target] of [
    [['type=A', 'record=ids'], '/ngsi-ld/v1/entities?type=A&dryRun=true'],
    [['type=A', 'record=ids', '--temporal'], '/ngsi-ld/v1/temporal/entities?type=A&dryRun=true'],
  ] as const) {
    const asked = fakeGateway(t, () => jsonResponse({ matched: 2, sample: ['urn:a:1'] }));
    const context = new FakeContext({ env: ENV });
    const more = ['--dry-run', '--tenant', 'city', '--link', 'https://a.example/c'];
    assert.equal(await context.run('purge', ...words, ...more), 0, context.err);
    const [{ method, target: sent, headers } = assert.fail()] = asked;
    assert.deepEqual([method, sent], ['DELETE', target]);
    assert.deepEqual(
      ['authorization', 'ngsild-tenant', 'link', 'x-gateway-token'].map((name) => headers.get(name)),
      [
        'Bearer b',
        'city',
        '<https://a.example/c>; rel="http://www.w3.org/ns/json-ld#context"; type="application/ld+json"',
        'secret',
      ],
    );
    t.mock.restoreAll();
  }
});

it('a token that is a proxy password or an access token is sent as Authorization', async (t) => {
  for (const token of ['Basic YTpi', 'Bearer a.b.c']) {
    const asked = fakeGateway(t, () => jsonResponse([], 200));
    const env = { NGSILD_GATEWAY_URL: GATEWAY, NGSILD_GATEWAY_TOKEN: token };
    await new FakeContext({ env }).run('purges', 'list');
    const [{ headers } = assert.fail()] = asked;
    assert.deepEqual([headers.get('authorization'), headers.get('x-gateway-token')], [token, null]);
    t.mock.restoreAll();
  }
});

it('an answer that is not a preview deletes nothing, and the command exits with 1', async (t) => {
  for (const answer of [
    null,
    {},
    [],
    { matched: '2', sample: [] },
    { matched: 2 },
    { matched: 2, sample: {} },
  ]) {
    const { code, requests, err } = await run(t, ['purge', 'type=A', '--dry-run'], () =>
      jsonResponse(answer),
    );
    assert.deepEqual([code, requests.length], [EXIT.failed, 1], err);
  }
});

it('the command says that a purge may have been started if its request got no answer', async (t) => {
  const lost = (code: string) => () =>
    Promise.reject(new TypeError('fetch failed', { cause: Object.assign(new Error(), { code }) }));
  const words = ['purge', 'type=A', '--yes'];
  for (const more of [[], ['--detach']]) {
    const { code, err } = await run(t, [...words, ...more], lost('ECONNRESET'));
    assert.equal(code, EXIT.failed);
    assert.match(err, /may still have been started\. To check: ngsi-ld-gateway purges list/);
  }
  assert.doesNotMatch((await run(t, words, lost('ECONNREFUSED'))).err, /may still have been started/);
});

it('Ctrl+C cancels a purge at the gateway once, and the command waits for its end', async (t) => {
  const context = new FakeContext({ env: ENV });
  const { code, requests, out } = await run(
    t,
    ['purge', 'type=A', '--yes'],
    ({ method, target }, nth) => {
      if (method === 'POST' && nth === 1) return jsonResponse(RECORD, 202);
      if (target.endsWith('/cancel')) return jsonResponse({ ...RECORD, state: 'cancelling' }, 202);
      context.interrupt();
      context.interrupt();
      return eventsOf({ ...RECORD, state: 'cancelling' }, over({ state: 'cancelled', deleted: 3 }));
    },
    context,
  );
  assert.equal(requests.filter((request) => request.endsWith('/cancel')).length, 1);
  assert.deepEqual([code, out.split(' had', 1)[0]], [EXIT.interrupted, 'Cancelled: 3 entities']);
  assert.equal(context.listening, 0);
});

it('Ctrl+C while a purge is being started cancels the purge as soon as it has an id', async (t) => {
  const context = new FakeContext({ env: ENV });
  const { code, requests } = await run(
    t,
    ['purge', 'type=A', '--yes'],
    ({ target }, nth) => {
      if (nth === 1) {
        context.interrupt();
        return jsonResponse(RECORD, 202);
      }
      return target.endsWith('/cancel')
        ? jsonResponse({ ...RECORD, state: 'cancelled' }, 202)
        : eventsOf(over({ state: 'cancelled' }));
    },
    context,
  );
  assert.deepEqual([code, requests[1]], [EXIT.interrupted, 'POST /api/v2/purges/p-1/cancel']);
});

it('a purge that cannot be cancelled is not reported as cancelled', async (t) => {
  const context = new FakeContext({ env: ENV });
  const { code, err } = await run(
    t,
    ['purge', 'type=A', '--yes'],
    ({ method, target }, nth) => {
      if (method === 'POST' && nth === 1) return jsonResponse(RECORD, 202);
      if (target.endsWith('/cancel')) return later(jsonResponse({ detail: 'Not you.' }, 401));
      context.interrupt();
      return eventsOf(RECORD, over({}));
    },
    context,
  );
  assert.equal(code, EXIT.refused);
  assert.match(err, /The gateway answered 401: Not you\./);
});

it('a purge that can no longer be followed is named, with the command that follows it', async (t) => {
  const { code, err } = await run(t, ['purge', 'type=A', '--yes'], ({ method }) =>
    method === 'POST' ? jsonResponse(RECORD, 202) : jsonResponse({ detail: 'Later.' }, 503),
  );
  assert.equal(code, EXIT.failed);
  assert.match(err, /503: Later\.\nThe purge p-1 continues there: ngsi-ld-gateway purges follow p-1\n$/);
});

it('purges list sends every filter by its name, and explains how to see more', async (t) => {
  const { requests, out, err, code } = await run(
    t,
    words('purges list --state running --tenant city --caller me --policy old-cars --limit 2 --offset 3'),
    () => jsonResponse([RECORD, { ...RECORD, id: 'p-0', dryRun: true }], 200, { 'x-total-count': '9' }),
  );
  const query = new URLSearchParams(requests[0]?.split('?')[1]);
  assert.deepEqual(Object.fromEntries(query), {
    state: 'running',
    tenant: 'city',
    caller: 'me',
    dryRun: 'false',
    limit: '2',
    offset: '3',
    retentionPolicy: 'old-cars',
  });
  assert.equal(code, 0);
  assert.match(out, /^ID .* CALLER .*\np-1 +running .*\np-0 +running \(dry\) /);
  assert.equal(err, '4 more: --offset 5\n');
  const all = await run(t, ['purges', 'list', '--dry-run'], () =>
    jsonResponse([RECORD], 200, { 'x-total-count': '1' }),
  );
  assert.deepEqual([all.requests, all.err], [['GET /api/v2/purges?offset=0&dryRun=true'], '']);
  const both = await run(t, ['purges', 'list', '--all'], () => jsonResponse([]));
  assert.deepEqual(
    [both.requests, both.err],
    [['GET /api/v2/purges?offset=0'], 'There are no such purges.\n'],
  );
});

it('-o chooses between a table, JSON lines and YAML, and states have colors on a terminal only', async (t) => {
  const list = async (
    words: readonly string[],
    env: Readonly<Record<string, string>> = {},
    isTTY = false,
  ) => {
    const context = new FakeContext({ env: { ...ENV, ...env } });
    Object.assign(context.stdout, { isTTY });
    return (await run(t, ['purges', ...words], () => jsonResponse([over({})]), context)).out;
  };
  assert.deepEqual(JSON.parse(await list(['list', '-o', 'json'])), over({}));
  assert.match(await list(['list', '-o', 'yaml']), /^- id: p-1\n {2}state: succeeded\n/);
  assert.match(await list(['list', '-o', 'table'], {}, true), /\u001b\[32msucceeded\u001b\[39m {2}entities/);
  for (const [env, isTTY] of [
    [{ NO_COLOR: '1' }, true],
    [{ TERM: 'dumb' }, true],
    [{}, false],
  ] as const)
    assert.match(await list(['list'], env, isTTY), /\np-1 {2}succeeded {2}entities/);
  const long = `type=A&q=name==%22${'a'.repeat(99)}%22`;
  for (const [isTTY, end] of [
    [true, '…'],
    [false, '"'],
  ] as const) {
    const context = new FakeContext({ env: ENV });
    Object.assign(context.stdout, { isTTY });
    const { out } = await run(t, ['purges', 'list'], () => jsonResponse([over({ query: long })]), context);
    assert.match(out, new RegExp(`type=A&q=name=="a+${end}\n$`));
  }
  assert.equal((await run(t, ['purges', 'list', '-o', 'xml'], () => jsonResponse([]))).code, EXIT.usage);
});

it('a purge is found by the beginning of its id if the beginning is unambiguous', async (t) => {
  const ids = ['ab1', 'ab2', 'c3', 'c34'];
  const show = (id: string) =>
    run(t, ['purges', 'show', id, '--json'], ({ target }) =>
      target.includes('?')
        ? jsonResponse(ids.map((one) => ({ ...RECORD, id: one })))
        : jsonResponse({ ...RECORD, id: target.split('/').at(-1) }),
    );
  for (const [given, id] of [
    ['ab2', 'ab2'],
    ['c3', 'c3'],
    ['c34', 'c34'],
  ] as const)
    assert.equal((JSON.parse((await show(given)).out) as { id: string }).id, id);
  const several = await show('ab');
  assert.deepEqual([several.code, several.requests.length], [EXIT.usage, 1]);
  assert.match(several.err, /Several purges begin with ab:\n {2}ab1\n {2}ab2\n/);
  assert.equal((await show('dd')).code, EXIT.refused);
});

it('purges throttle sends the rate, or null for off, and the concurrency', async (t) => {
  for (const [words, body, sentence] of [
    [['5000'], '{"maxPerSecond":5000}', 'at most 5,000 a second'],
    [['off', '--concurrency', '3'], '{"maxPerSecond":null,"concurrency":3}', 'as fast as it can'],
  ] as const) {
    const { requests, out } = await run(t, ['purges', 'throttle', 'p-1', ...words], () =>
      jsonResponse(RECORD),
    );
    assert.deepEqual(requests, [`PATCH /api/v2/purges/p-1 ${body}`]);
    assert.equal(out, `Purge p-1 deletes ${sentence}.\n`);
  }
  for (const rate of ['0', '-1', '1.5', '1e3', '', 'OFF', '1000000000']) {
    const { code, requests } = await run(t, ['purges', 'throttle', 'p-1', '--', rate], () =>
      jsonResponse(RECORD),
    );
    assert.deepEqual([code, requests], [EXIT.usage, []], rate);
  }
});

it('purges cancel waits for running requests unless the purge ends at once', async (t) => {
  const ended = over({ state: 'cancelled', deleted: 4 });
  const waited = await run(t, ['purges', 'cancel', 'p-1'], ({ method, target }) =>
    method === 'POST'
      ? jsonResponse({ ...RECORD, state: 'cancelling' }, 202)
      : target.endsWith('/events')
        ? eventsOf(ended)
        : jsonResponse(RECORD),
  );
  assert.deepEqual([waited.code, waited.requests.length], [0, 3]);
  assert.equal(waited.out, 'Cancelled: 4 entities had been deleted.\n');
  const atOnce = await run(t, ['purges', 'cancel', 'p-1'], ({ method }) =>
    method === 'POST' ? jsonResponse(ended, 202) : jsonResponse({ ...RECORD, state: 'queued' }),
  );
  assert.deepEqual([atOnce.requests.length, atOnce.out], [2, waited.out]);
  const before = await run(t, ['purges', 'cancel', 'p-1'], () => jsonResponse(ended));
  assert.deepEqual([before.code, before.requests], [EXIT.failed, ['GET /api/v2/purges/p-1']]);
  assert.equal(before.err, 'The purge p-1 has already ended: cancelled.\n');
});

it('a command that is suggested after --gateway names the same gateway', async (t) => {
  const { code, out } = await run(
    t,
    ['purge', 'type=A', '--yes', '--detach', '--gateway', `${GATEWAY}/`],
    () => jsonResponse(RECORD, 202),
  );
  const follow = 'ngsi-ld-gateway purges follow p-1 --gateway http://gateway.test/base/';
  assert.deepEqual([code, out], [0, `Purge p-1 is running. Follow it: ${follow}\n`]);
  const restored = await run(t, ['purges', 'restore', 'p-1', '--detach', '--gateway', GATEWAY], () =>
    jsonResponse({ ...RECORD, target: 'restore' }, 202),
  );
  assert.equal(
    restored.out,
    `Restore p-1 is running. Follow it: ngsi-ld-gateway purges follow p-1 --gateway ${GATEWAY}\n`,
  );
});

it('purges follow does not stop the purge at Ctrl+C, and says how to stop it', async (t) => {
  const context = new FakeContext({ env: ENV });
  const { code, requests, err } = await run(
    t,
    ['purges', 'follow', 'p-1'],
    ({ signal }) => {
      context.interrupt();
      assert.ok(signal.aborted);
      return Promise.reject(signal.reason as Error);
    },
    context,
  );
  assert.deepEqual([code, requests], [EXIT.interrupted, ['GET /api/v2/purges/p-1/events']]);
  assert.equal(err, 'The purge continues. To stop it: ngsi-ld-gateway purges cancel p-1\n');
  assert.equal(context.listening, 0);
});

const lines = (...records: readonly object[]) =>
  records.map((record, at) => `id: ${at}\ndata: ${JSON.stringify(record)}\n\n`).join('');

it('an interrupted stream of events is resumed after the last id, as long as each attempt brings records', async (t) => {
  const asked = fakeGateway(t, (_request, nth) => {
    if (nth === 1) return new Response(`id: a\ndata: ${JSON.stringify(RECORD)}\n\n: beat\n\n`);
    if (nth === 2)
      return new Response(new ReadableStream({ pull: (stream) => stream.error(new Error('reset')) }));
    return new Response(nth < 30 ? `data: ${JSON.stringify(RECORD)}\n\n` : lines(over({})));
  });
  const context = new FakeContext({ env: ENV });
  assert.equal(await context.run('purges', 'follow', 'p-1'), 0);
  assert.deepEqual(
    asked.map(({ headers }) => [headers.get('accept'), headers.get('last-event-id')]),
    asked.map((_one, index) => ['text/event-stream', index === 0 ? null : 'a']),
  );
  assert.equal(asked.length, 30);
});

it('a stream of events is given up when sixty more attempts in a row bring no record, as many as a restart may take', async (t) => {
  for (const text of ['', 'data: {\n\n', 'data: {}\n\n']) {
    const { code, requests } = await run(
      t,
      ['purges', 'follow', 'p-1'],
      (_request, nth) => new Response(nth === 1 ? lines(RECORD) : text),
    );
    assert.deepEqual([code, requests.length], [EXIT.failed, 61], text);
  }
});

it('a stream of events is resumed after temporary errors, and not after a refusal', async (t) => {
  const follow = (status: number) =>
    run(t, ['purges', 'follow', 'p-1'], (_request, nth) =>
      nth === 1 ? jsonResponse({ detail: 'Later.' }, status) : eventsOf(over({})),
    );
  for (const status of [408, 429, 500, 503]) assert.equal((await follow(status)).code, 0, String(status));
  for (const status of [301, 401, 404, 501]) {
    const { code, requests } = await follow(status);
    assert.deepEqual([code, requests.length], [EXIT.refused, 1], String(status));
  }
});

it('purges show has a line for each member with a value, and for each item of a list', async (t) => {
  const record = over({ matched: 3000, warnings: ['One.', 'Two.'], errors: [{ entityId: 'urn:a:1' }] });
  const { out } = await run(t, ['purges', 'show', 'p-1'], () => jsonResponse(record));
  assert.match(out, /^matched +3,000$/m);
  assert.match(out, /^warnings +One\.\n +Two\.$/m);
  assert.match(out, /^errors +\{"entityId":"urn:a:1"\}$/m);
});

it('an error answer is printed, and exits with 4 if the gateway refuses and with 1 if it fails', async (t) => {
  const show = (answer: () => Response | Promise<Response>) => run(t, ['purges', 'show', 'p-1'], answer);
  for (const [status, code] of [
    ...[300, 307, 400, 401, 404, 407, 409, 410, 428, 499, 501].map((one) => [one, EXIT.refused] as const),
    ...[408, 429, 500, 502, 503, 504].map((one) => [one, EXIT.failed] as const),
  ]) {
    const { code: ended, err } = await show(() => jsonResponse({ detail: 'Why.' }, status));
    const hints: Readonly<Record<number, string>> = {
      307: '\nA redirect leads to https or to the sign-in of a proxy: check the URL of the gateway.',
      401:
        '\nThe token is taken from NGSILD_GATEWAY_TOKEN, or from the token command of a context; ' +
        'an access token begins with "Bearer ", a password with "Basic ".',
    };
    assert.deepEqual([ended, err], [code, `The gateway answered ${status}: Why.${hints[status] ?? ''}\n`]);
  }
  // Over HTTP/2, a status has no words.
  for (const [statusText, words] of [
    ['Bad Gateway', 'Bad Gateway'],
    ['', 'HTTP 502'],
  ] as const) {
    const answer = (type: string) => () =>
      new Response('', { status: 502, statusText, headers: { 'content-type': type } });
    assert.equal((await show(answer('text/plain'))).err, `The gateway answered 502: ${words}\n`);
    assert.equal(
      (await show(answer('text/html'))).err,
      `The gateway answered 502: ${words}. The answer is an HTML page: it comes from a proxy or from the broker, ` +
        'not from the gateway.\n',
    );
  }
  const { err: noJson } = await show(() => new Response('<html>Welcome</html>'));
  assert.equal(noJson, 'The gateway answered with something that is not JSON: check its URL.\n');
  const errors = Array.from({ length: 6 }, (_, index) => ({ pointer: `/${index}` }));
  const { err } = await show(() => jsonResponse({ title: 'T', detail: 'D\u001b[2J', errors }, 400));
  const faults = errors.slice(0, 5).map((one) => `  ${JSON.stringify(one)}`);
  assert.equal(err, `${['The gateway answered 400: D\\u001b[2J', ...faults].join('\n')}\n`);
  // What the message has said is not repeated.
  const one = { detail: 'The body is wrong: /a is 1.', errors: [{ pointer: '/a', detail: 'is 1.' }] };
  assert.equal((await show(() => jsonResponse(one, 422))).err, `The gateway answered 422: ${one.detail}\n`);
  for (const answer of [() => Promise.reject(new TypeError('fetch failed')), () => new Response('<p>')])
    assert.equal((await show(answer)).code, EXIT.failed);
  for (const wrong of [null, [], {}, { ...RECORD, matched: '3' }, { ...RECORD, state: undefined }])
    assert.equal((await show(() => jsonResponse(wrong))).code, EXIT.failed, JSON.stringify(wrong));
});

it('options that could not take effect are refused before anything is sent', async (t) => {
  for (const [words, why] of [
    [
      ['purge', 'type=A', '--yes', '--archive', 'required', '--broker', 'http://b.test'],
      'it needs --gateway',
    ],
    [['scan', 'type=A', '--model', 'Car'], '--model must be DOMAIN/MODEL or DOMAIN/MODEL@VERSION, not "Car"'],
    [['models', 'examples', 'City/Car@2'], 'The model must be DOMAIN/MODEL, not "City/Car@2"'],
  ] as const) {
    const { code, requests, err } = await run(t, words, () => jsonResponse({}));
    assert.deepEqual([code, requests, err.includes(why)], [EXIT.usage, [], true], err);
  }
});

it('every command refuses an id that would change the path, and sends nothing', async (t) => {
  for (const id of ['a/b', '..', 'a?b', 'a#b', 'a%2fb', '', 'x'.repeat(129)])
    for (const words of [['show'], ['follow'], ['cancel'], ['throttle']]) {
      const rate = words[0] === 'throttle' ? ['5'] : [];
      const { code, requests } = await run(t, ['purges', ...words, '--', id, ...rate], () =>
        jsonResponse(RECORD),
      );
      assert.deepEqual([code, requests], [EXIT.usage, []], `${words.join(' ')} ${id}`);
    }
});

const POLICY = { name: 'old', mode: 'report', query: 'type=A' };

it('retention list reads page after page', async (t) => {
  const page = (length: number) => Array.from({ length }, (_, index) => ({ ...POLICY, name: `p${index}` }));
  const { requests, out } = await run(t, ['retention', 'list', '--json'], (_request, nth) =>
    jsonResponse(page(nth === 1 ? 1000 : 1)),
  );
  assert.deepEqual(requests, [
    'GET /api/v2/retention-policies?limit=1000&offset=0',
    'GET /api/v2/retention-policies?limit=1000&offset=1000',
  ]);
  assert.equal(out.trim().split('\n').length, 1001);
});

it('retention apply sends policies as list prints them, without the fields that the gateway adds', async (t) => {
  const shown = { ...POLICY, caller: 'me', createdAt: 'x', modifiedAt: 'y' };
  const lines = [shown, { ...shown, name: 'a/b' }].map((one) => JSON.stringify(one)).join('\n');
  for (const text of [lines, `[${lines.replace('\n', ',')}]`]) {
    const context = new FakeContext({ env: ENV });
    context.stdin.end(text);
    const { code, requests, out } = await run(
      t,
      ['retention', 'apply', '-'],
      (_request, nth) => jsonResponse(POLICY, nth === 1 ? 201 : 200),
      context,
    );
    assert.equal(code, 0);
    assert.deepEqual(requests, [
      'PUT /api/v2/retention-policies/old {"name":"old","mode":"report","query":"type=A"}',
      'PUT /api/v2/retention-policies/a%2Fb {"name":"a/b","mode":"report","query":"type=A"}',
    ]);
    assert.equal(out, 'old created\na/b replaced\n');
  }
});

it('retention apply accepts YAML, shows each change, and asks on a terminal only', async (t) => {
  const folder = temporaryFolder();
  const file = join(folder, 'policies.yaml');
  writeFileSync(file, 'name: old\nmode: enforce\nquery: type=A\n---\nname: new\nquery: type=B\n');
  const stored = { ...POLICY, timeZone: 'UTC', maxGrowth: 3, enabled: true, caller: 'me' };
  const apply = async (words: readonly string[], answer?: string) => {
    const context = new FakeContext({ env: ENV, isTerminal: answer !== undefined });
    context.onQuestion = (text) => {
      if (text.includes('[y/N]')) context.stdin.write(answer ?? '');
    };
    const { code, requests, out, err } = await run(
      t,
      ['retention', 'apply', file, ...words],
      ({ method, target }) =>
        method === 'GET' && target.endsWith('/new')
          ? jsonResponse({ title: 'Not there' }, 404)
          : jsonResponse(stored),
      context,
    );
    return { code, puts: requests.filter((one) => one.startsWith('PUT')), out, err };
  };
  const changes = [
    'old:',
    '  - mode: "report"',
    '  + mode: "enforce"',
    'new:',
    '  + name: "new"',
    '  + query: "type=B"',
    '',
  ].join('\n');
  const dry = await apply(['--dry-run']);
  assert.deepEqual(dry, { code: 0, puts: [], out: changes, err: '' });
  const refused = await apply([], 'n\r');
  assert.deepEqual([refused.code, refused.puts], [EXIT.interrupted, []]);
  assert.ok(refused.err.startsWith(changes));
  const puts = [
    'PUT /api/v2/retention-policies/old {"name":"old","mode":"enforce","query":"type=A"}',
    'PUT /api/v2/retention-policies/new {"name":"new","query":"type=B"}',
  ];
  for (const [words, answer] of [
    [[], 'y\r'],
    [['--yes'], ''],
    [[], undefined],
  ] as const)
    assert.deepEqual((await apply(words, answer)).puts, puts);
  writeFileSync(
    file,
    '- &all {name: old, mode: enforce, query: type=A}\n- name: new\n  query: type=B\n  <<: *all\n  mode: report\n',
  );
  assert.deepEqual((await apply(['--yes'])).puts, [
    puts[0],
    'PUT /api/v2/retention-policies/new {"name":"new","query":"type=B","mode":"report"}',
  ]);
  writeFileSync(file, 'name: [');
  const wrong = await apply([]);
  assert.deepEqual([wrong.code, wrong.puts], [EXIT.usage, []]);
  assert.match(wrong.err, /policies\.yaml is neither JSON nor YAML: .*line/);
  const many = (anchor: string, of: string) => `${anchor}: &${anchor} [${Array(9).fill(of).join(', ')}]`;
  const bomb = [many('a', 'x'), many('b', '*a'), many('c', '*b'), many('d', '*c'), many('e', '*d')].join(
    '\n',
  );
  for (const text of [bomb, 'name: old\nquery: &a [*a]', 'name: old\nquery: *a']) {
    writeFileSync(file, text);
    const { code, puts: sent, err } = await apply(['--yes']);
    assert.deepEqual([code, sent], [EXIT.usage, []]);
    assert.match(err, /^\S+policies\.yaml is neither JSON nor YAML: /);
  }
});

for (const text of ['', '# A template that rendered nothing\n', '[]']) {
  it(`retention apply says that a file has no policies: ${JSON.stringify(text)}`, async (t) => {
    const file = join(temporaryFolder(), 'policies.yaml');
    writeFileSync(file, text);
    const context = new FakeContext({ env: ENV });
    const { code, err } = await run(t, ['retention', 'apply', file], () => jsonResponse({}), context);
    assert.equal(code, EXIT.done);
    assert.match(err, /policies\.yaml has no policies\. Nothing was changed\./);
  });
}

it('retention apply replaces only what it has shown, and creates only what was not there', async (t) => {
  const file = join(temporaryFolder(), 'policies.yaml');
  writeFileSync(file, 'name: old\nmode: enforce\nquery: type=A\n---\nname: new\nquery: type=B\n');
  const conditions = async (...words: readonly string[]) => {
    const context = new FakeContext({ env: ENV, isTerminal: true });
    context.onQuestion = (text) => {
      if (text.includes('[y/N]')) context.stdin.write('y\r');
    };
    const sent: unknown[] = [];
    const answer = ({ method, target, headers }: AskedGateway) => {
      if (method === 'PUT') {
        sent.push([headers.get('if-match'), headers.get('if-none-match')]);
        return target.endsWith('/old') ? jsonResponse(POLICY) : jsonResponse({ detail: 'Changed.' }, 412);
      }
      return target.endsWith('/new') ? jsonResponse({}, 404) : jsonResponse(POLICY, 200, { etag: '"e1"' });
    };
    const { code, err } = await run(t, ['retention', 'apply', file, ...words], answer, context);
    return { sent, code, err };
  };
  const { sent, code, err } = await conditions();
  assert.deepEqual(sent, [
    ['"e1"', null],
    [null, '*'],
  ]);
  assert.equal(code, EXIT.refused);
  assert.match(
    err,
    /new: The gateway answered 412: Changed\.\nSomebody changed it in the meantime: run the command/,
  );
  assert.deepEqual((await conditions('--yes')).sent, [
    [null, null],
    [null, null],
  ]);
});

it('retention apply applies nothing if a policy in the file has no name or two have the same name', async (t) => {
  for (const policies of [
    [POLICY, { mode: 'report' }],
    [POLICY, { ...POLICY }],
    [POLICY, 7],
    [POLICY, null],
  ]) {
    const context = new FakeContext({ env: ENV });
    context.stdin.end(JSON.stringify(policies));
    const { code, requests } = await run(t, ['retention', 'apply', '-'], () => jsonResponse({}), context);
    assert.deepEqual([code, requests], [EXIT.usage, []], JSON.stringify(policies));
  }
});

it('retention apply says how many policies were applied before the refused policy', async (t) => {
  const context = new FakeContext({ env: ENV });
  context.stdin.end(JSON.stringify([POLICY, { ...POLICY, name: 'bad' }, { ...POLICY, name: 'never' }]));
  const { code, requests, err } = await run(
    t,
    ['retention', 'apply', '-'],
    (_request, nth) => jsonResponse({ detail: 'No.' }, nth === 1 ? 200 : 409),
    context,
  );
  assert.deepEqual([code, requests.length], [EXIT.refused, 2]);
  assert.equal(err, 'bad: The gateway answered 409: No.\n1 of 3 policies in - were applied.\n');
});

it('retention preview says if a run would only report, and if more entities match than it lists', async (t) => {
  const preview = { matched: 1200, sample: ['urn:a:1'], cutoff: '2026-01-01T00:00:00Z', query: 'type=A' };
  const shown = async (members: object) =>
    (await run(t, ['retention', 'preview', 'old'], () => jsonResponse({ ...preview, ...members }))).out;
  assert.equal(
    await shown({ reportAbove: 1000 }),
    [
      '1,200 entities are older than 2026-01-01T00:00:00Z:',
      '  urn:a:1',
      '  …',
      'That is more than the 1,000 that maxGrowth allows: a run would only report.\n',
    ].join('\n'),
  );
  assert.match(await shown({ unit: 'instances' }), /^1,200 instances are older than 2026/);
  assert.match(await shown({ query: 'type=A&drop=b' }), /^1,200 attributes are older than 2026/);
  assert.equal(await shown({ matched: 1 }), '1 entity is older than 2026-01-01T00:00:00Z:\n  urn:a:1\n');
  assert.equal(await shown({ matched: 0, sample: [] }), '0 entities are older than 2026-01-01T00:00:00Z.\n');
});

it('retention run follows the run that it started', async (t) => {
  const { code, requests } = await run(t, ['retention', 'run', 'old'], ({ method }) =>
    method === 'POST' ? jsonResponse({ ...RECORD, id: 'run-7' }, 202) : eventsOf(over({ id: 'run-7' })),
  );
  assert.deepEqual(requests, ['POST /api/v2/retention-policies/old/run', 'GET /api/v2/purges/run-7/events']);
  assert.equal(code, 0);
});
