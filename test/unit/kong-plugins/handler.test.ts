import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Plugin } from '../../../kong-plugins/ngsi-ld-purge/index.js';
import { FakeKong, type FakeRequest } from '../../support/fake-pdk.js';

const config = {
  sidecar_host: 'sidecar',
  sidecar_port: 8080,
  gateway_token: 'secret',
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
  return body.type.replace('urn:ngsi-ld-gateway:problem:', '');
}

describe('a purge', () => {
  it('goes to the sidecar in eight round trips, its target first and its stamp last', async () => {
    const kong = await run({ rawPath: '/ngsi-ld/v1/entities' });
    assert.deepEqual(kong.methods, [
      'request.getMethod',
      'request.getRawPath',
      'request.getHeader',
      'service.setTarget',
      'service.setRetries',
      'service.setTimeouts',
      'service.request.clearHeader',
      'service.request.setHeader',
    ]);
    assert.deepEqual(kong.calls.at(-1)?.args, ['X-Gateway-Token', 'secret']);
    const { target, retries, timeouts } = kong.outcome;
    assert.deepEqual(
      { target, retries, timeouts },
      { target: 'sidecar:8080', retries: 0, timeouts: [5000, 60_000, 3_600_000] },
    );
  });

  it('is recognised on both collections, with and without a trailing slash', async () => {
    for (const path of ['entities', 'entities/', 'temporal/entities', 'temporal/entities/']) {
      const kong = await run({ rawPath: `/ngsi-ld/v1/${path}` });
      assert.equal(kong.outcome.target, 'sidecar:8080', path);
      assert.equal(kong.outcome.headers.get('x-gateway-token'), 'secret', path);
    }
  });

  it('never keeps a token or a policy the client sent', async () => {
    const headers = { 'x-gateway-token': 'forged', 'X-Purge-Policy': 'max-affected=999999' };
    const configured = await run({ headers }, { ...config, max_affected: 10 });
    assert.equal(configured.outcome.headers.get('x-gateway-token'), 'secret');
    assert.equal(configured.outcome.headers.get('x-purge-policy'), 'max-affected=10');
    const bare = await run({ headers }, { sidecar_host: 'sidecar' });
    assert.equal(bare.outcome.headers.has('x-gateway-token'), false);
    assert.equal(bare.outcome.headers.has('x-purge-policy'), false);
  });

  it('carries exactly the limits that are configured, as one dictionary', async () => {
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
    const some = await run({}, { ...config, page_size: 20, dry_run_only: false });
    assert.equal(some.outcome.headers.get('x-purge-policy'), 'page-size=20');
  });

  it('waits as long as configured', async () => {
    const kong = await run({}, { ...config, connect_timeout_ms: 1, read_timeout_ms: 2 });
    assert.deepEqual(kong.outcome.timeouts, [1, 60_000, 2]);
  });

  it('of temporal data is 403 where it is not allowed, while entities still go through', async () => {
    const settings = { ...config, allow_temporal: false };
    assert.equal(
      refusal(await run({ rawPath: '/ngsi-ld/v1/temporal/entities/' }, settings), 403),
      'temporal-purge-disabled',
    );
    assert.equal((await run({ rawPath: '/ngsi-ld/v1/entities' }, settings)).outcome.target, 'sidecar:8080');
  });

  it('never loses its policy or tenant to a Connection header', async () => {
    for (const Connection of ['X-Purge-Policy', 'close, x-gateway-token', 'keep-alive,\tNGSILD-Tenant']) {
      const kong = await run({ headers: { Connection } });
      assert.equal(refusal(kong, 400), 'hop-by-hop-header', Connection);
      assert.equal(kong.outcome.target, undefined);
    }
    for (const Connection of ['close', 'Keep-Alive', 'Upgrade, HTTP2-Settings', 'TE, close', '']) {
      assert.equal((await run({ headers: { Connection } })).outcome.target, 'sidecar:8080', Connection);
    }
  });
});

describe('a DELETE that is no purge', () => {
  it('is 400 when its path means a collection but is not spelt exactly, before or after Kong tidied it up', async () => {
    const tidied: FakeRequest[] = [
      { rawPath: '/ngsi-ld/v1//entities', path: '/ngsi-ld/v1/entities' },
      { rawPath: '/ngsi-ld/v1/%65ntities', path: '/ngsi-ld/v1/entities' },
      { rawPath: '/ngsi-ld/v1/x/../temporal/entities', path: '/ngsi-ld/v1/temporal/entities' },
      { rawPath: '/ngsi-ld/v1/entities;x' },
      { rawPath: '/ngsi-ld/v1\\entities' },
      { rawPath: '/ngsi-ld/V1/entities' },
      { rawPath: '/looks/harmless', path: '/ngsi-ld/v1/entities' },
      { rawPath: '/ngsi-ld/v1/entities;x', path: '/looks/harmless' },
    ];
    for (const request of tidied)
      assert.equal(refusal(await run(request), 400), 'ambiguous-path', request.rawPath);
  });

  it('passes untouched when it names one resource', async () => {
    const kong = await run({ rawPath: '/ngsi-ld/v1/entities/urn:x', headers: { 'X-Purge-Policy': 'mine' } });
    assert.deepEqual(kong.methods, ['request.getMethod', 'request.getRawPath', 'request.getPath']);
  });

  it('is left to the sidecar, without our stamp, when it may be more than one resource', async () => {
    for (const rawPath of [
      '/ngsi-ld/v1/subscriptions',
      '/ngsi-ld/v1/entities/urn:a;b',
      '/ngsi-ld/v1/snapshots/',
    ]) {
      const kong = await run({
        rawPath,
        headers: { 'X-Gateway-Token': 'forged', 'X-Purge-Policy': 'forged' },
      });
      const { target, retries, headers } = kong.outcome;
      assert.deepEqual({ target, retries }, { target: 'sidecar:8080', retries: 0 }, rawPath);
      assert.equal(headers.has('x-gateway-token') || headers.has('x-purge-policy'), false, rawPath);
    }
  });

  it('passes untouched when it is some other service’s', async () => {
    assert.deepEqual((await run({ rawPath: '/orders/1' })).outcome.target, undefined);
  });
});

describe('a route bound too widely', () => {
  it('never harms a request that reads: one round trip, nothing changed', async () => {
    for (const method of ['GET', 'HEAD', 'OPTIONS']) {
      assert.deepEqual((await run({ method }, { broken: true })).methods, ['request.getMethod']);
    }
  });

  it('never harms a write that is neither a DELETE nor for the schema service', async () => {
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
});

describe('a write to the schema service', () => {
  it('is stamped, only on the way to the sidecar, and keeps the Host its links are built from', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const kong = await run({ method, rawPath: '/api/v2/domains', headers: { Host: 'gw.example:8000' } });
      const { target, headers } = kong.outcome;
      assert.equal(target, 'sidecar:8080', method);
      assert.equal(headers.get('host'), 'gw.example:8000', method);
      assert.equal(headers.get('x-gateway-token'), 'secret', method);
      assert.ok(
        kong.methods.indexOf('service.setTarget') < kong.methods.lastIndexOf('service.request.setHeader'),
      );
    }
  });

  it('loses a forged token where none is configured', async () => {
    const request = { method: 'POST', rawPath: '/api/v2/domains', headers: { 'X-Gateway-Token': 'forged' } };
    assert.equal((await run(request, { sidecar_host: 's' })).outcome.headers.has('x-gateway-token'), false);
  });
});

describe('a wrong configuration', () => {
  it('never makes the constructor throw', () => {
    for (const settings of [undefined, null, 7, 'x', [], {}, { sidecar_host: 3 }])
      assert.doesNotThrow(() => new Plugin(settings));
  });

  it('refuses what would be re-routed, and is logged once, without values', async () => {
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
});

describe('a failing Kong', () => {
  const failing = [
    'request.getMethod',
    'request.getRawPath',
    'request.getHeader',
    'service.setTarget',
    'service.setRetries',
    'service.setTimeouts',
    'service.request.setHeader',
    'service.request.clearHeader',
  ];

  for (const method of failing) {
    it(`never lets a purge go on when ${method} fails`, async () => {
      const kong = new FakeKong({}).trouble(method, { kind: 'throw' });
      await new Plugin(config).access(kong.pdk);
      assert.equal(refusal(kong, 503), 'gateway-failure');
      assert.ok(kong.methods.includes('log.err'));
    });

    it(`never lets a purge out with a token before all else is set when ${method} gives no answer`, async () => {
      const kong = new FakeKong({}).trouble(method, { kind: 'hang' });
      void new Plugin(config).access(kong.pdk);
      await new Promise(setImmediate);
      assert.equal(kong.methods.at(-1), method);
      assert.equal(kong.outcome.headers.has('x-gateway-token'), false);
    });
  }

  for (const method of ['request.getMethod', 'request.getRawPath', 'request.getPath']) {
    it(`never goes on by an answer to ${method} that is no text`, async () => {
      for (const value of [undefined, null, 5, {}]) {
        const kong = new FakeKong({ rawPath: '/ngsi-ld/v1/x' }).trouble(method, { kind: 'answer', value });
        await new Plugin(config).access(kong.pdk);
        assert.equal(refusal(kong, 503), 'gateway-failure');
      }
    });
  }

  it('is refused even when the log cannot be reached', async () => {
    const kong = new FakeKong({})
      .trouble('log.err', { kind: 'throw' })
      .trouble('service.setTarget', { kind: 'throw' });
    await new Plugin(config).access(kong.pdk);
    assert.equal(refusal(kong, 503), 'gateway-failure');
  });

  it('never makes the handler reject, not even when the refusal cannot be sent', async () => {
    const kong = new FakeKong({})
      .trouble('response.exit', { kind: 'throw' })
      .trouble('service.setTarget', { kind: 'throw' });
    await new Plugin(config).access(kong.pdk);
    assert.equal(kong.methods.at(-1), 'response.exit');
  });
});
