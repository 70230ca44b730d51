import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { type JsonObject, type JsonValue, pointerOf } from '../../../../sidecar/shared/json/json.js';
import { readEntity, type ReadOptions } from '../../../../sidecar/ngsi-ld/representation/read-entity.js';
import { VALUE_MEMBERS } from '../../../../sidecar/ngsi-ld/members.js';
import { entityOf, normalizedForm, sampleAttributes, valueAt } from './entities.js';
import { words } from '../../../support/words.js';

const POINT = { type: 'Point', coordinates: [8.5, 47.4] };
const PROPERTY = { type: 'Property', value: 1 };

/** Faults of a Vehicle, as `pointer keyword`. */
function faultsOf(entity: JsonObject, options: ReadOptions = {}): readonly string[] {
  return readEntity(entity, options).faults.map(({ tokens, keyword }) => `${pointerOf(tokens)} ${keyword}`);
}

/** A valid entity with this attribute. */
const withAttribute = (x: JsonValue) => entityOf(Object.entries({ x, other: PROPERTY }));

function faultsOfAttribute(attribute: JsonValue, options: ReadOptions = {}): readonly string[] {
  return faultsOf(withAttribute(attribute), options);
}

/** Warnings, as `pointer code`. */
function warningsOf(entity: JsonObject, options: ReadOptions = {}): readonly string[] {
  return readEntity(entity, options).warnings.map(({ tokens, code }) => `${pointerOf(tokens)} ${code}`);
}

const warningsOfAttribute = (attribute: JsonValue) => warningsOf(withAttribute(attribute));

function detailOf(entity: JsonObject, options: ReadOptions = {}): string {
  const { faults } = readEntity(entity, options);
  assert.equal(faults.length, 1);
  return faults[0]?.detail ?? '';
}

it('the structure of an entity needs an id that is a URI, and a type, in either notation', () => {
  assert.deepEqual(faultsOf({ '@id': 'urn:a:b', '@type': 'Vehicle' }), []);
  assert.deepEqual(faultsOf({}), [' required', ' required']);
  for (const id of ['vehicle1', 'urn:', 'urn:a b', '', 5, null, ['urn:a:b']])
    assert.deepEqual(faultsOf({ id, type: 'Vehicle' }), ['/id format'], JSON.stringify(id));
  assert.deepEqual(faultsOf({ '@id': 'x', type: 'A' }), ['/@id format']);
  assert.deepEqual(faultsOf({ id: 'urn:a:b', '@id': 'urn:a:b', type: 'A' }), ['/@id additionalProperties']);
});

it('the structure of an entity has one type or several different ones', () => {
  const of = (type: JsonValue) => faultsOf({ id: 'urn:a:b', type });
  assert.deepEqual(of(['A', 'B']), []);
  assert.deepEqual(of(''), ['/type type']);
  assert.deepEqual(of({ a: 1 }), ['/type type']);
  assert.deepEqual(of([]), ['/type minItems']);
  assert.deepEqual(of(['A', 5, 'A']), ['/type/1 type', '/type/2 uniqueItems']);
});

it("the structure of an entity has the model's type, alone, among others or as an IRI that ends in it", () => {
  const of = (type: JsonValue) => faultsOf({ id: 'urn:a:b', type }, { model: 'Vehicle' });
  for (const type of [
    'Vehicle',
    ['Thing', 'Vehicle'],
    'https://a.example/Vehicle',
    'https://a.example/#Vehicle',
    'ex:Vehicle',
  ])
    assert.deepEqual(of(type), [], JSON.stringify(type));
  for (const type of ['Car', 'https://a.example/Car', ['Car', 'Thing'], 'SuperVehicle'])
    assert.deepEqual(of(type), ['/type const'], JSON.stringify(type));
});

it('the fault of an entity of another type names the type found, and the type probably meant', () => {
  const of = (type: JsonValue) => detailOf({ id: 'urn:a:b', type }, { model: 'Vehicle' });
  assert.equal(
    of('Vehicel'),
    'must be "Vehicle", the type of the model\'s entities, is "Vehicel"; did you mean "Vehicle"?',
  );
  assert.match(of('vehicle'), /did you mean "Vehicle"\?$/);
  assert.equal(
    of(['Car', 'Boat']),
    'must contain "Vehicle", the type of the model\'s entities, is "Car", "Boat"',
  );
  assert.match(of(['Car', 'vehicle']), /did you mean "Vehicle"\?$/);
  assert.match(of('Feature'), /GeoJSON/);
});

it('the structure of an entity has scopes in their format', () => {
  for (const scope of ['/Madrid/Gardens', 'Madrid', ['/a', '/b_1']])
    assert.deepEqual(faultsOf(entityOf([['scope', scope]])), []);
  const wrong = entityOf([['scope', ['/a', '//', 5]]]);
  assert.deepEqual(faultsOf(wrong), ['/scope/1 format', '/scope/2 format']);
});

it('the structure of an attribute needs the member of its kind, and refuses members of other kinds', () => {
  for (const [kind, own] of Object.entries(VALUE_MEMBERS)) {
    assert.deepEqual(faultsOfAttribute({ type: kind }), ['/x required'], kind);
    const other = own === 'languageMap' ? 'valueList' : 'languageMap';
    assert.deepEqual(
      faultsOfAttribute({ type: kind, [other]: 'urn:a:b' }),
      [`/x/${other} additionalProperties`],
      kind,
    );
  }
  assert.deepEqual(faultsOfAttribute({ ...PROPERTY, object: 'urn:a:b' }), ['/x/object additionalProperties']);
  assert.deepEqual(faultsOfAttribute({ type: 'Relationship', value: 'urn:a:b' }), [
    '/x/value additionalProperties',
  ]);
  assert.deepEqual(faultsOfAttribute({ value: 1, vocab: 'a' }), ['/x/vocab additionalProperties']);
});

it('the structure of an attribute needs a known type, and the fault suggests one for a misspelling', () => {
  assert.deepEqual(faultsOfAttribute({ type: 'Text', value: 'a' }), ['/x/type enum']);
  const detail = (type: string) =>
    detailOf(
      entityOf([
        ['x', { type, value: 1 }],
        ['other', PROPERTY],
      ]),
    );
  assert.equal(detail('Text'), 'must be "Property": "Text" is a type of NGSIv2, not of NGSI-LD');
  assert.equal(
    detail('property'),
    'must be the type of an attribute, is "property"; did you mean "Property"?',
  );
  assert.match(detail('string'), /^must be the type of an attribute \(Property, .*\), is "string"$/);
  assert.deepEqual(faultsOfAttribute({ type: 'https://uri.etsi.org/ngsi-ld/Property', value: 1 }), []);
});

it('the structure of an attribute may be concise, unless the form is given as normalized', () => {
  const normalized = { form: 'normalized' } as const;
  for (const [concise, fault] of [
    [5, '/x type'],
    [{ value: 5 }, '/x required'],
    [POINT, '/x type'],
    [['a', 'b'], '/x type'],
    [{ ...PROPERTY, accuracy: 0.5 }, '/x/accuracy type'],
  ] as const) {
    assert.deepEqual(faultsOfAttribute(concise), []);
    assert.deepEqual(faultsOfAttribute(concise, normalized), [fault]);
  }
  assert.deepEqual(faultsOfAttribute([], normalized), ['/x minItems']);
  assert.deepEqual(faultsOfAttribute([PROPERTY, 5], normalized), ['/x/1 type']);
});

it('the structure of an attribute has values that its kind allows', () => {
  const cases: readonly (readonly [JsonObject, readonly string[]])[] = [
      [{ type: 'Property', value: null }, ['/x/value type']],
      [{ type: 'Relationship', object: 'a b' }, ['/x/object format']],
      [{ type: 'Relationship', object: [] }, ['/x/object minItems']],
      [{ type: 'Relationship', object: ['urn:a:b', 5] }, ['/x/object/1 format']],
      [{ type: 'LanguageProperty', languageMap: 'yes' }, ['/x/languageMap type']],
      [{ type: 'LanguageProperty', languageMap: { en: 'a', de: 5, fr: ['a', 1] } }, ['/x/languageMap/de type', '/x/languageMap/fr/1 type']],
      [{ type: 'VocabProperty', vocab: { a: 1 } }, ['/x/vocab type']],
      [{ type: 'VocabProperty', vocab: ['a', 1] }, ['/x/vocab/1 type']],
      [{ type: 'ListProperty', valueList: 5 }, ['/x/valueList type']],
      [{ type: 'ListRelationship', objectList: 'urn:a:b' }, ['/x/objectList type']],
      [{ type: 'ListRelationship', objectList: [{ object: 'urn:a:b' }, 'urn:a:c', { object: 5 }, {}, 5] }, ['/x/objectList/2/object format', '/x/objectList/3 required', '/x/objectList/4 format']],
    ]; // oxfmt-ignore
  for (const [attribute, faults] of cases)
    assert.deepEqual(faultsOfAttribute(attribute), faults, JSON.stringify(attribute));
});

it('the structure of an attribute has its own members in their formats', () => {
  const cases: readonly (readonly [JsonObject, readonly string[]])[] = [
      [{ observedAt: '2026-01-31T12:00:00.5Z', datasetId: '@none', unitCode: 'KMH', valueType: 'Speed' }, []],
      [{ observedAt: '2026-01-31' }, ['/x/observedAt format']],
      [{ observedAt: '2026-01-31T12:00:00' }, ['/x/observedAt format']],
      ...['2026-01-31 12:00:00Z', '2026-01-31T12:60:00Z', '2026-01-31T12:00:60Z', '2026-01-31T12:00:00+02'].map(
        (observedAt) => [{ observedAt }, ['/x/observedAt format']] as const,
      ),
      [{ observedAt: '2026-01-31T12:00:00+24:00' }, ['/x/observedAt format']],
      [{ observedAt: 5 }, ['/x/observedAt format']],
      [{ expiresAt: '', createdAt: '2026-02-30T12:00:00Z', deletedAt: null }, ['/x/expiresAt format', '/x/createdAt format', '/x/deletedAt format']],
      [{ datasetId: 'a' }, ['/x/datasetId format']],
      [{ unitCode: 5 }, ['/x/unitCode type']],
      [{ objectType: ['A', 5] }, ['/x/objectType/1 type']],
      [{ '@context': {} }, ['/x/@context additionalProperties']],
    ]; // oxfmt-ignore
  for (const [members, faults] of cases)
    assert.deepEqual(faultsOfAttribute({ ...PROPERTY, ...members }), faults, JSON.stringify(members));
});

it('attributes of attributes follow the same rules, at any depth', () => {
  const inner = {
    ...PROPERTY,
    of: { type: 'Relationship', object: 5, at: { type: 'GeoProperty', value: 7 } },
  };
  assert.deepEqual(faultsOfAttribute({ ...PROPERTY, a: inner }), [
    '/x/a/of/object format',
    '/x/a/of/at/value type',
  ]);
  const deep = Array.from({ length: 500 }).reduce<JsonObject>((below) => ({ ...PROPERTY, a: below }), {
    type: 'Property',
  });
  const [fault] = readEntity(entityOf([['x', deep]])).faults;
  assert.equal(fault?.tokens.length, 501);
});

it('the instances of an attribute differ by their datasetId', () => {
  const of = (...datasetIds: readonly (string | undefined)[]) =>
    faultsOfAttribute(
      datasetIds.map((datasetId) => (datasetId === undefined ? PROPERTY : { ...PROPERTY, datasetId })),
    );
  assert.deepEqual(of(undefined, 'urn:a:1', 'urn:a:2'), []);
  assert.deepEqual(of('urn:a:1', 'urn:a:2', 'urn:a:1'), ['/x/2/datasetId uniqueItems']);
  assert.deepEqual(of(undefined, undefined), ['/x/1 uniqueItems']);
  assert.deepEqual(of(undefined, '@none'), ['/x/1 uniqueItems']);
  assert.deepEqual(faultsOfAttribute([PROPERTY, 5]), ['/x/1 type']);
});

it('the fault of a misspelled member of an attribute has its name', () => {
  const detail = detailOf(entityOf([['x', { type: 'Relationship', Object: ['urn:a:b'] }]]));
  assert.equal(
    detail,
    'is a Relationship and must have the member "object"; "Object" is not a known member; did you mean "object"?',
  );
});

const TIMES = ['expiresAt', 'createdAt', 'modifiedAt', 'deletedAt'];

it('each time of an entity must be a date-time, and is not an attribute', () => {
  for (const name of TIMES) {
    assert.deepEqual(faultsOf(entityOf([[name, '2026-01-31T12:00:00Z']])), []);
    assert.deepEqual(faultsOf(entityOf([[name, 'soon']])), [`/${name} format`]);
    assert.deepEqual(warningsOf(entityOf([[name, '2026-01-31T12:00:00+01:00']])), [`/${name} not-utc`]);
  }
});

it('each time of an attribute must be a date-time', () => {
  for (const name of ['observedAt', ...TIMES]) {
    assert.deepEqual(faultsOfAttribute({ ...PROPERTY, [name]: '2026-01-31T12:00:00Z' }), []);
    assert.deepEqual(faultsOfAttribute({ ...PROPERTY, [name]: 'soon' }), [`/x/${name} format`]);
  }
});

it('each text of an attribute must be a string, and a type of its objects one or several', () => {
  for (const name of ['unitCode', 'valueType', 'lang']) {
    assert.deepEqual(faultsOfAttribute({ ...PROPERTY, [name]: 'a' }), []);
    for (const wrong of [5, null, ['a']])
      assert.deepEqual(faultsOfAttribute({ ...PROPERTY, [name]: wrong }), [`/x/${name} type`]);
  }
  const related = { type: 'Relationship', object: 'urn:a:b' };
  for (const objectType of ['A', ['A', 'B']])
    assert.deepEqual(faultsOfAttribute({ ...related, objectType }), []);
  assert.deepEqual(faultsOfAttribute({ ...related, objectType: 5 }), ['/x/objectType type']);
});

it('members that brokers add to an attribute are not attributes, whatever they contain', () => {
  for (const name of words(`
      @type id @id instanceId entity entityList entityIdSealed entityTypeSealed previousValue previousObject
      previousLanguageMap previousVocab previousJson previousValueList previousObjectList
    `)) {
    for (const value of [5, { type: 'Propertx', value: 1 }]) {
      const attribute = { ...PROPERTY, [name]: value };
      assert.deepEqual([faultsOfAttribute(attribute), warningsOfAttribute(attribute)], [[], []], name);
      assert.deepEqual(faultsOfAttribute(attribute, { form: 'normalized' }), [], name);
    }
  }
});

it('each name of a member of attributes causes a warning as the name of an attribute, in every form', () => {
  for (const name of words('observedAt unitCode datasetId instanceId valueType objectType lang'))
    assert.deepEqual(warningsOf(entityOf([[name, PROPERTY]])), [`/${name} reserved-name`]);
  const time = entityOf([['observedAt', '2026-01-31T12:00:00Z']]);
  for (const form of ['concise', 'keyvalues'] as const)
    assert.deepEqual(warningsOf(time, { form }), ['/observedAt reserved-name']);
});

it('a unit belongs to a Property, a ListProperty or a GeoProperty, and causes a warning in all others', () => {
  const values: Readonly<Record<string, JsonValue>> = {
    Property: 1,
    ListProperty: [1],
    GeoProperty: POINT,
    LanguageProperty: { en: 'a' },
    VocabProperty: 'a',
    JsonProperty: {},
    Relationship: 'urn:a:b',
    ListRelationship: [],
  };
  for (const [kind, member] of Object.entries(VALUE_MEMBERS)) {
    const attribute = { type: kind, [member]: values[kind] ?? null, unitCode: 'KMH' };
    const hasUnit = ['Property', 'ListProperty', 'GeoProperty'].includes(kind);
    assert.deepEqual(warningsOfAttribute(attribute), hasUnit ? [] : ['/x/unitCode unit-without-value'], kind);
  }
});

it('the fault of a Relationship with both an object and a value says to which kind the value belongs', () => {
  const both = entityOf([['x', { type: 'Relationship', object: 'urn:a:b', value: 1 }]]);
  assert.equal(
    detailOf(both),
    'must not be in a Relationship, whose value is in object; value belongs to a Property',
  );
  const value = entityOf([['x', { type: 'Relationship', value: 'urn:a:b' }]]);
  assert.equal(
    readEntity(value).faults.at(-1)?.detail,
    'must be called object: a Relationship does not have a value',
  );
});

it('an object without a value that has a datasetId or a time causes a warning that the whole object is the value', () => {
  for (const member of [{ datasetId: 'urn:a:1' }, { observedAt: '2026-01-31T12:00:00Z' }]) {
    assert.deepEqual(warningsOfAttribute({ val: 5, ...member }), ['/x no-value-member']);
    assert.deepEqual(warningsOf(entityOf([['x', { val: 5, ...member }]]), { form: 'normalized' }), []);
  }
  assert.deepEqual(warningsOfAttribute({ val: 5 }), []);
});

it('an NGSI-LD Null is a single value, not the first of several', () => {
  const nullText = 'urn:ngsi-ld:null';
  for (const [kind, member, value, isNull] of [
    ['Property', 'value', nullText, true],
    ['ListProperty', 'valueList', [nullText], true],
    ['ListProperty', 'valueList', [nullText, 1], false],
    ['LanguageProperty', 'languageMap', { '@none': nullText }, true],
    ['LanguageProperty', 'languageMap', { '@none': nullText, en: 'a' }, false],
    ['LanguageProperty', 'languageMap', { en: nullText }, false],
  ] as const)
    assert.deepEqual(
      warningsOfAttribute({ type: kind, [member]: value }),
      isNull ? [`/x/${member} ngsi-ld-null`] : [],
      JSON.stringify(value),
    );
});

it('a JsonProperty has an object or an array of objects, and causes a warning otherwise', () => {
  for (const [json, isOdd] of [
    [{}, false],
    [[{}, {}], false],
    [[], false],
    [[{}, 5], true],
    [[5, {}], true],
    ['a', true],
  ] as const)
    assert.deepEqual(
      warningsOfAttribute({ type: 'JsonProperty', json }),
      isOdd ? ['/x/json json-scalar'] : [],
      JSON.stringify(json),
    );
});

it('every wrong item of a list is reported, also after valid ones', () => {
  const wrong = [{ object: 'urn:a:b' }, 5, 'urn:a:c', { object: 'a b' }];
  assert.deepEqual(faultsOfAttribute({ type: 'ListRelationship', objectList: wrong }), [
    '/x/objectList/1 format',
    '/x/objectList/3/object format',
  ]);
  assert.deepEqual(faultsOfAttribute({ type: 'Relationship', object: ['urn:a:b', 'a', 'urn:a:c', ''] }), [
    '/x/object/1 format',
    '/x/object/3 format',
  ]);
  assert.deepEqual(faultsOfAttribute({ type: 'VocabProperty', vocab: [1, 'a', 2] }), [
    '/x/vocab/0 type',
    '/x/vocab/2 type',
  ]);
});

it('the list of types in a message ends after five', () => {
  const of = (count: number) =>
    detailOf(
      { id: 'urn:a:b', type: Array.from({ length: count }, (_, index) => `T${index}`) },
      { model: 'Vehicle' },
    );
  assert.match(of(5), /is "T0", "T1", "T2", "T3", "T4"$/);
  assert.match(of(6), /is "T0", "T1", "T2", "T3", "T4", …$/);
});

it('an invalid name of a type is reported alone, at any position among others', () => {
  for (const type of [
    [5, 'Car'],
    ['Car', 5],
  ])
    assert.deepEqual(faultsOf({ id: 'urn:a:b', type }, { model: 'Vehicle' }), [
      `/type/${type.indexOf(5)} type`,
    ]);
});

it('an attribute inside a value causes a warning at any depth, but not inside a typed value, which is not converted', () => {
  for (const [value, warnings] of [
    [{ '@type': 'Thing', '@value': PROPERTY }, []],
    [{ '@value': [PROPERTY] }, []],
    [{ a: [{ '@type': 'Thing', '@value': PROPERTY }, { b: PROPERTY }] }, ['/x/value/a/1/b nested-attribute']],
    [{ '@value': PROPERTY, more: 1 }, ['/x/value/@value nested-attribute']],
  ] as const)
    assert.deepEqual(
      warningsOfAttribute({ type: 'Property', value: value as JsonValue }),
      warnings,
      JSON.stringify(value),
    );
});

it('an unusual part of an entity that is accepted causes a warning', () => {
  const cases: readonly (readonly [JsonValue, string])[] = [
    [{ ...PROPERTY, observedAt: '2026-01-31T12:00:00+01:00' }, '/x/observedAt not-utc'],
    [{ type: 'LanguageProperty', languageMap: { 'no tag': 'a' } }, '/x/languageMap/no tag language-tag'],
    [{ type: 'JsonProperty', json: 5 }, '/x/json json-scalar'],
    [{ type: 'Property', value: 'urn:ngsi-ld:null' }, '/x/value ngsi-ld-null'],
    [
      { type: 'LanguageProperty', languageMap: { '@none': 'urn:ngsi-ld:null' } },
      '/x/languageMap ngsi-ld-null',
    ],
    [{ type: 'ListProperty', valueList: ['urn:ngsi-ld:null'] }, '/x/valueList ngsi-ld-null'],
    [{ type: 'Relationship', object: 'urn:a:b', unitCode: 'KMH' }, '/x/unitCode unit-without-value'],
    [{ type: 'Property', value: { a: [PROPERTY, PROPERTY] } }, '/x/value/a/0 nested-attribute'],
    [{ ...PROPERTY, 'a-b': PROPERTY }, '/x/a-b name'],
    [{ val: 5, observedAt: '2026-01-31T12:00:00Z' }, '/x no-value-member'],
  ];
  for (const [attribute, warning] of cases) {
    assert.deepEqual(warningsOfAttribute(attribute), [warning], JSON.stringify(attribute));
    assert.deepEqual(faultsOfAttribute(attribute), [], JSON.stringify(attribute));
  }
});

it('a wrong geometry of an entity in key-values form is reported at its place, in each dataset', () => {
  const wrong = { type: 'Point', coordinates: [1, 'x'] };
  const entity = entityOf([
    ['x', { dataset: { 'urn:a:1': wrong, '@none': wrong, 'urn:a:2': 5, 'urn:a:3': wrong } }],
    ['y', wrong],
    ['z', { inside: wrong }],
  ]);
  const { faults } = readEntity(entity, { form: 'keyvalues' });
  assert.deepEqual(
    faults.map(({ tokens }) => tokens.join(' ')),
    [
      'x dataset @none coordinates 1',
      'x dataset urn:a:1 coordinates 1',
      'x dataset urn:a:3 coordinates 1',
      'y coordinates 1',
    ],
  );
});

it('a valid entity has no faults, and a broken one has each of its faults at its place', () => {
  fc.assert(
    fc.property(
      sampleAttributes,
      fc.array(fc.nat(3), { minLength: 6, maxLength: 6 }),
      (attributes, choices) => {
        const expected: string[] = [];
        const members = attributes.map((sample, index): [string, JsonObject] => {
          const { name, kind } = sample;
          const right = normalizedForm(sample);
          const { attribute, tokens } = breakings(right, VALUE_MEMBERS[kind])[choices[index] ?? 0] ?? {
            attribute: right,
          };
          if (tokens !== undefined) expected.push(pointerOf([name, ...tokens]));
          return [name, attribute];
        });
        const entity = entityOf(members);
        const order = Object.keys(entity);
        expected.sort(
          (one, other) => order.indexOf(one.split('/')[1] ?? '') - order.indexOf(other.split('/')[1] ?? ''),
        );
        const { faults } = readEntity(entity);
        assert.deepEqual(
          faults.map(({ tokens }) => pointerOf(tokens)),
          expected,
        );
      },
    ),
  );
});

it('the faults and warnings of an entity have places that exist in it, whatever the entity and the form', () => {
  const pieces = fc.constantFrom<JsonValue>(PROPERTY, POINT, [PROPERTY, 5], { value: 1, datasetId: 'a' }, { '@value': 1 }, { dataset: { '@none': 1 } }, { type: 'Relationship', value: [1] }, { type: 'ListRelationship', objectList: [{}] }); // oxfmt-ignore
  const names = fc.oneof(
    fc.constantFrom('id', 'type', '@type', 'scope', 'value', 'object', 'json', 'observedAt', '__proto__'),
    fc.string(),
  );
  const entities = fc.dictionary(
    names,
    fc.oneof(pieces, fc.jsonValue(), fc.dictionary(names, pieces, { noNullPrototype: true })),
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(
      entities,
      fc.constantFrom(undefined, 'normalized', 'concise', 'keyvalues'),
      (entity, form) => {
        const json = entity as JsonObject;
        const { faults, warnings } = readEntity(json, {
          ...(form === undefined ? {} : { form }),
          model: 'Vehicle',
        });
        for (const { tokens } of [...faults, ...warnings])
          assert.notEqual(valueAt(json, tokens), undefined, pointerOf(tokens));
      },
    ),
    { numRuns: 500 },
  );
});

it('a thousand faults of an entity leave room for a thousand warnings', () => {
  const entity = entityOf(
    Array.from({ length: 1100 }, (_, index) => [`a-${index}`, { type: 'Propertx', value: 1 }]),
  );
  const { faults, warnings } = readEntity(entity);
  assert.deepEqual([faults.length, warnings.length], [1000, 1000]);
});

it('the faults of an entity are bounded in number, and in time for hostile entities', () => {
  const entity = entityOf(
    Array.from({ length: 50_000 }, (_, index) => [`a${index}`, { type: 'Propertx', value: 1 }]),
  );
  assert.equal(readEntity(entity).faults.length, 1000);
  const line = { type: 'LineString', coordinates: Array.from({ length: 100_000 }, () => ['a', 'b']) };
  assert.deepEqual(faultsOfAttribute({ type: 'GeoProperty', value: line }), [
    '/x/value/coordinates/0/0 type',
    '/x/value/coordinates/0/1 type',
  ]);
});

/** A broken attribute, with the tokens of its fault; or a valid attribute. */
interface Breaking {
  readonly attribute: JsonObject;
  readonly tokens?: readonly string[];
}

function breakings(right: JsonObject, valueMember: string): readonly Breaking[] {
  const type = right['type'] ?? '';
  return [
    { attribute: right },
    { attribute: { type, observedAt: '2026-01-31T12:00:00Z' }, tokens: [] },
    { attribute: { ...right, observedAt: 'yesterday' }, tokens: ['observedAt'] },
    { attribute: { type: 'Propertty', [valueMember]: right[valueMember] ?? null }, tokens: ['type'] },
  ];
}
