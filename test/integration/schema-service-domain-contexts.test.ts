import assert from 'node:assert/strict';
import { it } from 'node:test';
import { coreContextUrl } from '../../sidecar/schemas/json-ld/core-context.js';
import { ContextInvalidError } from '../../sidecar/schemas/json-ld/errors.js';
import { runWithContexts } from '../../sidecar/schemas/json-ld/outcomes.js';
import { jsonLdTasks } from '../../sidecar/schemas/json-ld/tasks.js';
import type { SchemaService } from '../../sidecar/schemas/models/index.js';
import { NotFoundError } from '../../sidecar/store/errors.js';
import { plainSchema } from '../unit/schemas/models/fixtures.js';
import {
  ALLOWED,
  BASE_URL,
  CONTEXT_BASE,
  jsonOf,
  rejection,
  useRigs,
} from '../unit/schemas/models/harness.js';
import { columns } from '../support/columns.js';

const OPTIONS = { baseUrl: BASE_URL };
const CORE = coreContextUrl();

async function termsIn(service: SchemaService): Promise<Readonly<Record<string, unknown>>> {
  const document = await service.domainContexts.of('city', BASE_URL);
  const [terms, core, ...rest] = (jsonOf(document) as { readonly '@context': readonly unknown[] })[
    '@context'
  ];
  assert.deepEqual([core, rest], [CORE, []]);
  return terms as Readonly<Record<string, unknown>>;
}

function create(service: SchemaService, name: string, names: readonly string[], others: object = {}) {
  const schema = plainSchema(Object.fromEntries(names.map((one) => [one, { type: 'string' }])));
  return service.models.create('city', { name, schema, ...others }, OPTIONS);
}

const rigOf = useRigs();

it('the context of a domain has the terms of all its models, and changes when they change', async (t) => {
  const { service } = await rigOf(t);
  assert.deepEqual(await termsIn(service), {});
  const seen = new Set<string>();
  const note = async () => seen.add((await service.domainContexts.of('city', BASE_URL)).etag);
  await note();
  await create(service, 'Bench', ['seats', 'colour']);
  await note();
  await create(service, 'Lamp', ['colour', 'light']);
  await note();
  const iri = (name: string) => [name, `${CONTEXT_BASE}${name}`];
  const all = ['Bench', 'Lamp', 'colour', 'light', 'seats'].map(iri);
  assert.deepEqual(await termsIn(service), Object.fromEntries(all));
  await service.models.put({ domain: 'city', name: 'Lamp' }, { contextBase: 'https://lamps.example/' });
  await note();
  const { warnings } = await service.domainContexts.of('city', BASE_URL);
  assert.deepEqual(
    warnings.map(({ code, term, models }) => [code, term, models]),
    [['ambiguous-term', 'colour', ['Bench', 'Lamp']]],
  );
  assert.equal((await termsIn(service))['light'], 'https://lamps.example/light');
  await service.store.models.delete({ domain: 'city', name: 'Lamp' });
  await note();
  assert.equal(seen.size, 4, 'the last state is that of the second look');
  await rejection(service.domainContexts.of('none', BASE_URL), NotFoundError);
});

it("the context of a domain includes the models' own contexts, each once, and follows stored ones", async (t) => {
  const { service, tasks } = await rigOf(t);
  await service.contexts.create('live', { light: 'https://first.example/light' }, OPTIONS);
  const official = { seats: 'https://o.example/seats', more: 'https://o.example/more' };
  await create(service, 'Bench', ['seats'], { context: official });
  await create(service, 'Stool', ['seats'], { context: official });
  await create(service, 'Lamp', ['light'], { context: 'live' });
  await create(service, 'Torch', ['light', 'heat'], { context: 'live' });
  tasks.splice(0);
  const terms = await termsIn(service);
  assert.deepEqual(
    ['seats', 'more', 'light', 'Stool'].map((name) => terms[name]),
    [
      'https://o.example/seats',
      'https://o.example/more',
      'https://first.example/light',
      `${CONTEXT_BASE}Stool`,
    ],
  );
  assert.equal(
    tasks.filter((kind) => kind === 'contextTerms').length,
    3,
    'one of them needs another context',
  );
  tasks.splice(0);
  await termsIn(service);
  assert.deepEqual(tasks, [], 'made once for a state');
  await service.contexts.update('live', { light: 'https://second.example/light' }, OPTIONS);
  assert.equal((await termsIn(service))['light'], 'https://second.example/light');
});

it('the context of a domain warns that it leaves out how texts are read by the context of a model', async (t) => {
  const { service } = await rigOf(t);
  await create(service, 'Bench', ['seats'], { context: { '@language': 'en', seats: 'https://o.example/s' } });
  await create(service, 'Lamp', ['light'], { context: { '@language': null, '@direction': 'ltr' } });
  const { warnings } = await service.domainContexts.of('city', BASE_URL);
  assert.deepEqual(
    warnings.map(({ code, term, models }) => [code, term, models]),
    [
      ['ambiguous-term', '@language', ['Bench']],
      ['ambiguous-term', '@direction', ['Lamp']],
    ],
  );
  assert.deepEqual(Object.keys(await termsIn(service)), ['Bench', 'Lamp', 'light', 'seats']);
});

it('the context of a domain expands entities of all its models, and cannot be part of another context', async (t) => {
  const { service } = await rigOf(t);
  await create(service, 'Bench', ['seats'], { context: { seats: 'https://o.example/seats' } });
  const url = `${BASE_URL}/api/v2/contexts/city`;
  const document = { '@context': [url, CORE], id: 'urn:b', type: 'Bench', seats: 'two' };
  const stamp = await service.contextLoader.stamp(BASE_URL);
  const outcome = await runWithContexts(
    (supplied) => jsonLdTasks.expandDocument({ text: JSON.stringify({ document }), stamp, supplied }),
    (one) => service.contextLoader.load(one, BASE_URL),
  );
  assert.ok('answer' in outcome && outcome.answer.includes('https://o.example/seats'));
  for (const refusal of [
    service.contexts.create('mine', [url, { a: 'https://a.example/' }], OPTIONS),
    create(service, 'Lamp', ['light'], { context: 'city' }),
    create(service, 'Lamp', ['light'], { context: url }),
  ]) {
    const { errors } = await rejection(refusal, ContextInvalidError);
    assert.match(errors[0]?.detail ?? '', /generated from the models of a domain/);
  }
});

it("the context of a domain warns of a model's context that cannot be used, and has the other terms", async (t) => {
  const { service, web } = await rigOf(t);
  const url = `${ALLOWED}/context.jsonld`;
  web.set(url, { '@context': { light: 'https://o.example/light' } });
  await service.contexts.create('live', [url], OPTIONS);
  await create(service, 'Lamp', ['light'], { context: 'live' });
  await create(service, 'Bench', ['seats']);
  web.delete(url);
  const { warnings } = await service.domainContexts.of('city', BASE_URL);
  assert.deepEqual(columns(warnings, 'code', 'models'), [['context-unavailable', ['Lamp']]]);
  const terms = await termsIn(service);
  assert.deepEqual([terms['light'], terms['seats']], [`${CONTEXT_BASE}light`, `${CONTEXT_BASE}seats`]);
});

it('the context of a domain is generated once for concurrent requests, and again after a failure', async (t) => {
  let isBroken = true;
  const { service, tasks } = await rigOf(t, {
    workers: (workers) => ({
      run: (kind, input, options) =>
        kind === 'contextTerms' && isBroken
          ? Promise.reject(new Error('broken'))
          : workers.run(kind, input, options),
    }),
  });
  await create(service, 'Bench', ['seats'], { context: { seats: 'https://o.example/seats' } });
  await assert.rejects(service.domainContexts.of('city', BASE_URL), /broken/);
  isBroken = false;
  tasks.splice(0);
  const all = await Promise.all(Array.from({ length: 5 }, () => service.domainContexts.of('city', BASE_URL)));
  assert.equal(new Set(all).size, 1);
  assert.deepEqual(tasks, ['contextTerms']);
});
