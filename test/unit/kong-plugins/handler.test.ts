import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Plugin, Priority } from '../../../kong-plugins/ngsi-ld-purge/index.js';
import { FakeKong, type FakeRequest } from '../../support/fake-pdk.js';
import { words } from '../../support/words.js';

const config = {
  sidecar_host: 'sidecar',
  sidecar_port: 8080,
  gateway_token: 'the-secret',
  __key__: 'k',
  route_id: 'r',
};

async function run(request: FakeRequest, settings: unknown = config): Promise<FakeKong> {
  const kong = new FakeKong(request);
  await new Plugin(settings).access(kong.pdk);
  return kong;
}

/** Checks that a request was answered with a problem and goes nowhere; returns the problem's type. */
function refusal(kong: FakeKong, status: number): string {
  const { answer } = kong.outcome;
  assert.ok(answer !== undefined, 'not refused');
  assert.equal(answer.status, status);
  assert.equal(answer.headers['Content-Type'], 'application/problem+json');
  const body = JSON.parse(answer.body) as { type: string; title: string; status: number; detail: string };
  assert.equal(body.status, status);
  assert.ok(body.title.length > 0 && body.detail.length > 0);
  assert.equal(kong.methods.at(-1), 'response.exit', 'a call after exit never resolves');
  assert.ok(kong.methods.length > 1, 'a phase without any other call leaks');
  return body.type.replace(/^.*[:/]/, '');
}

/** Every header that the sidecar trusts in a request with the token, as a client would forge it. */
const FORGED = {
  'X-Gateway-Token': 'forged',
  'X-Purge-Policy': 'max-affected=999999',
  'X-Consumer-ID': 'forged',
  'X-Consumer-Custom-ID': 'forged',
  'x-consumer-username': 'forged',
  'X-Consumer-Groups': 'forged',
  'X-Credential-Identifier': 'forged',
  'X-Anonymous-Consumer': 'false',
  'x-authenticated-userid': 'forged',
  'X-Authenticated-Scope': 'forged',
  'X-Authenticated-Groups': 'forged',
};

/** The headers of a request as it is sent on, without its Host. */
function sent(kong: FakeKong): Readonly<Record<string, string>> {
  return Object.fromEntries([...kong.outcome.headers].filter(([name]) => name !== 'host'));
}

it('the plugin runs after authentication, access control, rate limiting and header transformation', () => {
  // Kong's priorities: key-auth 1250, acl 950, rate-limiting 910, request-transformer 801.
  const priority: number = Priority;
  assert.ok(priority > 0 && priority < 801, String(priority));
});

it('a purge goes to the sidecar; its target is set first and its token last', async () => {
  const kong = await run({ rawPath: '/ngsi-ld/v1/entities' });
  assert.deepEqual(
    kong.methods,
    words(`
      request.getMethod request.getRawPath request.getHeader client.getConsumer client.getCredential
      request.getHeader service.setTarget service.setRetries service.request.setHeaders service.setTimeouts
      service.request.setHeader
    `),
  );
  assert.deepEqual(kong.calls.at(-1)?.args, ['X-Gateway-Token', 'the-secret']);
  const { target, retries, timeouts } = kong.outcome;
  assert.deepEqual(
    { target, retries, timeouts },
    { target: 'sidecar:8080', retries: 0, timeouts: [5000, 60_000, 3_600_000] },
  );
});

it('a purge is recognised on both collections, with and without a trailing slash', async () => {
  for (const path of ['entities', 'entities/', 'temporal/entities', 'temporal/entities/']) {
    const kong = await run({ rawPath: `/ngsi-ld/v1/${path}` });
    assert.equal(kong.outcome.target, 'sidecar:8080', path);
    assert.equal(kong.outcome.headers.get('x-gateway-token'), 'the-secret', path);
  }
});

it('a purge has exactly the configured limits, as one dictionary', async () => {
  const limits = {
    max_affected: 1000,
    page_size: 500,
    batch_size: 100,
    concurrency: 2,
    temporal_concurrency: 8,
  };
  const all = await run({}, { ...config, ...limits, dry_run_only: true });
  assert.equal(
    all.outcome.headers.get('x-purge-policy'),
    'max-affected=1000, page-size=500, batch-size=100, concurrency=2, temporal-concurrency=8, dry-run-only=?1',
  );
  const entitiesOnly = await run({}, { ...config, allow_temporal: false });
  assert.equal(entitiesOnly.outcome.headers.get('x-purge-policy'), 'allow-temporal=?0');
  const some = await run({}, { ...config, page_size: 20, dry_run_only: false });
  assert.equal(some.outcome.headers.get('x-purge-policy'), 'page-size=20');
});

it('a purge has the configured timeouts', async () => {
  const kong = await run({}, { ...config, connect_timeout_ms: 1, read_timeout_ms: 2 });
  assert.deepEqual(kong.outcome.timeouts, [1, 60_000, 2]);
});

it('a purge that the policy forbids goes to the sidecar with its policy, so that the sidecar refuses and records it', async () => {
  const settings = { ...config, allow_temporal: false };
  for (const rawPath of ['/ngsi-ld/v1/temporal/entities/', '/ngsi-ld/v1/entities']) {
    const { answer, target, headers } = (await run({ rawPath }, settings)).outcome;
    assert.deepEqual([answer, target], [undefined, 'sidecar:8080'], rawPath);
    assert.equal(headers.get('x-purge-policy'), 'allow-temporal=?0', rawPath);
  }
});

it('a purge keeps the Host of its client, by which the sidecar checks the origin of a web page', async () => {
  const kong = await run({ headers: { Host: 'gw.example:8000' } });
  assert.equal(kong.outcome.headers.get('host'), 'gw.example:8000');
  // A request of HTTP/1.0 has no Host.
  assert.equal((await run({})).outcome.headers.get('host'), 'sidecar');
});

it("a DELETE whose path becomes a collection only by Kong's normalisation is refused with 400", async () => {
  const tidied: FakeRequest[] = [
    { rawPath: '/ngsi-ld/v1//entities', path: '/ngsi-ld/v1/entities' },
    { rawPath: '/ngsi-ld/v1/%65ntities', path: '/ngsi-ld/v1/entities' },
    { rawPath: '/ngsi-ld/v1/x/../temporal/entities', path: '/ngsi-ld/v1/temporal/entities' },
    { rawPath: '/looks/harmless', path: '/ngsi-ld/v1/entities/' },
  ];
  for (const request of tidied)
    assert.equal(refusal(await run(request), 400), 'InvalidRequest', request.rawPath);
});

it('a DELETE of exactly one resource is passed on unchanged', async () => {
  const kong = await run({ rawPath: '/ngsi-ld/v1/entities/urn:x', headers: { 'X-Purge-Policy': 'mine' } });
  assert.deepEqual(kong.methods, ['request.getMethod', 'request.getRawPath', 'request.getPath']);
});

it("a DELETE that may be more than one resource goes to the sidecar, without the plugin's headers", async () => {
  for (const rawPath of words(`
      /ngsi-ld/v1/subscriptions /ngsi-ld/v1/entities/urn:a;b /ngsi-ld/v1/snapshots/ /ngsi-ld/v1/entities;x
      /ngsi-ld/v1\\entities /ngsi-ld/V1/entities
    `)) {
    const kong = await run({
      rawPath,
      headers: {
        Host: 'gw.example',
        'X-Gateway-Token': 'forged',
        'X-Purge-Policy': 'forged',
        'X-Consumer-ID': 'c',
      },
    });
    const { target, retries, headers } = kong.outcome;
    assert.deepEqual({ target, retries }, { target: 'sidecar:8080', retries: 0 }, rawPath);
    // The broker may get the request in the end, and then with the same headers as from any other route.
    assert.deepEqual(Object.fromEntries(headers), { host: 'gw.example', 'x-consumer-id': 'c' }, rawPath);
    assert.equal(kong.methods.length, 8, 'as docs/kong.md says');
  }
});

it('a DELETE that may be more than one resource is refused if its Connection would remove its tenant', async () => {
  const headers = { Connection: 'close, NGSILD-Tenant', 'NGSILD-Tenant': 'a' };
  const kong = await run({ rawPath: '/ngsi-ld/v1/entities/urn:a;b', headers });
  assert.equal(refusal(kong, 400), 'hop-by-hop-header');
  assert.equal(kong.outcome.target, undefined);
});

it('a DELETE of another service is passed on', async () => {
  assert.deepEqual((await run({ rawPath: '/orders/1' })).outcome.target, undefined);
});

it('the plugin on too wide a route never affects a request that reads', async () => {
  for (const method of ['GET', 'HEAD', 'OPTIONS']) {
    for (const rawPath of ['/ngsi-ld/v1/entities', '/ngsi-ld/v1/x', '/api/v2/domains', '/api/v2/purgesx']) {
      const { methods } = await run({ method, rawPath, headers: { Connection: 'X-Any' } }, { broken: true });
      assert.ok(
        methods.every((name) => name.startsWith('request.get')),
        `${method} ${rawPath}`,
      );
    }
  }
});

it('the plugin on too wide a route never affects a write that is neither a DELETE nor for the schema service', async () => {
  for (const method of ['POST', 'PUT', 'PATCH', 'PURGE']) {
    const kong = await run(
      { method, rawPath: '/ngsi-ld/v1/entities', headers: { Connection: 'X-Anything' } },
      undefined,
    );
    assert.ok(
      kong.methods.every((name) => name.startsWith('request.get')),
      method,
    );
  }
});

const guarded: FakeRequest[] = [
  ...['POST', 'PUT', 'PATCH', 'DELETE'].map((method) => ({ method, rawPath: '/api/v2/domains' })),
  ...['GET', 'HEAD'].flatMap((method) =>
    ['purges', 'purges/', 'purges/1/events', 'retention-policies', 'retention-policies/p/runs'].map(
      (path) => ({ method, rawPath: `/api/v2/${path}` }),
    ),
  ),
];

it('a request to /api/v2 that writes or reads guarded records gets the token, and keeps its Host', async () => {
  for (const request of guarded) {
    const kong = await run({ ...request, headers: { Host: 'gw.example:8000' } });
    const { target, retries, headers } = kong.outcome;
    const what = `${request.method} ${request.rawPath}`;
    assert.deepEqual({ target, retries }, { target: 'sidecar:8080', retries: 0 }, what);
    assert.equal(headers.get('host'), 'gw.example:8000', what);
    assert.deepEqual(kong.calls.at(-1)?.args, ['X-Gateway-Token', 'the-secret'], what);
  }
});

it('a request is for /api/v2 if the path that Kong forwards says so, whatever the client has written', async () => {
  for (const rawPath of ['//api/v2/purges', '/%61pi/v2/purges', '/x/../api/v2/purges', '/api/./v2/purges'])
    for (const method of ['GET', 'POST', 'DELETE']) {
      const kong = await run({ method, rawPath, path: '/api/v2/purges' });
      assert.deepEqual(kong.calls.at(-1)?.args, ['X-Gateway-Token', 'the-secret'], `${method} ${rawPath}`);
      const other = await run({ method, rawPath: '/api/v2/purges', path: '/elsewhere' });
      assert.deepEqual(sent(other), {}, `${method} /elsewhere`);
    }
});

const WRITES: readonly FakeRequest[] = [
  ...['POST', 'PUT', 'PATCH'].flatMap((method) =>
    [
      '/ngsi-ld/v1/entities',
      '/ngsi-ld/v1/entities/urn:x:1/attrs',
      '/ngsi-ld/v1/entities;x',
      '/ngsi-ld%2Fv1',
    ].map((rawPath) => ({ method, rawPath })),
  ),
  { rawPath: '/ngsi-ld/v1/entities/urn:x:1/attrs/a' },
];

it('a write under /ngsi-ld goes to the sidecar with its authenticated caller if the plugin vouches for writes', async () => {
  for (const request of WRITES) {
    const caller = { consumer: { id: 'c-1', username: 'ada' }, credential: { id: 'k-1' } };
    const kong = await run({ ...request, headers: FORGED, ...caller }, { ...config, vouch_for_writes: true });
    assert.deepEqual([kong.outcome.target, kong.outcome.retries], ['sidecar:8080', 0], request.rawPath);
    assert.deepEqual(sent(kong), {
      'x-consumer-id': 'c-1',
      'x-consumer-username': 'ada',
      'x-credential-identifier': 'k-1',
      'x-gateway-token': 'the-secret',
    });
  }
});

it('a write under /ngsi-ld is unchanged if the plugin does not vouch for writes, and a read is even if it does', async () => {
  for (const request of WRITES) {
    const { target, headers, answer } = (await run({ ...request, headers: { 'X-Consumer-ID': 'c' } }))
      .outcome;
    assert.deepEqual([target, [...headers], answer], [undefined, [['x-consumer-id', 'c']], undefined]);
  }
  const read = await run(
    { method: 'GET', rawPath: '/ngsi-ld/v1/entities' },
    { ...config, vouch_for_writes: true },
  );
  assert.equal(read.outcome.target, undefined);
});

it('a write is refused if the plugin should vouch for it and cannot, because other policies may apply to an anonymous write', async () => {
  for (const request of WRITES) {
    const wrong = await run(request, { ...config, vouch_for_writes: true, gateway_token: '' });
    assert.equal(refusal(wrong, 500), 'plugin-misconfigured');
    const failing = new FakeKong(request).trouble('client.getConsumer', { kind: 'throw' });
    await new Plugin({ ...config, vouch_for_writes: true }).access(failing.pdk);
    assert.equal(refusal(failing, 503), 'gateway-failure');
  }
});

it('a request to /api/v2 carries the policy, which applies to the purges that the request may start', async () => {
  const settings = { ...config, max_affected: 10, allow_temporal: false, dry_run_only: true };
  for (const request of guarded) {
    const { headers } = (await run(request, settings)).outcome;
    assert.equal(headers.get('x-purge-policy'), 'max-affected=10, allow-temporal=?0, dry-run-only=?1');
  }
});

const requests: FakeRequest[] = [
  { rawPath: '/ngsi-ld/v1/entities' },
  { rawPath: '/ngsi-ld/v1/temporal/entities/' },
  { method: 'POST', rawPath: '/api/v2/purges' },
  { method: 'GET', rawPath: '/api/v2/purges/1' },
  { method: 'DELETE', rawPath: '/api/v2/retention-policies/p' },
];

it('a request with the token never keeps a secret, a policy or a caller that the client sent', async () => {
  for (const request of requests) {
    const anonymous = await run({ ...request, headers: FORGED });
    assert.deepEqual(sent(anonymous), { 'x-gateway-token': 'the-secret' }, request.rawPath);
    const bare = await run({ ...request, headers: FORGED }, { sidecar_host: 'sidecar' });
    assert.deepEqual(sent(bare), {}, request.rawPath);
  }
});

it('a request with the token names the caller that Kong has authenticated, whatever the client sent', async () => {
  const consumer = { id: 'c-1', username: 'alice', custom_id: 'a-1', created_at: 1 };
  const credential = { id: 'k-1', key: 'the-api-key', consumer: { id: 'c-1' } };
  for (const request of requests) {
    const kong = await run({ ...request, headers: FORGED, consumer, credential });
    assert.deepEqual(
      sent(kong),
      {
        'x-consumer-id': 'c-1',
        'x-consumer-custom-id': 'a-1',
        'x-consumer-username': 'alice',
        'x-credential-identifier': 'k-1',
        'x-gateway-token': 'the-secret',
      },
      request.rawPath,
    );
  }
});

it("a request with the token has the plugin's headers after all others, the token last", async () => {
  const fillers = Object.fromEntries(Array.from({ length: 990 }, (_, index) => [`x-filler-${index}`, '']));
  const kong = await run(
    { headers: { ...FORGED, ...fillers }, consumer: { id: 'c-1' } },
    { ...config, max_affected: 1 },
  );
  assert.deepEqual(
    [...kong.outcome.headers.keys()].slice(-4),
    words(`
      x-purge-policy x-consumer-id x-anonymous-consumer x-gateway-token
    `),
  );
});

it('a request with the token never loses its policy, its caller or its tenant to a Connection header', async () => {
  for (const request of requests) {
    for (const Connection of ['X-Purge-Policy', 'close, x-consumer-id', 'keep-alive,\tNGSILD-Tenant']) {
      const kong = await run({ ...request, headers: { Connection } });
      assert.equal(refusal(kong, 400), 'hop-by-hop-header', Connection);
      assert.equal(kong.outcome.target, undefined);
    }
    for (const Connection of ['close', 'Keep-Alive', 'Upgrade, HTTP2-Settings', 'TE, close', '']) {
      const kong = await run({ ...request, headers: { Connection } });
      assert.equal(kong.outcome.target, 'sidecar:8080', Connection);
    }
  }
});

it('a wrong configuration never makes the constructor throw', () => {
  for (const settings of [undefined, null, 7, 'x', [], {}, { sidecar_host: 3 }])
    assert.doesNotThrow(() => new Plugin(settings));
});

it('a wrong configuration refuses every request that would be redirected, and is logged once, without values', async () => {
  const plugin = new Plugin({ sidecar_host: 'sidecar', gateway_token: 'bad secret' });
  const logged: unknown[] = [];
  for (const rawPath of [
    '/ngsi-ld/v1/entities',
    '/ngsi-ld/v1/subscriptions',
    '/ngsi-ld/v1/temporal/entities',
  ]) {
    const kong = new FakeKong({ rawPath });
    await plugin.access(kong.pdk);
    assert.equal(refusal(kong, 500), 'plugin-misconfigured', rawPath);
    logged.push(...kong.calls.filter((call) => call.method === 'log.err').flatMap((call) => call.args));
  }
  assert.equal(logged.length, 1);
  assert.match(String(logged[0]), /gateway_token/);
  assert.doesNotMatch(String(logged[0]), /bad secret/);
});

const instanceOf = (kong: FakeKong) =>
  (JSON.parse(kong.outcome.answer?.body ?? '{}') as { instance?: string }).instance;

it('the instance of a problem of the plugin is the path as it was sent, as a URI reference', async () => {
  const paths = [
    ['/ngsi-ld/v1//entities', '/ngsi-ld/v1//entities'],
    ['/ngsi-ld/v1\\entities', '/ngsi-ld/v1%5Centities'],
    ['/ngsi-ld/v1/\u00e4/../entities', '/ngsi-ld/v1/%C3%A4/../entities'],
    ['/ngsi-ld/v1/entities/%', '/ngsi-ld/v1/entities/%25'],
    ['/ngsi-ld/v1%2fentities/%2F/%zz', '/ngsi-ld/v1%2fentities/%2F/%25zz'],
  ] as const;
  for (const [rawPath, instance] of paths)
    assert.equal(instanceOf(await run({ rawPath, path: '/ngsi-ld/v1/entities' })), instance);
  assert.equal(instanceOf(await run({ method: 'GET', rawPath: '/api/v2/purges' }, {})), '/api/v2/purges');
});

it('a problem of the plugin has no instance if Kong did not give the path', async () => {
  const kong = new FakeKong({}).trouble('request.getRawPath', { kind: 'throw' });
  await new Plugin(config).access(kong.pdk);
  assert.equal(instanceOf(kong), undefined);
});

it('a problem of the plugin says so if the fault is in the gateway', async () => {
  const misconfigured = await run({}, {});
  const failing = new FakeKong({}).trouble('service.setTarget', { kind: 'throw' });
  await new Plugin(config).access(failing.pdk);
  for (const kong of [misconfigured, failing])
    assert.match(
      kong.outcome.answer?.body ?? '',
      /The fault is in the gateway, not in the request.*nothing was done/,
    );
});

const failing = words(`
    request.getMethod request.getRawPath request.getHeader client.getConsumer client.getCredential
    service.setTarget service.setRetries service.setTimeouts service.request.setHeader
    service.request.setHeaders
  `);

for (const method of failing) {
  it(`a purge is refused if ${method} of Kong fails`, async () => {
    const kong = new FakeKong({}).trouble(method, { kind: 'throw' });
    await new Plugin({ ...config, max_affected: 1 }).access(kong.pdk);
    assert.equal(refusal(kong, 503), 'gateway-failure');
    assert.ok(kong.methods.includes('log.err'));
  });

  it(`a purge has no token yet if ${method} of Kong gives no answer`, async () => {
    const kong = new FakeKong({}).trouble(method, { kind: 'hang' });
    void new Plugin({ ...config, max_affected: 1 }).access(kong.pdk);
    await new Promise(setImmediate);
    assert.equal(kong.methods.at(-1), method);
    assert.equal(kong.outcome.headers.has('x-gateway-token'), false);
  });
}

for (const method of ['request.getMethod', 'request.getRawPath', 'request.getPath']) {
  it(`a request is refused if ${method} of Kong does not answer with text`, async () => {
    for (const value of [undefined, null, 5, {}]) {
      const kong = new FakeKong({ rawPath: '/ngsi-ld/v1/x' }).trouble(method, { kind: 'answer', value });
      await new Plugin(config).access(kong.pdk);
      assert.equal(refusal(kong, 503), 'gateway-failure');
    }
  });
}

it('a request is refused if Kong gives an invalid consumer or credential', async () => {
  for (const method of ['client.getConsumer', 'client.getCredential']) {
    for (const value of ['c-1', 7, true, { id: 7 }, { username: 'a\r\nX-Purge-Policy: max-affected=9' }]) {
      const kong = new FakeKong({}).trouble(method, { kind: 'answer', value });
      await new Plugin(config).access(kong.pdk);
      assert.equal(refusal(kong, 503), 'gateway-failure');
      assert.equal(kong.outcome.target, undefined);
    }
  }
});

it('a request is refused even if the log cannot be written', async () => {
  const kong = new FakeKong({})
    .trouble('log.err', { kind: 'throw' })
    .trouble('service.setTarget', { kind: 'throw' });
  await new Plugin(config).access(kong.pdk);
  assert.equal(refusal(kong, 503), 'gateway-failure');
});

it('the handler never rejects, not even if the refusal cannot be sent', async () => {
  const kong = new FakeKong({})
    .trouble('response.exit', { kind: 'throw' })
    .trouble('service.setTarget', { kind: 'throw' });
  await new Plugin(config).access(kong.pdk);
  assert.equal(kong.methods.at(-1), 'response.exit');
});
