import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../sidecar/shared/json/json.js';
import { metadataOf } from '../../sidecar/schemas/models/index.js';
import { SchemaRefusedError } from '../../sidecar/schemas/json-schema/errors.js';
import { InUseError } from '../../sidecar/store/errors.js';
import { BENCH, COMMON, COMMON_URI, plainSchema } from '../unit/schemas/models/fixtures.js';
import {
  ALL,
  ALLOWED,
  BASE_URL,
  CONTEXT_BASE,
  jsonOf,
  rejection,
  type Rig,
  storedModel,
  useRigs,
  written,
} from '../unit/schemas/models/harness.js';
import { column, columns } from '../support/columns.js';

const KEY = { domain: 'city', name: 'Bench' };
const STORED_ELSEWHERE = 'it is neither stored here nor from an allowed origin';

describe('creating models', () => {
  const rigOf = useRigs();

  async function contextOf({ service }: Rig, key = KEY): Promise<unknown> {
    return jsonOf(await service.documents.of(key, 'context', { baseUrl: BASE_URL }));
  }

  it('a new model gets version 1 with its schema as given, the documents that it refers to, and its context', async (t) => {
    const { service } = await rigOf(t);
    await service.references.put(COMMON_URI, COMMON);
    const made = await written(
      service.models.create('city', { name: 'Bench', description: 'To sit', schema: BENCH }),
    );
    assert.deepEqual(made, await storedModel(service, KEY));
    const { currentVersion, description, compatibility, contextName } = made.model;
    assert.deepEqual(
      [currentVersion, description, compatibility, contextName],
      [1, 'To sit', 'none', 'city~Bench'],
    );
    assert.deepEqual(JSON.parse(made.schema), BENCH);
    assert.deepEqual(column(made.version.references, 'uri'), [COMMON_URI]);
    const { dialect, change } = metadataOf(made.version);
    assert.deepEqual([dialect, change], ['2020-12', undefined]);
    const { bytes } = await service.documents.of(KEY, 'schema', { baseUrl: BASE_URL });
    assert.equal(bytes.toString(), JSON.stringify(BENCH));
    assert.deepEqual([made.version.schema.size, made.version.schema.sha256.length], [bytes.length, 64]);
  });

  it('a new model gets a flat context with terms for type, attributes and members of values, and warnings about core terms', async (t) => {
    const rig = await rigOf(t);
    await rig.service.references.put(COMMON_URI, COMMON);
    const { warnings } = await rig.service.models.create('city', { name: 'Bench', schema: BENCH });
    const terms = ['Bench', 'material', 'name', 'refPark', 'seats', 'wood'];
    assert.deepEqual(await contextOf(rig), {
      '@context': [
        Object.fromEntries(terms.map((term) => [term, `${CONTEXT_BASE}${term}`])),
        'https://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context-v1.9.jsonld',
      ],
    });
    // location has its usual meaning, status does not.
    assert.deepEqual(columns(warnings, 'code', 'term'), [['core-term', 'status']]);
  });

  it('a new model warns if its schema describes normalized attributes instead of values', async (t) => {
    const rig = await rigOf(t);
    const attribute = (type: JsonObject, ...members: readonly string[]): JsonObject => ({
      type: 'object',
      properties: { type, ...Object.fromEntries(members.map((name) => [name, {}])) },
    });
    const both = {
      speed: attribute({ const: 'Property' }, 'value', 'unitCode'),
      owner: { anyOf: [{ allOf: [attribute({ enum: ['Relationship'] }, 'object')] }] },
    };
    for (const [name, properties, said] of [
      ['Speed', { speed: both.speed }, '"speed" is described'],
      ['Both', both, '"speed" and 1 other is described'],
      ['Text', { speed: attribute({ type: 'string' }, 'value') }, undefined],
      ['Place', { spot: attribute({ const: 'Point' }, 'coordinates') }, undefined],
      ['Member', { speed: attribute({ const: 'Property' }, 'object') }, undefined],
    ] as const) {
      const schema = plainSchema(properties);
      const { warnings } = await rig.service.models.create('city', { name, schema });
      const [warning, ...others] = warnings.filter(({ code }) => code === 'normalized-form');
      assert.deepEqual([warning?.detail.slice(0, said?.length), others], [said, []], name);
    }
  });

  it('a new model warns if its schema requires types other than its name, and these types are terms as well', async (t) => {
    const rig = await rigOf(t);
    for (const [name, type, types, ending] of [
      ['A', { const: 'A' }, [], undefined],
      ['B', { enum: ['Other', ['Other', 'B']] }, [], undefined],
      ['C', { type: 'string' }, [], undefined],
      [
        'D',
        { const: 'Light' },
        ['Light'],
        'have the type "Light", as the schema requires, not "D", its name.',
      ],
      [
        'E',
        { enum: ['Light', 'Torch'] },
        ['Light', 'Torch'],
        '"Light" or "Torch", as the schema requires, not "E", its name.',
      ],
      [
        'F',
        { const: 5 },
        [],
        'allows entities neither of the type "F", the name of the model, nor of any other type.',
      ],
    ] as const) {
      const schema = plainSchema({ type });
      const { warnings } = await rig.service.models.create('city', { name, schema });
      const [warning, ...others] = warnings;
      assert.deepEqual([warning?.code, others], [ending === undefined ? undefined : 'other-type', []], name);
      assert.ok(ending === undefined || warning?.detail.endsWith(ending) === true, warning?.detail);
      const { '@context': parts } = (await contextOf(rig, { domain: 'city', name })) as {
        readonly '@context': readonly object[];
      };
      const terms = Object.keys(parts[0] ?? {});
      for (const one of [name, ...types]) assert.ok(terms.includes(one), one);
    }
  });

  it('a new model is refused with every missing document, its place and the reason', async (t) => {
    const rig = await rigOf(t);
    const [gone, other] = [`${ALLOWED}/gone.json`, 'urn:example:other'];
    const schema = {
      allOf: [{ $ref: `${COMMON_URI}#/definitions/Commons` }, { $ref: `${gone}#/a` }, { $ref: other }],
      not: { $ref: '#/nowhere' },
    };
    const refused = await rejection(
      rig.service.models.create('city', { name: 'Bench', schema }),
      SchemaRefusedError,
    );
    assert.equal(refused.kind, 'schemaReferenceDangling');
    assert.deepEqual(new Set(refused.missingUris), new Set([COMMON_URI, gone, other]));
    const details = new Map(refused.errors.map(({ pointer, detail }) => [pointer, detail]));
    assert.match(
      details.get('/schema/allOf/0/$ref') ?? '',
      new RegExp(`${COMMON_URI} is missing: ${STORED_ELSEWHERE}`),
    );
    assert.match(details.get('/schema/allOf/1/$ref') ?? '', /answers 404/);
    assert.match(details.get('/schema/allOf/2/$ref') ?? '', /urn:example:other is missing/);
    assert.match(details.get('/schema/not/$ref') ?? '', /leads to no schema$/);
    assert.equal((await rig.store.models.list('city', ALL)).total, 0);
  });

  it('a new model fetches documents of allowed origins once and keeps them', async (t) => {
    const { service, store, web, fetched } = await rigOf(t);
    const [first, second] = [`${ALLOWED}/first.json`, `${ALLOWED}/second.json`];
    web
      .set(first, { $defs: { a: { $ref: 'second.json' } } })
      .set(second, { properties: { seats: { minimum: 1 } } });
    const schema = { $ref: `${first}#/$defs/a` };
    const { version } = await written(service.models.create('city', { name: 'Bench', schema }));
    const uris = version.references.map(({ uri }) => uri);
    assert.deepEqual(uris, [first, second]);
    await service.models.create('city', { name: 'Other', schema });
    assert.deepEqual(fetched, [first, second]);
    const kept = await store.references.list(ALL);
    assert.deepEqual(columns(kept.items, 'uri', 'source'), [
      [first, 'fetched'],
      [second, 'fetched'],
    ]);
    const inUse = await rejection(service.references.delete(second), InUseError);
    assert.deepEqual(column(inUse.dependents, 'kind'), ['model', 'model', 'reference']);
  });

  it('a refused model stores no fetched document', async (t) => {
    const { service, store, web } = await rigOf(t);
    web.set(`${ALLOWED}/first.json`, {});
    const schema = { allOf: [{ $ref: `${ALLOWED}/first.json` }], type: 'objekt' };
    await rejection(service.models.create('city', { name: 'Bench', schema }), SchemaRefusedError);
    assert.equal((await store.references.list(ALL)).total, 0);
  });

  it('a new model does not fetch a stored document, whatever its $id', async (t) => {
    const { service, fetched } = await rigOf(t);
    const uri = `${ALLOWED}/common.json`;
    await service.references.put(uri, { $id: COMMON_URI, type: 'object' });
    await service.references.put(`${ALLOWED}/other.json`, { $id: COMMON_URI, minProperties: 1 });
    const schema = { allOf: [{ $ref: uri }, { $ref: `${ALLOWED}/other.json` }] };
    await service.models.create('city', { name: 'Bench', schema });
    assert.deepEqual(fetched, []);
  });
});
