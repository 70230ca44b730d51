import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type JsonObject, type JsonValue, pointerOf } from '../../../../sidecar/shared/json/json.js';
import { validateEntity } from '../../../../sidecar/schemas/validation/validate-entity.js';
import { validatorOf, type Verdict } from './validating.js';
import { modelOf } from './models.js';

const HEAD = { id: 'urn:a:1', type: 'Vehicle' };

describe('an instance of an attribute', () => {
  it('a wrong instance of an attribute makes the entity invalid even if the schema checks the attribute as a whole', () => {
    const zero = { properties: { a: { const: 0 } }, required: ['a'] };
    const wrong: JsonObject = { ...HEAD, a: [instance(5), instance(0, 'urn:d:1')] };
    for (const schema of [
      { not: zero },
      { if: zero, then: { required: ['why'] } },
      { oneOf: [zero, {}] },
    ] as const)
      assert.deepEqual(places(wrong, schema), ['/a/1'], JSON.stringify(schema));
    assert.deepEqual(places({ ...HEAD, a: [instance(5), instance(6, 'urn:d:1')] }, { not: zero }), []);
  });

  it('a wrong instance of an attribute is reported once for its effect on another attribute', () => {
    const schema = { if: { properties: { a: { const: 0 } } }, then: { properties: { b: { const: 1 } } } };
    const a = [instance(5), instance(0, 'urn:d:1'), instance(0, 'urn:d:2')];
    assert.deepEqual(places({ ...HEAD, a, b: instance(2) }, schema), ['/b/value']);
  });

  it('an instance of an attribute has only its own faults if the entity has others', () => {
    const schema = { required: ['b'], properties: { a: { minimum: 0 } } };
    const a = [instance(5), instance(-1, 'urn:d:1'), instance(1, 'urn:d:2')];
    assert.deepEqual(places({ ...HEAD, a }, schema), ['', '/a/1/value']);
  });

  it('an attribute with too many instances makes the entity invalid', () => {
    const a = Array.from({ length: 3000 }, (_, index) => instance(index, `urn:d:${index}`));
    for (const isStrict of [true, false]) {
      const { errors } = validateEntity({ ...HEAD, a }, modelOf({}), { isStrict });
      assert.deepEqual(
        errors.map(({ tokens, keyword, predicate }) => [...tokens, keyword, predicate()]),
        [['a', 'maxItems', 'has more than 1001 instances, and the others are not checked: split the entity']],
      );
    }
  });

  it('faults of instances are explained for up to half a million values, and then in fewer words', () => {
    const speed = ['x', 'y', 'z'].map((value, index) => instance(value, `urn:d:${index}`));
    const tags = instance(Array.from({ length: 200_000 }, () => 0));
    const schema: JsonObject = { properties: { speed: { type: 'number' }, name: { type: 'string' } } };
    const details = (more: JsonObject) =>
      validateEntity({ ...HEAD, tags, speed: [instance(1), ...speed], ...more }, modelOf(schema)).errors.map(
        ({ tokens, predicate }) => `${tokens.join('/')} ${predicate()}`,
      );
    const explained = ['x', 'y'].map(
      (value, index) => `speed/${index + 1}/value must be a number, is the string "${value}"`,
    );
    assert.deepEqual(details({}), [...explained, 'speed/3/value must be number']);
    // Only an explanation can tell then whether a fault comes from an instance at all.
    assert.deepEqual(details({ name: instance(5) }), [
      'name/value must be a string, is the number 5',
      ...explained,
    ]);
  });

  it('instances of an attribute are not checked beyond the number of faults that are shown', () => {
    const speed = Array.from({ length: 1000 }, (_, index) => instance('x', `urn:d:${index}`));
    const tags = Array.from({ length: 2000 }, (_, index) => (index % 2 === 0 ? 1 : 'a'));
    const schema = {
      properties: { speed: { type: 'number' }, tags: { type: 'array', items: { type: 'string' } } },
    } as const;
    const { errors } = validateEntity({ ...HEAD, tags: instance(tags), speed }, modelOf(schema));
    assert.equal(errors.filter(({ tokens }) => tokens[0] === 'speed').length, 101);
  });
});

describe('a validation answer', () => {
  it('a validation answer limits the length of its pointers but for one error, and says so', () => {
    const name = 'a'.repeat(300_000);
    const wrong = Array.from({ length: 50 }, () => ({ type: 'Property' }));
    const found = answer({ ...HEAD, [name]: wrong });
    assert.equal(found.errors.length, 3);
    assert.ok(found.warnings.some(({ code }) => code === 'more-errors'));
    const longer = answer({ ...HEAD, ['a'.repeat(1_200_000)]: wrong });
    assert.equal(longer.errors.length, 1);
    assert.ok(!longer.valid);
  });

  it('a validation answer counts errors and warnings separately', () => {
    const names = Array.from({ length: 10 }, (_, index) => `n${index}`);
    const ten = (value: JsonValue) => Object.fromEntries(names.map((name) => [name, value]));
    const schema = { properties: Object.fromEntries(names.map((name) => [name, { type: 'number' }])) };
    const unknown = Object.fromEntries(names.map((name) => [`extra${name}`, 1]));
    for (const [many, last, shown] of [
      [ten('x'), unknown, 'warnings'],
      [unknown, ten('x'), 'errors'],
    ] as const) {
      const body = [...Array.from({ length: 100 }, () => ({ ...HEAD, ...many })), { ...HEAD, ...last }];
      const found = answers(body, schema);
      assert.equal(found[99]?.[shown === 'errors' ? 'warnings' : 'errors'].length, 10);
      assert.equal(found[100]?.[shown].length, 10, shown);
    }
  });

  it('a validation answer suggests names only for the first of many entities', () => {
    const allowed = Array.from({ length: 200 }, (_, index) => `category${index}`);
    const body = Array.from({ length: 3000 }, (_, index) => ({ ...HEAD, a: `categorx${index}` }));
    const found = answers(body, { properties: { a: { enum: allowed } } });
    const isHinted = ({ errors }: Verdict) => errors[0]?.detail.includes('did you mean') === true;
    assert.ok(found.slice(0, 20).every(isHinted));
    assert.ok(!found.slice(-500).some(isHinted));
    assert.ok(found.every(({ valid }) => !valid));
  });

  it('a validation answer is quick even for many items and allowed values', () => {
    const allowed = Array.from({ length: 20_000 }, (_, index) => `category${index}`);
    const a = Array.from({ length: 5000 }, (_, index) => `kategory${index}`);
    const [found] = answers([{ ...HEAD, a }], { properties: { a: { items: { enum: allowed } } } });
    assert.equal(found?.errors.length, 100);
  });

  it('a validation answer is quick even for many missing and as many unknown members', () => {
    const names = (start: string) => Array.from({ length: 1000 }, (_, index) => `${start}${1000 + index}x`);
    const required = names('wanted');
    const entity = { ...HEAD, ...Object.fromEntries(names('wonted').map((name) => [name, 1])) };
    const schema = { required, properties: { id: true, type: true } };
    const { errors, warnings } = validateEntity(entity, modelOf(schema), { form: 'keyvalues' });
    assert.equal(errors.length, 1000);
    assert.ok(warnings.length <= 1000);
  });

  it('a validation answer collects no more warnings of unknown attributes than it shows', () => {
    const entity = { ...HEAD, ...Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`n${n}`, 1])) };
    const { warnings } = validateEntity(entity, modelOf({ properties: { speed: {} } }));
    assert.equal(warnings.length, 1000);
    assert.deepEqual(warnings[0]?.tokens, ['n0']);
  });
});

describe('a model', () => {
  it('a model gets values without wrapping also for attributes that it does not name', () => {
    const va = { type: 'VocabProperty', vocab: 'x' };
    const bare = { enum: ['x'] };
    const wrapped = { type: 'object', properties: { vocab: bare }, required: ['vocab'] };
    const named = { id: {}, type: {} };
    for (const own of [bare, wrapped])
      for (const schema of [
        { patternProperties: { '^v': own } },
        { properties: named, additionalProperties: own },
        { properties: named, unevaluatedProperties: own },
      ]) {
        assert.deepEqual(places({ ...HEAD, va }, schema), [], JSON.stringify(schema));
        assert.deepEqual(places({ ...HEAD, va: { ...va, vocab: 'y' } }, schema), ['/va/vocab']);
      }
  });

  it('a model may require the type as it was submitted, an IRI or a list', () => {
    const iri = 'https://types.example/Vehicle';
    const list = { properties: { type: { type: 'array', maxItems: 2 } } } as const;
    assert.deepEqual(places({ ...HEAD, type: iri }, { properties: { type: { const: iri } } }), []);
    assert.deepEqual(places({ ...HEAD, type: ['Vehicle', 'B'] }, list), []);
    assert.deepEqual(
      places(
        { id: 'urn:a:1', '@type': iri, a: 1 },
        { properties: { type: { const: 'Other' }, a: { type: 'string' } } },
      ),
      ['/@type', '/a'],
    );
    assert.deepEqual(
      places(
        { ...HEAD, type: ['Vehicle', 'B'], a: 1 },
        { properties: { ...list.properties, a: { type: 'string' } } },
      ),
      ['/a'],
    );
  });
});

function instance(value: JsonValue, datasetId?: string): JsonObject {
  return { type: 'Property', value, ...(datasetId === undefined ? {} : { datasetId }) };
}

function places(entity: JsonObject, schema: JsonObject): readonly string[] {
  return validateEntity(entity, modelOf(schema))
    .errors.map(({ tokens }) => pointerOf(tokens))
    .sort();
}

function answers(body: JsonValue, schema: JsonObject): readonly Verdict[] {
  return validatorOf('Vehicle', schema).verdicts(JSON.stringify(body));
}

function answer(entity: JsonObject): Verdict {
  const [found] = answers([entity], {});
  if (found === undefined) throw new Error('no verdict');
  return found;
}
