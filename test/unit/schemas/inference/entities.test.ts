import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { SamplesRefusedError } from '../../../../sidecar/schemas/inference/errors.js';
import { inferSchema, type InferSchemaOptions } from '../../../../sidecar/schemas/inference/tasks.js';
import { attributesOf } from '../../../../sidecar/schemas/json-schema/attributes.js';
import { namedSchemasIn } from '../../../../sidecar/schemas/json-schema/flatten.js';
import {
  isObject,
  type JsonObject,
  type JsonValue,
  member,
  pointerOf,
} from '../../../../sidecar/shared/json/json.js';
import { exampleFor } from '../../../../sidecar/schemas/validation/tasks.js';
import { normalizedExample } from '../../../../sidecar/schemas/json-schema/example.js';
import { resolveReferencesIn } from '../../../../sidecar/schemas/json-schema/linker.js';
import { bundle } from '../../../../sidecar/schemas/json-schema/bundle.js';
import { validateEntity } from '../../../../sidecar/schemas/validation/validate-entity.js';
import { prepareModel } from '../../../../sidecar/schemas/validation/model.js';
import { concise, entityDrafts, keyValues, normalized } from './entity-arbitraries.js';
import { runs } from '../../../support/thoroughness.js';
import { column } from '../../../support/columns.js';

const IRI = 'https://example.org/Vehicle';
const draft = fc.oneof(entityDrafts('Vehicle'), entityDrafts(['Vehicle', 'Boat']), entityDrafts(IRI));
const drafts = fc.array(draft, { minLength: 1, maxLength: 4 });
/** Entities in any mixture of representations. */
const entities = fc.array(
  fc.tuple(draft, fc.constantFrom(normalized, concise, keyValues)).map(([one, write]) => write(one)),
  { minLength: 1, maxLength: 4 },
);

describe('the schema inferred from entities', () => {
  it('a schema inferred from entities makes a model by which each of the entities is valid', () => {
    fc.assert(
      fc.property(entities, fc.boolean(), fc.boolean(), (samples, enumerates, isNamed) => {
        const model = isNamed ? { model: 'Vehicle' } : {};
        assertValid(inferEntities(samples, { enumerates, ...model }), samples);
      }),
    );
  });

  it('a schema inferred from entities makes a model whose example is valid in the normalized form that brokers accept', () => {
    fc.assert(
      fc.property(fc.array(entityDrafts('Vehicle'), { minLength: 1, maxLength: 3 }), (few) => {
        const schema = inferEntities(few.map(normalized), { model: 'Vehicle' });
        const { example, faults } = exampleFor({ schema, entityType: 'Vehicle' });
        assert.ok(isObject(example));
        assert.deepEqual(faults, []);
        assertValid(schema, [normalizedExample(example, attributesOf(schema).attributes)]);
      }),
      { numRuns: runs(20) },
    );
  });

  it('a schema inferred from key-values accepts typed values, datasets and JSON-LD names as validation reads them', () => {
    const typed = { '@type': 'DateTime', '@value': '2026-01-31T12:00:00Z' };
    for (const sample of [
      vehicle({ seen: typed, log: { times: [typed] }, speed: { '@value': 5 } }),
      vehicle({ speed: { dataset: { '@none': 5, 'urn:ngsi-ld:Dataset:1': 'fast' } } }),
      { '@id': 'urn:ngsi-ld:Vehicle:1', '@type': ['Vehicle', 'Car'], speed: 5 },
    ])
      assertValid(inferSchema(sample, { model: 'Vehicle' }), [sample]);
    assert.deepEqual(member(inferSchema(vehicle({ seen: typed }))['properties'] as JsonObject, 'seen'), {
      type: 'string',
      format: 'date-time',
    });
  });

  it('a schema inferred from entities with null attributes makes a model whose example is valid', () => {
    const sample = { id: 'urn:ngsi-ld:Vehicle:1', n: null };
    const typed = vehicle({ n: null });
    for (const schema of [
      inferSchema(sample, { model: 'Vehicle' }),
      inferSchema([sample, { ...sample, n: 1 }], { model: 'Vehicle' }),
      inferSchema(typed),
      inferEntities(typed),
    ]) {
      const { example } = exampleFor({ schema, entityType: 'Vehicle' });
      assert.ok(isObject(example));
      const entity = normalizedExample(example, attributesOf(schema).attributes);
      assertValid(schema, [entity, vehicle({})]);
    }
  });

  it('a schema inferred from entities is the same for normalized and concise entities, in any order', () => {
    const reordered = drafts.chain((few) =>
      fc.tuple(fc.constant(few), fc.shuffledSubarray(few, { minLength: few.length })),
    );
    fc.assert(
      fc.property(reordered, ([few, others]) => {
        assert.equal(
          JSON.stringify(inferEntities(others.map(concise), { model: 'Vehicle' })),
          JSON.stringify(inferEntities(few.map(normalized), { model: 'Vehicle' })),
        );
      }),
    );
  });

  it('the schema inferred from entities names the kinds of attributes if the entities agree', () => {
    const attribute = { type: 'Relationship', object: 'urn:ngsi-ld:B:1' };
    const schema = inferEntities([
      vehicle({
        owner: attribute,
        speed: { type: 'Property', value: 1 },
        mixed: { type: 'Property', value: 1 },
      }),
      vehicle({
        owner: { object: ['A:1'] },
        sign: { type: 'LanguageProperty', languageMap: { en: 'x' } },
        mixed: attribute,
      }),
      vehicle({
        place: { type: 'GeoProperty', value: { type: 'Point', coordinates: [1, 2] } },
        owner: 'urn:x:y',
      }),
    ]);
    const properties = namedSchemasIn(schema, 'properties');
    assert.deepEqual(properties.get('owner'), {
      type: ['array', 'string'],
      format: 'uri',
      items: { type: 'string', format: 'uri' },
    });
    assert.deepEqual(properties.get('speed'), { type: 'integer', 'x-ngsi': { type: 'Property' } });
    assert.deepEqual(properties.get('mixed'), { type: ['string', 'integer'], format: 'uri' });
    assert.deepEqual(properties.get('place'), { $ref: '#/$defs/Point', 'x-ngsi': { type: 'GeoProperty' } });
    assert.deepEqual(
      attributesOf(schema).attributes.map(({ name, kind }) => `${name} ${kind}`),
      ['mixed Property', 'owner Property', 'place GeoProperty', 'sign LanguageProperty', 'speed Property'],
    );
  });

  it('a schema inferred from entities keeps a kind that some entities show if the others are key-values, without kinds', () => {
    const properties = namedSchemasIn(
      inferEntities([
        vehicle({ owner: { type: 'Relationship', object: 'A:1' } }),
        vehicle({ owner: 'urn:ngsi-ld:B:1', sign: { languageMap: { en: 'x' } } }),
      ]),
      'properties',
    );
    assert.deepEqual(properties.get('owner'), {
      type: 'string',
      format: 'uri',
      'x-ngsi': { type: 'Relationship' },
    });
  });

  it('the schema inferred from entities keeps the unit of an attribute if all its instances agree', () => {
    const inUnit = (value: JsonValue, unitCode?: string) => ({
      type: 'Property',
      value,
      ...(unitCode && { unitCode }),
    });
    const unitsOf = (...entities: readonly JsonObject[]) => {
      const schema = namedSchemasIn(inferEntities(entities), 'properties').get('speed');
      return typeof schema === 'object' ? schema['x-ngsi'] : undefined;
    };
    const fast = vehicle({ speed: inUnit(1, 'KMH') });
    assert.deepEqual(unitsOf(fast, fast, vehicle({})), { type: 'Property', units: 'KMH' });
    for (const other of [
      inUnit(1),
      inUnit(1, 'KNT'),
      [inUnit(1, 'KMH'), { ...inUnit(2), datasetId: 'urn:d:1' }],
    ])
      assert.deepEqual(unitsOf(fast, vehicle({ speed: other })), { type: 'Property' });
  });

  it('a schema inferred from entities describes the values of all instances, but not the members that brokers add', () => {
    const schema = inferEntities([
      vehicle({
        createdAt: '2024-01-01T00:00:00Z',
        scope: '/a',
        '@context': 'https://example.org/context.jsonld',
        speed: [
          { type: 'Property', value: 1, modifiedAt: '2024-01-01T00:00:00Z' },
          { type: 'Property', value: 'fast', datasetId: 'urn:ngsi-ld:Dataset:1' },
        ],
      }),
    ]);
    assert.deepEqual(schema['required'], ['id', 'type', 'scope', 'speed']);
    assert.deepEqual(Object.keys(schema['properties'] ?? {}), ['id', 'type', 'scope', 'speed']);
    assert.deepEqual(namedSchemasIn(schema, 'properties').get('speed'), {
      type: ['string', 'integer'],
      'x-ngsi': { type: 'Property' },
    });
  });
});

describe('entities', () => {
  it('entities with a faulty structure are refused, with pointers into the submitted text', () => {
    const faults = faultsOf(
      [
        vehicle({}),
        { id: 'no uri', type: 'Vehicle', 'a/b': { type: 'Relationship', object: 5 } },
        { type: 'Vehicle' },
      ],
      {},
    );
    assert.deepEqual(column(faults, 'pointer'), ['/1/id', '/1/a~1b/object', '/2']);
    assert.deepEqual(column(faultsOf({ id: 'urn:a:1' }, {}), 'pointer'), ['']);
  });

  it('Features without an entity in them are refused, even if rules may be broken', () => {
    for (const isStrict of [true, false])
      assert.throws(
        () => inferSchema({ type: 'Feature', id: 'urn:a:1', properties: 5 }, { form: 'geojson', isStrict }),
        SamplesRefusedError,
      );
  });

  it('entities are refused if none of their types is the model', () => {
    const faults = faultsOf([vehicle({}), { ...vehicle({}), type: ['Boat', 'Ship'] }], { model: 'Vehicle' });
    assert.deepEqual(column(faults, 'pointer'), ['/1/type']);
    assert.match(faults[0]?.detail ?? '', /"Vehicle".*"Boat"/);
  });
});

function assertValid(schema: JsonObject, samples: readonly JsonObject[]): void {
  const model = prepareModel('Vehicle', bundle(resolveReferencesIn(schema)));
  for (const sample of samples) {
    const errors = validateEntity(sample, model).errors.map(
      ({ tokens, predicate }) => `${pointerOf(tokens)} ${predicate()}`,
    );
    assert.deepEqual(errors, [], `${JSON.stringify(schema)} refuses ${JSON.stringify(sample)}`);
  }
}

function vehicle(attributes: JsonObject): JsonObject {
  return { id: 'urn:ngsi-ld:Vehicle:1', type: 'Vehicle', ...attributes };
}

function inferEntities(samples: JsonValue, options: InferSchemaOptions = {}): JsonObject {
  return inferSchema(samples, { ...options, form: 'ngsi-ld' });
}

function faultsOf(samples: JsonValue, options: InferSchemaOptions): SamplesRefusedError['errors'] {
  try {
    inferEntities(samples, options);
  } catch (error) {
    if (error instanceof SamplesRefusedError) return error.errors;
    throw error;
  }
  return [];
}
