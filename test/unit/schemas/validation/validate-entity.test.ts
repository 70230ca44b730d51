import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  type JsonObject,
  type JsonValue,
  objectOf,
  pointerOf,
} from '../../../../sidecar/shared/json/json.js';
import { readEntity, type Form } from '../../../../sidecar/ngsi-ld/representation/read-entity.js';
import { validateEntity } from '../../../../sidecar/schemas/validation/validate-entity.js';
import { MISTAKES, modelOf, VEHICLE, VEHICLE_KEY_VALUES, VEHICLE_SCHEMA, withValue } from './models.js';
import { valueAt } from '../../../support/json-values.js';

const MODEL = modelOf(VEHICLE_SCHEMA);

type Line = readonly [pointer: string, detail: string];

describe('an entity validated by its model', () => {
  it('an entity is valid by its model in every form', () => {
    for (const entity of [VEHICLE, VEHICLE_KEY_VALUES, conciseVehicle()])
      assert.deepEqual(judged(entity), { errors: [], warnings: [] });
  });

  it('an entity has the same errors for an invalid geometry in every form, even if the schema accepts it', () => {
    const schema = { properties: { location: { type: 'object', description: 'GeoProperty.' } } };
    const wrong = { type: 'Point', coordinates: [1] };
    const errorsOf = (location: JsonValue, form?: Form) => {
      const entity = { id: 'urn:a:1', type: 'Vehicle', speed: 'x', location };
      return validateEntity(entity, modelOf(schema), form === undefined ? {} : { form }).errors.map(
        ({ tokens, predicate }) => [pointerOf(tokens), predicate()],
      );
    };
    const detail = 'must be a position, numbers [longitude, latitude], is [1]';
    for (const form of ['keyvalues', 'concise'] as const)
      assert.deepEqual(errorsOf(wrong, form), [['/location/coordinates', detail]], form);
    assert.deepEqual(errorsOf({ type: 'GeoProperty', value: wrong }), [
      ['/location/value/coordinates', detail],
    ]);
    assert.deepEqual(errorsOf({ dataset: { 'urn:d:1': wrong } }, 'keyvalues'), [
      ['/location/dataset/urn:d:1/coordinates', detail],
    ]);
    for (const right of [{ type: 'Point', coordinates: [1, 2] }, { type: 'Point' }])
      assert.deepEqual(errorsOf(right, 'keyvalues'), []);
  });

  it('an entity has an error for each missing attribute that the model requires', () => {
    const others = without(VEHICLE, 'speed');
    assert.deepEqual(judged(others).errors, [['', 'lacks the member "speed"']]);
    assert.deepEqual(judged({ ...others, sped: VEHICLE['speed'] ?? null }), {
      errors: [['/sped', 'is probably meant to be "speed", which is missing']],
      warnings: [],
    });
  });

  it('an entity may have the members that brokers add, even if the schema allows no other members', () => {
    const closed = {
      type: 'object',
      properties: { id: {}, type: {}, speed: {} },
      additionalProperties: false,
    };
    const added = { createdAt: '2026-01-31T12:00:00Z', modifiedAt: '2026-01-31T12:00:00Z', scope: '/a' };
    const entity = { id: 'urn:a:1', type: 'Vehicle', speed: 1, ...added };
    assert.deepEqual(judged(entity, closed), { errors: [], warnings: [] });
    assert.deepEqual(judged({ ...entity, other: 1 }, closed).errors, [
      ['/other', 'is not among the members that the schema allows'],
    ]);
    for (const member of ['createdAt', 'modifiedAt', 'deletedAt', 'expiresAt', 'scope']) {
      const value = member === 'scope' ? '/a' : '2026-01-31T12:00:00Z';
      assert.deepEqual(
        judged({ id: 'urn:a:1', type: 'Vehicle', speed: 1, [member]: value }, closed).errors,
        [],
        member,
      );
    }
    const said = { ...closed, properties: { ...closed.properties, scope: { const: '/b' } } };
    assert.deepEqual(
      judged(entity, said).errors.map(([at]) => at),
      ['/scope'],
    );
  });

  it('a schema that describes the @context sees that of the entity', () => {
    const schema: JsonObject = {
      properties: { '@context': { type: 'array' }, speed: { type: 'number' } },
      required: ['@context'],
    };
    const entity = { id: 'urn:a:1', type: 'Vehicle', speed: { type: 'Property', value: 1 } };
    assert.deepEqual(judged({ ...entity, '@context': ['https://a.example'] }, schema).errors, []);
    assert.deepEqual(judged({ ...entity, '@context': 'https://a.example' }, schema).errors, [
      ['/@context', 'must be an array, is the string "https://a.example"'],
    ]);
  });

  it('an entity without @context is valid with a warning if its model requires one, as a header may name it', () => {
    const entity = { id: 'urn:a:1', type: 'Vehicle', speed: { type: 'Property', value: 1 } };
    const url = { type: 'string', format: 'uri' };
    for (const context of [
      url,
      { type: 'array', prefixItems: [{ const: 'https://a.example' }], items: url },
    ]) {
      const schema: JsonObject = {
        allOf: [{ required: ['@context', 'speed'] }],
        properties: { '@context': context, speed: { type: 'number' } },
      };
      const { errors, warnings } = judged(entity, schema);
      assert.deepEqual([errors, warnings.map(([at]) => at)], [[], ['']]);
      assert.match(warnings[0]?.[1] ?? '', /@context/);
      assert.deepEqual(judged(without(entity, 'speed'), schema).errors, [['', 'lacks the member "speed"']]);
      assert.deepEqual(
        judged({ ...entity, '@context': 7 }, schema).errors.map(([at]) => at),
        ['/@context'],
      );
    }
    const undescribed = { required: ['@context'] };
    assert.deepEqual(judged({ ...entity, '@context': 'https://a.example' }, undescribed), {
      errors: [],
      warnings: [],
    });
    assert.deepEqual(judged(entity, undescribed).errors, []);
  });

  it('a type or scope is valid as an item and as an array of one, whichever of them the model describes', () => {
    const entity = { id: 'urn:a:1', speed: { type: 'Property', value: 1 } };
    const list: JsonObject = { type: 'array', items: { type: 'string', maxLength: 9 } };
    for (const type of ['Vehicle', ['Vehicle']])
      for (const scope of ['/a', ['/a']])
        for (const forms of [{ type: list, scope: list }, { scope: { type: 'string', maxLength: 9 } }])
          assert.deepEqual(
            judged({ ...entity, type, scope }, { properties: { ...forms, speed: {} } }).errors,
            [],
          );
    const schema: JsonObject = { properties: { type: list, scope: list, speed: {} } };
    const long = '/a/long/scope';
    const [error] = judged({ ...entity, type: 'Vehicle', scope: long }, schema).errors;
    assert.equal(error?.[0], '/scope');
    assert.equal(judged({ ...entity, type: 'Vehicle', scope: [long] }, schema).errors[0]?.[0], '/scope/0');
    const single: JsonObject = { properties: { scope: { type: 'string' } } };
    assert.deepEqual(judged({ ...entity, type: 'Vehicle', scope: ['/a', '/b'] }, single).errors, [
      ['/scope', 'must be a string, is an array'],
    ]);
  });

  it('an entity has one error for a wrong bare geometry, and one for a misspelled id', () => {
    const location = { type: 'Point', coordinates: [1] };
    assert.deepEqual(
      judged({ ...conciseVehicle(), location }).errors.map(([at]) => at),
      ['/location/coordinates'],
    );
    assert.equal(judged({ ...without(VEHICLE, 'id'), ID: 'urn:a:1' }).errors.length, 1);
  });

  it('an entity has only warnings about rules of NGSI-LD alone, on request', () => {
    const lenient = (members: JsonObject) => {
      const { errors, warnings } = validateEntity({ ...VEHICLE, ...members }, MODEL, { isStrict: false });
      return [errors, warnings].map((all) =>
        (all as readonly { tokens: readonly string[]; code?: string; keyword?: string }[]).map(
          ({ tokens, code, keyword }) => [pointerOf(tokens), code ?? keyword],
        ),
      );
    };
    assert.deepEqual(lenient({ speed: { type: 'Number', value: 12 } }), [[], [['/speed/type', 'ngsi-ld']]]);
    assert.deepEqual(lenient({ speed: { type: 'Number', value: -3 } }), [
      [['/speed/value', 'minimum']],
      [['/speed/type', 'ngsi-ld']],
    ]);
    assert.deepEqual(lenient({ speed: { type: 'Property' } }), [
      [['/speed', 'type']],
      [['/speed', 'ngsi-ld']],
    ]);
    assert.deepEqual(lenient({}), [[], []]);
  });

  it('an entity has one error for a fault of structure, and none that follows from it', () => {
    const cases: readonly (readonly [JsonObject, string])[] = [
      [{ speed: { type: 'Property' } }, '/speed'],
      [{ speed: { type: 'Propertie', value: 'fast' } }, '/speed/type'],
      [{ speed: { type: 'Property', object: 'urn:a:b' } }, '/speed/object'],
      [
        { location: { type: 'GeoProperty', value: { type: 'Circle', coordinates: [1, 2] } } },
        '/location/value/type',
      ],
      [{ owner: { type: 'Relationship', object: 'a b' } }, '/owner/object'],
      [{ id: 'a b' }, '/id'],
      [{ type: 'Vehicles' }, '/type'],
    ];
    for (const [members, pointer] of cases) {
      const { errors } = judged({ ...VEHICLE, ...members });
      assert.deepEqual(
        errors.map(([at]) => at),
        [pointer],
        JSON.stringify([members, errors]),
      );
    }
    assert.equal(judged(without(VEHICLE, 'id')).errors.length, 1);
  });

  it('an entity is validated by its model once for each instance of an attribute', () => {
    const instance = (value: JsonValue, datasetId?: string): JsonObject => ({
      type: 'Property',
      value,
      ...(datasetId === undefined ? {} : { datasetId }),
    });
    const speed = [instance(1, 'urn:d:1'), instance(-2, 'urn:d:2'), instance(-3), instance('4', 'urn:d:4')];
    assert.deepEqual(judged({ ...VEHICLE, speed, status: instance('lost') }).errors, [
      ['/speed/1/value', 'must be at least 0, is -2'],
      ['/speed/2/value', 'must be at least 0, is -3'],
      ['/speed/3/value', 'must be a number, is the string "4"'],
      ['/status/value', 'must be one of "free", "occupied", "closed", is "lost"'],
    ]);
    const twice = [
      instance(-1, 'urn:d:1'),
      instance(2, 'urn:d:1'),
      { type: 'Property', datasetId: 'urn:d:3' },
    ];
    assert.deepEqual(
      judged({ ...VEHICLE, speed: twice }).errors.map(([pointer]) => pointer),
      ['/speed/0/value', '/speed/1/datasetId', '/speed/2'],
    );
    const defaults = [instance(1), instance(-1)];
    assert.deepEqual(
      judged({ ...VEHICLE, speed: defaults }).errors.map(([pointer]) => pointer),
      ['/speed/1', '/speed/1/value'],
    );
  });

  it('an entity has warnings about attributes that its model does not know but allows', () => {
    const extra = {
      ...VEHICLE,
      ownr: { type: 'Property', value: 1 },
      colour: { type: 'Property', value: 1 },
    };
    assert.deepEqual(judged(extra), {
      errors: [],
      warnings: [
        ['/colour', 'is not an attribute of the model Vehicle'],
        ['/ownr', 'is not an attribute of the model Vehicle; did you mean "owner"?'],
      ],
    });
    const closed = { ...VEHICLE_SCHEMA, unevaluatedProperties: false };
    assert.deepEqual(judged({ ...VEHICLE, colour: { type: 'Property', value: 1 } }, closed), {
      errors: [['/colour', 'is not among the members that the schema allows']],
      warnings: [],
    });
    for (const open of [
      { patternProperties: { '^col': true } },
      { additionalProperties: { type: ['object', 'number'] } },
    ])
      assert.deepEqual(
        judged(
          { ...VEHICLE_KEY_VALUES, colour: 1 },
          { allOf: [VEHICLE_SCHEMA, open], $defs: VEHICLE_SCHEMA['$defs'] ?? {} },
        ).warnings,
        [],
      );
    assert.deepEqual(judged(VEHICLE_KEY_VALUES, {}), { errors: [], warnings: [] });
  });

  it('an entity has warnings about attributes of another kind than the model gives', () => {
    const owner = { type: 'Property', value: 'urn:ngsi-ld:Person:1' };
    assert.deepEqual(judged({ ...VEHICLE, owner }), {
      errors: [],
      warnings: [['/owner', 'is a Property, where the model has a Relationship']],
    });
    const asRelationship = { id: 'urn:a:b', type: 'Vehicle', a: { type: 'Relationship', object: 'urn:a:c' } };
    for (const [a, isSaid] of [
      [{ description: 'Property. A text' }, true],
      [{ description: ' property, a text' }, true],
      [{ 'x-ngsi': { units: 'KMH' } }, true],
      [{ description: 'Properties of it' }, false],
    ] as const)
      assert.deepEqual(
        judged(asRelationship, { properties: { a } }).warnings,
        isSaid ? [['/a', 'is a Relationship, where the model has a Property']] : [],
        JSON.stringify(a),
      );
    const silent = { properties: { a: { type: 'string' } } };
    const entity = { id: 'urn:a:b', type: 'Vehicle', a: { type: 'Relationship', object: 'urn:a:c' } };
    assert.deepEqual(judged(entity, silent).warnings, [], 'the model says nothing of its kind');
  });

  it('an entity is validated with and without the wrapping of kinds, as its model describes them', () => {
    const wrapped = { type: 'object', properties: { vocab: { const: 'a' } }, required: ['vocab'] };
    for (const own of [wrapped, { anyOf: [{ type: 'null' }, { $ref: '#/$defs/w' }] }, { const: 'a' }]) {
      const schema: JsonObject = { properties: { a: own }, $defs: { w: wrapped } };
      for (const type of ['VocabProperty', 'VocabularyProperty']) {
        const entity = (vocab: string): JsonObject => ({
          id: 'urn:a:b',
          type: 'Vehicle',
          a: { type, vocab },
        });
        assert.deepEqual(judged(entity('a'), schema).errors, []);
        assert.deepEqual(judged(entity('b'), schema).errors, [['/a/vocab', 'must be "a", is "b"']]);
      }
    }
  });

  it('an entity may give its type as an IRI, or among others', () => {
    for (const type of ['https://types.example/Vehicle', ['Car', 'Vehicle']])
      assert.deepEqual(judged({ ...VEHICLE, type }).errors, []);
    assert.deepEqual(
      judged({ ...VEHICLE, type: ['Car', 'Bus'] }).errors.map(([pointer]) => pointer),
      ['/type'],
    );
  });

  it("an entity has the validator's own messages if value and schema are too deep to be explained", () => {
    let $ref: JsonValue = 0;
    for (let level = 0; level < 3000; level += 1) $ref = { a: $ref };
    const schema = {
      properties: { deep: { properties: { a: { $ref: '#/properties/deep' } }, not: { const: 0 } } },
    };
    const { errors } = judged({ id: 'urn:a:b', type: 'Vehicle', deep: $ref }, schema, 'keyvalues');
    assert.ok(errors.length === 1 && errors[0]?.[0].startsWith('/deep/a/a'));
  });

  it("an entity has the validator's own messages if the explanation would need too much memory", () => {
    const allOf = Array.from({ length: 10 }, (_, index) => ({ maxItems: index + 1 }));
    const schema = { properties: { speed: { type: 'number' }, many: { items: { allOf } } } };
    const detailsOf = (count: number) =>
      judged(
        { id: 'urn:a:b', type: 'Vehicle', speed: 'x', many: Array.from({ length: count }, () => []) },
        schema,
        'keyvalues',
      ).errors;
    assert.deepEqual(detailsOf(27_000), [['/speed', 'must be a number, is the string "x"']]);
    assert.deepEqual(detailsOf(28_000), [['/speed', 'must be number']]);
  });
});

describe('any entity', () => {
  it('any entity has as many errors as independent mistakes, each at its place', () => {
    fc.assert(
      fc.property(fc.subarray([...MISTAKES]), fc.boolean(), (mistakes, reverse) => {
        let entity: JsonValue = VEHICLE;
        for (const [tokens, value] of mistakes) entity = withValue(entity, tokens, value);
        const members = Object.entries(entity as JsonObject);
        const found = judged(objectOf(reverse ? members.reverse() : members)).errors.map(
          ([pointer]) => pointer,
        );
        assert.deepEqual([...found].sort(), mistakes.map(([tokens]) => pointerOf(tokens)).sort());
      }),
    );
  });

  it('an entity is valid exactly if its structure is right and its key-values form validates', () => {
    fc.assert(
      fc.property(entities(), (entity) => {
        const { faults, readings } = readEntity(entity, { model: MODEL.name, unwraps: MODEL.unwraps });
        const isRight = readings.every(
          (reading) => reading.attribute !== undefined || MODEL.firstFault(reading.keyValues) === undefined,
        );
        const { errors, warnings } = validateEntity(entity, MODEL);
        if (readings.length === 1) assert.equal(errors.length === 0, faults.length === 0 && isRight);
        for (const { tokens, predicate } of [...errors, ...warnings]) {
          assert.ok(predicate().length > 0);
          assert.notEqual(valueAt(entity, tokens), undefined, pointerOf(tokens));
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('any JSON can be validated as an entity in any form', () => {
    const forms = fc.constantFrom<Form>('normalized', 'concise', 'keyvalues');
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), forms, (object, form) => {
        const entity = JSON.parse(JSON.stringify(object)) as JsonObject;
        assert.notEqual(validateEntity(entity, MODEL, { form }).errors.length, 0);
      }),
    );
  });
});

/** The errors and warnings by pointer. */
function judged(
  entity: JsonObject,
  schema?: JsonObject,
  form?: Form,
): { readonly errors: readonly Line[]; readonly warnings: readonly Line[] } {
  const { errors, warnings } = validateEntity(
    entity,
    schema === undefined ? MODEL : modelOf(schema),
    form === undefined ? {} : { form },
  );
  const lines = (all: readonly { readonly tokens: readonly string[]; readonly predicate: () => string }[]) =>
    all
      .map(({ tokens, predicate }): Line => [pointerOf(tokens), predicate()])
      .sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
  return { errors: lines(errors), warnings: lines(warnings) };
}

function without(entity: JsonObject, member: string): JsonObject {
  return objectOf(Object.entries(entity).filter(([name]) => name !== member));
}

function conciseVehicle(): JsonObject {
  return {
    ...VEHICLE_KEY_VALUES,
    speed: { value: 50, unitCode: 'KMH' },
    owner: { object: 'urn:ngsi-ld:Person:1' },
    word: { vocab: 'car' },
  };
}

/** Vehicles with some members replaced by anything, or absent. */
function entities(): fc.Arbitrary<JsonObject> {
  const names = Object.keys(VEHICLE);
  const values = fc.oneof(
    fc.constantFrom<JsonValue>(
      { type: 'Property', value: 5 },
      { type: 'Property', value: 'free' },
      { type: 'Relationship', object: 'urn:a:b' },
      { type: 'LanguageProperty', languageMap: { en: 'One' } },
      [
        { type: 'Property', value: 1 },
        { type: 'Property', value: 'x', datasetId: 'urn:d:1' },
      ],
    ),
    fc.jsonValue({ maxDepth: 3 }).map((value) => value as JsonValue),
  );
  return fc
    .tuple(fc.subarray(names), fc.dictionary(fc.constantFrom(...names, 'extra'), values, { maxKeys: 3 }))
    .map(([kept, changed]) => ({
      ...Object.fromEntries(Object.entries(VEHICLE).filter(([name]) => kept.includes(name))),
      ...changed,
    }));
}
