import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { ApiClient, type ApiClientOptions } from '../../../sidecar/client/client.js';
import { ApiError, NotJsonError, UnreachableError } from '../../../sidecar/client/errors.js';
import { words } from '../../support/words.js';

const BASE = 'https://gateway.test/city/';
const MODEL = { path: { domain: 'a b', model: 'c/d' } };

interface Sent {
  readonly line: string;
  readonly headers: Headers;
  readonly body: string;
}

/** A client of a gateway that is a function of the number of the request, from 1. */
function clientOf(
  answer: (nth: number) => Response | Promise<Response>,
  options: Partial<ApiClientOptions> = {},
) {
  const sent: Sent[] = [];
  globalThis.fetch = async (input) => {
    const request = input as Request;
    const { method, url, headers } = request;
    sent.push({ line: `${method} ${url.replace(BASE, '')}`, headers, body: await request.text() });
    request.signal.throwIfAborted();
    return answer(sent.length);
  };
  return { api: new ApiClient({ baseUrl: () => BASE, headers: () => ({}), ...options }), sent };
}

/** A gateway that answers with a text and a status. */
const saying = (text: string | null, init?: ResponseInit) => () => new Response(text, init);

async function apiErrorOf(work: Promise<unknown>): Promise<ApiError> {
  const error: unknown = await work.catch((caught: unknown) => caught);
  assert.ok(error instanceof ApiError, String(error));
  return error;
}

// Mocks are not used here: restoring several mocks of one method, as some tests need, would bring back the first mock.
const { fetch } = globalThis;
afterEach(() => {
  globalThis.fetch = fetch;
});

it('a request has its path and query encoded, below the path of the gateway', async () => {
  const { api, sent } = clientOf(saying('{}'));
  await api.json('get', '/domains/{domain}/models/{model}', { ...MODEL, query: { version: 3 } });
  await api.json('get', '/models', { query: { q: 'a&b', type: undefined } });
  await api.request('delete', '/ngsi-ld/v1/entities', { query: 'type=A&q=b%3C5' });
  assert.deepEqual(
    sent.map(({ line }) => line),
    [
      'GET api/v2/domains/a%20b/models/c%2Fd?version=3',
      'GET api/v2/models?q=a%26b',
      'DELETE ngsi-ld/v1/entities?type=A&q=b%3C5',
    ],
  );
});

it('a request has the headers of the client, overridden by its own', async () => {
  const { api, sent } = clientOf(saying('{}'), {
    headers: () => ({ accept: 'application/json', 'x-a': 'b' }),
  });
  await api.request('get', '/export', { headers: { accept: '*/*' } });
  await api.request('post', '/domains', { body: { name: 'd' } });
  assert.deepEqual(
    sent.map(({ headers }) => ['accept', 'x-a', 'content-type'].map((name) => headers.get(name))),
    [
      ['*/*', 'b', null],
      ['application/json', 'b', 'application/json'],
    ],
  );
});

it('numbers that a double cannot hold are read and sent as they are written', async () => {
  const text = '{"schema":{"maximum":9223372036854775807}}';
  const { api, sent } = clientOf(saying(text));
  const model = await api.json('get', '/domains/{domain}/models/{model}', MODEL);
  await api.request('put', '/domains/{domain}/models/{model}', { ...MODEL, body: { schema: model.schema } });
  assert.equal(sent[1]?.body, text);
});

it('texts and bytes are sent unchanged, with the given media type', async () => {
  const { api, sent } = clientOf(saying('{}'));
  await api.request('post', '/validate', { body: '{"a": 1e2}' });
  const bytes = new TextEncoder().encode('zip');
  await api.request('post', '/import', { body: bytes, headers: { 'content-type': 'application/zip' } });
  await api.request('post', '/import', { body: new FormData() });
  assert.deepEqual(
    sent.slice(0, 2).map(({ body, headers }) => [body, headers.get('content-type')]),
    [
      ['{"a": 1e2}', 'application/json'],
      ['zip', 'application/zip'],
    ],
  );
  assert.match(String(sent[2]?.headers.get('content-type')), /^multipart\/form-data; boundary=/);
});

it('a document has its status and its ETag, and a page has the total number of items', async () => {
  const headers = { etag: '"7"', 'x-total-count': '70' };
  const { api } = clientOf(saying('[{"name":"a"}]', { status: 201, headers }));
  const { value, status, etag } = await api.answer('get', '/domains');
  assert.deepEqual([value, status, etag], [[{ name: 'a' }], 201, '"7"']);
  assert.deepEqual(await api.page('/domains'), { items: [{ name: 'a' }], total: 70 });
  const { api: other } = clientOf(saying('[1]'));
  assert.deepEqual(await other.page('/domains'), { items: [1], total: 1 });
});

it('an answer without content has no document, and an answer that is not JSON or not a list is an error', async () => {
  assert.equal(await clientOf(saying(null, { status: 204 })).api.json('get', '/status'), undefined);
  for (const text of ['<p>', '{"a":'])
    await assert.rejects(clientOf(saying(text)).api.json('get', '/status'), NotJsonError);
  await assert.rejects(clientOf(saying('{}')).api.page('/domains'), NotJsonError);
});

it('a refusal has all members of its problem, the status of the answer, and the time to retry', async () => {
  const text = '{"title":"A title","detail":"Why","status":200,"deleted":5,"most":9223372036854775807}';
  const { api } = clientOf(saying(text, { status: 409, headers: { 'retry-after': '7' } }));
  const { problem, message, retryAfter } = await apiErrorOf(api.request('get', '/status'));
  const { most, ...rest } = problem;
  assert.deepEqual(rest, { title: 'A title', detail: 'Why', status: 409, deleted: 5 });
  assert.deepEqual([message, retryAfter, String(most)], ['Why', '7', '9223372036854775807']);
});

it('a problem without a detail is described by its title', async () => {
  const { api } = clientOf(saying('{"title":"A title"}', { status: 500 }));
  const { message, retryAfter } = await apiErrorOf(api.request('get', '/status'));
  assert.deepEqual([message, retryAfter], ['A title', undefined]);
});

it('an error answer that is not a problem is quoted, up to its first five hundred characters', async () => {
  const said = async (body: string) => {
    const { api } = clientOf(saying(body, { status: 502, statusText: 'Bad Gateway' }));
    return (await apiErrorOf(api.request('get', '/status'))).problem;
  };
  const title = { title: 'Bad Gateway', status: 502 };
  assert.deepEqual(await said(`<p>${'x'.repeat(600)}`), { ...title, detail: `<p>${'x'.repeat(497)}` });
  assert.deepEqual(await said(''), title);
  for (const body of ['null', '7', '{"title":3}', '[]'])
    assert.deepEqual(await said(body), { ...title, detail: body });
});

it('a request without an answer is reported as possibly arrived if it could change something', async () => {
  const failing = () => Promise.reject(new TypeError('fetch failed'));
  const { api } = clientOf(failing);
  const purge = (query: string) => api.request('delete', '/ngsi-ld/v1/entities', { query });
  for (const [request, mayHaveArrived] of [
    [() => api.request('get', '/status'), false],
    [() => purge('type=A'), true],
    [() => purge('type=A&dryRun=true'), false],
    [() => purge('dryRun=true&type=A'), true],
    [() => purge('type=xdryRun=true'), true],
    [
      () =>
        api.request('put', '/domains/{domain}/models/{model}', {
          ...MODEL,
          body: {},
          query: { dryRun: true },
        }),
      false,
    ],
    [
      () =>
        api.request('put', '/domains/{domain}/models/{model}', {
          ...MODEL,
          body: {},
          query: { dryRun: false },
        }),
      true,
    ],
    [() => api.request('post', '/validate', { body: '{}', isReadOnly: true }), false],
    [() => api.request('post', '/validate', { body: '{}' }), true],
    [() => api.request('patch', '/purges/{purge}', { path: { purge: 'p' }, body: {} }), true],
  ] as const) {
    const error: unknown = await request().catch((caught: unknown) => caught);
    assert.ok(error instanceof UnreachableError);
    assert.equal(error.mayHaveArrived, mayHaveArrived, String(request));
    assert.equal(
      error.message,
      `The gateway at ${BASE} cannot be reached, or its answer was cut off: fetch failed.`,
    );
  }
});

it('a request that was never sent is known not to have arrived', async () => {
  const failing = (cause: Error) =>
    clientOf(() => Promise.reject(new TypeError('fetch failed', { cause }))).api;
  const coded = (code: string) => Object.assign(new Error(), { code });
  const isLost = async (cause: Error) => {
    const error: unknown = await failing(cause)
      .request('post', '/purges', { body: '{}' })
      .catch((caught: unknown) => caught);
    assert.ok(error instanceof UnreachableError);
    return error.mayHaveArrived;
  };
  for (const code of words(`
    ECONNREFUSED ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH EADDRNOTAVAIL UND_ERR_CONNECT_TIMEOUT
    ERR_SSL_WRONG_VERSION_NUMBER DEPTH_ZERO_SELF_SIGNED_CERT ERR_TLS_CERT_ALTNAME_INVALID
  `))
    assert.equal(await isLost(coded(code)), false, code);
  assert.equal(await isLost(new Error('bad port')), false);
  for (const code of ['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'UND_ERR_SOCKET', 'UND_ERR_HEADERS_TIMEOUT'])
    assert.equal(await isLost(coded(code)), true, code);
});

it('the message says why the gateway cannot be reached', async () => {
  for (const [code, why] of [
    ['ECONNREFUSED', 'cannot be reached: connection refused.'],
    ['CERT_HAS_EXPIRED', 'cannot be reached: its certificate is not trusted (CERT_HAS_EXPIRED).'],
    ['ECONNRESET', 'cannot be reached, or its answer was cut off: connection broken.'],
    ['ENETUNREACH', 'cannot be reached: this machine has no route to its address (ENETUNREACH).'],
  ] as const) {
    const cause = Object.assign(new Error(), { code });
    const { api } = clientOf(() => Promise.reject(new TypeError('fetch failed', { cause })));
    await assert.rejects(api.json('get', '/status'), { message: `The gateway at ${BASE} ${why}` });
  }
});

it('a truncated answer counts as no answer', async () => {
  const broken = () => new ReadableStream({ pull: (stream) => stream.error(new Error('reset')) });
  const { api } = clientOf(() => new Response(broken()));
  await assert.rejects(api.json('post', '/purges', { body: '{}' }), {
    name: 'UnreachableError',
    mayHaveArrived: true,
  });
});

it('an aborted request is not reported as an unavailable gateway', async () => {
  const aborter = new AbortController();
  const { api } = clientOf(() => new Promise<Response>(() => undefined));
  aborter.abort();
  await assert.rejects(api.request('get', '/status', { signal: aborter.signal }), { name: 'AbortError' });
});

it('a refused request is sent again with the same body and new headers, as long as the client asks for it', async () => {
  let tokens = 0;
  const seen: unknown[] = [];
  const { api, sent } = clientOf((nth) => new Response('{}', { status: nth === 3 ? 200 : 401 }), {
    headers: () => ({ 'x-gateway-token': `t${(tokens += 1)}` }),
    shouldRetry: async ({ problem }, headers) => seen.push(problem.status, headers['x-gateway-token']) > 0,
  });
  await api.json('post', '/domains', { body: { name: 'd' } });
  assert.deepEqual(seen, [401, 't1', 401, 't2']);
  assert.deepEqual(
    sent.map(({ body, headers }) => [body, headers.get('x-gateway-token')]),
    ['t1', 't2', 't3'].map((token) => ['{"name":"d"}', token]),
  );
});
