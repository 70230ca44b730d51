import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import type { PurgeRecord } from '../../sidecar/store/job-records.js';
import {
  sendJson,
  startTestBroker,
  startTestGateway,
  stopAll,
  type Answer,
  type TestGateway,
} from '../support/gateway-harness.js';
import { closeAll, exchange, request, statusOf } from './pass-through-wire.js';

after(async () => {
  await closeAll();
  await stopAll();
});

const TOKEN = 'token-of-refusals';
const VOUCHED = { 'x-gateway-token': TOKEN };
const ENTITIES = '/ngsi-ld/v1/entities';
const PURGES = '/api/v2/purges';

/**
 * Maximum length of the record of a refused purge, in characters: a query of 8 kB, which JSON may
 * double, and some more.
 */
const MAX_RECORD = 24 * 1024;

async function refusedOnes(gateway: TestGateway): Promise<readonly PurgeRecord[]> {
  const answer = await gateway.send('GET', `${PURGES}?state=refused&limit=100`, { headers: VOUCHED });
  assert.equal(answer.status, 200);
  return answer.json() as readonly PurgeRecord[];
}

async function recordOf(gateway: TestGateway, answer: Answer): Promise<PurgeRecord> {
  const id = answer.headers.get('purge-id') ?? assert.fail(`${answer.status} ${answer.text}`);
  const found = await gateway.send('GET', `${PURGES}/${id}`, { headers: VOUCHED });
  assert.equal(found.status, 200);
  return found.json() as PurgeRecord;
}

let gateway: TestGateway;
before(async () => {
  const broker = await startTestBroker();
  gateway = await startTestGateway({ BROKER_URL: broker.url, GATEWAY_TOKEN: TOKEN });
});
const post = (body: unknown, headers = {}, target = PURGES) =>
  sendJson(gateway.url, 'POST', target, body, { ...VOUCHED, 'x-request-id': 'r-1', ...headers });

it('a purge that is refused because of its body has a record, however the body is announced', async () => {
  for (const [fields, body] of [
    [['Content-Length: 2'], '{}'],
    [['Transfer-Encoding: chunked'], '2\r\n{}\r\n0\r\n\r\n'],
  ] as const) {
    for (const path of [ENTITIES, '/ngsi-ld/v1/temporal/entities/']) {
      const line = `DELETE ${path}?type=Car&dryRun=true`;
      const answer = await exchange(
        gateway.port,
        request(line, [`X-Gateway-Token: ${TOKEN}`, 'NGSILD-Tenant: north', ...fields], body),
      );
      assert.equal(statusOf(answer), 400);
      const id = /^purge-id: (.*)\r$/im.exec(answer)?.[1] ?? assert.fail(answer);
      const found = await gateway.send('GET', `${PURGES}/${id}`, { headers: VOUCHED });
      const record = found.json() as PurgeRecord;
      assert.deepEqual(
        [record.state, record.query, record.tenant, record.dryRun, record.problem?.status],
        ['refused', 'type=Car&dryRun=true', 'north', true, 400],
      );
      assert.equal(record.target, path === ENTITIES ? 'entities' : 'temporal');
      assert.match(record.problem?.detail ?? '', /must not have a body/);
    }
  }
});

const CAR = { target: 'entities', query: 'type=Car' };
for (const [why, body, headers, status, members] of [
  [
    'another tenant in body and header',
    { ...CAR, tenant: 'south' },
    { 'ngsild-tenant': 'north' },
    400,
    { tenant: 'north' },
  ],
  [
    'another tenant in body and Fiware-Service',
    { ...CAR, tenant: 'south' },
    { 'fiware-service': 'north' },
    400,
    { tenant: 'south' },
  ],
  [
    'a Link that is a bare URL',
    { ...CAR, link: 'http://a/c.jsonld' },
    {},
    400,
    { link: 'http://a/c.jsonld' },
  ],
  ['another Link', { ...CAR, link: '<http://a>' }, { link: '<http://b>' }, 400, { link: '<http://b>' }],
  [
    'a policy that cannot be read',
    { ...CAR, tenant: 'south' },
    { 'x-purge-policy': 'x' },
    400,
    { tenant: 'south' },
  ],
] as const) {
  it(`a purge that is refused because of its JSON has a record of the request: ${why}`, async () => {
    const answer = await post(body, headers);
    assert.equal(answer.status, status, answer.text);
    const record = await recordOf(gateway, answer);
    assert.equal(record.state, 'refused');
    assert.deepEqual([record.target, record.requestId, record.problem?.status], ['entities', 'r-1', status]);
    assert.match(record.query, /^type=Car/);
    for (const [name, value] of Object.entries(members)) assert.equal(record[name as 'tenant'], value);
    assert.equal(gateway.log.with('purge refused').at(-1)?.['purgeId'], record.id);
  });
}

it('a body that does not describe a purge causes no record', async () => {
  const before = await refusedOnes(gateway);
  for (const body of [
    {},
    [],
    { target: 'entities' },
    { query: 'type=Car' },
    { ...CAR, target: 'all' },
    { ...CAR, limit: 5 },
    7,
  ])
    assert.equal((await post(body)).status, 422, JSON.stringify(body));
  for (const [body, type, status] of [
    ['{"target": "entities", "query": "type=Car"', 'application/json', 400],
    [JSON.stringify(CAR), 'text/plain', 415],
    [JSON.stringify({ ...CAR, x: 'x'.repeat(70_000) }), 'application/json', 413],
  ] as const) {
    const headers = { ...VOUCHED, 'content-type': type };
    assert.equal((await gateway.send('POST', PURGES, { headers, body })).status, status);
  }
  assert.deepEqual(await refusedOnes(gateway), before);
});

it('a purge without the token is 401 before anything else is checked, and has no record', async () => {
  const before = await refusedOnes(gateway);
  for (const token of [{}, { 'x-gateway-token': 'wrong' }]) {
    for (const [method, target, body] of [
      ['DELETE', `${ENTITIES}?type=Car`, '{}'],
      ['DELETE', `${ENTITIES}?typo=Car`, undefined],
      ['POST', PURGES, JSON.stringify({ ...CAR, limit: 5 })],
      ['POST', `${PURGES}?wait=true`, JSON.stringify(CAR)],
    ] as const) {
      const headers = { ...token, 'content-type': 'application/json', 'x-purge-policy': 'x' };
      const answer = await gateway.send(method, target, body === undefined ? { headers } : { headers, body });
      assert.equal(answer.status, 401, `${method} ${target}`);
      assert.equal(answer.headers.get('purge-id'), null);
    }
  }
  assert.deepEqual(await refusedOnes(gateway), before);
});

it('the record of a refused purge is short, however long the values in the request are', async () => {
  const long = (length: number) => 'x'.repeat(length);
  const answers = [
    await post({ ...CAR, query: `type=Car&${long(16_000)}=1`, tenant: long(256), link: long(4096) }),
    await post({ ...CAR, query: '\\"'.repeat(8000) }),
    await gateway.purge(`${long(15_000)}=1`, {
      ...VOUCHED,
      'ngsild-tenant': long(15_000),
      link: long(15_000),
    }),
    await gateway.purge(`type=${'%22'.repeat(5000)}`, { ...VOUCHED, 'x-purge-policy': long(20_000) }),
    // This one is refused only after the purge has started.
    await gateway.purge(`type=Car&id=urn:${long(9000)}`, {
      ...VOUCHED,
      'ngsild-snapshot': long(9000),
      'ngsild-tenant': long(9000),
    }),
  ];
  for (const answer of answers) {
    const record = await recordOf(gateway, answer);
    assert.equal(record.state, 'refused');
    assert.ok(JSON.stringify(record).length < MAX_RECORD, `${JSON.stringify(record).length}`);
    assert.ok(record.query.length <= 8192);
    assert.ok((record.tenant ?? '').length <= 256);
  }
  for (const line of gateway.log.text.split('\n')) assert.ok(line.length < MAX_RECORD, line.slice(0, 200));
});
