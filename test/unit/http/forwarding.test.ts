import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { it } from 'node:test';
import fc from 'fast-check';
import { answerProblem, FAILURE_PROBLEMS, failureKind } from '../../../sidecar/http/forward-problem.js';
import { brokerTarget } from '../../../sidecar/http/pass-through.js';
import { endToEndHeaders } from '../../../sidecar/http/forward-headers.js';
import { isPlainlyFramed } from '../../../sidecar/http/request-checks.js';
import { instanceOf } from '../../../sidecar/http/request-log.js';
import { words } from '../../support/words.js';
import { unicodeText } from '../../support/unicode-text.js';

const names = (raw: string[], drop?: ReadonlySet<string>) =>
  endToEndHeaders(raw, drop).filter((_text, at) => at % 2 === 0);

for (const name of words(`
  Connection Keep-Alive Proxy-Connection Proxy-Authenticate Proxy-Authorization HTTP2-Settings TE Trailer
  Transfer-Encoding Upgrade
`)) {
  it(`endToEndHeaders removes ${name}, whether Connection names it or not`, () => {
    assert.deepEqual(names([name, 'x', 'Accept', '*/*']), ['Accept']);
    assert.deepEqual(names(['Connection', name, name.toLowerCase(), 'x', 'Accept', '*/*']), ['Accept']);
  });
}

it('endToEndHeaders removes the fields that any Connection line names, whatever its blanks, empty options and case', () => {
  const raw = ['Connection', ' ,X-A,, x-b', ...words('connection X-C X-A 1 X-B 2 x-c 3 X-D 4')];
  assert.deepEqual(names(raw), ['X-D']);
});

it('endToEndHeaders never lets Connection remove a field that frames, routes, authenticates or describes the message', () => {
  for (const name of words(`
      Host Link Via Date Age Allow ETag Vary Expires Location Retry-After Server Range Prefer
      Preference-Applied Authorization WWW-Authenticate Cache-Control Cookie Set-Cookie User-Agent Origin
      Referer Forwarded Traceparent Tracestate X-Auth-Token X-Request-Id Accept Accept-Language
      Access-Control-Allow-Origin Content-Length Content-Type Fiware-Service Fiware-ServicePath If-Match
      If-None-Match Last-Modified NGSILD-Tenant NGSILD-Results-Count X-Forwarded-For X-Forwarded-Host
    `)) {
    assert.deepEqual(names(['Connection', name, name, 'x']), [name], name);
  }
});

it('endToEndHeaders never throws and never invents a field', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), (raw) => {
      const kept = endToEndHeaders(raw);
      assert.ok(kept.length <= raw.length);
      for (const text of kept) assert.ok(raw.includes(text));
    }),
  );
});

it('isPlainlyFramed accepts no transfer coding except chunked, once', () => {
  assert.equal(isPlainlyFramed(undefined), true);
  assert.equal(isPlainlyFramed(' Chunked '), true);
  assert.equal(isPlainlyFramed(['chunked']), true);
  for (const value of ['gzip', 'gzip, chunked', 'chunked, chunked', 'identity', '']) {
    assert.equal(isPlainlyFramed(value), false, value);
  }
  assert.equal(isPlainlyFramed(['gzip', 'chunked']), false);
  assert.equal(isPlainlyFramed(['chunked', 'chunked']), false);
});

it('endToEndHeaders does not take the value of a field for a Connection field', () => {
  assert.deepEqual(names(words('X connection Y connection Z y')), ['X', 'Y', 'Z']);
});

it('brokerTarget never returns a target that would break the request line', () => {
  for (const target of ['', '*', 'x', 'h:80', '/a b', '/a\r\nX: y', '/a\tb', '/a\0', '/\x7f', '/€']) {
    assert.equal(brokerTarget({ origin: 'http://b', prefix: '' }, target), undefined, JSON.stringify(target));
  }
});

it('instanceOf repeats 8 KiB of a path at most', () => {
  assert.equal(instanceOf(`/${'x'.repeat(8191)}`).length, 8192);
  assert.equal(instanceOf(`/${'x'.repeat(9000)}`).length, 8192);
});

it('instanceOf is a URI reference without the query, whatever the target', () => {
  assert.equal(instanceOf('/ngsi-ld/v1/a%2F?secret=1'), '/ngsi-ld/v1/a%2F');
  assert.equal(instanceOf('/a\\b<c>"%zz#é'), '/a%5Cb%3Cc%3E%22%25zz%23%E9');
  fc.assert(fc.property(unicodeText(), (text) => assert.match(instanceOf(text), /^[\x21-\x7e]*$/)));
});

const of = (code: string) => failureKind(Object.assign(new Error('x'), { code }));

for (const [kind, status, codes] of [
  [
    'timeout',
    504,
    ['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT'],
  ],
  [
    'unacceptable-request',
    400,
    ['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED', 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH'],
  ],
  ['busy', 503, ['NO_PLACE']],
  ['slow-client', 408, ['SLOW_CLIENT']],
  ['closing', 503, ['UND_ERR_CLOSED', 'UND_ERR_DESTROYED']],
  [
    'unusable-reply',
    502,
    words(`
        ERR_INVALID_CHAR ERR_HTTP_INVALID_STATUS_CODE UND_ERR_HEADERS_OVERFLOW
        UND_ERR_RES_CONTENT_LENGTH_MISMATCH UND_ERR_RES_EXCEEDED_MAX_SIZE
      `),
  ],
  [
    'unreachable',
    502,
    ['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'UND_ERR_SOCKET', 'ERR_TLS_CERT_ALTNAME_INVALID', ''],
  ],
] as const) {
  it(`a request that could not be forwarded is ${status} if the kind is ${kind}`, () => {
    for (const code of codes) assert.equal(of(code), kind, code);
    assert.equal(FAILURE_PROBLEMS[kind].status, status);
  });
}

/** The answer that was sent, and the state of the connection afterwards. */
function answered(
  status: number,
  { headers = {}, isLast }: { headers?: Readonly<Record<string, string>>; isLast?: boolean } = {},
) {
  const sent: { head: unknown[]; body: string; isEnded: boolean } = { head: [], body: '', isEnded: false };
  const req = { url: '/a?secret', headers: { 'x-request-id': 'r', ...headers }, complete: true };
  const res = {
    writeHead: (...head: unknown[]) => void sent.head.push(...head),
    write: (body: Buffer) => (sent.body += body.toString()),
    end: () => (sent.isEnded = true),
  };
  answerProblem(
    req as unknown as IncomingMessage,
    res as unknown as ServerResponse,
    { type: 'urn:t', title: 'T', status, detail: 'D' },
    isLast,
  );
  return sent;
}
const fields = { 'Content-Type': 'application/problem+json', 'Content-Length': 75, 'X-Request-Id': 'r' };

it('a problem has the path of its request without the query, and the id of the request', () => {
  const { head, body, isEnded } = answered(400);
  assert.deepEqual(JSON.parse(body), {
    type: 'urn:t',
    title: 'T',
    status: 400,
    detail: 'D',
    instance: '/a',
  });
  assert.deepEqual(head, [400, { ...fields, 'Content-Length': Buffer.byteLength(body) }]);
  assert.equal(isEnded, true);
});

it('a problem repeats the tenant, has Retry-After only for 503, and closes the connection if no more is expected on it', () => {
  const headersOf = (...asked: Parameters<typeof answered>) =>
    answered(...asked).head[1] as Readonly<Record<string, unknown>>;
  assert.equal(headersOf(404, { headers: { 'ngsild-tenant': 't' } })['NGSILD-Tenant'], 't');
  for (const status of [400, 408, 500, 502, 503, 504])
    assert.equal(headersOf(status)['Retry-After'], status === 503 ? '1' : undefined, `${status}`);
  assert.equal(headersOf(503, { isLast: true })['Retry-After'], '1');
  assert.equal(headersOf(400, { isLast: true })['Connection'], 'close');
  assert.equal(headersOf(400, { isLast: false })['Connection'], undefined);
});
