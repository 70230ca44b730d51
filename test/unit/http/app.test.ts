import assert from 'node:assert/strict';
import { it } from 'node:test';
import { pino } from 'pino';
import { ROUTE_RULES } from '../../../sidecar/auth/index.js';
import { Access } from '../../../sidecar/http/access.js';
import { buildApp, type AppOptions } from '../../../sidecar/http/app.js';
import { createRequestPipeline } from '../../../sidecar/http/request-pipeline.js';

/** A gateway's server without the rooms behind it, which get no requests. */
function serverOf() {
  const options = {
    logger: pino({ level: 'silent' }),
    pipeline: createRequestPipeline(),
    checkHost: () => undefined,
    checkLoop: () => undefined,
  };
  return buildApp(options as unknown as AppOptions).server;
}

it('every route has a rule that says who may use it, and every rule belongs to a route', async () => {
  /** Every property of this object exists. */
  const room: object = new Proxy({}, { get: () => room });
  const options = {
    schemas: room,
    workbench: room,
    transfer: room,
    purges: room,
    logger: pino({ level: 'silent' }),
    pipeline: createRequestPipeline(),
    checkHost: () => undefined,
    checkLoop: () => undefined,
    access: new Access({ tokens: undefined }),
    bodyLimit: 1,
    importLimit: 1,
    metrics: { contentType: 'text/plain', text: async () => '' },
    consoleFolder: import.meta.dirname,
  };
  const app = buildApp(options as unknown as AppOptions);
  await app.ready();
  for (const rule of Object.keys(ROUTE_RULES)) {
    const [method = '', url = ''] = rule.split(' ');
    assert.ok(app.hasRoute({ method, url }), rule);
  }
  const other = buildApp(options as unknown as AppOptions);
  assert.throws(() => other.get('/api/v2/new', () => ''), /no rule for GET \/api\/v2\/new/);
  assert.throws(() => other.delete('/health/live', () => ''), /no rule for DELETE \/health\/live/);
});

it('an upload may take any time as long as it makes progress, while a head has a time limit', () => {
  const { requestTimeout, headersTimeout } = serverOf();
  assert.deepEqual([requestTimeout, headersTimeout], [0, 60_000]);
});

it('no header field is dropped because of the number of fields', () => {
  assert.equal(serverOf().maxHeadersCount, 0);
});

it('idle connections stay open longer than the ten minutes for which gateways in front keep them', () => {
  const { keepAliveTimeout } = serverOf();
  assert.ok(keepAliveTimeout > 600_000 && keepAliveTimeout < 660_000, String(keepAliveTimeout));
});

it('a head may have 64 KiB, for long lists of ids, and not more', () => {
  const { maxHeaderSize } = serverOf() as unknown as { readonly maxHeaderSize: number };
  assert.equal(maxHeaderSize, 65_536);
});
