import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { stopAll } from '../support/gateway-harness.js';
import { startApi, type ApiClient } from './api-client.js';
import { column } from '../support/columns.js';

after(stopAll);

interface Found {
  readonly domain: string;
  readonly name: string;
}

interface Verdict {
  readonly valid: boolean;
  readonly form: string;
  readonly models: readonly string[];
  readonly errors: readonly { readonly pointer: string }[];
  readonly warnings: readonly { readonly pointer: string; readonly code: string }[];
}

const BUS = { properties: { speed: { type: 'number' }, line: { type: 'string' } } };
const TRAM = { properties: { speed: { type: 'number' }, rails: { type: 'integer' } }, required: ['rails'] };
/** A model whose entities have a type other than the name of the model. */
const PORT = { properties: { type: { const: 'Harbour' }, berths: { type: 'integer' } } };

async function withModels(): Promise<ApiClient> {
  const { api } = await startApi();
  for (const [domain, name, schema, description] of [
    ['City', 'Bus', BUS, 'Runs on roads'],
    ['City', 'Tram', TRAM, undefined],
    ['Coast', 'SeaPort', PORT, undefined],
    ['Coast', 'Tram', TRAM, 'To the beach'],
  ] as const) {
    await api.post('/domains', { name: domain });
    const made = await api.post(`/domains/${domain}/models`, { name, schema, description });
    assert.equal(made.status, 201, made.text);
  }
  return api;
}

describe('the search for models', () => {
  let api: ApiClient;
  before(async () => {
    api = await withModels();
  });

  const found = async (query: string) => {
    const answer = await api.get(`/models${query}`);
    assert.equal(answer.status, 200, answer.text);
    return (answer.json() as readonly Found[]).map(({ domain, name }) => `${domain}/${name}`);
  };

  it('the search for models covers all domains, by type, attribute, and text of the description', async () => {
    assert.deepEqual(await found(''), ['City/Bus', 'City/Tram', 'Coast/SeaPort', 'Coast/Tram']);
    assert.deepEqual(await found('?type=Tram'), ['City/Tram', 'Coast/Tram']);
    assert.deepEqual(await found('?type=Harbour'), ['Coast/SeaPort']);
    assert.deepEqual(await found('?type=SeaPort'), []);
    assert.deepEqual(await found('?attribute=speed'), ['City/Bus', 'City/Tram', 'Coast/Tram']);
    assert.deepEqual(await found('?attribute=speed&q=BEACH'), ['Coast/Tram']);
    assert.deepEqual(await found('?q=erth'), ['Coast/SeaPort']);
  });

  it('the search for models is paged like other lists, and its next link keeps the query', async () => {
    const first = await api.get('/models?attribute=speed&limit=2');
    assert.equal(first.headers.get('x-total-count'), '3');
    const [, next = ''] = /^<([^>]+)>; rel="next"$/.exec(first.headers.get('link') ?? '') ?? [];
    const rest = await api.get(next.slice(api.url.length));
    assert.deepEqual(
      (rest.json() as readonly Found[]).map(({ domain, name }) => `${domain}/${name}`),
      ['Coast/Tram'],
    );
  });

  it('the search for models covers only the newest versions', async () => {
    await api.put('/domains/City/models/Bus', { schema: { properties: { wheels: {} } } });
    assert.deepEqual(await found('?attribute=line'), []);
    assert.deepEqual(await found('?attribute=wheels'), ['City/Bus']);
    await api.put('/domains/City/models/Bus', { schema: BUS });
    assert.deepEqual(await found('?attribute=line'), ['City/Bus']);
  });
});

describe('validation by type', () => {
  let api: ApiClient;
  before(async () => {
    api = await withModels();
  });

  const verdictOn = async (body: unknown, query = '') => {
    const answer = await api.post(`/validate${query}`, body);
    assert.equal(answer.status, 200, answer.text);
    return answer.json() as Verdict;
  };
  const shown = ({ valid, models, errors }: Verdict) => [valid, models, errors.map(({ pointer }) => pointer)];

  it('validation by type finds the model also by an IRI and by the type that its schema requires', async () => {
    const bus = { id: 'urn:ngsi-ld:Bus:1', type: 'Bus', speed: 'fast' };
    assert.deepEqual(shown(await verdictOn(bus)), [false, ['City/Bus'], ['/speed']]);
    assert.deepEqual(shown(await verdictOn({ ...bus, speed: 5 })), [true, ['City/Bus'], []]);
    const iri = 'https://city.example/terms/Bus';
    assert.deepEqual(shown(await verdictOn({ ...bus, type: iri, speed: 5 })), [true, ['City/Bus'], []]);
    const harbour = { id: 'urn:a:1', type: 'Harbour', berths: 5 };
    assert.deepEqual(shown(await verdictOn(harbour)), [true, ['Coast/SeaPort'], []]);
  });

  it('validation by type refuses a type that has no model (404) or several (409), and names the type or the models', async () => {
    const unknown = await api.post('/validate', [
      { id: 'urn:a:1', type: 'Bus' },
      { id: 'urn:a:2', type: 'Plane' },
    ]);
    assert.equal(unknown.status, 404);
    assert.deepEqual(
      (unknown.problem()['errors'] as readonly { pointer: string }[]).map(({ pointer }) => pointer),
      ['/1'],
    );
    assert.match(unknown.problem().detail ?? '', /"Plane"/);
    const tram = { id: 'urn:a:1', type: 'Tram', rails: 2 };
    const several = await api.post('/validate', tram);
    assert.equal(several.status, 409);
    assert.match(several.problem().type, /type-ambiguous$/);
    assert.match(several.problem().detail ?? '', /City\/Tram and Coast\/Tram; name the domain \(\?domain=\)/);
    assert.deepEqual(shown(await verdictOn(tram, '?domain=Coast')), [true, ['Coast/Tram'], []]);
    assert.equal((await api.post('/validate?domain=Coast', { ...tram, type: 'Bus' })).status, 404);
    for (const body of [{ id: 'urn:a:1' }, { id: 'urn:a:1', type: 5 }]) {
      const untyped = await api.post('/validate', body);
      assert.equal(untyped.status, 422, untyped.text);
      assert.match(untyped.problem().detail ?? '', /must have a type/);
    }
  });

  it('validation by type checks each known type of an entity, and does not warn of attributes that another type has', async () => {
    const entity = { id: 'urn:a:1', type: ['Bus', 'Tram', 'Plane'], speed: 5, line: 'A', rails: 2, wings: 2 };
    const verdict = await verdictOn(entity, '?domain=City');
    assert.deepEqual(shown(verdict), [true, ['City/Bus', 'City/Tram'], []]);
    assert.deepEqual(
      verdict.warnings.filter(({ code }) => code === 'unknown-attribute').map(({ pointer }) => pointer),
      ['/wings'],
    );
    const wrong = await verdictOn({ ...entity, id: 'no uri', speed: 'x', line: 5 }, '?domain=City');
    assert.deepEqual(shown(wrong).slice(0, 2), [false, ['City/Bus', 'City/Tram']]);
    assert.deepEqual(column(wrong.errors, 'pointer'), ['/id', '/speed', '/line']);
  });

  it('validation by type warns of deprecated models, and uses a draft only if no other model has the type', async () => {
    const bus = { id: 'urn:a:1', type: 'Bus', speed: 5 };
    await api.post('/domains', { name: 'Lab' });
    await api.post('/domains/Lab/models', { name: 'Bus', schema: BUS, status: 'draft' });
    await api.post('/domains/Lab/models', { name: 'Pod', schema: BUS, status: 'draft' });
    assert.deepEqual(shown(await verdictOn(bus)), [true, ['City/Bus'], []]);
    assert.deepEqual(shown(await verdictOn({ ...bus, type: 'Pod' })), [true, ['Lab/Pod'], []]);
    await api.put('/domains/City/models/Bus', { status: 'deprecated' });
    const verdicts = (await verdictOn([bus, bus])) as unknown as readonly Verdict[];
    assert.deepEqual(
      verdicts.map(({ warnings }) => warnings.map(({ code }) => code)),
      [['deprecated-model'], []],
    );
    await api.put('/domains/City/models/Bus', { status: 'published' });
  });

  it('validation by type accepts a hundred types at a time and refuses more', async () => {
    const entities = Array.from({ length: 101 }, (_, index) => ({ id: 'urn:a:1', type: `T${index}` }));
    const refused = await api.post('/validate', entities);
    assert.equal(refused.status, 422);
    assert.match(refused.problem().type, /limit-exceeded$/);
    assert.equal((await api.post('/validate', entities.slice(1))).status, 404);
  });
});
