import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Plugin } from '../../kong-plugins/ngsi-ld-purge/index.js';
import { FakeKong } from '../support/fake-pdk.js';
import { startTestBroker, startTestGateway, stopAll, type TestGateway } from '../support/gateway-harness.js';
import { normalizePath } from '../support/kong-router.js';
import { bodyOf, closeAll, exchange, request, statusOf } from './pass-through-wire.js';

const TOKEN = 'the-secret-of-both';
const config = { sidecar_host: 'sidecar', gateway_token: TOKEN };

/** Spellings of a collection, and of paths that are more than one resource. */
const hostile = [
  '/ngsi-ld/v1//entities',
  '//ngsi-ld/v1/entities',
  '/ngsi-ld/v1/entities//',
  '/ngsi-ld/v1/./entities',
  '/ngsi-ld/v1/entities/.',
  '/ngsi-ld/v1/types/../entities',
  '/ngsi-ld/v1/entities/urn:x/..',
  '/ngsi-ld/v1/entities/urn:x%2F..',
  '/ngsi-ld/v1/%65ntities',
  '/ngsi-ld/v1/%2565ntities',
  '/ngsi-ld%2Fv1%2Fentities',
  '/ngsi-ld/v1/entities%2F',
  '/ngsi-ld/v1/entities%3Ftype=Car',
  '/ngsi-ld/v1/entities;v=1',
  '/ngsi-ld/v1/entities/;x',
  '/ngsi-ld/v1\\entities',
  '/ngsi-ld/v1/Entities',
  '/ngsi-ld/v1/entities%00',
  '/ngsi-ld/v1/temporal//entities',
  '/ngsi-ld/v1/temporal%2Fentities',
  '/ngsi-ld/v1/entities/null',
  '/ngsi-ld/v1/entities/.json',
  '/ngsi-ld/v1/entities/urn:a,urn:b',
  '/ngsi-ld/v1/entities/urn:a%2Curn:b',
  '/ngsi-ld/v1/entities/urn:x/attrs/a,b',
  '/ngsi-ld/v1/subscriptions',
  '/ngsi-ld/v1/snapshots/',
  '/ngsi-ld/v1/entities/urn:x/attrs',
];

/** What the plugin and the sidecar have to agree on. */
interface Found {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly instance: string;
}

const found = (body: string): Found => {
  const { type, title, status, instance } = JSON.parse(body) as Found;
  return { type, title, status, instance };
};

/** What the plugin makes of a DELETE: its own answer, or where the request goes. */
async function byPlugin(path: string, settings: object = config) {
  const kong = new FakeKong({ rawPath: path, path: normalizePath(path) });
  await new Plugin(settings).access(kong.pdk);
  return kong.outcome;
}

describe('a DELETE that is refused', () => {
  let gateway: TestGateway;

  before(async () => {
    const broker = await startTestBroker();
    gateway = await startTestGateway({ BROKER_URL: broker.url, GATEWAY_TOKEN: TOKEN });
  });
  after(async () => {
    await closeAll();
    await stopAll();
  });

  const bySidecar = async (path: string, headers: readonly string[] = []): Promise<string> =>
    exchange(gateway.port, request(`DELETE ${path}`, headers));

  it('a refused DELETE is the same problem from the plugin as from the sidecar, for the same path', async () => {
    let own = 0;
    for (const path of hostile) {
      const { answer, target, headers } = await byPlugin(path);
      const refused = await bySidecar(path);
      assert.equal(statusOf(refused), 400, path);
      if (answer === undefined) {
        // Left to the sidecar, which must not take it for vetted.
        assert.equal(target, 'sidecar:8080', path);
        assert.equal(headers.has('x-gateway-token'), false, path);
      } else {
        own += 1;
        assert.deepEqual(found(answer.body), found(bodyOf(refused)), path);
      }
    }
    assert.ok(own >= 20, `the plugin itself answered ${own} of them`);
  });

  it('a DELETE refused by the policy is the same problem from the plugin as from the sidecar', async () => {
    const path = '/ngsi-ld/v1/temporal/entities';
    const { answer } = await byPlugin(path, { ...config, allow_temporal: false });
    const refused = await bySidecar(`${path}?type=Car`, [
      `X-Gateway-Token: ${TOKEN}`,
      'X-Purge-Policy: allow-temporal=?0',
    ]);
    assert.equal(statusOf(refused), 403);
    assert.deepEqual(found(answer?.body ?? ''), found(bodyOf(refused)));
  });
});
