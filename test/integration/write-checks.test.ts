import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { scanned, startScan } from '../support/scans.js';
import { startTestGateway, stopAll, type TestGateway } from '../support/gateway-harness.js';
import {
  type RecordedRequest,
  type RecordingBroker,
  startRecordingBroker,
} from '../support/recording-broker.js';

after(stopAll);

const ID = 'urn:ngsi-ld:Car:1';
const CAR = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    id: { type: 'string' },
    type: { const: 'Car' },
    speed: { type: 'number', maximum: 300 },
    plate: { type: 'string', maxLength: 8 },
    label: {
      type: 'object',
      description: 'LanguageProperty. What it is called.',
      additionalProperties: { type: 'string', maxLength: 9 },
    },
    power: { type: 'number' },
    address: {
      type: 'object',
      properties: { city: { type: 'string' }, floor: { type: 'integer' } },
      required: ['city'],
    },
  },
  required: ['id', 'type', 'speed'],
};

const P = (value: unknown) => ({ type: 'Property', value });
const car = (speed: unknown, more: object = {}) => ({ id: ID, type: 'Car', speed: P(speed), ...more });

/** An entity of a broker that has no histories. */
const WITHOUT_HISTORIES = 'urn:ngsi-ld:Car:without-histories';

/** The entities of the broker, with their types. */
const stored = new Map<string, string>([[ID, 'Car']]);

function answer({ method, url }: RecordedRequest) {
  if (method === 'GET') {
    const id = decodeURIComponent(/entities\/([^?]+)/.exec(url)?.[1] ?? '');
    const type = stored.get(id);
    if (id === WITHOUT_HISTORIES) return json(501, { title: 'no histories' });
    // With lastN=1, the answer is partial if the attribute has more instances.
    if (type !== undefined) return json(url.includes('/temporal/') ? 206 : 200, { id, type });
    return id === '' ? json(200, []) : json(404, { title: 'no such entity' });
  }
  return { status: 204, headers: { 'x-broker': 'mine' } };
}

function json(status: number, body: unknown) {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

const JSON_TYPE = { 'content-type': 'application/json' };

async function withModel(gateway: TestGateway): Promise<void> {
  await api(gateway, 'POST', '/domains', { name: 'D' }, 201);
  await api(gateway, 'POST', '/domains/D/models', { name: 'Car', schema: CAR }, 201);
}

async function api(gateway: TestGateway, method: string, path: string, body: unknown, status: number) {
  const found = await gateway.sendJson(method, `/api/v2${path}`, body);
  assert.equal(found.status, status, found.text);
  return found;
}

describe('writes that are checked', () => {
  let broker: RecordingBroker;
  let gateway: TestGateway;

  before(async () => {
    broker = await startRecordingBroker(answer);
    gateway = await startTestGateway({
      BROKER_URL: broker.url,
      WRITE_CHECK: 'enforce',
      WORKBENCH_TIMEOUT_MS: '60000',
    });
    await withModel(gateway);
  });

  const ROUTES: readonly (readonly [method: string, path: string, good: unknown, bad: unknown])[] = [
    ['POST', '/entities', car(5), car('fast')],
    ['PUT', `/entities/${ID}`, car(5), car('fast')],
    ['PATCH', `/entities/${ID}`, { speed: P(5) }, { speed: P('fast') }],
    ['POST', `/entities/${ID}/attrs`, { speed: P(5) }, { plate: P(5) }],
    ['PATCH', `/entities/${ID}/attrs`, { plate: P('x') }, { plate: P('too long for it') }],
    ['PATCH', `/entities/${ID}/attrs/speed`, { value: 7 }, { value: 'fast' }],
    ['PUT', `/entities/${ID}/attrs/speed`, P(7), P(1000)],
    ['POST', '/entityOperations/create', [car(5)], [car(5), car('fast')]],
    ['POST', '/entityOperations/upsert', [car(5)], [car(5), car('fast')]],
    [
      'POST',
      '/entityOperations/update',
      [{ id: ID, type: 'Car', plate: P('x') }],
      [{ id: ID, type: 'Car', plate: P(5) }],
    ],
    ['POST', '/entityOperations/merge', [{ id: ID, plate: P('x') }], [{ id: ID, plate: P(5) }]],
    ['POST', '/temporal/entities', car(0, { speed: [P(1), P(2)] }), car(0, { speed: [P(1), P('fast')] })],
    ['POST', `/temporal/entities/${ID}/attrs`, { speed: [P(1), P(2)] }, { speed: [P(1), P('fast')] }],
    [
      'PATCH',
      `/temporal/entities/${ID}/attrs/speed/urn:ngsi-ld:i:1`,
      { speed: [P(1)] },
      { speed: [P('fast')] },
    ],
  ];
  for (const [method, path, good, bad] of ROUTES) {
    it(`${method} ${path} forwards valid writes byte for byte, and refuses invalid ones`, async () => {
      const target = `/ngsi-ld/v1${path}`;
      const text = ` ${JSON.stringify(good, null, 1)}\n`;
      const passed = await gateway.send(method, target, { headers: JSON_TYPE, body: text });
      assert.equal(passed.status, 204, passed.text);
      assert.equal(passed.headers.get('x-broker'), 'mine');
      assert.equal(passed.headers.get('write-check'), 'valid');
      const sent = broker.requests.filter((one) => one.method === method).at(-1);
      assert.deepEqual([sent?.url, sent?.body], [target, text]);
      const count = broker.requests.filter((one) => one.method !== 'GET').length;
      const refused = await gateway.sendJson(method, target, bad);
      assert.equal(refused.status, 400, refused.text);
      const { errors } = refused.problem() as unknown as {
        errors: { pointer: string; detail: string; keyword: string }[];
      };
      assert.ok(errors.length > 0, refused.text);
      assert.equal(broker.requests.filter((one) => one.method !== 'GET').length, count, 'nothing is sent');
    });
  }

  it('a history is judged by the type that it states if the broker has no histories', async () => {
    const post = async (speed: unknown) =>
      gateway.send('POST', '/ngsi-ld/v1/temporal/entities', {
        headers: JSON_TYPE,
        body: JSON.stringify({ ...car(speed), id: WITHOUT_HISTORIES }),
      });
    const refused = await post('fast');
    assert.equal(refused.status, 400, refused.text);
    assert.match(refused.text, /must be a number/);
    assert.equal((await post(5)).status, 204);
  });

  it('a history that only deletes what the model requires is told so', async () => {
    const body = { ...car('urn:ngsi-ld:null'), id: 'urn:ngsi-ld:Car:new' };
    const refused = await gateway.send('POST', '/ngsi-ld/v1/temporal/entities', {
      headers: JSON_TYPE,
      body: JSON.stringify(body),
    });
    const { errors } = refused.problem() as unknown as { errors: { detail: string }[] };
    assert.deepEqual(
      errors.map(({ detail }) => detail),
      ['lacks the member "speed": the write only deletes it'],
    );
  });

  it('an upsert with options=update reports the faults of the sent part, not of the stored entity', async () => {
    const part = { id: ID, type: 'Car', plate: P('too long for it') };
    const send = async (body: unknown) => {
      const target = '/ngsi-ld/v1/entityOperations/upsert?options=update';
      const { text } = await gateway.sendJson('POST', target, [body]);
      const { errors } = JSON.parse(text) as { readonly errors: readonly { readonly pointer: string }[] };
      return errors.map(({ pointer }) => pointer);
    };
    assert.deepEqual(await send(part), ['/0/plate/value']);
    assert.deepEqual(await send({ ...part, id: `${ID}9` }), ['/0', '/0/plate/value']);
  });

  it('a part that names the type of an entity that the broker does not have is judged by it, and never valid', async () => {
    const part = (plate: unknown) => ({ id: `${ID}9`, type: 'Car', plate: P(plate) });
    const before = broker.requests.length;
    for (const operation of ['update', 'merge']) {
      const send = async (body: unknown) =>
        gateway.sendJson('POST', `/ngsi-ld/v1/entityOperations/${operation}`, [body]);
      const refused = await send(part(5));
      assert.equal(refused.status, 400, refused.text);
      assert.match(refused.text, /"pointer":"\/0\/plate\/value"/);
      assert.ok(
        broker.requests.slice(before).every(({ method }) => method === 'GET'),
        'nothing is sent',
      );
    }
    const { id: _, ...bad } = part(5);
    const patch = async (body: unknown) => gateway.sendJson('PATCH', `/ngsi-ld/v1/entities/${ID}9`, body);
    assert.equal((await patch(bad)).status, 400);
    assert.equal((await patch({ plate: P(5) })).status, 404);
    const passed = await gateway.sendJson('POST', '/ngsi-ld/v1/entityOperations/update', [part('x')]);
    assert.deepEqual([passed.status, passed.headers.get('write-check')], [204, 'not-judged']);
  });

  const merged = async (path: string, body: unknown) => {
    const method = path.startsWith('/entityOperations') ? 'POST' : 'PATCH';
    const options = { headers: JSON_TYPE, body: JSON.stringify(body) };
    const found = await gateway.send(method, `/ngsi-ld/v1${path}`, options);
    return [found.status, found.headers.get('write-check')];
  };

  it('urn:ngsi-ld:null is judged as text if brokers may store it, and as a delete in merges and updates', async () => {
    const gone = { type: 'Property', value: 'urn:ngsi-ld:null' };
    const whole = car(5, { power: gone });
    const part = { id: ID, type: 'Car', power: gone };
    const stores: readonly (readonly [method: string, path: string, body: unknown])[] = [
      ['POST', '/entities', whole],
      ['PUT', `/entities/${ID}`, whole],
      ['POST', `/entities/${ID}/attrs`, { power: gone }],
      ['PUT', `/entities/${ID}/attrs/power`, gone],
      ['POST', '/entityOperations/create', [whole]],
      ['POST', '/entityOperations/upsert', [whole]],
      ['POST', '/entityOperations/upsert?options=update', [part]],
      ['POST', '/entityOperations/update', [part]],
    ];
    for (const [method, path, body] of stores) {
      const { pointers } = await written(method, path, body);
      assert.match(pointers.join(), /power(\/value)?$|^\/value$/, `${method} ${path}`);
    }
    const deletes: readonly (readonly [method: string, path: string, body: unknown])[] = [
      ['PATCH', `/entities/${ID}`, { power: gone }],
      ['PATCH', `/entities/${ID}/attrs`, { power: gone }],
      ['PATCH', `/entities/${ID}/attrs/power`, gone],
      ['POST', '/entityOperations/merge', [part]],
    ];
    for (const [method, path, body] of deletes)
      assert.deepEqual(await written(method, path, body), { status: 204, pointers: [] }, `${method} ${path}`);
  });

  it('an attribute is deleted whether the @context of the write is in its body or in a header', async () => {
    const context = 'https://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context-v1.8.jsonld';
    for (const [name, status] of [
      ['power', 204],
      ['speed', 400],
    ] as const) {
      const body = JSON.stringify({ ...P('urn:ngsi-ld:null'), '@context': context });
      const headers = { 'content-type': 'application/ld+json' };
      const { status: got, text } = await gateway.send('PATCH', `/ngsi-ld/v1/entities/${ID}/attrs/${name}`, {
        headers,
        body,
      });
      assert.equal(got, status, text);
    }
  });

  it('an attribute that has its name but not its meaning counts as missing, and the error says why', async () => {
    const body = { ...car(5), '@context': { speed: 'https://other.example/speed' } };
    const { text } = await gateway.send('POST', '/ngsi-ld/v1/entities', {
      headers: { 'content-type': 'application/ld+json' },
      body: JSON.stringify(body),
    });
    const { errors } = JSON.parse(text) as { errors: readonly { detail: string }[] };
    assert.deepEqual(
      errors.map(({ detail }) => detail),
      [
        'lacks the member "speed": by the @context of the write, its "speed" is https://other.example/speed, ' +
          'and that of the model is https://uri.etsi.org/ngsi-ld/default-context/speed',
      ],
    );
  });

  it('a JsonProperty of null is judged as null, since brokers store it', async () => {
    const passes = { status: 204, pointers: [] };
    const power = { type: 'JsonProperty', json: null };
    for (const [method, path, body] of [
      ['PATCH', `/entities/${ID}`, { power }],
      ['PATCH', `/entities/${ID}/attrs`, { power }],
    ] as const)
      assert.deepEqual((await written(method, path, body)).pointers, ['/power/json'], path);
    assert.deepEqual((await written('PATCH', `/entities/${ID}/attrs/power`, power)).pointers, ['/json']);
    const open = { ...power, json: { a: null } };
    assert.deepEqual(await written('PATCH', `/entities/${ID}`, { extra: open, other: power }), passes);
  });

  it('a merge may delete members of values and attributes by urn:ngsi-ld:null, except those that the model requires', async () => {
    const merged = (body: unknown) => written('PATCH', `/entities/${ID}`, body);
    const gone = 'urn:ngsi-ld:null';
    const passes = { status: 204, pointers: [] };
    assert.deepEqual(await merged({ address: P({ floor: gone }) }), passes);
    assert.deepEqual(await merged({ address: { floor: gone } }), passes);
    assert.deepEqual(await merged({ speed: { ...P(5), observedAt: gone, accuracy: gone } }), passes);
    assert.deepEqual(
      await merged({ label: { type: 'LanguageProperty', languageMap: { de: gone, en: 'car' } } }),
      passes,
    );
    const partial = await written('PATCH', `/entities/${ID}/attrs/address`, { value: { city: gone } });
    assert.deepEqual(partial.pointers, ['/value/city']);
    assert.deepEqual(await merged({ address: P({ city: gone, floor: 2 }) }), {
      status: 400,
      pointers: ['/address/value/city'],
    });
    assert.deepEqual((await merged({ address: { city: gone } })).pointers, ['/address/city']);
    assert.deepEqual((await merged({ address: P({ floor: 'x', zip: gone }) })).pointers, [
      '/address/value/floor',
    ]);
  });

  it('a JSON-LD null is invalid for a required attribute, whatever the model says about its value', async () => {
    const schema = { required: ['note'], properties: { type: { const: 'Box' }, note: {} } };
    await api(gateway, 'POST', '/domains/D/models', { name: 'Box', schema }, 201);
    stored.set('urn:ngsi-ld:Box:1', 'Box');
    const jsonNull = { '@type': '@json', '@value': null };
    for (const note of [jsonNull, P(jsonNull)])
      assert.deepEqual((await written('PATCH', '/entities/urn:ngsi-ld:Box:1', { note })).pointers, ['/note']);
  });

  /** Sends a write and returns the gateway's verdict. */
  async function written(method: string, path: string, body: unknown) {
    const sent = await gateway.sendJson(method, `/ngsi-ld/v1${path}`, body);
    const errors =
      sent.status === 400 ? (JSON.parse(sent.text) as { errors: { pointer: string }[] }).errors : [];
    return { status: sent.status, pointers: errors.map(({ pointer }) => pointer) };
  }

  it('a merge with lang is not judged if it may put a string into a language map, but its other attributes are', async () => {
    const merge = `/entities/${ID}?lang=de&options=keyValues`;
    assert.deepEqual(await merged(merge, { label: 'Auto' }), [204, 'not-judged']);
    assert.deepEqual(await merged(merge, { label: 'Auto', speed: 7 }), [204, 'not-judged']);
    assert.deepEqual(await merged(merge, { label: 'Auto', speed: 'fast' }), [400, null]);
    assert.deepEqual(await merged(merge, { plate: 'M 1' }), [204, 'valid']);
    assert.deepEqual(await merged(`/entities/${ID}?lang=de`, { label: P('Auto') }), [204, 'not-judged']);
    const batch = '/entityOperations/merge?lang=de&options=keyValues';
    assert.deepEqual(await merged(batch, [{ id: ID, label: 'Auto' }]), [204, 'not-judged']);
    assert.deepEqual(await merged(batch, [{ id: ID, label: 'Auto', plate: 5 }]), [400, null]);
  });

  it('a language map is judged the same with or without lang, and a string for it is invalid without lang', async () => {
    for (const query of ['', '?lang=de']) {
      const merge = `/entities/${ID}${query}`;
      const label = (languageMap: object) => ({ label: { type: 'LanguageProperty', languageMap } });
      assert.deepEqual(await merged(merge, label({ de: 'Auto' })), [204, 'valid']);
      assert.deepEqual(await merged(merge, label({ de: 'urn:ngsi-ld:null' })), [204, 'valid']);
      assert.deepEqual(await merged(merge, label({ de: 'Automobil mit Anhang' })), [400, null]);
    }
    assert.deepEqual(await merged(`/entities/${ID}?options=keyValues`, { label: 'Auto' }), [400, null]);
    for (const query of ['', '&lang=de'])
      assert.deepEqual(await merged(`/entities/${ID}/attrs?options=keyValues${query}`, { label: 'Auto' }), [
        400,
        null,
      ]);
  });
});

it('writes with the own context of a model are judged, also if that names a stored context', async () => {
  const gateway = await startTestGateway({
    BROKER_URL: 'embedded',
    WRITE_CHECK: 'enforce',
    WORKBENCH_TIMEOUT_MS: '60000',
  });
  await api(gateway, 'POST', '/domains', { name: 'D' }, 201);
  const official = { name: 'official', '@context': { speed: 'https://terms.example/traffic#speed' } };
  await api(gateway, 'POST', '/contexts', official, 201);
  await api(gateway, 'POST', '/domains/D/models', { name: 'Car', schema: CAR, context: 'official' }, 201);
  const contexts = ['D~Car', 'D', 'official'].map((name) => `${gateway.url}/api/v2/contexts/${name}`);
  for (const [index, context] of contexts.entries())
    for (const speed of [5, 'fast']) {
      const written = await gateway.send('POST', '/ngsi-ld/v1/entities', {
        headers: { 'content-type': 'application/ld+json' },
        body: JSON.stringify({ ...car(speed), id: `${ID}${index}`, '@context': context }),
      });
      assert.equal(written.status, speed === 5 ? 201 : 400, written.text);
      if (speed === 5) assert.equal(written.headers.get('write-check'), 'valid', context);
    }
});

describe('a model that requires an @context', () => {
  const CORE = 'https://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context-v1.8.jsonld';
  const JSON_LD = { 'content-type': 'application/ld+json' };
  const LINK = { link: `<${CORE}>; rel="http://www.w3.org/ns/json-ld#context"; type="application/ld+json"` };

  it('a required @context is judged alike in writes, scans and validation: if the entity has one', async () => {
    const gateway = await startTestGateway({
      BROKER_URL: 'embedded',
      WRITE_CHECK: 'enforce',
      WORKBENCH_TIMEOUT_MS: '60000',
    });
    const { url } = gateway;
    const context = { type: 'array', items: { type: 'string' }, minItems: 1 };
    const required = [...CAR.required, '@context'];
    const schema = { ...CAR, properties: { ...CAR.properties, '@context': context }, required };
    await api(gateway, 'POST', '/domains', { name: 'D' }, 201);
    await api(gateway, 'POST', '/domains/D/models', { name: 'Car', schema }, 201);
    const writes = [
      [JSON_LD, { '@context': [CORE] }, 201],
      [JSON_LD, { '@context': CORE }, 400],
      [{ ...JSON_TYPE, ...LINK }, {}, 201],
      [JSON_TYPE, {}, 201],
    ] as const;
    for (const [index, [headers, own, status]] of writes.entries()) {
      for (const speed of [5, 'fast']) {
        const entity = { ...car(speed), id: `${ID}${index}`, ...own };
        const body = JSON.stringify(entity);
        const written = await gateway.send('POST', '/ngsi-ld/v1/entities', { headers, body });
        assert.equal(written.status, speed === 5 ? status : 400, written.text);
        const { text } = await api(gateway, 'POST', '/validate/D/Car', entity, 200);
        assert.equal((JSON.parse(text) as { valid: boolean }).valid, written.status === 201, text);
        const batch = await gateway.send('POST', '/ngsi-ld/v1/entityOperations/upsert', {
          headers,
          body: `[${body}]`,
        });
        assert.equal(batch.status < 300, written.status === 201, batch.text);
      }
    }
    const scan = await scanned(url, await startScan(url, { query: 'type=Car' }));
    assert.deepEqual([scan.checked, scan.invalid], [3, 0]);
  });
});
