import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { Plugin } from '../../kong-plugins/ngsi-ld-purge/index.js';
import { FakeKong } from '../support/fake-pdk.js';
import { startTestBroker, startTestGateway, stopAll, type TestGateway } from '../support/gateway-harness.js';
import { normalizePath } from '../support/kong-router.js';
import { bodyOf, closeAll, exchange, request, statusOf } from './pass-through-wire.js';

const TOKEN = 'the-secret-of-both';
const config = { sidecar_host: 'sidecar', gateway_token: TOKEN };

/** Spellings of a collection, and ambiguous paths. */
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

/** The members on which plugin and sidecar must agree. */
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

/** Returns the plugin's decision on a DELETE: its own answer, or the target of the request. */
async function byPlugin(path: string, settings: object = config) {
  const kong = new FakeKong({ rawPath: path, path: normalizePath(path) });
  await new Plugin(settings).access(kong.pdk);
  return kong.outcome;
}

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

it('a DELETE by a non-canonical path is refused with the same problem by the plugin or, if the plugin forwards it, by the sidecar', async () => {
  let own = 0;
  for (const path of hostile) {
    const { answer, target, headers } = await byPlugin(path);
    const refused = await bySidecar(path);
    assert.equal(statusOf(refused), 400, path);
    if (answer === undefined) {
      // If it is left to the sidecar, the sidecar must not treat it as vouched for.
      assert.equal(target, 'sidecar:8080', path);
      assert.equal(headers.has('x-gateway-token'), false, path);
    } else {
      own += 1;
      assert.deepEqual(found(answer.body), found(bodyOf(refused)), path);
    }
  }
  assert.ok(own >= 8, `the plugin itself answered ${own} of them`);
});

it('browsers may send a DELETE or POST through the plugin only from a page of the same host', async () => {
  for (const [method, path] of [
    ['DELETE', '/ngsi-ld/v1/entities'],
    ['DELETE', '/ngsi-ld/v1/entities/http%3A%2F%2Fexample.org%2Fcar%2F1'],
    ['POST', '/api/v2/purges'],
  ] as const) {
    for (const [page, isRefused] of [
      ['https://city.example', false],
      ['https://evil.example', true],
    ] as const) {
      const kong = new FakeKong({
        method,
        rawPath: path,
        headers: { Host: 'city.example:8000', Origin: page },
      });
      await new Plugin(config).access(kong.pdk);
      const head = [...kong.outcome.headers].map(([name, value]) => `${name}: ${value}`);
      const answer = await exchange(
        gateway.port,
        [`${method} ${path} HTTP/1.1`, ...head, 'content-length: 0', 'connection: close', '', ''].join(
          '\r\n',
        ),
      );
      assert.equal(statusOf(answer) === 403, isRefused, `${method} ${path}: ${answer.slice(0, 300)}`);
    }
  }
});

it("a purge forbidden by the plugin's policy is refused by the sidecar, with a record", async () => {
  for (const [path, policy] of [
    ['/ngsi-ld/v1/temporal/entities', { allow_temporal: false }],
    ['/ngsi-ld/v1/entities', { dry_run_only: true }],
  ] as const) {
    const { answer, headers } = await byPlugin(path, { ...config, ...policy });
    assert.equal(answer, undefined, path);
    const sent = [...headers].filter(([name]) => name !== 'host').map(([name, value]) => `${name}: ${value}`);
    const refused = await bySidecar(`${path}?type=Car`, sent);
    assert.equal(statusOf(refused), 403, path);
    assert.equal(found(bodyOf(refused)).type, 'urn:ngsi-ld-gateway:problem:forbidden-by-policy');
    assert.match(refused, /^x-request-id: \S+\r$/im);
    const [, id = ''] = /^purge-id: (\S+)\r$/im.exec(refused) ?? [];
    const record = await exchange(
      gateway.port,
      request(`GET /api/v2/purges/${id}`, [`X-Gateway-Token: ${TOKEN}`]),
    );
    assert.equal((JSON.parse(bodyOf(record)) as { state: string }).state, 'refused', path);
  }
});
