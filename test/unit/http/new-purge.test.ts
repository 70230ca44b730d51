import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { FastifyRequest } from 'fastify';
import fc from 'fast-check';
import { RequestRefusedError } from '../../../sidecar/http/refused.js';
import { ALL_ROLES, type Caller, TenantRefusedError } from '../../../sidecar/auth/index.js';
import { callerOf } from '../../../sidecar/http/access.js';
import {
  forwardedHeaders,
  readNewPurge,
  parsePurgePolicy,
  readJobOrigin,
  type RequestedPurge,
} from '../../../sidecar/http/new-purge.js';
import type { NewPurge } from '../../../sidecar/jobs/purge-kinds.js';
import { ClientDisconnectedError, PurgeFailedError } from '../../../sidecar/jobs/errors.js';
import type { GatewayError } from '../../../sidecar/shared/errors.js';
import { UnsupportedRequestError } from '../../../sidecar/purge/errors.js';
import { recordOf } from '../../support/purge-service.js';
import { words } from '../../support/words.js';

const ASKED: RequestedPurge = { target: 'entities', query: 'type=T' };
const requestOf = (
  headers: Readonly<Record<string, string>>,
  caller: Caller = {
    name: callerOf(headers, true),
    roles: ALL_ROLES,
    tenants: undefined,
    client: {},
    forwardsAuthorization: true,
    validForMs: Infinity,
  },
) => ({ headers, id: 'r-1', caller }) as unknown as FastifyRequest;

/** Reads purges from requests, and collects refusals as they would be recorded. */
function reading(caller?: Caller) {
  const refused: (readonly [NewPurge, unknown])[] = [];
  const refusal = (asked: NewPurge, error: unknown) => {
    refused.push([asked, error]);
    return new PurgeFailedError(error, recordOf());
  };
  const read = (
    headers: Readonly<Record<string, string>>,
    asked: Partial<RequestedPurge> = {},
    fault?: GatewayError,
  ) => readNewPurge(requestOf(headers, caller), { ...ASKED, ...asked }, { refusal }, fault);
  return { refused, read };
}

it('the purge of a request has its target, query, forwarded headers, caller, policy and request id', () => {
  const { refused, read } = reading();
  const headers = {
    'ngsild-tenant': 't',
    link: '<c>',
    authorization: 'Bearer x',
    'x-request-id': 'not usable',
    'x-consumer-username': 'me',
    'x-purge-policy': 'max-affected=5',
    'x-gateway-token': 'secret',
  };
  assert.deepEqual(read(headers, { target: 'temporal' }), {
    target: 'temporal',
    query: 'type=T',
    caller: 'me',
    client: {},
    requestId: 'r-1',
    policy: { maxAffected: 5 },
    headers: { 'ngsild-tenant': 't', link: '<c>', authorization: 'Bearer x', 'x-request-id': 'r-1' },
  });
  assert.deepEqual(refused, []);
});

const SIGNED_IN: Caller = {
  name: 'vera',
  roles: new Set(['viewer', 'purger']),
  tenants: new Set(['a', '']),
  forwardsAuthorization: false,
  validForMs: 60_000,
  client: { clientAddress: '192.0.2.1' },
};

it('a purge of a signed-in caller has their name, and the broker does not get their token', () => {
  const headers = { authorization: 'Bearer x', 'x-auth-token': 'y', 'x-consumer-username': 'me' };
  const { caller, client, headers: sent } = reading(SIGNED_IN).read(headers);
  assert.deepEqual([caller, client], ['vera', { clientAddress: '192.0.2.1' }]);
  assert.deepEqual(sent, { 'x-auth-token': 'y', 'x-request-id': 'r-1' });
  const forwarding = reading({ ...SIGNED_IN, forwardsAuthorization: true }).read(headers);
  assert.equal(forwarding.headers['authorization'], 'Bearer x');
});

it('a purge is refused and recorded if a header or its body names a tenant that the caller may not use', () => {
  for (const [headers, bodyHeaders, isAllowed] of [
    [{}, {}, true],
    [{ 'ngsild-tenant': 'a' }, {}, true],
    [{ 'ngsild-tenant': 'a', 'fiware-service': 'a' }, {}, true],
    [{}, { 'ngsild-tenant': 'a' }, true],
    [{ 'ngsild-tenant': 'b' }, {}, false],
    [{ 'ngsild-tenant': 'A' }, {}, false],
    [{ 'ngsild-tenant': 'a', 'fiware-service': 'b' }, {}, false],
    [{ 'ngsild-tenant': 'b', 'fiware-service': 'a' }, {}, false],
    [{}, { 'ngsild-tenant': 'b' }, false],
    [{ 'ngsild-tenant': 'constructor' }, {}, false],
  ] as const) {
    const { refused, read } = reading(SIGNED_IN);
    const ask = () => read({ ...headers }, { bodyHeaders: { ...bodyHeaders } });
    if (isAllowed) assert.equal(ask().caller, 'vera');
    else assert.throws(ask, PurgeFailedError, JSON.stringify([headers, bodyHeaders]));
    assert.deepEqual(
      refused.map(([, error]) => error instanceof TenantRefusedError),
      isAllowed ? [] : [true],
    );
  }
});

it('headers that would apply a purge to snapshots or entity maps are refused', () => {
  for (const name of ['ngsild-snapshot', 'ngsild-entitymap']) {
    const { refused, read } = reading();
    assert.throws(() => read({ [name]: 'urn:x' }), PurgeFailedError);
    const [[, error] = []] = refused;
    assert.ok(error instanceof UnsupportedRequestError && error.message.includes(name));
  }
});

it('headers given in a body reach the broker', () => {
  const bodyHeaders = { 'ngsild-tenant': 't', link: '<c>' };
  const { headers } = reading().read({ authorization: 'a' }, { bodyHeaders });
  assert.deepEqual(headers, { ...bodyHeaders, authorization: 'a', 'x-request-id': 'r-1' });
});

it('a body and a header that contradict each other are refused, including the other header for the tenant', () => {
  for (const [inBody, header] of [
    ['ngsild-tenant', 'ngsild-tenant'],
    ['ngsild-tenant', 'fiware-service'],
    ['link', 'link'],
  ] as const)
    assert.throws(
      () => readJobOrigin(requestOf({ [header]: 'b' }), { [inBody]: 'a' }),
      (error: unknown) =>
        error instanceof RequestRefusedError &&
        error.problem.status === 400 &&
        error.message.includes(header),
    );
  const { headers } = reading().read({ 'fiware-service': 'b' }, { bodyHeaders: { link: '<c>' } });
  assert.equal(headers['link'], '<c>');
});

it('the record of a refused purge has the whole request but no policy', () => {
  const { refused, read } = reading();
  const headers = { 'x-purge-policy': 'nonsense', 'x-consumer-id': '7', 'ngsild-tenant': 't' };
  assert.throws(() => read(headers), PurgeFailedError);
  const [[asked, error] = []] = refused;
  assert.deepEqual(asked, {
    target: 'entities',
    query: 'type=T',
    caller: '7',
    client: {},
    requestId: 'r-1',
    policy: {},
    headers: { 'ngsild-tenant': 't', 'x-request-id': 'r-1' },
  });
  assert.ok(error instanceof RequestRefusedError);
  assert.equal(refused.length, 1);
});

it('an earlier fault is refused first and recorded; other errors are not recorded', () => {
  const found = new UnsupportedRequestError('found');
  const { refused, read } = reading();
  assert.throws(() => read({ 'x-purge-policy': 'nonsense' }, {}, found), PurgeFailedError);
  assert.deepEqual(
    refused.map(([, error]) => error),
    [found],
  );
  const other = new ClientDisconnectedError('gone');
  assert.throws(() => read({}, {}, other), other);
  assert.equal(refused.length, 1);
});

it('parsePurgePolicy (RFC 9651 § 3.2) reads every bound and switch', () => {
  for (const [header, policy] of [
    [
      'max-affected=100, page-size=50,batch-size=20 ,concurrency=2,\ttemporal-concurrency=8, dry-run-only=?1, allow-temporal=?0',
      {
        maxAffected: 100,
        pageSize: 50,
        batchSize: 20,
        concurrency: 2,
        temporalConcurrency: 8,
        dryRunOnly: true,
        allowTemporal: false,
      },
    ],
    [undefined, {}],
    [['max-affected=1', 'page-size=2'], { maxAffected: 1, pageSize: 2 }],
    ['dry-run-only', { dryRunOnly: true }],
    ['dry-run-only=?0, allow-temporal', { dryRunOnly: false, allowTemporal: true }],
  ] as const)
    assert.deepEqual(parsePurgePolicy(header), policy);
});

it('parsePurgePolicy refuses unknown content, because it could not be enforced, and quotes a part of it', () => {
  for (const header of [
    ...words(`
    , max-affected=1, max-affected max-affected= max-affected=0 max-affected=-1 max-affected=1.5
    max-affected=1e3 max-affected="5" max-affected=?1 max-affected=1=2 max-affected=1;q=1
    max-affected=9999999999999999 Max-Affected=5 max_affected=5 maxAffected=5 dry-run-only=true
    dry-run-only=1 dry-run-only=?2 unknown=1 constructor=1 __proto__ {} max-affected=10,,page-size=1
  `),
    '',
    ' ',
    'max-affected= 5',
    'max-affected=5, toString=?1',
    'x'.repeat(5000),
  ])
    assert.throws(
      () => parsePurgePolicy(header),
      (error: unknown) =>
        error instanceof RequestRefusedError &&
        error.problem.status === 400 &&
        error.message.includes('X-Purge-Policy') &&
        error.message.length < 200,
      header,
    );
});

it('parsePurgePolicy (RFC 9651 § 3.2) returns a policy of positive bounds or refuses, whatever the header contains', () => {
  const member = fc.tuple(
    fc.constantFrom('max-affected', 'page-size', 'dry-run-only', 'x'),
    fc.constantFrom('', '=', '=1', '=?1', '=0', '=-1', '=5'),
  );
  const headers = fc.oneof(
    fc.string(),
    fc.array(member.map((parts) => parts.join(''))).map((list) => list.join(', ')),
  );
  fc.assert(
    fc.property(headers, (header) => {
      try {
        for (const value of Object.values(parsePurgePolicy(header))) {
          assert.ok(typeof value === 'boolean' || (Number.isSafeInteger(value) && value > 0));
        }
      } catch (error) {
        assert.ok(error instanceof RequestRefusedError, String(error));
      }
    }),
  );
});

it('forwardedHeaders passes on @context, tenant, credentials, loop prevention and tracing, and nothing else', () => {
  const forwarded = words(`
      authorization fiware-service fiware-servicepath link ngsild-tenant traceparent tracestate via
      x-auth-token x-request-id
    `);
  const all = Object.fromEntries(forwarded.map((name) => [name, `value of ${name}`]));
  const others = words(`
      x-gateway-token x-purge-policy host cookie content-length prefer accept
    `);
  const request = { ...all, ...Object.fromEntries(others.map((name) => [name, 'x'])) };
  assert.deepEqual(forwardedHeaders(request), all);
});

it('forwardedHeaders joins repeated headers with a comma and omits absent ones', () => {
  const headers = { via: ['1.1 a', '1.1 b'], link: undefined };
  assert.deepEqual(forwardedHeaders(headers), { via: '1.1 a, 1.1 b' });
  assert.deepEqual(forwardedHeaders({}), {});
});
