import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { coreContextUrl } from '../../sidecar/schemas/json-ld/core-context.js';
import { ContextInvalidError } from '../../sidecar/schemas/json-ld/errors.js';
import type { JsonValue } from '../../sidecar/shared/json/json.js';
import { runWithContexts } from '../../sidecar/schemas/json-ld/outcomes.js';
import { jsonLdTasks } from '../../sidecar/schemas/json-ld/tasks.js';
import { metadataOf, type SchemaService } from '../../sidecar/schemas/models/index.js';
import { SchemaRefusedError } from '../../sidecar/schemas/json-schema/errors.js';
import { TaskTooCostlyError } from '../../sidecar/shared/workers/errors.js';
import { InUseError } from '../../sidecar/store/errors.js';
import { plainSchema } from '../unit/schemas/models/fixtures.js';
import {
  ALLOWED,
  BASE_URL,
  CONTEXT_BASE,
  jsonOf,
  rejection,
  storedModel,
  useRigs,
  written,
} from '../unit/schemas/models/harness.js';
import { columns } from '../support/columns.js';

const KEY = { domain: 'city', name: 'Bench' };
const CORE = coreContextUrl();
const OPTIONS = { baseUrl: BASE_URL };
const SCHEMA = plainSchema({ seats: { type: 'integer' }, colour: { type: 'string' } });
const SEATS = 'https://official.example/seats';
const COLOUR = `${CONTEXT_BASE}colour`;
const BENCH = `${CONTEXT_BASE}Bench`;

function urlOf(name: string): string {
  return `${BASE_URL}/api/v2/contexts/${name}`;
}

function create(service: SchemaService, context: JsonValue) {
  return written(service.models.create('city', { name: 'Bench', schema: SCHEMA, context }, OPTIONS));
}

async function contextOf(service: SchemaService, version?: number): Promise<unknown> {
  const document = await service.documents.of(KEY, 'context', { version, ...OPTIONS });
  const { '@context': value } = jsonOf(document) as { readonly '@context': unknown };
  return value;
}

/**
 * Returns the IRIs of the members of an entity of the model, expanded with a context given by its
 * URL.
 */
async function irisOf(service: SchemaService, context = 'city~Bench'): Promise<readonly string[]> {
  const { contextLoader } = service;
  const document = {
    '@context': [urlOf(context), CORE],
    id: 'urn:b',
    type: 'Bench',
    seats: 2,
    colour: 'red',
  };
  const stamp = await contextLoader.stamp(BASE_URL);
  const outcome = await runWithContexts(
    (supplied) => jsonLdTasks.expandDocument({ text: JSON.stringify({ document }), stamp, supplied }),
    (url) => contextLoader.load(url, BASE_URL),
  );
  assert.ok('answer' in outcome, JSON.stringify(outcome));
  const { result } = JSON.parse(outcome.answer) as { readonly result: readonly Record<string, unknown>[] };
  const { '@id': id, '@type': types, ...members } = result[0] ?? assert.fail();
  assert.equal(id, 'urn:b');
  return [...(types as string[]), ...Object.keys(members)];
}

describe('models with their own context', () => {
  const rigOf = useRigs();

  it('models with their own context have its terms, and generated terms for the rest', async (t) => {
    const { service } = await rigOf(t);
    const forms: readonly JsonValue[] = [
      { seats: SEATS },
      { '@context': { seats: SEATS } },
      [{ official: 'https://official.example/' }, { seats: 'official:seats' }, CORE],
    ];
    for (const context of forms) {
      const made = await create(service, context);
      assert.equal(made.ownContext, JSON.stringify(context));
      assert.deepEqual(await storedModel(service, KEY), made);
      const [generated, ...own] = (await contextOf(service)) as readonly unknown[];
      assert.deepEqual(generated, { Bench: BENCH, colour: COLOUR });
      assert.equal(own.at(-1), CORE);
      assert.equal(own.filter((element) => element === CORE).length, 1);
      assert.deepEqual((await irisOf(service)).toSorted(), [BENCH, COLOUR, SEATS].toSorted());
      await service.store.models.delete(KEY);
    }
  });

  it('a warning names attributes that get the same IRI, by two terms or because a named context uses the name of one', async (t) => {
    const { service } = await rigOf(t);
    await service.contexts.create(
      'terms',
      { '@vocab': 'https://official.example/', seats: 'colour' },
      OPTIONS,
    );
    for (const [context, iri] of [
      [{ seats: SEATS, colour: SEATS }, SEATS],
      [{ seats: COLOUR }, COLOUR],
      ['terms', COLOUR],
    ] as const) {
      const { version } = await create(service, context);
      const { warnings } = metadataOf(version);
      const found = warnings.filter(({ code }) => code === 'same-iri');
      assert.deepEqual(columns(found, 'term'), [['colour']], JSON.stringify(context));
      assert.ok(found[0]?.detail.startsWith(`"colour" and "seats" have the same IRI, ${iri}: `));
      await service.store.models.delete(KEY);
    }
    for (const context of [{ seats: SEATS }, { seats: BENCH }, { seats: null, colour: null }] as const) {
      const { version } = await create(service, context);
      assert.deepEqual(
        columns(
          metadataOf(version).warnings.filter(({ code }) => code === 'same-iri'),
          'term',
        ),
        [],
      );
      await service.store.models.delete(KEY);
    }
  });

  it('putting a model with its own context again without a change leaves it unchanged', async (t) => {
    const { service } = await rigOf(t);
    await service.contexts.create('terms', { seats: SEATS }, OPTIONS);
    const context = ['terms', { a: 'https://a.example/', b: 'https://b.example/' }];
    await service.models.put(KEY, { schema: SCHEMA, context }, OPTIONS);
    for (const [given, baseUrl] of [
      [context, BASE_URL],
      [['terms', { b: 'https://b.example/', a: 'https://a.example/' }], BASE_URL],
      [context, 'http://other.example'],
      [undefined, ''],
    ] as const) {
      const change = { schema: SCHEMA, ...(given === undefined ? {} : { context: given }) };
      const { outcome } = await service.models.put(KEY, change, { baseUrl });
      assert.equal(outcome, 'unchanged', baseUrl);
    }
    const gone = await service.models.put(KEY, { context: null }, OPTIONS);
    assert.deepEqual([gone.outcome, gone.model?.ownContext], ['version', undefined]);
    assert.deepEqual(await contextOf(service), [
      { Bench: BENCH, colour: COLOUR, seats: `${CONTEXT_BASE}seats` },
      CORE,
    ]);
    const back = await service.models.put(KEY, { context }, OPTIONS);
    assert.deepEqual([back.outcome, back.model?.schema], ['version', JSON.stringify(SCHEMA)]);
  });

  it('models follow a stored context that they name, and prevent its deletion', async (t) => {
    const { service } = await rigOf(t);
    await service.contexts.create('terms', { seats: 'https://first.example/seats' }, OPTIONS);
    for (const context of ['terms', urlOf('terms'), [urlOf('terms')]]) {
      await create(service, context);
      const value = (await contextOf(service, 1)) as readonly unknown[];
      assert.deepEqual(value.slice(1), [urlOf('terms'), CORE]);
      const [other] = (await service.contexts.document('city~Bench', 1, 'http://kong:8000')).bytes
        .toString()
        .match(/http:[^"]+\/api[^"]+/) ?? [''];
      assert.equal(other, 'http://kong:8000/api/v2/contexts/terms');
      const etags = [BASE_URL, 'http://kong:8000'].map(
        async (base) => (await service.contexts.document('city~Bench', undefined, base)).etag,
      );
      assert.equal(new Set(await Promise.all(etags)).size, 2, 'what differs has another ETag');

      await service.contexts.update('terms', { seats: SEATS, colour: 'https://c.example/c' }, OPTIONS);
      assert.deepEqual((await irisOf(service)).toSorted(), [BENCH, 'https://c.example/c', SEATS].toSorted());
      await service.contexts.update('terms', { other: 'https://o.example/' }, OPTIONS);
      assert.ok((await irisOf(service)).includes(`${CONTEXT_BASE}seats`), 'what it lacks later is generated');
      assert.deepEqual(await contextOf(service, 1), value);

      const { dependents } = await rejection(service.contexts.delete('terms'), InUseError);
      assert.deepEqual(dependents, [{ kind: 'model', ...KEY, version: 1 }]);
      await service.store.models.delete(KEY);
    }
    await service.contexts.delete('terms');
  });

  it('models keep the documents that their own context was made from, whether stored or fetched', async (t) => {
    const { service, web, fetched } = await rigOf(t);
    const stored = 'https://elsewhere.example/context.jsonld';
    const allowed = `${ALLOWED}/context.jsonld`;
    const official = { '@context': { seats: SEATS, more: 'https://official.example/more' } };
    await service.references.put(stored, official);
    web.set(allowed, official);
    for (const url of [stored, allowed]) {
      await create(service, [url]);
      const value = (await contextOf(service)) as readonly unknown[];
      assert.deepEqual(value, [{ Bench: BENCH, colour: COLOUR }, official['@context'], CORE]);
      await service.references.put(url, { '@context': { seats: 'https://later.example/seats' } });
      assert.ok((await irisOf(service)).includes(SEATS), 'as it was when the version was made');
      const { dependents } = await rejection(service.references.delete(url), InUseError);
      assert.deepEqual(dependents, [{ kind: 'model', ...KEY, version: 1 }]);
      assert.equal((await service.models.put(KEY, { description: 'other' }, OPTIONS)).outcome, 'settings');
      assert.equal((await service.models.put(KEY, { schema: SCHEMA }, OPTIONS)).outcome, 'version');
      assert.ok((await irisOf(service)).includes('https://later.example/seats'));
      await service.store.models.delete(KEY);
      await service.references.delete(url);
    }
    assert.deepEqual(fetched, [allowed], 'fetched once, and kept');
  });

  it('models include the contexts that their context leads to: arrays, imports, scoped contexts, relative URLs', async (t) => {
    const { service } = await rigOf(t);
    const at = (name: string) => `https://elsewhere.example/c/${name}`;
    const documents: Readonly<Record<string, JsonValue>> = {
      main: ['list', { '@import': at('imported'), '@version': 1.1, own: 'https://o.example/own' }, CORE],
      list: [{ seats: SEATS }, 'scoped'],
      scoped: { part: { '@id': 'https://p.example/part', '@context': 'inner' } },
      inner: { wood: 'https://p.example/wood' },
      imported: { colour: 'https://i.example/colour', own: 'https://i.example/own', '@language': 'en' },
    };
    for (const [name, context] of Object.entries(documents))
      await service.references.put(at(name), { '@context': context });
    await create(service, at('main'));
    assert.deepEqual(await contextOf(service), [
      { Bench: BENCH },
      { seats: SEATS },
      { part: { '@id': 'https://p.example/part', '@context': { wood: 'https://p.example/wood' } } },
      {
        colour: 'https://i.example/colour',
        own: 'https://o.example/own',
        '@language': 'en',
        '@version': 1.1,
      },
      CORE,
    ]);
  });

  it('models refuse a context that is invalid, missing or circular, with a pointer', async (t) => {
    const { service } = await rigOf(t);
    await service.models.create('city', { name: 'Lamp', schema: SCHEMA, context: { seats: SEATS } }, OPTIONS);
    const refusals: readonly (readonly [JsonValue, string, RegExp])[] = [
      ['nothing', '/context', /no context "nothing" here/],
      [[{ seats: SEATS }, 'nothing'], '/context/1', /no context "nothing" here/],
      ['city~Bench', '/context', /the context would include itself/],
      ['https://elsewhere.example/x', '/context', /neither stored here nor from an allowed origin/],
      [`${ALLOWED}/missing`, '/context', /404/],
      [{ seats: 5 }, '/context/seats', /./],
      [{ '@context': { seats: 5 } }, '/context/@context/seats', /./],
      [{ '@context': {}, seats: SEATS }, '/context/seats', /next to @context/],
      [[], '/context', /empty/],
      [7, '/context', /map of terms/],
      ['not a name', '/context', /not an absolute http or https URL/],
    ];
    for (const [context, pointer, detail] of refusals) {
      const { errors } = await rejection(create(service, context), ContextInvalidError);
      const fault = errors[0] ?? assert.fail();
      assert.equal(fault.pointer, pointer, JSON.stringify(context));
      assert.match(fault.detail, detail);
      assert.doesNotMatch(fault.detail, /gateway\.invalid/);
    }
    await create(service, 'city~Lamp');
    const lamp = { domain: 'city', name: 'Lamp' };
    await rejection(service.models.put(lamp, { context: 'city~Bench' }, OPTIONS), ContextInvalidError);
  });

  it('models refuse a context that leads to too many others, and store nothing', async (t) => {
    const { service, web } = await rigOf(t);
    const at = (name: string) => `${ALLOWED}/${name}`;
    const urls = Array.from({ length: 60 }, (_, index) => {
      web.set(at(`outer${index}`), { '@context': at(`inner${index}`) });
      web.set(at(`inner${index}`), { '@context': { [`t${index}`]: 'https://o.example/t' } });
      return at(`outer${index}`);
    });
    const { errors } = await rejection(create(service, urls), ContextInvalidError);
    const detail = 'The contexts lead to more than 100 others by their URLs.';
    assert.deepEqual(errors, [{ pointer: '/context', detail }]);
    assert.equal((await service.store.references.list({ limit: 1, offset: 0 })).total, 0);
    await create(service, urls.slice(0, 50));
    assert.equal((await service.store.references.list({ limit: 1, offset: 0 })).total, 100);
  });

  it('models have warnings about terms of their own context only if they use them', async (t) => {
    const { service } = await rigOf(t);
    const coerced = (name: string) => ({ '@id': `https://official.example/${name}`, '@type': '@id' });
    const context = {
      seats: coerced('seats'),
      other: coerced('other'),
      location: 'https://o.example/l',
      '@vocab': 'https://o.example/',
    };
    const { warnings } = metadataOf((await create(service, context)).version);
    assert.deepEqual(columns(warnings, 'code', 'term'), [
      ['coercion', 'seats'],
      ['vocab', '@vocab'],
    ]);
  });
});

describe('own contexts and the core context', () => {
  const rigOf = useRigs();

  it('models warn once of each core term that their own context defines otherwise, also of those with the usual meaning', async (t) => {
    const { service } = await rigOf(t);
    const iris = Object.fromEntries(
      ['status', 'location', 'title'].map((name) => [name, `https://official.example/${name}`]),
    );
    const context = { ...iris, description: 'http://purl.org/dc/terms/description' };
    const schema = plainSchema(Object.fromEntries(Object.keys(context).map((name) => [name, {}])));
    const model = { name: 'Bench', schema, context };
    const { warnings } = metadataOf((await written(service.models.create('city', model, OPTIONS))).version);
    const terms = [...warnings].map(({ code, term }) => `${code} ${term}`).sort();
    assert.deepEqual(terms, ['core-term location', 'core-term status', 'core-term title']);
  });
});

describe('reference documents as contexts', () => {
  const rigOf = useRigs();

  it('reference documents can be used as contexts under their URLs, and custom contexts that name them prevent their deletion', async (t) => {
    const { service } = await rigOf(t);
    const url = 'https://elsewhere.example/context.jsonld';
    await service.references.put(url, { '@context': { seats: SEATS } });
    await service.contexts.create('mine', [url, { colour: COLOUR }], OPTIONS);
    assert.ok((await irisOf(service, 'mine')).includes(SEATS));
    const { dependents } = await rejection(service.references.delete(url), InUseError);
    assert.deepEqual(dependents, [{ kind: 'context', name: 'mine', version: 1 }]);
    await service.contexts.delete('mine');
    await service.references.delete(url);
  });

  it('if a model is too costly to process, it is refused because of its context or its schema, whichever is the cause', async (t) => {
    for (const [tooMuch, type] of [
      [
        (kind: string, input: unknown) => kind === 'composeContext' || 'own' in (input as object),
        ContextInvalidError,
      ],
      [(kind: string) => kind === 'acceptVersion', SchemaRefusedError],
    ] as const) {
      const { service } = await rigOf(t, {
        workers: (workers) => ({
          run: (kind, input, options) =>
            tooMuch(kind, input)
              ? Promise.reject(new TaskTooCostlyError('time', 'late'))
              : workers.run(kind, input, options),
        }),
      });
      await assert.rejects(create(service, { seats: SEATS }), (error) => {
        assert.ok(error instanceof type);
        return /takes too much time/.test(error.errors[0]?.detail ?? '');
      });
    }
  });
});
