import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { attributesOf } from '../../../../sidecar/schemas/json-schema/attributes.js';
import { normalizedExample } from '../../../../sidecar/schemas/json-schema/example.js';
import { validateInLikelyForm } from '../../../../sidecar/schemas/validation/choose-form.js';
import { exampleFor } from '../../../../sidecar/schemas/validation/tasks.js';
import { prepareModel } from '../../../../sidecar/schemas/validation/model.js';
import { Spelling } from '../../../../sidecar/schemas/json-schema/spelling.js';
import { isObject, type JsonObject } from '../../../../sidecar/shared/json/json.js';
import { column } from '../../../support/columns.js';

const POINT: JsonObject = {
  type: 'object',
  required: ['type', 'coordinates'],
  properties: {
    type: { enum: ['Point'] },
    coordinates: { type: 'array', items: { type: 'number' }, minItems: 2 },
  },
};

/** Properties whose kind and value exclude each other, or that look like something else. */
const TRAPS: Readonly<Record<string, JsonObject>> = {
  numericRelationship: { type: 'number', description: 'Relationship. A weight' },
  listOfObjects: {
    description: 'Relationship. Images',
    type: 'array',
    items: { type: 'object', properties: { url: { type: 'string', format: 'uri' } } },
  },
  listOfGeometries: { description: 'GeoProperty. Areas', type: 'array', items: POINT },
  objectWithGeometry: { description: 'GeoProperty. Where', type: 'object', properties: { location: POINT } },
  bareText: { description: 'LanguageProperty. A title', type: 'string' },
  bareList: { description: 'ListProperty. One', type: 'integer' },
  valueWithUnit: {
    description: 'Property. A flow',
    type: 'object',
    required: ['value', 'unitText'],
    properties: { value: { type: 'number' }, unitText: { type: 'string' } },
  },
  listOfValues: {
    description: 'Property. Predictions',
    type: 'object',
    properties: {
      value: { type: 'array', items: { type: 'object', properties: { tide: { enum: ['high'] } } } },
      unitText: { type: 'string' },
    },
  },
  nestedAttribute: {
    type: 'object',
    required: ['inner'],
    properties: { inner: { properties: { type: { const: 'Property' }, value: { type: 'number' } } } },
  },
};

function made(properties: JsonObject, required: readonly string[] = []) {
  const schema: JsonObject = {
    type: 'object',
    required: ['id', 'type', ...required],
    properties: { id: { type: 'string' }, plain: { type: 'integer' }, ...properties },
  };
  const { example, faults, normalizedFaults } = exampleFor({ schema, entityType: 'Thing' });
  assert.ok(isObject(example));
  const model = prepareModel('Thing', schema);
  const errorsOf = (entity: JsonObject) => validateInLikelyForm(entity, model, {}, new Spelling()).errors;
  return {
    example,
    isValid: errorsOf(example).length === 0,
    isValidNormalized: errorsOf(normalizedExample(example, attributesOf(schema).attributes)).length === 0,
    faults,
    normalizedFaults,
  };
}

describe("a model's example", () => {
  it("a model's example is valid in both forms, without an attribute whose kind and value exclude each other", () => {
    for (const [name, schema] of Object.entries(TRAPS)) {
      const { example, faults, normalizedFaults, ...verdicts } = made({ [name]: schema });
      assert.deepEqual([faults, normalizedFaults], [[], []], name);
      assert.deepEqual(verdicts, { isValid: true, isValidNormalized: true }, name);
      assert.equal(example['plain'], 1, name);
    }
    const { example } = made({
      valueWithUnit: TRAPS['valueWithUnit'] ?? null,
      bareText: TRAPS['bareText'] ?? null,
    });
    assert.deepEqual(Object.keys(example), ['id', 'type', 'plain', 'valueWithUnit']);
  });

  it("the faults of the normalized form of a model's example are reported if the model requires such an attribute", () => {
    const { isValid, isValidNormalized, faults, normalizedFaults } = made(
      { weight: TRAPS['numericRelationship'] ?? null },
      ['weight'],
    );
    assert.deepEqual([isValid, isValidNormalized, faults], [true, false, []]);
    assert.deepEqual(column(normalizedFaults, 'pointer'), ['/weight/object']);
  });

  it("a model's example is valid at least in key-values form if no other form can be valid", () => {
    const area: JsonObject = { description: 'GeoProperty. Where', oneOf: [POINT, { type: 'string' }] };
    const weight = TRAPS['numericRelationship'] ?? null;
    const { example, faults, normalizedFaults } = made({ area, weight }, ['area', 'weight']);
    assert.deepEqual(faults, []);
    assert.equal(((example['area'] as JsonObject)['coordinates'] as readonly unknown[]).length, 2);
    assert.deepEqual(column(normalizedFaults, 'pointer'), ['/weight/object']);
  });

  it("a model's example has faults if the model allows no entity of NGSI-LD", () => {
    const { faults } = made({ id: { type: 'string', pattern: '^[0-9]+$' } });
    assert.deepEqual([...new Set(column(faults, 'pointer'))], ['/id']);
  });

  it("a model's example has the type that the schema requires, even if that is not the model's name", () => {
    for (const type of [{ enum: ['Other'] }, { const: 'Other' }, { enum: ['Other', 'Another'] }]) {
      const { example, isValid, isValidNormalized } = made({ type });
      assert.deepEqual([example['type'], isValid, isValidNormalized], ['Other', true, true]);
    }
  });
});
