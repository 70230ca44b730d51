import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { after, before, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { type Answer, startTestGateway, stopAll, type TestGateway } from '../support/gateway-harness.js';
import {
  type RecordedAnswer,
  type RecordedRequest,
  type RecordingBroker,
  startRecordingBroker,
} from '../support/recording-broker.js';
import { ApiClient, makeModel } from './api-client.js';

after(stopAll);

const SCHEMA = {
  type: 'object',
  properties: { type: { const: 'Car' }, speed: { type: 'number' } },
  required: ['id', 'type', 'speed'],
};
const ENTITIES = '/ngsi-ld/v1/entities';
const JSON_TYPE = { 'content-type': 'application/json' };
const car = (n: number, speed: unknown) => ({ id: `urn:ngsi-ld:Car:${n}`, type: 'Car', speed });

let broker: RecordingBroker;
let gateway: TestGateway;
let api: ApiClient;
let stored: string | undefined;
let areTypesBroken = false;
let reply: RecordedAnswer = { status: 204 };

before(async () => {
  broker = await startRecordingBroker(({ method }: RecordedRequest) =>
    method === 'GET'
      ? stored === undefined || areTypesBroken
        ? { status: areTypesBroken ? 500 : 404, body: '{}' }
        : { status: 200, body: JSON.stringify({ id: 'urn:ngsi-ld:Car:7', type: stored }) }
      : { ...reply, headers: { 'content-type': 'application/json', 'x-broker': 'b', ...reply.headers } },
  );
  gateway = await startTestGateway({ BROKER_URL: broker.url, WORKBENCH_TIMEOUT_MS: '60000' });
  api = await ApiClient.of(gateway.url);
  await makeModel(api, 'D', 'Car', SCHEMA);
});

const write = (
  body: unknown,
  path = ENTITIES,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> => gateway.sendJson('POST', path, body, headers);

/** Runs `work` with policies that exist only during it. */
async function under<T>(policies: Readonly<Record<string, object>>, work: () => Promise<T>): Promise<T> {
  for (const [name, policy] of Object.entries(policies)) {
    const made = await api.put(`/write-policies/${name}`, policy);
    assert.equal(made.status, 201, made.text);
  }
  try {
    return await work();
  } finally {
    for (const name of Object.keys(policies)) await api.delete(`/write-policies/${name}`);
  }
}

it('creating a policy warns as long as no write has passed through the gateway', async () => {
  const made = await api.post('/write-policies', {
    name: 'w',
    mode: 'enforce',
    model: 'D/None@3',
    callers: ['a'],
  });
  const { warnings, onFailure, priority, batch } = made.json() as Readonly<Record<string, unknown>> & {
    warnings: string[];
  };
  assert.deepEqual([made.status, onFailure, priority, batch], [201, 'refuse', 0, 'all']);
  assert.match(
    warnings.join('\n'),
    /No write of an entity .*kong\.yml[^]*no model D\/None@3[^]*Without GATEWAY_TOKEN/,
  );
  await api.delete('/write-policies/w');
  await write(car(1, 1));
  const again = (await api.post('/write-policies', { name: 'w', mode: 'report' })).json() as {
    warnings: string[];
  };
  assert.deepEqual(again.warnings, []);
  await api.delete('/write-policies/w');
});

it('a policy for types without a model has a warning', async () => {
  const types = ['car', 'Car', 'https://uri.etsi.org/ngsi-ld/default-context/Car', 'Ca*'];
  const warningsOf = async (settings: object) => {
    const made = (await api.put('/write-policies/w', settings)).json() as { warnings: string[] };
    return made.warnings
      .filter((one) => one.startsWith('There is no published'))
      .map((one) => one.slice(0, 55));
  };
  assert.deepEqual(await warningsOf({ mode: 'enforce', types }), [
    'There is no published model for the type car now: until',
    'There is no published model for the type Ca* now: until',
  ]);
  assert.deepEqual(await warningsOf({ mode: 'off', types }), []);
  await api.delete('/write-policies/w');
});

it('a policy whose tenant is only in a header is refused, because it would be for all tenants', async () => {
  for (const header of ['ngsild-tenant', 'fiware-service']) {
    const headers = { [header]: 'lab' };
    const body = { mode: 'report' };
    const made = [
      await api.send('POST', '/write-policies', { body: { ...body, name: 'lab' }, headers }),
      await api.send('PUT', '/write-policies/lab', { body, headers }),
      await api.send('PUT', '/write-policies/lab', { body: { ...body, tenant: 'lab' }, headers }),
    ];
    for (const { status, text } of made) {
      assert.equal(status, 400, text);
      assert.match(text, /leave the header/);
    }
  }
  assert.equal((await api.get('/write-policies/lab')).status, 404);
});

it('a policy can be created, read, replaced conditionally, listed and deleted', async () => {
  const made = await api.post('/write-policies', { name: 'p', mode: 'report', types: ['Car'] });
  const etag = made.headers.get('etag') ?? '';
  assert.equal((await api.get('/write-policies/p')).headers.get('etag'), etag);
  assert.equal((await api.post('/write-policies', { name: 'p', mode: 'report' })).status, 409);
  assert.equal(
    (await api.send('PUT', '/write-policies/p', { body: { mode: 'off' }, headers: { 'if-match': '"x"' } }))
      .status,
    412,
  );
  assert.equal(
    (await api.send('PUT', '/write-policies/p', { body: { mode: 'off' }, headers: { 'if-match': etag } }))
      .status,
    200,
  );
  for (const body of [
    {},
    { mode: 'on' },
    { mode: 'off', types: [] },
    { mode: 'off', model: 'Car' },
    { mode: 'off', x: 1 },
  ])
    assert.equal((await api.put('/write-policies/p', body)).status, 422, JSON.stringify(body));
  assert.deepEqual(
    ((await api.get('/write-policies')).json() as { name: string }[]).map(({ name }) => name),
    ['p'],
  );
  assert.equal((await api.delete('/write-policies/p')).status, 204);
  assert.equal((await api.get('/write-policies/p')).status, 404);
});

it('a policy in report mode forwards everything, returns its verdict, and counts its findings', async () => {
  await under({ r: { mode: 'report' } }, async () => {
    const seen: unknown[] = [];
    for (const body of [car(1, 1), car(2, 'fast'), car(3, 'slow'), { ...car(4, 1), type: 'Other' }]) {
      const { status, headers } = await write(body);
      seen.push([status, headers.get('write-check'), headers.get('x-broker')]);
    }
    assert.deepEqual(seen, [
      [204, 'valid', 'b'],
      [204, 'invalid', 'b'],
      [204, 'invalid', 'b'],
      [204, 'not-judged', 'b'],
    ]);
    const {
      since: _since,
      findings,
      ...counts
    } = (await api.get('/write-checks?policy=r')).json() as {
      since: string;
      findings: readonly Readonly<Record<string, unknown>>[];
    };
    assert.deepEqual(counts, { checked: 4, invalid: 2, refused: 0, notJudged: 1 });
    assert.deepEqual(findings, [
      {
        domain: 'D',
        model: 'Car',
        pointer: '/speed',
        keyword: 'type',
        detail: findings[0]?.['detail'],
        entities: 2,
        sample: ['urn:ngsi-ld:Car:2', 'urn:ngsi-ld:Car:3'],
      },
    ]);
    const verdict = (await api.post('/validate/D/Car', car(2, 'fast'))).json() as { errors: unknown };
    assert.equal(
      (verdict.errors as { detail: string }[])[0]?.detail,
      findings[0]?.['detail'],
      'as /validate says it',
    );
  });
});

it('a model judges writes as soon as it is no longer a draft', async () => {
  const schema = { ...SCHEMA, properties: { ...SCHEMA.properties, type: { const: 'Boat' } } };
  const model = await makeModel(api, 'D', 'Boat', schema, { status: 'draft' });
  const verdict = async () => (await write({ ...car(1, 'x'), type: 'Boat' })).headers.get('write-check');
  await under({ r: { mode: 'report' } }, async () => {
    assert.equal(await verdict(), 'not-judged');
    assert.equal((await api.put(model, { status: 'published' })).status, 200);
    assert.equal(await verdict(), 'invalid');
  });
  await api.delete(model);
});

it("a type is known by the name that a model's own context currently has for its IRI", async () => {
  const words = (iri: string) => ({ '@context': { Tram: iri } });
  await api.post('/contexts', { name: 'Words', ...words('https://rail.test/1') });
  const schema = { ...SCHEMA, properties: { ...SCHEMA.properties, type: { const: 'Tram' } } };
  const model = await makeModel(api, 'Rail', 'Tram', schema, { context: 'Words' });
  const verdictOn = async (iri: string) => {
    const body = { ...car(1, 'fast'), '@context': { Wagon: iri }, type: 'Wagon' };
    const { headers } = await write(body, ENTITIES, { 'content-type': 'application/ld+json' });
    return headers.get('write-check');
  };
  await under({ r: { mode: 'report' } }, async () => {
    assert.equal(await verdictOn('https://rail.test/1'), 'invalid');
    await api.put('/contexts/Words', words('https://rail.test/2'));
    assert.equal(await verdictOn('https://rail.test/2'), 'invalid');
    assert.equal(await verdictOn('https://rail.test/1'), 'not-judged');
  });
  await api.delete(model);
});

it('the policy with the highest priority for the tenant and type applies, and the strictest one if the type is unclear', async () => {
  const policies = {
    a: { mode: 'enforce' },
    b: { mode: 'off', priority: 1, tenant: 'lab' },
    c: { mode: 'report', priority: 2, types: ['Bike'] },
  };
  await under(policies, async () => {
    const status = async (body: object, headers = {}) => (await write(body, ENTITIES, headers)).status;
    assert.equal(await status(car(1, 'x')), 400);
    assert.equal(await status(car(1, 'x'), { 'ngsild-tenant': 'lab' }), 204);
    assert.equal(await status(car(1, 'x'), { 'ngsild-tenant': 'LAB' }), 400);
    assert.equal(await status(car(1, 'x'), { 'ngsild-tenant': 'lab', 'fiware-service': 'other' }), 400);
    assert.equal(await status({ ...car(1, 'x'), type: ['Bike', 'Car'] }), 400);
    assert.equal(await status({ ...car(1, 'x'), type: 'Bike' }), 204);
  });
  assert.equal(
    (await write(car(1, 'x'))).headers.get('write-check'),
    null,
    'without policies nothing is looked at',
  );
});

it('an enforcing policy applies to its tenant in any letter case', async () => {
  await under({ a: { mode: 'enforce', tenant: 'Acme' } }, async () => {
    for (const tenant of ['Acme', 'acme', 'ACME'])
      assert.equal((await write(car(1, 'x'), ENTITIES, { 'ngsild-tenant': tenant })).status, 400, tenant);
    assert.equal((await write(car(1, 'x'))).status, 204);
  });
});

it('a policy for the default tenant applies to every request that a broker may read as one to it', async () => {
  const policies = {
    a: { mode: 'enforce', tenant: '' },
    b: { mode: 'off', tenant: 'lab', priority: 1 },
  };
  await under(policies, async () => {
    const status = async (headers: object) => (await write(car(1, 'x'), ENTITIES, { ...headers })).status;
    // Most brokers ignore Fiware-Service.
    assert.equal(await status({ 'fiware-service': 'lab' }), 400);
    assert.equal(await status({ 'fiware-service': 'other' }), 400);
    assert.equal(await status({ 'ngsild-tenant': 'urn:ngsi-ld:tenant:default' }), 400);
    assert.equal(await status({ 'ngsild-tenant': 'lab', 'fiware-service': 'lab' }), 204);
    assert.equal(await status({ 'ngsild-tenant': 'other' }), 204);
  });
});

it('a policy for callers applies to these alone, and only where the gateway token vouches for their names', async () => {
  const guarded = await startTestGateway({
    BROKER_URL: broker.url,
    GATEWAY_TOKEN: 'a-shared-secret',
    WORKBENCH_TIMEOUT_MS: '60000',
  });
  const token = { 'x-gateway-token': 'a-shared-secret' };
  const send = async (method: string, path: string, body: unknown, headers: object) =>
    (await guarded.sendJson(method, path, body, { ...headers })).status;
  assert.equal(await send('POST', '/api/v2/domains', { name: 'D' }, token), 201);
  assert.equal(await send('POST', '/api/v2/domains/D/models', { name: 'Car', schema: SCHEMA }, token), 201);
  assert.equal(
    await send('PUT', '/api/v2/write-policies/p', { mode: 'enforce', callers: ['ada'] }, token),
    201,
  );
  for (const [name, vouched, status] of [
    ['bob', token, 204],
    ['ada', token, 400],
    ['bob', token, 204],
    ['ada', {}, 204],
  ] as const)
    assert.equal(
      await send('POST', ENTITIES, car(1, 'x'), { ...vouched, 'x-consumer-username': name }),
      status,
      name,
    );
});

it('a policy that is created while a body arrives applies to that write', async () => {
  await under({ r: { mode: 'report' } }, async () => {
    const before = broker.requests.length;
    const text = JSON.stringify(car(1, 'x'));
    const sent = request(`${gateway.url}${ENTITIES}`, {
      method: 'POST',
      headers: { ...JSON_TYPE, 'content-length': text.length },
    });
    sent.write(text.slice(0, 5));
    // By the time this write is answered, the other connection's request has been accepted.
    await write(car(2, 1));
    await under({ e: { mode: 'enforce', priority: 1 } }, async () => {
      sent.end(text.slice(5));
      const [incoming] = (await once(sent, 'response')) as [IncomingMessage];
      incoming.resume();
      assert.equal(incoming.statusCode, 400);
    });
    assert.equal(broker.requests.length, before + 1);
  });
});

it('the type of an entity is queried again once it may have changed, separately for each tenant and service path', async () => {
  await under({ a: { mode: 'enforce' } }, async () => {
    const part = async (headers: Readonly<Record<string, string>>) =>
      (await gateway.sendJson('PATCH', `${ENTITIES}/urn:ngsi-ld:Car:7/attrs`, { speed: 'x' }, headers))
        .status;
    stored = 'Other';
    assert.equal(await part({ 'ngsild-tenant': 'acme' }), 204);
    stored = 'Car';
    assert.equal((await write(car(7, 1), ENTITIES, { 'fiware-service': 'acme' })).status, 204);
    assert.equal(await part({ 'ngsild-tenant': 'acme' }), 400);
    stored = 'Other';
    const other = { id: 'urn:ngsi-ld:Car:7', type: 'Other', note: 'a' };
    assert.equal((await write(other)).status, 204);
    assert.equal(await part({}), 204);
    // The same entity twice in a batch: the first item leaves its type as it is, and the second does not.
    const twice = await write([other, car(7, 1)], '/ngsi-ld/v1/entityOperations/upsert?options=update');
    assert.equal(twice.status, 204);
    stored = 'Car';
    assert.equal(await part({}), 400);
    stored = 'Other';
    assert.equal(await part({ 'fiware-servicepath': '/a' }), 204);
    stored = 'Car';
    assert.equal(await part({ 'fiware-servicepath': '/b' }), 400);
    for (const [method, path, body] of [
      ['DELETE', `${ENTITIES}/urn:ngsi-ld:Car:7`, undefined],
      ['POST', '/ngsi-ld/v1/entityOperations/delete', '["urn:ngsi-ld:Car:7"]'],
    ] as const) {
      stored = 'Other';
      assert.equal((await write(other)).status, 204);
      assert.equal(await part({}), 204);
      const deleted = await gateway.send(method, path, {
        headers: JSON_TYPE,
        ...(body === undefined ? {} : { body }),
      });
      assert.equal(deleted.status, 204);
      // Somebody else has created it again.
      stored = 'Car';
      assert.equal(await part({}), 400, method);
    }
    stored = undefined;
  });
});

it('a part of an entity that the broker does not have is 404 where writes are enforced, and passed on elsewhere', async () => {
  for (const [mode, status] of [
    ['report', 204],
    ['enforce', 404],
  ] as const)
    await under({ a: { mode } }, async () => {
      const path = `${ENTITIES}/urn:ngsi-ld:Car:19/attrs`;
      assert.equal((await gateway.sendJson('PATCH', path, { speed: 1 })).status, status);
    });
});

it('bodies take memory only until their writes are answered', async () => {
  await under({ a: { mode: 'enforce' } }, async () => {
    // More than there is for all bodies at a time (128 MiB).
    const body = 'x'.repeat(4_500_000);
    for (let n = 0; n < 32; n += 1)
      assert.equal((await gateway.send('POST', ENTITIES, { headers: JSON_TYPE, body })).status, 400);
  });
});

it('after a write that was accepted because it could not be judged, types are queried again', async () => {
  await under({ a: { mode: 'enforce', onFailure: 'accept' } }, async () => {
    const part = async (n: number) =>
      (await gateway.sendJson('PATCH', `${ENTITIES}/urn:ngsi-ld:Car:${n}/attrs`, { speed: 'x' })).status;
    stored = 'Other';
    assert.equal(await part(17), 204);
    areTypesBroken = true;
    assert.equal(await part(18), 204);
    areTypesBroken = false;
    stored = 'Car';
    assert.equal(await part(17), 400);
    stored = 'Other';
    assert.equal((await write({ id: 'urn:ngsi-ld:Car:17', type: 'Other' })).status, 204);
    assert.equal(await part(17), 204);
    const coded = {
      headers: { ...JSON_TYPE, 'content-encoding': 'gzip' },
      body: gzipSync(JSON.stringify(car(17, 1))),
    };
    assert.equal((await gateway.send('POST', ENTITIES, coded)).status, 204);
    stored = 'Car';
    assert.equal(await part(17), 400);
    stored = undefined;
  });
});

it('with batch=valid-only, valid entities of a batch are sent unchanged, and the answer has a single result', async () => {
  await under({ t: { mode: 'enforce', batch: 'valid-only' } }, async () => {
    const good = (n: number) =>
      `{ "id":"urn:ngsi-ld:Car:${n}", "type":"Car",\t"speed": 1.0000000000000000001 }`;
    const batch = `[${good(1)}, ${JSON.stringify(car(2, 'x]}"'))} ,${good(3)}]`;
    const digests = ['content-md5', 'content-digest', 'repr-digest', 'digest'];
    const headers = { ...JSON_TYPE, ...Object.fromEntries(digests.map((name) => [name, 'of all three'])) };
    const sendBatch = () =>
      gateway.send('POST', '/ngsi-ld/v1/entityOperations/upsert', { headers, body: batch });
    const answers: readonly (readonly [typeof reply, string[], number])[] = [
      [{ status: 204 }, ['urn:ngsi-ld:Car:1', 'urn:ngsi-ld:Car:3'], 1],
      [{ status: 201, body: '["urn:ngsi-ld:Car:1"]' }, ['urn:ngsi-ld:Car:1', 'urn:ngsi-ld:Car:3'], 1],
      [
        {
          status: 207,
          body: '{"success":["urn:ngsi-ld:Car:1"],"errors":[{"entityId":"urn:ngsi-ld:Car:3","error":{"status":409}}]}',
        },
        ['urn:ngsi-ld:Car:1'],
        2,
      ],
      // An answer as Scorpio has sent it, and its answer if all items failed.
      [
        {
          status: 207,
          body: '[{"id":"urn:ngsi-ld:Car:1","type":"Upsert","success":[{}]},{"id":"urn:ngsi-ld:Car:3","failure":[{"status":400}]}]',
        },
        ['urn:ngsi-ld:Car:1'],
        2,
      ],
      [{ status: 409, body: '{"errors":[{"id":"urn:ngsi-ld:Car:1"},{"id":"urn:ngsi-ld:Car:3"}]}' }, [], 3],
      // The outcome of these entities is unknown.
      [{ status: 207, body: 'done' }, [], 3],
    ];
    for (const [brokers, success, errors] of answers) {
      const ofTheOther = {
        etag: '"1"',
        'last-modified': new Date(0).toUTCString(),
        location: '/x',
        digest: 'd',
      };
      reply = { ...brokers, headers: ofTheOther };
      const answer = await sendBatch();
      assert.equal(answer.status, 207, answer.text);
      for (const name of Object.keys(ofTheOther)) assert.equal(answer.headers.get(name), null);
      const result = answer.json() as {
        success: string[];
        errors: { entityId: string; error: { errors?: unknown[]; detail?: string } }[];
      };
      assert.deepEqual([result.success, result.errors.length], [success, errors]);
      const own = result.errors.at(-1);
      assert.equal(own?.entityId, 'urn:ngsi-ld:Car:2');
      assert.equal(own.error.errors?.length, 1);
      assert.match(own.error.detail ?? '', /It was not sent to the broker\.$/);
      assert.equal(broker.requests.at(-1)?.body, `[${good(1)},${good(3)}]`);
      const sent = broker.requests.at(-1)?.headers ?? {};
      assert.equal(sent['accept-encoding'], 'identity');
      assert.deepEqual(
        digests.filter((name) => name in sent),
        [],
      );
    }
    reply = { status: 204 };
    const nested = await gateway.send('POST', '/ngsi-ld/v1/entityOperations/upsert', {
      headers: JSON_TYPE,
      body: `[${good(1)},[{}],"[",${good(3)},${JSON.stringify(car(4, 'x'))}]`,
    });
    assert.deepEqual(
      [nested.status, (nested.json() as { success: string[] }).success],
      [207, ['urn:ngsi-ld:Car:1', 'urn:ngsi-ld:Car:3']],
    );
    assert.equal(broker.requests.at(-1)?.body, `[${good(1)},${good(3)}]`);
    reply = { status: 503, body: '{"title":"down"}' };
    const down = await sendBatch();
    assert.deepEqual([down.status, down.text], [503, '{"title":"down"}'], "the broker's own answer says why");
    reply = { status: 204 };
    const none = await write([car(1, 'x')], '/ngsi-ld/v1/entityOperations/upsert');
    assert.equal(none.status, 400, 'nothing is left to be sent');
  });
});

it('with batch=valid-only, a batch is refused as a whole if another policy that refuses a part of it is not valid-only', async () => {
  const part = { mode: 'enforce', batch: 'valid-only', types: ['Car'] };
  const whole = { mode: 'enforce', onUnjudged: 'refuse', types: ['Bike'] };
  await under({ part, whole }, async () => {
    const posts = () => broker.requests.filter(({ method }) => method === 'POST').length;
    const before = posts();
    const batch = [car(1, 1), car(2, 'x'), { ...car(3, 1), type: 'Bike' }];
    const { status } = await write(batch, '/ngsi-ld/v1/entityOperations/upsert');
    assert.deepEqual([status, posts() - before], [400, 0]);
  });
});

it('with batch=valid-only, an answer that is compressed although identity was asked for is read as well', async () => {
  const packed = (status: number, body: unknown): RecordedAnswer => ({
    status,
    headers: { 'content-encoding': 'gzip' },
    body: gzipSync(JSON.stringify(body)),
  });
  await under({ t: { mode: 'enforce', batch: 'valid-only' } }, async () => {
    const sendBatch = () => write([car(1, 1), car(2, 'x'), car(3, 1)], '/ngsi-ld/v1/entityOperations/create');
    for (const status of [207, 400]) {
      reply = packed(status, {
        success: ['urn:ngsi-ld:Car:1'],
        errors: [{ entityId: 'urn:ngsi-ld:Car:3', error: {} }],
      });
      const answer = await sendBatch();
      const { success, errors } = answer.json() as { success: string[]; errors: unknown[] };
      assert.deepEqual([answer.status, success, errors.length], [207, ['urn:ngsi-ld:Car:1'], 2]);
    }
    reply = packed(503, { title: 'down' });
    const down = await sendBatch();
    assert.deepEqual(
      [down.status, down.text, down.headers.get('content-encoding')],
      [503, '{"title":"down"}', null],
    );
    // The second one is larger than what is kept of an answer.
    for (const unusable of [
      { ...packed(207, {}), body: 'not gzip' },
      { status: 207, body: 'x'.repeat(16 * 1024 * 1024 + 1) },
    ]) {
      reply = unusable;
      const broken = await sendBatch();
      assert.deepEqual(
        [broken.status, (broken.json() as { type: string }).type],
        [502, 'urn:ngsi-ld-gateway:problem:broker-reply-unusable'],
      );
    }
    reply = { status: 204 };
  });
});

it('a change of the model applies to the next write', async () => {
  await under({ m: { mode: 'enforce' } }, async () => {
    assert.equal((await write(car(1, 'x'))).status, 400);
    const schema = { ...SCHEMA, properties: { ...SCHEMA.properties, speed: { type: 'string' } } };
    assert.equal((await api.put('/domains/D/models/Car', { schema })).status, 200);
    assert.equal((await write(car(1, 'x'))).status, 204);
    await under({ v: { mode: 'enforce', priority: 1, model: 'D/Car@1' } }, async () => {
      assert.equal((await write(car(1, 'x'))).status, 400, 'the version that the policy names');
    });
    assert.equal((await api.put('/domains/D/models/Car', { schema: SCHEMA })).status, 200);
  });
});

it('writes while their model is replaced, deleted and recreated each get the verdict of one of these states', async () => {
  const speedOf = (type: string) => ({ ...SCHEMA, properties: { ...SCHEMA.properties, speed: { type } } });
  await under({ m: { mode: 'enforce', onUnjudged: 'refuse' } }, async () => {
    let isOver = false;
    const seen = new Set<string>();
    const writer = async (speed: unknown) => {
      for (let n = 0; !isOver; n += 1) {
        const { status, text, headers } = await write(car(n, speed));
        const { type = '' } = status === 204 ? {} : (JSON.parse(text) as { type?: string });
        seen.add(
          `${typeof speed} ${status} ${headers.get('write-check') ?? type.split(/[:/]/).at(-1) ?? ''}`,
        );
      }
    };
    const writers = [1, 2, 'fast', 'slow'].map(writer);
    for (let round = 0; round < 5; round += 1) {
      assert.equal((await api.put('/domains/D/models/Car', { schema: speedOf('string') })).status, 200);
      assert.equal((await write(car(0, 'x'))).status, 204);
      assert.equal((await api.delete('/domains/D/models/Car', { 'if-match': '*' })).status, 204);
      assert.equal((await write(car(0, 'x'))).status, 400, 'it is not judged');
      assert.equal((await api.put('/domains/D/models/Car', { schema: speedOf('number') })).status, 201);
      assert.equal((await write(car(0, 'x'))).status, 400);
    }
    isOver = true;
    await Promise.all(writers);
    const possible = ['number', 'string'].flatMap((type) =>
      ['204 valid', '400 BadRequestData', '400 write-not-judged', '503 write-check-failed'].map(
        (one) => `${type} ${one}`,
      ),
    );
    assert.deepEqual(
      [...seen].filter((one) => !possible.includes(one)),
      [],
    );
  });
});

it('a batch of a thousand entities is judged as a whole, and faults are reported with their place', async () => {
  await under({ l: { mode: 'enforce' } }, async () => {
    const many = Array.from({ length: 1000 }, (_, n) => car(n, n));
    assert.equal((await write(many, '/ngsi-ld/v1/entityOperations/upsert')).status, 204);
    assert.equal((JSON.parse(broker.requests.at(-1)?.body ?? '[]') as unknown[]).length, 1000);
    const refused = await write([...many, car(1000, 'x')], '/ngsi-ld/v1/entityOperations/upsert');
    assert.equal(refused.status, 400);
    const [fault] = (refused.problem() as unknown as { errors: { pointer: string; entityId: string }[] })
      .errors;
    assert.deepEqual([fault?.pointer, fault?.entityId], ['/1000/speed', 'urn:ngsi-ld:Car:1000']);
  });
});
