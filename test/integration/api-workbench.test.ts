import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { coreContextUrl } from '../../sidecar/schemas/json-ld/core-context.js';
import { stopAll, type Answer } from '../support/gateway-harness.js';
import { ApiClient, startApi } from './api-client.js';
import { column, columns } from '../support/columns.js';

after(stopAll);

interface Verdict {
  readonly valid: boolean;
  readonly form: string;
  readonly errors: readonly Place[];
  readonly warnings: readonly (Place & { readonly code: string })[];
}

interface Place {
  readonly pointer: string;
  readonly detail: string;
  readonly keyword: string;
  readonly line: number;
  readonly column: number;
}

const verdictOf = (answer: Answer): Verdict => {
  assert.equal(answer.status, 200, answer.text);
  return answer.json() as Verdict;
};

const SAMPLES = [
  {
    id: 'urn:ngsi-ld:Bike:1',
    type: 'Bike',
    speed: { type: 'Property', value: 12.5, unitCode: 'KMH' },
    owner: { type: 'Relationship', object: 'urn:ngsi-ld:Person:1' },
    status: { type: 'Property', value: 'free' },
    location: { type: 'GeoProperty', value: { type: 'Point', coordinates: [4.35, 50.85] } },
    label: { type: 'LanguageProperty', languageMap: { en: 'Bike', fr: 'Vélo' } },
  },
  {
    id: 'urn:ngsi-ld:Bike:2',
    type: 'Bike',
    speed: 9,
    status: 'busy',
    seen: { value: '2026-11-21T09:00:00Z' },
  },
];

describe('from samples to a verdict', () => {
  let api: ApiClient;
  before(async () => {
    ({ api } = await startApi());
    const inferred = await api.post('/workbench/schema/infer?model=Bike&form=ngsi-ld&enum=true', SAMPLES);
    assert.equal(inferred.status, 200, inferred.text);
    await api.post('/domains', { name: 'City' });
    const made = await api.post('/domains/City/models', { name: 'Bike', schema: inferred.json() });
    assert.equal(made.status, 201, made.text);
  });

  it('an inferred schema can be posted as a model, and accepts every sample', async () => {
    const verdicts = (await api.post('/validate/City/Bike', SAMPLES)).json() as readonly Verdict[];
    assert.deepEqual(
      verdicts,
      ['normalized', 'concise'].map((form) => ({ valid: true, form, errors: [], warnings: [] })),
    );
  });

  it("the model's own examples are valid, key-values and normalized", async () => {
    for (const [file, form] of [
      ['example.jsonld', 'keyvalues'],
      ['example-normalized.jsonld', 'normalized'],
    ] as const) {
      const example = await api.get(`/domains/City/models/Bike/files/${file}`);
      const verdict = verdictOf(await api.post('/validate/City/Bike', example.json()));
      assert.deepEqual(verdict, { valid: true, form, errors: [], warnings: [] }, example.text);
    }
  });

  it('each fault of an entity is one error, with its exact place in the sent text', async () => {
    const text = `{
  "id": "urn:ngsi-ld:Bike:1", "type": "Bike",
  "speed": {"type": "Property", "value": "12"},
  "status": {"type": "Property", "value": "fre"},
  "owner": {"type": "Relationship", "object": "nobody"},
  "location": {"type": "GeoProperty", "value": {"type": "Point", "coordinates": [4.35]}}
}`;
    const { valid, errors } = verdictOf(await api.send('POST', '/validate/City/Bike', { raw: text }));
    assert.equal(valid, false);
    assert.deepEqual(columns(errors, 'pointer', 'line'), [
      ['/speed/value', 3],
      ['/status/value', 4],
      ['/owner/object', 5],
      ['/location/value/coordinates', 6],
    ]);
    assert.match(errors[0]?.detail ?? '', /must be a number/);
    assert.match(errors[1]?.detail ?? '', /did you mean "free"/);
    for (const { line, column } of errors) {
      const pointedAt = text.split('\n')[line - 1]?.slice(column - 1) ?? '';
      assert.match(pointedAt, /^(?:"12"|"fre"|"nobody"|\[4\.35\])/);
    }
  });

  it('validation accepts an older version by number, and uses a new version from the first request on', async () => {
    const entity = { id: 'urn:ngsi-ld:Bike:1', type: 'Bike', speed: 500, status: 'free' };
    assert.equal(verdictOf(await api.post('/validate/City/Bike', entity)).valid, true);
    const schema = (await api.get('/domains/City/models/Bike/schema')).json() as {
      readonly properties: Readonly<Record<string, unknown>>;
    };
    const updated = { ...schema, properties: { ...schema.properties, speed: { maximum: 100 } } };
    assert.equal((await api.put('/domains/City/models/Bike', { schema: updated })).status, 200);
    assert.equal(verdictOf(await api.post('/validate/City/Bike', entity)).valid, false);
    assert.equal(verdictOf(await api.post('/validate/City/Bike?version=1', entity)).valid, true);
    assert.equal((await api.post('/validate/City/Bike?version=9', entity)).status, 404);
    assert.equal((await api.post('/validate/City/Car', entity)).status, 404);
    await api.put('/domains/City/models/Bike', { schema });
  });

  it('a body that is not an entity, or an unknown form, is refused with a hint', async () => {
    const refused = await api.post('/validate/City/Bike', [SAMPLES[0], 7]);
    assert.equal(refused.status, 422);
    assert.deepEqual(column(refused.problem()['errors'] as readonly Place[], 'pointer'), ['/1']);
    const form = await api.post('/validate/City/Bike?form=simple', SAMPLES[0]);
    assert.equal(form.status, 400);
    assert.match(form.problem().detail ?? '', /normalized, concise, keyvalues/);
    const name = await api.post('/workbench/schema/infer?model=-9', SAMPLES[0]);
    assert.equal(name.status, 400);
    const text = await api.send('POST', '/validate/City/Bike', { raw: '{"id": "a",\n "type" 1}' });
    assert.equal(text.status, 400);
    assert.deepEqual([text.problem()['line'], text.problem()['column']], [2, 9]);
  });
});

it('a model whose schema requires a type other than its name accepts that type, and its documents use it', async () => {
  const { api } = await startApi();
  await api.post('/domains', { name: 'City' });
  const schema = { properties: { type: { enum: ['SeaPort'] }, berths: { type: 'integer' } } };
  const made = await api.post('/domains/City/models', { name: 'SeaPortFacilities', schema });
  assert.equal(made.status, 201, made.text);
  const { warnings } = made.json() as {
    readonly warnings: readonly { readonly code: string; detail: string }[];
  };
  assert.deepEqual(column(warnings, 'code'), ['other-type']);
  assert.match(warnings[0]?.detail ?? '', /have the type "SeaPort"/);
  const verdictOn = async (type: string) =>
    verdictOf(await api.post('/validate/City/SeaPortFacilities', { id: 'urn:a:1', type, berths: 1 }));
  assert.equal((await verdictOn('SeaPort')).valid, true);
  const { errors } = await verdictOn('SeaPortFacilities');
  assert.deepEqual(column(errors, 'pointer'), ['/type']);
  assert.match(errors[0]?.detail ?? '', /must be "SeaPort"/);
  for (const file of ['example.jsonld', 'example-normalized.jsonld']) {
    const example = await api.get(`/domains/City/models/SeaPortFacilities/files/${file}`);
    assert.equal((example.json() as { readonly type: string }).type, 'SeaPort');
    assert.equal(verdictOf(await api.post('/validate/City/SeaPortFacilities', example.json())).valid, true);
  }
  const context = await api.get('/domains/City/models/SeaPortFacilities/context');
  assert.match(context.text, /"SeaPort":/);
  const openapi = await api.get('/domains/City/models/SeaPortFacilities/openapi');
  assert.match(openapi.text, /"default":"SeaPort"/);
});

describe('samples', () => {
  let api: ApiClient;
  before(async () => {
    ({ api } = await startApi());
  });

  it('a verdict suggests values of each type that the description of the API has', async () => {
    const { api } = await startApi();
    await api.post('/domains', { name: 'City' });
    const properties = {
      count: { type: 'number' },
      code: { type: 'string' },
      isOpen: { type: 'boolean' },
      tags: { type: 'array' },
      name: { enum: ['Bike'] },
    };
    await api.post('/domains/City/models', { name: 'Bike', schema: { type: 'object', properties } });
    const entity = { count: '1', code: 1, isOpen: 'true', tags: 'a', name: 'Bikes' };
    const answer = await api.post('/validate/City/Bike', { id: 'urn:a:1', type: 'Bike', ...entity });
    const { errors } = answer.json() as { readonly errors: readonly { readonly suggestion?: unknown }[] };
    assert.deepEqual(
      errors.map(({ suggestion }) => suggestion),
      [1, '1', true, ['a'], 'Bike'].map((value) => ({ value })),
    );
  });

  it('samples that break rules of NGSI-LD are accepted with strict=false, and their readable values are used', async () => {
    const sample = { id: 'no uri', type: 'A', speed: { type: 'Property', value: 5, observedAt: 'today' } };
    const refused = await api.post('/workbench/schema/infer?form=ngsi-ld', sample);
    assert.equal(refused.status, 422, refused.text);
    const taken = await api.post('/workbench/schema/infer?form=ngsi-ld&strict=false', sample);
    assert.equal(taken.status, 200, taken.text);
    const { properties } = taken.json() as {
      readonly properties: Readonly<Record<string, { type: string }>>;
    };
    assert.equal(properties['speed']?.type, 'integer');
  });
});

describe('JSON-LD over HTTP', () => {
  let api: ApiClient;
  before(async () => {
    ({ api } = await startApi());
    await api.post('/contexts', { name: 'Own', '@context': { speed: 'https://city.example/speed' } });
  });

  const entity = (context: unknown) => ({
    '@context': context,
    id: 'urn:ngsi-ld:Bike:1',
    type: 'Bike',
    speed: { type: 'Property', value: 12 },
  });

  const expand = async (document: unknown, others: object = {}) =>
    api.post('/workbench/jsonld/expand', { document, ...others });

  it('JSON-LD over HTTP is expanded and compacted with stored contexts and the core context, by their URLs', async () => {
    const context = [`${api.url}/contexts/Own`, coreContextUrl('1.8')];
    const expanded = await expand(entity(context));
    assert.equal(expanded.status, 200, expanded.text);
    const { result, warnings } = expanded.json() as { result: readonly object[]; warnings: unknown[] };
    assert.ok('https://city.example/speed' in (result[0] ?? {}), expanded.text);
    assert.deepEqual(warnings, []);
    const compacted = await api.post('/workbench/jsonld/compact', { document: result, context });
    assert.deepEqual((compacted.json() as { result: unknown }).result, entity(context));
  });

  it('JSON-LD over HTTP warns of dropped data, and fails instead if safe is true', async () => {
    const document = { '@context': {}, '@id': 'urn:a:1', nonsense: 1, 'urn:a:b': 2 };
    const { warnings } = (await expand(document)).json() as { warnings: readonly Place[] };
    assert.deepEqual(column(warnings, 'pointer'), ['/document/nonsense']);
    const refused = await expand(document, { safe: true });
    assert.equal(refused.status, 422);
    assert.match(refused.problem().type, /data-dropped$/);
    assert.deepEqual(
      (refused.problem()['errors'] as readonly Place[]).map(({ pointer }) => pointer),
      ['/document/nonsense'],
    );
  });
});

it('the workbench needs no token, and its answers have no ETag', async () => {
  const { api, url } = await startApi({ GATEWAY_TOKEN: 'the-shared-secret' });
  const trusted = await ApiClient.of(url, { 'x-gateway-token': 'the-shared-secret' });
  await trusted.post('/domains', { name: 'City' });
  await trusted.post('/domains/City/models', { name: 'Bike', schema: {} });
  for (const [target, body] of [
    ['/workbench/schema/infer', { a: 1 }],
    ['/workbench/jsonld/expand', { document: {} }],
    ['/workbench/jsonld/compact', { document: {} }],
    ['/validate/City/Bike', { id: 'urn:a:1', type: 'Bike' }],
  ] as const) {
    const answer = await api.post(target, body);
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.headers.get('cache-control'), 'no-cache');
    assert.equal(answer.headers.get('etag'), null);
    const wrong = await api.send('GET', target);
    assert.equal(wrong.status, 405);
    assert.equal(wrong.headers.get('allow'), 'POST');
  }
});
