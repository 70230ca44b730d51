import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import {
  type JsonObject,
  type JsonValue,
  objectOf,
  pointerOf,
  tokensOf,
} from '../../../../sidecar/shared/json/json.js';
import { normalizedExample } from '../../../../sidecar/schemas/json-schema/example.js';
import { readEntity, type ReadOptions } from '../../../../sidecar/ngsi-ld/representation/read-entity.js';
import { WRAPPED_KINDS } from '../../../../sidecar/ngsi-ld/members.js';
import {
  conciseForm,
  entityOf,
  keyValuesForm,
  normalizedForm,
  placesIn,
  sampleAttributes,
  valueAt,
} from './entities.js';

/** The value of the single attribute `x` in key-values form. */
function valueOf(x: JsonValue, options: ReadOptions = {}): JsonValue | undefined {
  return readEntity(entityOf([['x', x]]), options).readings[0].keyValues['x'];
}

function located(entity: JsonObject, pointer: string, options: ReadOptions = {}): string {
  return pointerOf(readEntity(entity, options).readings[0].locate(tokensOf(pointer) ?? []));
}

const unwraps = () => true;

it('the key-values form of an entity is the same from its normalized, concise and key-values forms', () => {
  fc.assert(
    fc.property(sampleAttributes, fc.boolean(), (attributes, isBare) => {
      const options = { unwraps: () => isBare };
      const inForm = (form: (attribute: (typeof attributes)[number]) => JsonValue) =>
        entityOf(attributes.map((attribute) => [attribute.name, form(attribute)]));
      const expected = entityOf(
        attributes.map((attribute) => [
          attribute.name,
          isBare && WRAPPED_KINDS.has(attribute.kind) ? attribute.content : keyValuesForm(attribute),
        ]),
      );
      const normalized = readEntity(inForm(normalizedForm), options);
      assert.equal(normalized.form, 'normalized');
      assert.deepEqual(normalized.readings[0].keyValues, expected);
      assert.deepEqual(normalized.kinds, new Map(attributes.map(({ name, kind }) => [name, kind])));
      const concise = readEntity(inForm(conciseForm), { ...options, form: 'concise' });
      assert.deepEqual(concise.readings[0].keyValues, expected);
      assert.deepEqual(concise.kinds, normalized.kinds);
      const keyValues = readEntity(inForm(keyValuesForm), { ...options, form: 'keyvalues' });
      assert.deepEqual(keyValues.readings[0].keyValues, expected);
      for (const { faults } of [normalized, concise, keyValues]) assert.deepEqual(faults, []);
    }),
  );
});

it('the key-values form of an example is the data from which it was made', () => {
  fc.assert(
    fc.property(sampleAttributes, fc.boolean(), (attributes, isBare) => {
      const keyValues = entityOf(
        attributes.map((attribute) => [
          attribute.name,
          isBare && WRAPPED_KINDS.has(attribute.kind) ? attribute.content : keyValuesForm(attribute),
        ]),
      );
      // A bare value that looks wrapped is ambiguous.
      fc.pre(
        !isBare ||
          attributes.every(({ kind, content }) => !WRAPPED_KINDS.has(kind) || !looksWrapped(content)),
      );
      const reading = readEntity(normalizedExample(keyValues, attributes, 'https://a.example/context'), {
        unwraps: () => isBare,
      });
      assert.deepEqual(reading.readings[0].keyValues, keyValues);
      assert.deepEqual(reading.faults, []);
    }),
  );
});

it('each part of the key-values form has a place in the entity, with the same value', () => {
  const pieces = fc.constantFrom<JsonValue>(
    { '@type': 'DateTime', '@value': '2026-01-31T12:00:00Z' },
    { a: [{ type: 'Property', value: { b: { '@value': 5 } } }] },
    [{ type: 'Relationship', object: 'urn:a:b' }, { c: 1 }],
  );
  const further = fc.uniqueArray(fc.tuple(fc.constantFrom('p', 'q', 'r'), pieces), {
    selector: ([name]) => name,
  });
  fc.assert(
    fc.property(
      sampleAttributes,
      further,
      fc.boolean(),
      fc.boolean(),
      (attributes, more, isBare, isArray) => {
        const entity = objectOf([
          ['@id', 'urn:a:b'],
          ['@type', 'Vehicle'],
          ['@context', []],
          ...attributes.map((attribute): [string, JsonValue] => {
            const instance = normalizedForm(attribute);
            const other = { ...instance, datasetId: 'urn:a:1' };
            return [attribute.name, isArray ? [other, instance] : instance];
          }),
          ...more.map(([name, value]): [string, JsonValue] => [name, { type: 'Property', value }]),
        ]);
        for (const { keyValues, locate } of readEntity(entity, { unwraps: () => isBare }).readings) {
          for (const tokens of placesIn(keyValues)) {
            const found = valueAt(entity, locate(tokens));
            const value = valueAt(keyValues, tokens);
            assert.notEqual(found, undefined, pointerOf(tokens));
            if (typeof value !== 'object') assert.equal(found, value, pointerOf(tokens));
          }
        }
      },
    ),
  );
});

it('the key-values form has id and type for @id and @type, no @context, and the other members unchanged', () => {
  const entity = { '@type': 'A', '@id': 'urn:a:b', scope: ['/a'], createdAt: 'x', '@context': [] };
  const [{ keyValues }] = readEntity(entity).readings;
  assert.deepEqual(Object.entries(keyValues), [['type', 'A'], ['id', 'urn:a:b'], ['scope', ['/a']], ['createdAt', 'x']]); // oxfmt-ignore
  assert.deepEqual(
    ['/id', '/type', '/scope/0', ''].map((pointer) => located(entity, pointer)),
    ['/@id', '/@type', '/scope/0', ''],
  );
});

it("the key-values form has the model's name as type if the entity has it among others", () => {
  const entity = { id: 'urn:a:b', type: ['Thing', 'https://a.example/Vehicle'] };
  const options = { model: 'Vehicle' };
  assert.equal(readEntity(entity, options).readings[0].keyValues['type'], 'Vehicle');
  assert.equal(located(entity, '/type', options), '/type/1');
  assert.equal(located({ id: 'urn:a:b', type: ['Vehicle', 'Thing'] }, '/type', options), '/type/0');
  assert.equal(located({ id: 'urn:a:b', '@type': ['Vehicle'] }, '/type', options), '/@type/0');
  assert.equal(located({ id: 'urn:a:b', type: ['Boat'] }, '/type', options), '/type');
  assert.equal(located({ id: 'urn:a:b', type: 'Vehicle' }, '/type', options), '/type');
  assert.deepEqual(readEntity(entity).readings[0].keyValues['type'], entity.type);
});

it('the key-values form has the content of typed values, in every form and at any depth', () => {
  // Brokers show the second for the first, as the core context compacts it.
  for (const name of ['@type', 'type']) {
    const time = { [name]: 'DateTime', '@value': '2026-01-31T12:00:00Z' };
    assert.equal(valueOf({ type: 'Property', value: time }), time['@value']);
    assert.equal(valueOf(time), time['@value']);
    assert.deepEqual(valueOf({ from: [time] }, { form: 'keyvalues' }), { from: [time['@value']] });
    const entity = entityOf([
      ['x', time],
      ['y', { value: 1, unitCode: 'C62' }],
    ]);
    assert.deepEqual(readEntity(entity).faults, []);
    assert.equal(readEntity(entity).readings[0].keyValues['x'], time['@value']);
  }
  assert.equal(valueOf({ type: 'Property', value: { '@type': '@json', '@value': null } }), null);
  assert.equal(valueOf({ type: 'Property', value: { '@value': 5 } }), 5);
  for (const other of [
    { '@type': 'DateTime', '@value': 'a', more: 1 },
    { '@value': 'a', more: 1 },
    { '@type': 5, '@value': 'a' },
    { '@type': 'DateTime', type: 'DateTime', '@value': 'a' },
    { '@type': ['DateTime'], '@value': 'a' },
    { '@type': 'DateTime' },
  ])
    assert.deepEqual(valueOf({ type: 'Property', value: other }), other);
  const held = { a: { type: 'Property', value: 1 } };
  assert.deepEqual(valueOf({ type: 'Property', value: { '@type': '@json', '@value': held } }), held);
  const literal = { '@type': 'DateTime', '@value': 'a' };
  assert.deepEqual(valueOf({ type: 'JsonProperty', json: literal }, { unwraps }), literal);
});

it('the key-values form replaces attributes inside values by their values, except in key-values input', () => {
  const nested = { a: [{ type: 'Property', value: { b: { type: 'Relationship', object: 'urn:a:b' } } }] };
  assert.deepEqual(valueOf({ type: 'Property', value: nested }), { a: [{ b: 'urn:a:b' }] });
  assert.deepEqual(valueOf({ type: 'ListProperty', valueList: [nested] }), [{ a: [{ b: 'urn:a:b' }] }]);
  assert.deepEqual(valueOf(nested, { form: 'keyvalues' }), nested);
  const entity = entityOf([['x', { type: 'Property', value: nested }]]);
  assert.equal(located(entity, '/x/a/0/b'), '/x/value/a/0/value/b/object');
});

it('the key-values form unwraps the kinds that wrap values if the model describes the value itself', () => {
  const map = { en: 'yes' };
  const normalized = { type: 'LanguageProperty', languageMap: map };
  assert.deepEqual(valueOf(normalized), { languageMap: map });
  assert.deepEqual(valueOf(normalized, { unwraps }), map);
  assert.deepEqual(valueOf({ languageMap: map }, { form: 'keyvalues', unwraps }), map);
  assert.deepEqual(valueOf(map, { form: 'keyvalues', unwraps }), map);
  const entity = entityOf([['x', normalized]]);
  assert.equal(located(entity, '/x/languageMap/en'), '/x/languageMap/en');
  assert.equal(located(entity, '/x/en', { unwraps }), '/x/languageMap/en');
});

it('the key-values form keeps parts that cannot be converted as submitted', () => {
  const broken = { type: 'Property', val: 1 };
  assert.deepEqual(valueOf(broken), broken);
  assert.equal(located(entityOf([['x', broken]]), '/x/val'), '/x/val');
  assert.equal(valueOf({ type: 'Text', value: 'a' }), 'a');
  assert.equal(valueOf({ type: 'Relationship', value: 'urn:a:b' }), 'urn:a:b');
});

it('the key-values form turns a geometry in a text into an object, whose parts are located at the text', () => {
  const value = '{"type": "Point", "coordinates": [1, 2]}';
  assert.deepEqual(valueOf({ type: 'GeoProperty', value }), { type: 'Point', coordinates: [1, 2] });
  assert.equal(located(entityOf([['x', { type: 'GeoProperty', value }]]), '/x/coordinates/0'), '/x/value');
  assert.equal(valueOf({ type: 'GeoProperty', value: 'x' }), 'x');
});

it('the key-values form locates a missing member below its object', () => {
  const entity = entityOf([
    ['x', { type: 'Property', value: { a: {} } }],
    ['r', { type: 'ListRelationship', objectList: [{ object: 'urn:a:b' }] }],
  ]);
  assert.equal(located(entity, '/x/a/b/c'), '/x/value/a/b/c');
  assert.equal(located(entity, '/y/0'), '/y/0');
  assert.equal(located(entity, '/r/0'), '/r/objectList/0/object');
  assert.equal(located(entity, '/r/9'), '/r/objectList/9');
  const bare = entityOf([
    ['r', { type: 'ListRelationship', objectList: ['urn:a:b', { object: 'urn:a:c' }] }],
  ]);
  assert.equal(located(bare, '/r/0'), '/r/objectList/0');
  assert.equal(located(bare, '/r/1'), '/r/objectList/1/object');
  assert.equal(located(bare, '/r'), '/r/objectList');
  assert.deepEqual(readEntity(bare).readings[0].keyValues['r'], ['urn:a:b', 'urn:a:c']);
});

const kindOf = (x: JsonValue) => {
  const { form, kinds } = readEntity(
    entityOf([
      ['x', x],
      ['y', { type: 'Property', value: 1 }],
    ]),
  );
  return [form, kinds.get('x')];
};

it('the kind of an attribute is determined by its type or @type, its member, or its value', () => {
  for (const [attribute, form, kind] of [
    [{ '@type': 'Relationship', object: 'urn:a:b' }, 'normalized', 'Relationship'],
    [{ type: 'https://uri.etsi.org/ngsi-ld/GeoProperty', value: {} }, 'normalized', 'GeoProperty'],
    [{ type: 'Relationship', value: 1 }, 'normalized', 'Relationship'],
    [{ value: 1 }, 'concise', 'Property'],
    [{ value: { type: 'Point', coordinates: [1, 2] } }, 'concise', 'GeoProperty'],
    [{ type: 'Point', coordinates: [1, 2] }, 'concise', 'GeoProperty'],
    [{ vocab: 'a' }, 'concise', 'VocabProperty'],
    [{ languageMap: { type: 'Point', coordinates: [1, 2] } }, 'concise', 'LanguageProperty'],
    [{ json: {} }, 'concise', 'JsonProperty'],
    [{ valueList: [] }, 'concise', 'ListProperty'],
    [{ object: 'urn:a:b' }, 'concise', 'Relationship'],
    [{ objectList: [] }, 'concise', 'ListRelationship'],
    [5, 'concise', 'Property'],
    [{ type: 'Propertx', value: 1 }, 'normalized', undefined],
  ] as const)
    assert.deepEqual(kindOf(attribute), [form, kind], JSON.stringify(attribute));
});

it('the kind of an attribute with several instances is that of its default instance', () => {
  const instances = [
    { type: 'Relationship', object: 'urn:a:b', datasetId: 'urn:a:1' },
    { type: 'Property', value: 1, datasetId: '@none' },
  ];
  assert.deepEqual(kindOf(instances), ['normalized', 'Property']);
  const { readings } = readEntity(entityOf([['x', instances]]));
  assert.deepEqual(
    readings.map(({ keyValues, instance }) => [keyValues['x'], instance]),
    [
      [1, undefined],
      ['urn:a:b', ['x', '0']],
    ],
  );
});

it('the further instances of all attributes together are limited to a thousand, in their order', () => {
  const several = (count: number) =>
    Array.from({ length: count + 1 }, (_, index) => ({
      type: 'Property',
      value: index,
      ...(index === 0 ? {} : { datasetId: `urn:a:${index}` }),
    }));
  const { readings, omitted: leftOut } = readEntity(
    entityOf([
      ['x', several(600)],
      ['y', several(600)],
      ['z', several(5)],
    ]),
  );
  const readOf = (name: string) => readings.filter(({ attribute }) => attribute === name).length;
  assert.deepEqual([readings.length, readOf('x'), readOf('y'), readOf('z')], [1001, 600, 400, 0]);
  assert.deepEqual(leftOut, [
    { attribute: 'y', read: 401 },
    { attribute: 'z', read: 1 },
  ]);
});

it('the members of all further readings together are limited to two hundred thousand', () => {
  const instances = Array.from({ length: 300 }, (_, index) => ({
    type: 'Property',
    value: index,
    datasetId: `urn:a:${index}`,
  }));
  const of = (members: number) =>
    readEntity(
      entityOf([
        ['x', instances],
        ...Array.from({ length: members - 4 }, (_, index) => [`a${index}`, 1] as const),
      ]),
    ).readings.length - 1;
  assert.deepEqual([of(1000), of(1001)], [200, 199]);
});

const instances = [
  { type: 'Property', value: 1, datasetId: 'urn:a:1' },
  { type: 'Property', value: 2 },
  { type: 'Property', value: 3, datasetId: 'urn:a:3' },
];

it('the first reading of an entity has its default instances, and each further reading has another instance', () => {
  const entity = entityOf([
    ['x', instances],
    ['y', { type: 'Property', value: 'y' }],
    ['z', instances.slice(2)],
  ]);
  const { readings } = readEntity(entity);
  assert.deepEqual(readings.map(({ attribute, keyValues, locate }) => [attribute, keyValues['x'], keyValues['y'], pointerOf(locate(['x']))]), [
      [undefined, 2, 'y', '/x/1/value'],
      ['x', 1, 'y', '/x/0/value'],
      ['x', 3, 'y', '/x/2/value'],
    ]); // oxfmt-ignore
  assert.equal(pointerOf(readings[1]?.locate(['z']) ?? []), '/z/0/value');
  assert.equal(valueOf([5, { type: 'Property', value: 1 }], { form: 'normalized' }), 5);
});

it('the readings of an entity are also the values by datasetId of the key-values form (clause 4.5.4)', () => {
  const entity = entityOf([
    ['x', { dataset: { 'urn:a:1': 1, '@none': 2 } }],
    ['y', { dataset: { a: 1 } }],
  ]);
  const { form, readings } = readEntity(entity);
  assert.equal(form, 'keyvalues');
  assert.deepEqual(readings.map(({ keyValues, locate }) => [keyValues['x'], pointerOf(locate(['x']))]), [
      [2, '/x/dataset/@none'],
      [1, '/x/dataset/urn:a:1'],
    ]); // oxfmt-ignore
  assert.deepEqual(readings[0].keyValues['y'], { dataset: { a: 1 } });
  for (const dataset of [{ a: 1, 'urn:a:1': 2 }, { 'urn:a:1': 1, a: 2 }, { '@none': 1, a: 2 }, 5]) {
    assert.deepEqual(valueOf({ dataset }), { dataset });
    assert.equal(readEntity(entityOf([['x', { dataset }]])).readings.length, 1);
  }
  assert.equal(valueOf({ dataset: { 'urn:a:1': 1 } }), 1);
  assert.deepEqual(valueOf({ dataset: {} }), { dataset: {} });
  assert.deepEqual(valueOf({ dataset: { '@none': 1 }, more: 2 }), { dataset: { '@none': 1 }, more: 2 });
});

function looksWrapped(content: JsonValue): boolean {
  return (
    typeof content === 'object' &&
    content !== null &&
    ['languageMap', 'vocab', 'json'].some((name) => Object.hasOwn(content, name))
  );
}
