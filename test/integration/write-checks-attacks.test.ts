import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { gzipSync } from 'node:zlib';
import { after, before, it } from 'node:test';
import { startTestGateway, stopAll, type TestGateway } from '../support/gateway-harness.js';
import {
  type RecordedRequest,
  type RecordingBroker,
  startRecordingBroker,
} from '../support/recording-broker.js';
import { closeAll, exchange, request as rawRequest, statusOf } from './pass-through-wire.js';
import { words } from '../support/words.js';

after(stopAll);
after(closeAll);

const ID = 'urn:ngsi-ld:Car:1';
const BASE = 'https://uri.etsi.org/ngsi-ld/default-context/';
const CORE = 'https://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context.jsonld';
const CAR = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    id: { type: 'string' },
    type: { const: 'Car' },
    speed: { type: 'number', maximum: 300 },
    plate: { type: 'string', maxLength: 8, pattern: '^(a+)+$|^[A-Z0-9]+$' },
    tags: { type: 'array', items: { type: 'string' } },
    owner: {
      type: 'object',
      properties: { name: { type: 'string' } },
      required: ['name'],
      additionalProperties: false,
    },
    box: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    note: { type: 'object', properties: { text: { type: 'string' } }, not: { required: ['secret'] } },
  },
  required: ['id', 'type', 'speed'],
};
const P = (value: unknown) => ({ type: 'Property', value });
const car = (more: object = {}) => ({ id: ID, type: 'Car', speed: P('fast'), ...more });

let broker: RecordingBroker;
let gateway: TestGateway;

function answer({ method, url, headers: received }: RecordedRequest) {
  if (method !== 'GET') return { status: 204 };
  const id = decodeURIComponent(/entities\/([^?/]+)/.exec(url)?.[1] ?? '');
  const types: Readonly<Record<string, string | readonly string[]>> = {
    [ID]: 'Car',
    'https://a.example/cars/1': 'Car',
    'urn:ngsi-ld:Car:2': ['Vehicle', 'Car'],
    'urn:ngsi-ld:Truck:1': 'https://other.example/Truck',
  };
  const isTruckInSnapshot = id === 'urn:ngsi-ld:Truck:1' && received['ngsild-snapshot'] !== undefined;
  const type = isTruckInSnapshot ? 'Car' : types[id];
  const headers = { 'content-type': 'application/json' };
  if (type === undefined) return { status: 404, headers, body: '{}' };
  return { status: 200, headers, body: JSON.stringify({ id, type }) };
}

before(async () => {
  broker = await startRecordingBroker(answer);
  gateway = await startTestGateway({
    BROKER_URL: broker.url,
    WORKBENCH_TIMEOUT_MS: '60000',
    BODY_LIMIT_BYTES: '100000',
    ALLOWED_HOSTS: 'gateway.example',
    PUBLIC_URL: 'https://public.example/below',
  });
  await store('POST', '/domains', { name: 'D' });
  await store('POST', '/domains/D/models', { name: 'Car', schema: CAR });
  await store('POST', '/contexts', { name: 'no-prefix', '@context': { d: `${BASE}sp` } });
  await store('PUT', '/write-policies/all', { mode: 'enforce', onUnjudged: 'refuse' });
  await store('PUT', '/write-policies/lenient', { mode: 'enforce', tenant: 'lenient', priority: 1 });
  await store('PUT', '/write-policies/cars', {
    mode: 'enforce',
    tenant: 'cars',
    types: ['Car'],
    onUnjudged: 'refuse',
    priority: 2,
  });
  await store('PUT', '/write-policies/others', { mode: 'off', tenant: 'cars', priority: 1 });
  // The first judgement is slow because the worker has to load.
  await send('POST', '/ngsi-ld/v1/entities', { 'content-type': 'application/json' }, JSON.stringify(car()));
});

async function store(method: string, path: string, body: object): Promise<void> {
  const sent = await send(
    method,
    `/api/v2${path}`,
    { 'content-type': 'application/json' },
    JSON.stringify(body),
  );
  assert.ok(sent.status < 300, `${sent.status} ${sent.text}`);
}

async function send(
  method: string,
  path: string,
  headers: OutgoingHttpHeaders,
  body: string | Buffer,
): Promise<{ readonly status: number; readonly text: string }> {
  const { hostname, port } = new URL(gateway.url);
  const sent = request({ host: hostname, port, method, path, headers, setHost: true });
  sent.end(body);
  const [incoming] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of incoming) text += String(chunk);
  return { status: incoming.statusCode ?? 0, text };
}

interface Attack {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: unknown;
}

const LD = { 'content-type': 'application/ld+json' };
const JSON_TYPE = { 'content-type': 'application/json' };
const ENTITIES = '/ngsi-ld/v1/entities';
const ATTRS = `${ENTITIES}/${ID}/attrs`;
const OPS = '/ngsi-ld/v1/entityOperations';
const NGSI_LD = 'https://uri.etsi.org/ngsi-ld/';
const NULL = 'urn:ngsi-ld:null';
const LENIENT = { ...JSON_TYPE, 'ngsild-tenant': 'lenient' };
/** A tenant in which only cars are checked. */
const CARS = { ...LD, 'ngsild-tenant': 'cars' };
const CARS_JSON = { ...JSON_TYPE, 'ngsild-tenant': 'cars' };
const raw = (text: string) => Buffer.from(text);
const GOOD = { id: ID, type: 'Car', speed: P(5) };
const BAD_PART = { speed: P('fast') };
const linked = (url: string) => ({
  ...JSON_TYPE,
  link: `<${url}>; rel="http://www.w3.org/ns/json-ld#context"; type="application/ld+json"`,
});
const withContext = (context: unknown, more: object = {}) => ({
  headers: LD,
  body: { '@context': context, ...car(), ...more },
});

const by = (
  method: string,
  path: string,
  body: unknown,
  headers: OutgoingHttpHeaders = JSON_TYPE,
): Attack => ({
  method,
  path,
  headers,
  body,
});

/** Ways to write a car whose speed is not a number, or another entity that violates its model. */
const ATTACKS: Readonly<Record<string, Attack>> = {
  plainly: {},
  // Paths.
  ...Object.fromEntries(
    words(`
      /ngsi-ld/v1/entities/ /ngsi-ld/v1/entities// /ngsi-ld/v1//entities //ngsi-ld/v1/entities
      /ngsi-ld/v1/./entities /ngsi-ld/v1/x/../entities /ngsi-ld/v1/subscriptions/../entities
      /ngsi-ld/v1/Entities /NGSI-LD/v1/entities /ngsi-ld/V1/entities /ngsi-ld/v2/entities
      /ngsi-ld/v1/%65ntities /ngsi-ld/v1/%2565ntities /ngsi-ld/v1%2Fentities /ngsi-ld%2fv1/entities
      /ngsi-ld/v1/entities;a=b /ngsi-ld/v1;a/entities /ngsi-ld/v1/entities%3Ba /ngsi-ld/v1\\entities
      /ngsi-ld/v1/entities%20 /ngsi-ld/v1/entities%00 /ngsi-ld/v1/entities%0d
      /ngsi-ld/v1/entities%3Fx=1 /ngsi-ld/v1/entities%23 /ngsi-ld/v1/entities#a /ngsi-ld/v1/entities?
      /ngsi-ld/v1/entities?options=normalized /ngsi-ld/v1/entities?type=Car&x=%zz
      /ngsi-ld/v1/%EF%BC%85entities/../entities /ngsi-ld/v1/entities/%2e /ngsi-ld/v1/entities/.
      /ngsi-ld/v1/entities/x/.. /ngsi-ld/v1/entities%2f /ngsi-ld/v1/%c1%a5ntities
      http://g/ngsi-ld/v1/entities HTTP://g/ngsi-ld/v1//entities /ngsi-ld/v1/temporal/entities
      /ngsi-ld/v1/temporal//entities /ngsi-ld/v1/temporal/Entities/
      /ngsi-ld/v1/entityOperations/Create /ngsi-ld/v1/entityoperations/create
      /ngsi-ld/v1/entityOperations/create/x /ngsi-ld/v1/entityOperations/replace
      /ngsi-ld/v1/temporal/entityOperations/create /ngsi-ld/v1/temporal/entityOperations/upsert
      /ngsi-ld/v1/entities/${ID} /x/../ngsi-ld/v1/entities
    `).map((path) => [`POST ${path}`, { path }]),
  ),
  ...Object.fromEntries(
    ['/ngsi-ld/ex/v1/notify', '/ngsi-ld/ex/v1/notify/', '/ngsi-ld/ex/v1/%6eotify', '/ngsi-ld/v1/notify'].map(
      (path) => [`POST ${path}`, by('POST', path, { type: 'Notification', data: [car()] })],
    ),
  ),
  // Methods.
  'PUT of the collection': { method: 'PUT' },
  'PATCH of the collection': { method: 'PATCH' },
  'a POST of one attribute': by('POST', `${ATTRS}/speed`, P('fast')),
  'a PUT of all attributes': by('PUT', ATTRS, BAD_PART),
  MERGE: by('MERGE', `${ENTITIES}/${ID}`, BAD_PART),
  PROPPATCH: by('PROPPATCH', `${ENTITIES}/${ID}`, BAD_PART),
  ...Object.fromEntries(
    words(`
      X-HTTP-Method-Override X-HTTP-Method X-Method-Override x_http_method_override X-Original-URL
      X-Rewrite-URL
    `).flatMap((name) => [
      [
        `${name} on a subscription`,
        {
          path: '/ngsi-ld/v1/subscriptions',
          headers: { ...JSON_TYPE, [name]: name.includes('R') && name.includes('URL') ? ENTITIES : 'PATCH' },
        },
      ],
      [`${name} on a query`, { method: 'GET', path: ENTITIES, headers: { ...JSON_TYPE, [name]: 'POST' } }],
    ]),
  ),
  'POST as PATCH by a parameter': by('POST', `${ATTRS}?_method=PATCH`, { plate: P('x') }),
  'POST as PUT by a hidden parameter': { path: `/ngsi-ld/v1/entityOperations/query?%5fmethod=PUT` },
  'POST as PUT by a parameter in capitals': { path: `/ngsi-ld/v1/entityOperations/query?_METHOD=PUT` },
  // Bodies.
  'a mark of the byte order': { body: raw(`\uFEFF${JSON.stringify(car())}`) },
  'UTF-16': { body: Buffer.from(JSON.stringify(car()), 'utf16le') },
  'UTF-16 that says so': {
    headers: { 'content-type': 'application/json; charset=utf-16' },
    body: Buffer.from(JSON.stringify(car()), 'utf16le'),
  },
  'invalid UTF-8': {
    body: Buffer.concat([
      raw(`{"id":"${ID}","type":"Car","speed":${JSON.stringify(P(5))},"tags":{"type":"Property","value":["`),
      Buffer.from([0xff]),
      raw('"]}}'),
    ]),
  },
  'a member twice, the bad one last': {
    body: raw(
      `{"id":"${ID}","type":"Car","speed":${JSON.stringify(P(1))},"speed":${JSON.stringify(P('x'))}}`,
    ),
  },
  'a member twice, the bad one first': {
    body: raw(
      `{"id":"${ID}","type":"Car","speed":${JSON.stringify(P('x'))},"speed":${JSON.stringify(P(1))}}`,
    ),
  },
  'a member twice, once escaped': {
    body: raw(
      `{"id":"${ID}","type":"Car","speed":${JSON.stringify(P(1))},"spe\\u0065d":${JSON.stringify(P('x'))}}`,
    ),
  },
  'a value twice': {
    body: raw(`{"id":"${ID}","type":"Car","speed":{"type":"Property","value":1,"value":"x"}}`),
  },
  'a type twice': {
    body: raw(`{"id":"${ID}","type":"None","type":"Car","speed":{"type":"Property","value":"x"}}`),
  },
  'an escaped name': {
    body: raw(`{"id":"${ID}","type":"Car","\\u0073peed":{"type":"Property","value":"x"}}`),
  },
  'an escaped type': {
    body: raw(`{"id":"${ID}","type":"\\u0043ar","speed":{"type":"Property","value":"x"}}`),
  },
  // Brokers that keep texts as C strings cut them off at U+0000.
  ...Object.fromEntries<Attack>(
    [
      { type: 'Car\0', speed: P('x') },
      { type: 'Car', speed: P(5), 'plate\0': P('x') },
      { type: 'Car', speed: P(5), box: P({ name: 'x', '\0': 1 }) },
      { type: 'Car', speed: P(5), note: P('\\\0') },
    ].map((body) => [`U+0000 in ${JSON.stringify(body)}`, { headers: LENIENT, body: { id: ID, ...body } }]),
  ),
  comments: { body: raw(`/* x */ ${JSON.stringify(car())}`) },
  'a trailing comma': { body: raw(JSON.stringify(car()).replace(/}$/, ',}')) },
  'single quotes': { body: raw(JSON.stringify(car()).replaceAll('"', "'")) },
  NaN: { body: raw(`{"id":"${ID}","type":"Car","speed":NaN}`) },
  'a huge number': { body: raw(`{"id":"${ID}","type":"Car","speed":1e999}`) },
  'a number just above the maximum': {
    body: raw(`{"id":"${ID}","type":"Car","speed":300.0000000000000000000001}`),
  },
  'an exponent': { body: raw(`{"id":"${ID}","type":"Car","speed":3.1e2}`) },
  'an array around it': { body: [car()] },
  'an array of two': { body: [GOOD, car()] },
  nothing: { body: raw('') },
  null: { body: null },
  text: { body: 'x' },
  'two documents': { body: raw(`${JSON.stringify(GOOD)}${JSON.stringify(car())}`) },
  'deep nesting': { body: raw(`{"id":"${ID}","type":"Car","speed":${'['.repeat(2000)}${']'.repeat(2000)}}`) },
  '__proto__ for a prototype': {
    body: raw(`{"id":"${ID}","type":"Car","__proto__":{"speed":{"type":"Property","value":1}}}`),
  },
  constructor: { body: { id: ID, type: 'Car', constructor: P(1) } },
  'a graph': { headers: LD, body: { '@context': CORE, '@graph': [car()] } },
  included: { headers: LD, body: { '@context': CORE, ...GOOD, '@included': [car()] } },
  'a reverse': { headers: LD, body: { '@context': CORE, ...GOOD, '@reverse': { [`${BASE}speed`]: car() } } },
  'too large a body': { body: car({ filler: P('x'.repeat(100_001)) }) },
  'a body that gzip packed': {
    headers: { ...JSON_TYPE, 'content-encoding': 'gzip' },
    body: gzipSync(JSON.stringify(car())),
  },
  'a body that is said to be packed twice': {
    headers: { ...JSON_TYPE, 'content-encoding': 'identity, gzip' },
    body: raw(JSON.stringify(car())),
  },
  chunks: { headers: { ...JSON_TYPE, 'transfer-encoding': 'chunked' } },
  'a pattern that takes for ever': {
    body: { id: ID, type: 'Car', speed: P(5), plate: P(`${'a'.repeat(40)}!`) },
  },
  // Forms.
  concise: { body: { id: ID, type: 'Car', speed: { value: 'fast' } } },
  'a bare value': { body: { id: ID, type: 'Car', speed: 'fast' } },
  simplified: by('POST', `${ENTITIES}?options=keyValues`, { id: ID, type: 'Car', speed: 'fast' }),
  'simplified by format': by('POST', `${ENTITIES}?format=simplified`, { id: ID, type: 'Car', speed: 'fast' }),
  'normalized that is said to be simplified': by('POST', `${ENTITIES}?options=keyValues`, {
    id: ID,
    type: 'Car',
    speed: P(5),
    owner: P(5),
  }),
  'a value that says to be an attribute': {
    body: {
      id: ID,
      type: 'Car',
      speed: P(5),
      owner: { type: 'Property', value: { type: 'Property', value: 1 } },
    },
  },
  ...Object.fromEntries<Attack>(
    [
      P(P(5)),
      P(P(P(5))),
      [P(5), { ...P(P(5)), datasetId: 'urn:d:1' }],
      P({ type: 'JsonProperty', json: 5 }),
    ].flatMap((speed, index): [string, Attack][] => [
      [`an attribute for a value: ${index}`, { body: car({ speed }) }],
      [`a part with an attribute for a value: ${index}`, by('PATCH', ATTRS, { speed })],
    ]),
  ),
  ...Object.fromEntries<Attack>(
    [{ '@id': 'urn:x:1' }, { id: 'urn:x:1' }, { previousValue: 1 }, { entity: { id: 'urn:x:1' } }].map(
      (speed) => [
        `a part with an object that has only ${Object.keys(speed).join()}`,
        by('PATCH', ATTRS, { speed }),
      ],
    ),
  ),
  'key-values with an attribute for a member': by('POST', `${ENTITIES}?options=keyValues`, {
    id: ID,
    type: 'Car',
    speed: 5,
    box: { value: 1, name: P('x') },
  }),
  'a value that is a list with an attribute': {
    body: { ...GOOD, tags: [{ value: 'a', more: 1 }, P('a'), 7] },
  },
  'a part with a set for a value': by('PATCH', `${ENTITIES}/${ID}`, { box: P({ '@set': ['x'] }) }),
  'an object that looks like an attribute': {
    body: { id: ID, type: 'Car', speed: P(5), owner: { value: 5 } },
  },
  'a Relationship': { body: car({ speed: { type: 'Relationship', object: 'urn:x:1' } }) },
  'a JsonProperty': { body: car({ speed: { type: 'JsonProperty', json: 'fast' } }) },
  'a LanguageProperty': { body: car({ speed: { type: 'LanguageProperty', languageMap: { en: 'fast' } } }) },
  'a ListProperty': { body: car({ speed: { type: 'ListProperty', valueList: [1] } }) },
  'two instances, one of them bad': { body: car({ speed: [P(1), { ...P('x'), datasetId: 'urn:d:1' }] }) },
  'two default instances': { body: car({ speed: [P(1), P(2)] }) },
  'a kind as an IRI': { body: car({ speed: { type: 'https://uri.etsi.org/ngsi-ld/Property', value: 'x' } }) },
  '@type and @value': { body: car({ speed: { '@type': 'Property', value: 'x' } }) },
  'a value of an array': { body: car({ speed: P([1]) }) },
  'deleted when created': { body: { id: ID, type: 'Car', speed: 'urn:ngsi-ld:null' } },
  'deleted when created, normalized': { body: { id: ID, type: 'Car', speed: P('urn:ngsi-ld:null') } },
  'nothing but id and type': { body: { id: ID, type: 'Car' } },
  'a list in which one item is bad': { body: { id: ID, type: 'Car', speed: P(5), tags: P(['a', 1]) } },
  // Meaning.
  '@id and @type': { body: { '@id': ID, '@type': 'Car', speed: P('x') } },
  'both type and @type': { body: { id: ID, type: 'Other', '@type': 'Car', speed: P('x') } },
  'the type as an IRI': { body: car({ type: `${BASE}Car` }) },
  'the attribute as an IRI': { body: { id: ID, type: 'Car', [`${BASE}speed`]: P('x') } },
  'the attribute as an IRI beside the name': { body: { ...GOOD, [`${BASE}speed`]: P('x') } },
  'both as IRIs': { body: { id: ID, type: `${BASE}Car`, [`${BASE}speed`]: P('x') } },
  'another type before': { body: car({ type: ['Other', 'Car'] }) },
  'the type alone in an array': { body: car({ type: ['Car'] }) },
  'a type that nobody knows': { body: car({ type: 'Carr' }) },
  'no type': { body: { id: ID, speed: P('x') } },
  'another name by a context': withContext(
    { schnell: `${BASE}speed` },
    { speed: undefined, schnell: P('x') },
  ),
  'another type by a context': withContext({ Auto: `${BASE}Car` }, { type: 'Auto' }),
  'a prefix': withContext({ d: BASE }, { speed: undefined, 'd:speed': P('x') }),
  'a prefix for the type': withContext({ d: BASE }, { type: 'd:Car' }),
  'a context that means something else': withContext({ Car: 'https://other.example/Car' }),
  'a context that takes a term away': withContext({ speed: null }),
  'an alias of type': withContext({ art: '@type' }, { type: undefined, art: 'Car' }),
  'an alias of id': withContext({ nummer: '@id' }, { id: undefined, nummer: ID }),
  'a nest': withContext({ n: '@nest' }, { speed: undefined, n: { speed: P('x') } }),
  'a context within a type': withContext(
    { Car: { '@id': `${BASE}Car`, '@context': { s: `${BASE}speed` } } },
    { speed: undefined, s: P('x') },
  ),
  'a context that nobody knows': withContext('https://nowhere.example/c.jsonld'),
  'a context at an address within': withContext('http://127.0.0.1:1/c.jsonld'),
  'a context of many': withContext([CORE, { schnell: `${BASE}speed` }], {
    speed: undefined,
    schnell: P('x'),
  }),
  'an own vocabulary': withContext({ '@vocab': 'https://other.example/' }),
  'a null context': withContext(null),
  // Orion-LD uses the first definition of a term, and takes any term for a prefix, as JSON-LD 1.0 does.
  ...Object.fromEntries<Attack>(
    Object.entries({
      'a term with two definitions': [[{ s: `${BASE}speed` }, { s: 'https://other.example/s' }], 's'],
      'a prefix with two definitions': [[{ d: BASE }, { d: 'https://other.example/' }], 'd:speed'],
      'a term with a prefix with two definitions': [
        [{ d: BASE }, { s: 'd:speed', d: 'https://other.example/' }],
        's',
      ],
      'a term with a prefix that is defined later': [[{ s: 'd:speed' }, { d: BASE }], 's'],
      'a term that is no prefix': [{ d: `${BASE}sp` }, 'd:eed'],
      'a term that is defined by a term that is no prefix': [{ d: `${BASE}sp`, s: 'd:eed' }, 's'],
      'a term that must not be a prefix': [{ d: { '@id': BASE, '@prefix': false } }, 'd:speed'],
    } as const).flatMap(([title, [context, name]]) => [
      [title, withContext(context, { ...GOOD, [name]: P('x') })],
      [`a part with ${title}`, by('PATCH', ATTRS, { '@context': context, [name]: P('x') }, LD)],
    ]),
  ),
  ...Object.fromEntries<Attack>(
    Object.entries({
      'a type with two definitions': [[{ A: `${BASE}Car` }, { A: 'https://other.example/A' }], 'A'],
      'a type by a term that is no prefix': [{ d: `${BASE}C` }, 'd:ar'],
    }).map(([title, [context, type]]) => [
      title,
      { headers: CARS, body: { '@context': context, ...car({ type }) } },
    ]),
  ),
  'a value by a term that is no prefix': withContext(
    { d: `${NGSI_LD}has` },
    { speed: { ...P(5), 'd:Value': 'x' } },
  ),
  'DELETE of a term that is no prefix': by(
    'DELETE',
    `${ATTRS}/d:eed`,
    raw(''),
    linked('http://localhost/api/v2/contexts/no-prefix'),
  ),
  ...Object.fromEntries<Attack>(
    Object.entries({
      'a prefix': [{ d: 'urn:ngsi-ld:Car:' }, 'd:1'],
      'a term that is no prefix': [{ d: 'urn:ngsi-ld:Ca' }, 'd:r:1'],
      'a base': [{ '@base': 'urn:ngsi-ld:Car:' }, '1'],
    } as const).flatMap(([title, [context, id]]) =>
      words('upsert?options=update update merge').map((operation) => [
        `an id by ${title}: ${operation}`,
        by('POST', `${OPS}/${operation}`, [{ '@context': context, id, type: 'Other', speed: P('x') }], CARS),
      ]),
    ),
  ),
  'a context in plain JSON': { body: { '@context': { speed: 'https://other.example/s' }, ...car() } },
  'a context in the body and a Link': {
    headers: { ...LD, link: `<${CORE}>; rel="http://www.w3.org/ns/json-ld#context"` },
    body: { '@context': CORE, ...car() },
  },
  'two Links': {
    headers: {
      ...JSON_TYPE,
      link: [
        `<https://a.example/>; rel="http://www.w3.org/ns/json-ld#context"`,
        `<${CORE}>; rel="http://www.w3.org/ns/json-ld#context"`,
      ],
    },
  },
  'a Link without a relation': { headers: { ...JSON_TYPE, link: '<https://a.example/>' } },
  'a Link with another relation': { headers: { ...JSON_TYPE, link: '<https://a.example/>; rel="next"' } },
  'a Link that cannot be read': { headers: { ...JSON_TYPE, link: 'https://a.example' } },
  // Media types.
  ...Object.fromEntries(
    [
      'text/plain',
      'application/octet-stream',
      'application/geo+json',
      'application/merge-patch+json',
      'APPLICATION/JSON',
      'application/json;charset=UTF-8',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      '',
    ].map((type) => [`the media type "${type}"`, { headers: { 'content-type': type } }]),
  ),
  // What is text in UTF-8 may be the end of a text and more in UTF-7.
  ...Object.fromEntries<Attack>(
    ['charset=utf-8; charset=utf-7', 'charset =utf-7', 'x="; charset=utf-8"; charset=utf-7'].map(
      (parameters) => [
        `the parameters ${parameters}`,
        { headers: { 'content-type': `application/json; ${parameters}` }, body: GOOD },
      ],
    ),
  ),
  'no media type': { headers: {} },
  'two media types': {
    headers: { 'content-type': ['application/json', 'application/ld+json'] as unknown as string },
    body: GOOD,
  },
  // Fragments.
  'PUT of the entity': { method: 'PUT', path: `${ENTITIES}/${ID}` },
  'PUT without what is required': by('PUT', `${ENTITIES}/${ID}`, { type: 'Car' }),
  'PUT without a type': by('PUT', `${ENTITIES}/${ID}`, BAD_PART),
  'PATCH of the entity': by('PATCH', `${ENTITIES}/${ID}`, BAD_PART),
  'PATCH that deletes what is required': by('PATCH', `${ENTITIES}/${ID}`, { speed: 'urn:ngsi-ld:null' }),
  'PATCH that deletes by null': by('PATCH', `${ENTITIES}/${ID}`, { speed: null }),
  'PATCH that deletes by a value': by('PATCH', `${ENTITIES}/${ID}`, { speed: P('urn:ngsi-ld:null') }),
  'PATCH that says another type': by('PATCH', `${ENTITIES}/${ID}`, { type: 'Other', ...BAD_PART }),
  'PATCH with an encoded id': by('PATCH', `${ENTITIES}/urn%3Angsi-ld%3ACar%3A1`, BAD_PART),
  'PATCH with an id that is encoded twice': by(
    'PATCH',
    `${ENTITIES}/urn%253Angsi-ld%253ACar%253A1`,
    BAD_PART,
  ),
  'PATCH of a slash that is encoded': by('PATCH', `${ENTITIES}%2F${ID}`, BAD_PART),
  'PATCH of an entity of two types': by('PATCH', `${ENTITIES}/urn:ngsi-ld:Car:2`, BAD_PART),
  'PATCH of one that is not there': by('PATCH', `${ENTITIES}/urn:ngsi-ld:Car:9`, BAD_PART),
  'PATCH that makes a truck a car': by('PATCH', `${ENTITIES}/urn:ngsi-ld:Truck:1`, {
    type: 'Car',
    ...BAD_PART,
  }),
  // The truck may have attributes that a car must not have, or lack some that a car must have.
  ...Object.fromEntries<Attack>(
    (
      [
        ['POST', `${ENTITIES}/urn:ngsi-ld:Truck:1/attrs`],
        ['PATCH', `${ENTITIES}/urn:ngsi-ld:Truck:1/attrs`],
        ['PATCH', `${ENTITIES}/urn:ngsi-ld:Truck:1`],
        ['POST', `${OPS}/update`],
      ] as const
    ).map(([method, path]) => {
      const part = { type: ['https://other.example/Truck', 'Car'] };
      const body = path.startsWith(OPS) ? [{ id: 'urn:ngsi-ld:Truck:1', ...part }] : part;
      return [`only a type that makes a truck a car: ${method} ${path}`, by(method, path, body, CARS_JSON)];
    }),
  ),
  'POST of attributes': by('POST', ATTRS, BAD_PART),
  'POST of attributes, not overwriting': by('POST', `${ATTRS}?options=noOverwrite`, BAD_PART),
  'POST of attributes, with a slash': by('POST', `${ATTRS}/`, BAD_PART),
  'PATCH of attributes': by('PATCH', ATTRS, BAD_PART),
  'PATCH of an object without a member': by('PATCH', ATTRS, { owner: P({}) }),
  'PATCH of one attribute': by('PATCH', `${ATTRS}/speed`, { value: 'x' }),
  'PATCH of one attribute by its IRI': by('PATCH', `${ATTRS}/${encodeURIComponent(`${BASE}speed`)}`, {
    value: 'x',
  }),
  'PATCH of one attribute, wrapped': by('PATCH', `${ATTRS}/speed`, { speed: P('x') }),
  'PATCH of one attribute, wrapped and bare': by('PATCH', `${ATTRS}/speed`, { speed: P(1), value: 'x' }),
  'PATCH of one attribute, with nothing around': by('PATCH', `${ATTRS}/speed`, 'x'),
  'PATCH that deletes one attribute': by('PATCH', `${ATTRS}/speed`, P('urn:ngsi-ld:null')),
  'PUT of one attribute': by('PUT', `${ATTRS}/speed`, P('x')),
  'DELETE of one attribute': by('DELETE', `${ATTRS}/speed`, raw('')),
  'DELETE of one attribute by its IRI': by(
    'DELETE',
    `${ATTRS}/${encodeURIComponent(`${BASE}speed`)}`,
    raw(''),
  ),
  'DELETE of all instances': by('DELETE', `${ATTRS}/speed?deleteAll=true`, raw('')),
  'DELETE of one dataset': by('DELETE', `${ATTRS}/speed?datasetId=urn:x:1`, raw('')),
  // Batches.
  ...Object.fromEntries(
    words(`
      create upsert update merge upsert?options=update upsert?options=replace
      upsert?options=update,replace upsert?options=update&options=replace upsert?Options=update
      upsert?options=replace;options=update upsert?%6fptions=update update?options=noOverwrite create/
    `).flatMap((operation) => [
      [`a batch: ${operation}`, by('POST', `${OPS}/${operation}`, [car()])],
      [
        `a batch with a good one: ${operation}`,
        by('POST', `${OPS}/${operation}`, [GOOD, car({ id: 'urn:ngsi-ld:Car:2' })]),
      ],
    ]),
  ),
  'a batch with an id twice': by('POST', `${OPS}/upsert`, [GOOD, car()]),
  'a batch that is one entity': by('POST', `${OPS}/create`, car()),
  'a batch in a batch': by('POST', `${OPS}/create`, [[car()]]),
  'a batch with null': by('POST', `${OPS}/create`, [null, car()]),
  'an upsert of a part of what is not there': by('POST', `${OPS}/upsert?options=update`, [
    { id: 'urn:ngsi-ld:Car:9', type: 'Car' },
  ]),
  'an upsert of a part, where both are said': by('POST', `${OPS}/upsert?options=update,replace`, [
    { id: ID, type: 'Car', plate: P('A') },
  ]),
  'an upsert of a part, as it may be replaced': by('POST', `${OPS}/upsert`, [
    { id: ID, type: 'Car', plate: P('A') },
  ]),
  'contexts of their own in a batch': by(
    'POST',
    `${OPS}/create`,
    [
      { '@context': CORE, ...GOOD },
      { '@context': { s: `${BASE}speed` }, id: 'urn:x:2', type: 'Car', s: P('x') },
    ],
    LD,
  ),
  // Time.
  history: by('POST', '/ngsi-ld/v1/temporal/entities', { id: ID, type: 'Car', speed: [P(1), P('x')] }),
  'history of one': by('POST', '/ngsi-ld/v1/temporal/entities', { id: ID, type: 'Car', speed: P('x') }),
  'history without what is required': by('POST', '/ngsi-ld/v1/temporal/entities', {
    id: 'urn:ngsi-ld:Car:9',
    type: 'Car',
    plate: [P('A')],
  }),
  'history of attributes': by('POST', `/ngsi-ld/v1/temporal/entities/${ID}/attrs`, { speed: [P(1), P('x')] }),
  'an instance': by('PATCH', `/ngsi-ld/v1/temporal/entities/${ID}/attrs/speed/urn:i:1`, { speed: [P('x')] }),
  'an instance, bare': by('PATCH', `/ngsi-ld/v1/temporal/entities/${ID}/attrs/speed/urn:i:1`, P('x')),
  'an instance, in an array': by('PATCH', `/ngsi-ld/v1/temporal/entities/${ID}/attrs/speed/urn:i:1`, [
    P('x'),
  ]),
  // Values that are only declared as deleted.
  'a value beside a member that deletes': { body: { ...GOOD, plate: { ...P(5), object: NULL } } },
  'a part with a value beside a member that deletes': by('PATCH', ATTRS, {
    plate: { ...P(5), object: NULL },
  }),
  'an instance beside one that is deleted': by('PATCH', `${ENTITIES}/${ID}`, {
    plate: [P(NULL), { ...P(5), datasetId: 'urn:d:1' }],
  }),
  'a language beside one that is deleted': by('PATCH', ATTRS, {
    plate: { type: 'LanguageProperty', languageMap: { en: NULL, de: 5 } },
  }),
  // Other names for the value.
  ...Object.fromEntries<Attack>(
    Object.entries({
      'an IRI': { [`${NGSI_LD}hasValue`]: 'x' },
      'a prefix': { 'ngsi-ld:hasValue': 'x' },
      'an @context within': { '@context': { v: `${NGSI_LD}hasValue` }, v: 'x' },
      '@value': { '@value': 'x' },
    }).flatMap(([title, held]) => [
      [`a part with ${title} for the value`, by('PATCH', ATTRS, { speed: held })],
      [
        `a part of a Property with ${title} for the value`,
        by('PATCH', ATTRS, { speed: { type: 'Property', ...held } }),
      ],
      [`a value and ${title}`, { body: { ...GOOD, speed: { ...P(5), ...held } } }],
    ]),
  ),
  'a term for the value': withContext({ v: `${NGSI_LD}hasValue` }, { speed: { ...P(5), v: 'x' } }),
  'a term for the value in an attribute': withContext(
    { speed: { '@id': `${BASE}speed`, '@context': { v: `${NGSI_LD}hasValue` } } },
    { speed: { ...P(5), v: 'x' } },
  ),
  // Brokers that expand entities read these as JSON-LD 1.1 has it; others do not.
  ...Object.fromEntries<Attack>(
    words('@nest @graph @included @reverse @type @value @list @set').map((keyword) => [
      `a term for ${keyword} in an attribute`,
      withContext({ n: keyword }, { speed: { ...P(5), n: { value: 'x' } } }),
    ]),
  ),
  ...Object.fromEntries<Attack>(
    words('@index @id @type @graph @language').map((container) => [
      `a term for maps of ${container}`,
      withContext({ s: { '@id': `${BASE}speed`, '@container': container } }, { speed: undefined, s: P(5) }),
    ]),
  ),
  'a term for JSON': withContext(
    { s: { '@id': `${BASE}speed`, '@type': '@json' } },
    { speed: undefined, s: P(5) },
  ),
  'a term in a value for a member that the model knows': withContext(
    { t: `${BASE}text` },
    { ...GOOD, note: P({ t: 5 }) },
  ),
  'a term in a value for what brokers know': withContext(
    { v: `${NGSI_LD}hasValue` },
    { ...GOOD, note: P({ v: 5 }) },
  ),
  'a term in a value for a member that the model excludes': withContext(
    { t: `${BASE}secret` },
    { ...GOOD, note: P({ t: 5 }) },
  ),
  'a context that does not apply within attributes': withContext({ '@propagate': false }, GOOD),
  'a term for the other direction': withContext(
    { s: { '@reverse': `${BASE}speed` } },
    { speed: undefined, s: P(5) },
  ),
  ...Object.fromEntries<Attack>(
    Object.entries({
      'another term for a member': [{ n: `${BASE}name` }, { name: 'x', n: 5 }],
      'another meaning of a member': [{ name: 'https://other.example/name' }, { name: 'x' }],
      'a member of the other direction': [{ name: { '@reverse': `${BASE}name` } }, { name: 'x' }],
      'the IRI of a member': [{}, { name: 'x', [`${BASE}name`]: 5 }],
      'a term for @nest': [{ n: '@nest' }, { name: 'x', n: { name: 5 } }],
      'an @context of its own': [{}, { '@context': { name: 'https://other.example/name' }, name: 'x' }],
      'a type that has terms of its own': [
        { B: { '@id': `${BASE}B`, '@context': { n: `${BASE}name` } } },
        { type: 'B', name: 'x', n: 5 },
      ],
      'a member that has terms of its own': [
        { b: { '@id': `${BASE}b`, '@context': { n: `${BASE}name` } } },
        { name: 'x', b: { n: 5 } },
      ],
    } as const).map(([title, [context, value]]) => [
      `a value with ${title}`,
      withContext(context, { ...GOOD, box: P(value) }),
    ]),
  ),
  'a Host that is none': { headers: { ...JSON_TYPE, host: '[::1' } },
  // Attributes in paths.
  ...Object.fromEntries<Attack>(
    ['speed;x', 'speed%3Bx', '%2573peed', 'speed%20', 'speed%00', 'speed%2F'].flatMap((name) => [
      [`PATCH of ${name}`, by('PATCH', `${ATTRS}/${name}`, { value: 'x' })],
      [`PUT of ${name}`, by('PUT', `${ATTRS}/${name}`, P('x'))],
      [`DELETE of ${name}`, by('DELETE', `${ATTRS}/${name}`, raw(''))],
    ]),
  ),
  'a part of what is a car in the snapshot that is written': by(
    'PATCH',
    `${ENTITIES}/urn:ngsi-ld:Truck:1/attrs`,
    BAD_PART,
    { ...CARS_JSON, 'ngsild-snapshot': 'urn:ngsi-ld:Snapshot:1' },
  ),
  // With a policy that accepts writes that are not judged.
  ...Object.fromEntries<Attack>(
    words(`
      datasetid=urn:x:1 datasetId= datasetId=urn:x:1&datasetId=@none datasetId=urn:x:1&deleteAll=true
      datasetId=urn:x:1;deleteAll=true
    `).map((query) => [`DELETE with ${query}`, by('DELETE', `${ATTRS}/speed?${query}`, raw(''), LENIENT)]),
  ),
  ...Object.fromEntries<Attack>(
    ['upsert', 'upsert?options=update'].map((operation) => [
      `a part without a type: ${operation}`,
      by('POST', `${OPS}/${operation}`, [{ id: ID, speed: P('x') }], LENIENT),
    ]),
  ),
  'an attribute under two names': { headers: LENIENT, body: { ...GOOD, [`${BASE}speed`]: P('x') } },
  'a part of what has its id under another name': by(
    'POST',
    `${OPS}/update`,
    [{ '@context': { kennung: '@id' }, kennung: ID, type: 'Car', speed: P('x') }],
    { ...LENIENT, ...LD },
  ),
  ...Object.fromEntries<Attack>(
    words('options=update options=update,replace %6fptions=update options=%75pdate Options=update').map(
      (query) => [
        `a part of another type: upsert?${query}`,
        by('POST', `${OPS}/upsert?${query}`, [{ id: ID, type: 'Other', speed: P('x') }], LENIENT),
      ],
    ),
  ),
  ...Object.fromEntries<Attack>(
    words('upsert?options=update upsert?%6fptions=update').map((operation) => [
      `a part of another type, after the entity itself: ${operation}`,
      by(
        'POST',
        `${OPS}/${operation}`,
        [
          { id: 'urn:ngsi-ld:Car:9', type: 'Car', speed: P(5) },
          { id: 'urn:ngsi-ld:Car:9', type: 'Other', speed: P('x') },
        ],
        LENIENT,
      ),
    ]),
  ),
  ...Object.fromEntries<Attack>(
    words('update merge').map((operation) => [
      `a part of what an entity before it makes a car: ${operation}`,
      by(
        'POST',
        `${OPS}/${operation}`,
        [
          { id: 'urn:ngsi-ld:Truck:1', type: 'Car', plate: P('A') },
          { id: 'urn:ngsi-ld:Truck:1', speed: P('x') },
        ],
        LENIENT,
      ),
    ]),
  ),
  'history of another type': by(
    'POST',
    '/ngsi-ld/v1/temporal/entities',
    { id: ID, type: 'Other', speed: [P('x')] },
    LENIENT,
  ),
  // A broker fetches these contexts, in which the attribute may be speed, from elsewhere.
  ...Object.fromEntries<Attack>(
    [
      'http://foreign.example/api/v2/contexts/D~Car',
      'https://foreign.example/below/api/v2/contexts/D~Car?version=1',
      'http://203.0.113.7/api/v2/contexts/D~Car',
      'http://localhost.foreign.example/api/v2/contexts/D~Car',
      'http://localhost@foreign.example/api/v2/contexts/D~Car',
      'http://localhost\\@foreign.example/api/v2/contexts/D~Car',
    ].flatMap((url) => [
      [
        `a context of another host in Link: ${url}`,
        { headers: linked(url), body: { ...GOOD, v: P('fast') } },
      ],
      [`a context of another host in the body: ${url}`, withContext(url, { ...GOOD, v: P('fast') })],
    ]),
  ),
  // Tenants.
  'another tenant': { headers: { ...JSON_TYPE, 'ngsild-tenant': 'x' } },
  'two tenants': { headers: { ...JSON_TYPE, 'ngsild-tenant': 'x', 'fiware-service': 'y' } },
};

for (const [title, attack] of Object.entries(ATTACKS)) {
  it(`an invalid entity does not pass: ${title}`, async () => {
    const { method = 'POST', path = ENTITIES, headers = JSON_TYPE, body = car() } = attack;
    const written = () => broker.requests.filter((one) => one.method !== 'GET').length;
    const before = written();
    const sent = await send(method, path, headers, Buffer.isBuffer(body) ? body : JSON.stringify(body));
    assert.equal(written(), before, `it passed: ${JSON.stringify(broker.requests.at(-1))}`);
    assert.ok(sent.status >= 400, `${sent.status} ${sent.text}`);
    assert.notEqual(sent.status, 500, sent.text);
  });
}

it('an invalid entity does not pass: a path that ends with a tab', async () => {
  const body = JSON.stringify(car());
  const headers = ['Content-Type: application/json', `Content-Length: ${body.length}`];
  const before = broker.requests.length;
  const answer = await exchange(gateway.port, rawRequest(`POST ${ENTITIES}\t`, headers, body));
  assert.equal(statusOf(answer), 400);
  assert.equal(broker.requests.length, before);
});

/** Writes that must be accepted, however unusual they look. */
const LEGITIMATE: Readonly<Record<string, Attack>> = {
  'a part of what is called by its IRI': by('PATCH', `${ATTRS}/${encodeURIComponent(`${BASE}speed`)}`, {
    value: 5,
  }),
  'attributes of an entity whose id is a URL': by(
    'POST',
    `${ENTITIES}/${encodeURIComponent('https://a.example/cars/1')}/attrs`,
    { speed: P(5) },
  ),
  'a merge of an entity whose id is a URL': by(
    'PATCH',
    `${ENTITIES}/${encodeURIComponent('https://a.example/cars/1')}`,
    { speed: P(5) },
  ),
  'the end of a dataset': by('PATCH', ATTRS, { speed: [P(5), { ...P(NULL), datasetId: 'urn:d:1' }] }),
  'the end of a dataset by itself': by('PATCH', ATTRS, { speed: { ...P(NULL), datasetId: 'urn:d:1' } }),
  'the end of what is not required': by('PATCH', ATTRS, { plate: P(NULL) }),
  'members of an attribute alone': by('PATCH', ATTRS, {
    speed: { observedAt: '2026-01-01T00:00:00Z', unitCode: 'KMH' },
  }),
  'an attribute in an object that may have it': { body: { ...GOOD, box: P({ name: 'x', more: P(1) }) } },
  'an attribute of an attribute': { body: { ...GOOD, speed: { ...P(5), accuracy: P(1) } } },
  'an attribute in the value of an attribute of an attribute': {
    body: {
      ...GOOD,
      speed: [
        { ...P(5), accuracy: P(P(1)) },
        { ...P(6), datasetId: 'urn:d:1', accuracy: P({ a: P(1) }) },
      ],
      plate: { ...P('A'), by: { ...P(1), at: P([P(2)]) } },
    },
  },
  ...Object.fromEntries<Attack>(
    ['http://localhost:8080', 'http://Gateway.example:8080', 'https://public.example/below'].map((base) => [
      `a context of this gateway: ${base}`,
      { headers: linked(`${base}/api/v2/contexts/D~Car`), body: GOOD },
    ]),
  ),
  'a context in the body': { headers: LD, body: { '@context': CORE, ...GOOD } },
  'terms for lists, sets and identifiers': {
    headers: LD,
    body: {
      '@context': [
        { tags: { '@id': `${BASE}tags`, '@container': '@list' } },
        { coordinates: { '@id': 'https://purl.org/geojson/vocab#coordinates', '@container': '@list' } },
        { name: `${BASE}name`, id: '@id', type: '@type' },
        { plate: { '@id': `${BASE}plate`, '@type': '@id' } },
        CORE,
      ],
      ...GOOD,
      tags: P(['a']),
      box: P({ name: 'x', type: 'Point', id: 'urn:a:1', coordinates: [1, 2] }),
    },
  },
  'a member of a value that the model does not know': {
    headers: LD,
    body: {
      '@context': { ex: 'https://other.example/', other: 'ex:other', another: `${BASE}different` },
      ...GOOD,
      box: P({ name: 'x', other: 5, another: 5, 'ex:more': { other: 5 } }),
    },
  },
  'two parts of what an entity before them makes a car': by(
    'POST',
    `${OPS}/update`,
    [
      { id: 'urn:ngsi-ld:Truck:1', type: 'Car', plate: P('A') },
      { id: 'urn:ngsi-ld:Truck:1', speed: P(5) },
      { id: 'urn:ngsi-ld:Truck:1', type: 'Car', speed: P(6) },
    ],
    LENIENT,
  ),
  'terms of one context with the prefixes of another': {
    headers: LD,
    body: {
      '@context': [{ d: BASE, v: `${BASE}speed` }, { v: 'd:speed', p: 'd:plate' }, CORE],
      ...GOOD,
      p: P('A'),
    },
  },
  'a part that says the type that the entity has': by(
    'PATCH',
    ATTRS,
    { type: 'Car', speed: P(5) },
    CARS_JSON,
  ),
  'a part that adds a type without a model': by(
    'PATCH',
    `${ENTITIES}/${ID}`,
    { type: ['Car', 'Other'], speed: P(5) },
    CARS_JSON,
  ),
  'an id with a prefix, of a new entity': {
    headers: LD,
    body: { '@context': { d: 'urn:ngsi-ld:Car:' }, ...GOOD, id: 'd:1' },
  },
  'a backslash before what would be the escape of U+0000': {
    body: { ...GOOD, box: P({ name: String.raw`\u0000` }) },
  },
  'an empty context': { headers: LD, body: { '@context': [], ...GOOD } },
  'text in capitals for its media type': {
    headers: { 'Content-Type': 'APPLICATION/JSON; Charset=UTF-8' },
    body: GOOD,
  },
  'no media type': { headers: {}, body: GOOD },
};

for (const [title, legitimate] of Object.entries(LEGITIMATE)) {
  it(`a valid write passes: ${title}`, async () => {
    const { method = 'POST', path = ENTITIES, headers = JSON_TYPE, body } = legitimate;
    const sent = await send(method, path, headers, JSON.stringify(body));
    assert.equal(sent.status, 204, sent.text);
    assert.equal(broker.requests.at(-1)?.body, JSON.stringify(body));
  });
}

it('a valid entity passes after all the attacks', async () => {
  const sent = await send('POST', ENTITIES, JSON_TYPE, JSON.stringify(GOOD));
  assert.equal(sent.status, 204, sent.text);
  assert.deepEqual(JSON.parse(broker.requests.at(-1)?.body ?? ''), GOOD);
});

it('an attribute name with escapes is not hidden by a name with a backslash in an earlier write', async () => {
  const fragment = (name: string, value: unknown) =>
    raw(`{"plate": ${JSON.stringify(P('A1'))}, "${name}": ${JSON.stringify(P(value))}}`);
  const patch = async (body: Buffer) => send('PATCH', ATTRS, JSON_TYPE, body);
  // Each worker should receive both writes, in this order.
  for (let round = 0; round < 10; round += 1) {
    await patch(fragment(String.raw`spee\\`, 5));
    assert.equal((await patch(fragment(String.raw`spee\u0064`, 'fast'))).status, 400);
  }
  assert.equal((await patch(fragment(String.raw`spee\u0064`, 5))).status, 204);
});
