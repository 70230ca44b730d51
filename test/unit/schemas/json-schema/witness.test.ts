import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { compareSchemas } from '../../../../sidecar/schemas/json-schema/change-report.js';
import type { Difference } from '../../../../sidecar/schemas/json-schema/differences.js';
import { resolveReferencesIn } from '../../../../sidecar/schemas/json-schema/linker.js';
import { schemaTasks } from '../../../../sidecar/schemas/json-schema/tasks.js';
import { loopsOf } from '../../../../sidecar/schemas/json-schema/usability.js';
import { createValidator } from '../../../support/validator.js';
import { differencesWithWitnesses } from '../../../../sidecar/schemas/json-schema/witness.js';
import { isObject, type JsonObject } from '../../../../sidecar/shared/json/json.js';
import { documents, schemas } from './schema-arbitraries.js';
import { runs } from '../../../support/thoroughness.js';

const entity = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  required: ['id', 'type'],
  properties: { id: { type: 'string' }, type: { const: 'Bench' }, ...properties },
  ...more,
});
const a = (schema: JsonObject): JsonObject => entity({ a: schema });

/** The refusing differences of two versions of the model Bench. */
function refusals(before: JsonObject, after: JsonObject): readonly Difference[] {
  const [old, fresh] = [JSON.stringify(before), JSON.stringify(after)];
  const input = { before: old, after: fresh, entityType: 'Bench', withWitnesses: true };
  const { differences } = schemaTasks.compareSchemas(input);
  return differences.filter((one) => one.class !== 'compatible' && one.reason !== 'meaning');
}

/** @throws if the witness is not one */
function requireWitness({ witness, ...difference }: Difference, before: JsonObject, after: JsonObject): void {
  const said = JSON.stringify({ difference, witness, before, after });
  assert.notEqual(witness, undefined, said);
  const [old, fresh] = [before, after].map((schema) => createValidator(resolveReferencesIn(schema)));
  assert.deepEqual(old?.(witness ?? null), [], said);
  assert.notDeepEqual(fresh?.(witness ?? null), [], said);
}

describe('a witness', () => {
  const text = { type: 'string' };
  const number = { type: 'number' };
  const refused: readonly (readonly [title: string, before: JsonObject, after: JsonObject])[] = [
    ['a type', a(number), a(text)],
    ['a type of several', a({ type: ['string', 'number'] }), a(text)],
    ['a value', a({ enum: ['x', 'y'] }), a({ enum: ['x'] })],
    ['a constant', a({ const: 'x' }), a({ const: 'y' })],
    ['a bound', a({ type: 'integer', minimum: 0 }), a({ type: 'integer', minimum: 7 })],
    ['a bound that is left out', a({ ...number, maximum: 90 }), a({ ...number, exclusiveMaximum: 90 })],
    ['a step', a(number), a({ ...number, multipleOf: 1 })],
    ['a length', a({ ...text, maxLength: 80 }), a({ ...text, maxLength: 79 })],
    ['a pattern', a({ ...text, pattern: '^[A-Z]{3}' }), a({ ...text, pattern: '^[A-Z]{3}-\\d$' })],
    ['a format', a(text), a({ ...text, format: 'ipv4' })],
    ['a format of two', a({ ...text, format: 'date-time' }), a({ ...text, format: 'date' })],
    ['a property that is required', a(text), entity({ a: text }, { required: ['id', 'type', 'a'] })],
    ['a property that nothing described', entity({}), entity({}, { required: ['id', 'type', 'a'] })],
    [
      'a property that is forbidden',
      entity({ a: text }, { additionalProperties: false }),
      entity({}, { additionalProperties: false }),
    ],
    [
      'properties that match a pattern',
      entity({}, { patternProperties: { '^x-\\d': text }, additionalProperties: false }),
      entity({}, { additionalProperties: false }),
    ],
    [
      'a property that nothing evaluates',
      entity({ a: text }, { unevaluatedProperties: false }),
      entity({}, { unevaluatedProperties: false }),
    ],
    ['one of the values of a choice', a({ anyOf: [text, number] }), a({ anyOf: [{ enum: ['x'] }, number] })],
    ['an open object', entity({ a: text }), entity({ a: text }, { additionalProperties: false })],
    ['items', a({ type: 'array', items: number }), a({ type: 'array', items: { ...number, minimum: 3 } })],
    ['a number of items', a({ type: 'array', maxItems: 5 }), a({ type: 'array', maxItems: 4 })],
    [
      'items that repeat',
      a({ type: 'array', items: text }),
      a({ type: 'array', items: text, uniqueItems: true }),
    ],
    ['what a list contains', a({ type: 'array' }), a({ type: 'array', contains: { const: 'x' } })],
    [
      'a further item of a tuple',
      a({ type: 'array', prefixItems: [number] }),
      a({ type: 'array', items: number }),
    ],
    ['one of several', a({ anyOf: [text, number] }), a({ anyOf: [number, { type: 'boolean' }] })],
    ['exactly one of several', a({ anyOf: [text, number] }), a({ oneOf: [{ minLength: 2 }, number] })],
    ['an exception', a(text), a({ ...text, not: { const: 'closed in winter' } })],
    [
      'a condition',
      entity({ a: { enum: ['x', 'y'] }, b: text }),
      entity(
        { a: { enum: ['x', 'y'] }, b: text },
        { if: { properties: { a: { const: 'y' } }, required: ['a'] }, then: { required: ['b'] } },
      ),
    ],
    [
      'something far within',
      a({ type: 'array', items: { type: 'object', properties: { b: { type: 'array', items: number } } } }),
      a({
        type: 'array',
        items: { type: 'object', properties: { b: { type: 'array', items: { type: 'integer' } } } },
      }),
    ],
    [
      'the names of properties',
      a({ type: 'object' }),
      a({ type: 'object', propertyNames: { maxLength: 3 } }),
    ],
  ];
  for (const [title, before, after] of refused)
    it(`a witness is shown if entities that were valid are refused: ${title}`, () => {
      const found = refusals(before, after);
      assert.notEqual(found.length, 0);
      for (const difference of found) {
        requireWitness(difference, before, after);
        const { witness } = difference;
        assert.ok(isObject(witness) && typeof witness['id'] === 'string' && witness['type'] === 'Bench');
      }
    });

  const besideOthers: readonly (readonly [
    before: JsonObject,
    after: JsonObject,
    keywords: readonly string[],
  ])[] = [
    [
      { type: 'integer' },
      { type: 'integer', maximum: 1000000, anyOf: [{ minimum: 50 }, { multipleOf: 7 }] },
      ['maximum', 'anyOf'],
    ],
    [text, { ...text, pattern: '^t', anyOf: [{ minLength: 9 }, { pattern: 'l$' }] }, ['pattern', 'anyOf']],
    [text, { ...text, pattern: '^t', oneOf: [{ minLength: 9 }, { pattern: 'l$' }] }, ['pattern', 'oneOf']],
    [{ type: ['string', 'null'] }, { ...text, enum: ['x', 'y'] }, ['type', 'enum']],
    [{ type: 'integer' }, { enum: [5, 6], minimum: 5 }, ['enum', 'minimum']],
    [text, { enum: ['t', 'tu'], maxLength: 2, pattern: '^t' }, ['enum', 'maxLength', 'pattern']],
    [
      { type: 'array', items: { type: 'integer' } },
      { type: 'array', items: { type: 'integer' }, contains: { const: 1 }, minContains: 2, maxItems: 3 },
      ['contains', 'maxItems'],
    ],
  ];
  for (const [before, after, keywords] of besideOthers)
    it(`a witness is refused by the keyword of its difference, whatever else refuses it: ${keywords.join(', ')}`, () => {
      const found = refusals(a(before), a(after));
      for (const keyword of keywords) {
        const difference = found.find(({ pointer }) => pointer === `/properties/a/${keyword}`);
        assert.ok(isObject(difference?.witness), JSON.stringify({ keyword, found }));
        const { minContains = 1 } = after;
        const alone = { [keyword]: after[keyword] ?? null, ...(keyword === 'contains' && { minContains }) };
        const refuses = createValidator(resolveReferencesIn(alone));
        assert.notDeepEqual(refuses(difference.witness['a'] ?? null), [], JSON.stringify(difference));
      }
    });

  it('a witness has exactly the property that is no longer allowed, even if another is refused as well', () => {
    const version = (b: string, more: JsonObject) =>
      entity({ b: { type: b }, ...more }, { required: ['id', 'type', 'b'], additionalProperties: false });
    const patternProperties = { '^x-': {} };
    for (const [before, name] of [
      [version('string', { a: { type: 'string' } }), 'a'],
      [{ ...version('string', {}), patternProperties }, 'x-'],
    ] as const) {
      const found = refusals(before, version('number', {}));
      const [difference] = found.filter(({ detail }) => detail.includes('no longer allowed'));
      assert.ok(isObject(difference?.witness), JSON.stringify(found));
      assert.ok(Object.hasOwn(difference.witness, name), JSON.stringify(difference));
    }
  });

  it('a witness contains only the members that are needed', () => {
    const properties = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, { type: 'string' }]));
    const [difference] = refusals(entity(properties), entity({ ...properties, c: { type: 'number' } }));
    assert.ok(isObject(difference?.witness));
    assert.deepEqual(Object.keys(difference.witness).sort(), ['c', 'id', 'type']);
  });

  it('a witness lacks exactly the property that is now required, even if another is missing as well', () => {
    const [text, names] = [{ type: 'string' }, ['a', 'b', 'c']];
    const properties = Object.fromEntries(names.map((name) => [name, text]));
    const before = entity(properties, { anyOf: names.map((name) => ({ required: [name] })) });
    const found = refusals(before, entity(properties, { required: ['id', 'type', ...names] }));
    assert.equal(found.length, names.length);
    for (const { detail, witness } of found) {
      const name = /property "(\w)" is required now/.exec(detail)?.[1] ?? detail;
      assert.ok(isObject(witness) && !Object.hasOwn(witness, name), JSON.stringify({ detail, witness }));
    }
  });

  it('a witness has an id that is a URI, or there is no witness', () => {
    for (const [id, isFound] of [
      ['urn:a:1', true],
      ['no uri', false],
    ] as const) {
      const version = (schema: JsonObject) => entity({ id: { const: id }, a: schema });
      const [difference] = refusals(version({ type: ['number', 'string'] }), version({ type: 'number' }));
      assert.equal(difference?.witness !== undefined, isFound, id);
    }
  });

  it('a witness is searched for the first fifty refusing differences', () => {
    const model = (type: string) =>
      entity(Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`p${index}`, { type }])));
    const found = refusals(model('string'), model('number'));
    assert.deepEqual(
      found.map(({ witness }) => witness !== undefined),
      Array.from({ length: 51 }, (_, index) => index < 50),
    );
  });

  it('a witness is omitted if it would be long', () => {
    const long = { type: 'string', minLength: 999 };
    const names = Array.from({ length: 9 }, (_, index) => `p${index}`);
    const model = (last: JsonObject) =>
      entity(Object.fromEntries(names.map((name) => [name, name === 'p8' ? last : long])), {
        required: ['id', 'type', ...names],
      });
    const [difference] = refusals(model(long), model({ type: 'number' }));
    assert.deepEqual([difference?.reason, difference?.witness], ['type', undefined]);
  });

  it('a witness contains only numbers that JSON can represent', () => {
    const [old, fresh] = [a({ type: 'integer' }), a({ type: 'integer', maximum: 1e308 })];
    for (const difference of refusals(old, fresh)) {
      const { witness } = difference;
      // As it is sent.
      assert.deepEqual(JSON.parse(JSON.stringify({ witness })), { ...(witness && { witness }) });
    }
    assert.ok(refusals(old, fresh).length > 0);
  });

  it('a witness of decimals is not a multiple, and multiples of a multiple have no witness', () => {
    const steps = (multipleOf: number) => a({ type: 'number', multipleOf });
    assert.deepEqual(refusals(steps(0.3), steps(0.1)), []);
    const [difference] = refusals(steps(0.1), steps(0.3));
    assert.ok(isObject(difference?.witness), JSON.stringify(difference));
    assert.notEqual(difference.witness['a'], 0.3);
  });

  it('a witness changes nothing else in a report, and is the same each time', () => {
    fc.assert(
      fc.property(usable, usable, (before, after) => {
        const { differences } = compareSchemas(before, after);
        const found = differencesWithWitnesses(before, after);
        assert.deepEqual(
          found.map((one) => ({ ...one, witness: undefined })),
          differences.map((one) => ({ ...one, witness: undefined })),
        );
        assert.deepEqual(differencesWithWitnesses(before, after), found);
      }),
      { numRuns: runs(15) },
    );
  });

  it('a witness was valid and is refused, whatever the schemas are', () => {
    let shown = 0;
    fc.assert(
      fc.property(usable, usable, (before, after) => {
        for (const difference of differencesWithWitnesses(before, after)) {
          if (difference.class === 'compatible') assert.equal(difference.witness, undefined);
          if (difference.witness === undefined) continue;
          shown += 1;
          requireWitness(difference, before, after);
        }
      }),
      { numRuns: runs(25) },
    );
    assert.ok(shown > 0, String(shown));
  });

  it('a witness is found for nearly every change for which a random document is refused', () => {
    let [refusing, shown] = [0, 0];
    const samples = fc.array(documents, { minLength: 40, maxLength: 40 });
    fc.assert(
      fc.property(usable, usable, samples, (before, after, tried) => {
        const [old, fresh] = [
          createValidator(resolveReferencesIn(before)),
          createValidator(resolveReferencesIn(after)),
        ];
        if (!tried.some((one) => old(one).length === 0 && fresh(one).length > 0)) return;
        refusing += 1;
        const found = differencesWithWitnesses(before, after);
        assert.ok(found.length > 0);
        if (found.some(({ witness }) => witness !== undefined)) shown += 1;
      }),
      { numRuns: 150 },
    );
    assert.ok(refusing > 30 && shown > 0.8 * refusing, `${shown} of ${refusing}`);
  });
});

describe('a comparison of models', () => {
  const same: readonly (readonly [title: string, before: JsonObject, after: JsonObject])[] = [
    ['that they are objects', { properties: {} }, { type: 'object', properties: {} }],
    ['that they have an id and a type', { properties: {} }, { required: ['id', 'type'] }],
    ['that the id is a string', {}, { properties: { id: { type: 'string' } } }],
    ['the type that they have', {}, { properties: { type: { enum: ['Bench'] } }, minProperties: 2 }],
    ['an id that is described further', {}, { properties: { id: { type: 'string', format: 'uri' } } }],
  ];
  for (const [title, before, after] of same)
    it(`a comparison of models knows the members of every entity, so that a schema may describe them: ${title}`, () => {
      assert.deepEqual(refusals(before, after), []);
    });

  it('a comparison of models reports as breaking that a schema requires a member that no entity of the model can have', () => {
    for (const after of [
      { type: 'array' },
      { properties: { type: { const: 'Other' } } },
      { properties: { id: { type: 'number' } } },
      { properties: { type: { const: 'Bench' } }, additionalProperties: false },
    ]) {
      const classes = refusals({}, after).map((one) => one.class);
      assert.ok(classes.includes('breaking'), JSON.stringify(after));
    }
  });

  it('a comparison of models uses the type that the old schema itself names', () => {
    const typed = (name: string): JsonObject => ({ properties: { type: { const: name } } });
    assert.deepEqual(refusals(typed('Other'), { ...typed('Other'), type: 'object' }), []);
    const [difference] = refusals(typed('Other'), typed('Bench'));
    assert.equal(difference?.class, 'breaking');
    requireWitness(difference, typed('Other'), typed('Bench'));
  });

  it('a comparison of models still reports changes in a schema that accepts no entity', () => {
    const before = { type: 'array', items: { type: 'string' } };
    assert.notDeepEqual(refusals(before, { type: 'array', items: { type: 'number' } }), []);
  });

  it('a comparison of models classifies a tuple that becomes a list as narrowing, and as compatible if no array has more items', () => {
    const item = { type: 'object', required: ['b'], properties: { b: { type: 'number' } } };
    const list = a({ type: 'array', items: item });
    const found = refusals(a({ type: 'array', prefixItems: [item] }), list);
    assert.deepEqual(new Set(found.map((one) => one.class)), new Set(['narrowing']));
    assert.deepEqual(refusals(a({ type: 'array', prefixItems: [item], maxItems: 1 }), list), []);
  });
});

const usable = schemas.filter((schema) => loopsOf(resolveReferencesIn(schema)).length === 0);
