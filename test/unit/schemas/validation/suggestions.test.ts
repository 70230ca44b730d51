import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Entry, validatorOf } from './validating.js';
import {
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  tokensOf,
} from '../../../../sidecar/shared/json/json.js';

const SCHEMA = {
  type: 'object',
  required: ['id', 'type', 'speed'],
  properties: {
    id: { type: 'string' },
    type: { const: 'Car' },
    speed: { type: 'number', minimum: 0 },
    doors: { type: 'integer' },
    name: { type: 'string' },
    isOpen: { type: 'boolean' },
    state: { enum: ['free', 'occupied'] },
    limit: { anyOf: [{ type: 'number' }, { type: 'boolean' }] },
    place: { type: 'object', properties: { street: { type: 'string' } }, additionalProperties: false },
  },
};

function verdictOn(entity: JsonObject) {
  return validatorOf('Car', SCHEMA).verdict(entity);
}

/** The entity with the suggestion applied, by a client that only knows pointers. */
function mended(entity: JsonObject, { pointer, suggestion }: Entry): JsonObject {
  assert.ok(suggestion !== undefined, `nothing is suggested at ${pointer}`);
  const tokens = tokensOf(pointer) ?? [];
  const last = tokens.at(-1) ?? '';
  const change = (at: JsonValue, [token, ...rest]: readonly string[]): JsonValue => {
    if (token === undefined) return suggestion.value ?? at;
    if (isArray(at)) return at.map((item, index) => (String(index) === token ? change(item, rest) : item));
    assert.ok(isObject(at));
    return Object.fromEntries(
      Object.entries(at).map(([name, held]) => {
        if (name !== token) return [name, held];
        return [rest.length === 0 ? (suggestion.name ?? name) : name, change(held, rest)];
      }),
    );
  };
  assert.ok(last !== '');
  const found = change(entity, tokens);
  assert.ok(isObject(found));
  return found;
}

const CAR = { id: 'urn:ngsi-ld:Car:1', type: 'Car', speed: 1 };

const MISTAKES: Readonly<Record<string, JsonObject>> = {
  'a number in quotes': { ...CAR, speed: '12.5' },
  'an integer in quotes': { ...CAR, doors: '4' },
  'a boolean in quotes': { ...CAR, isOpen: 'true' },
  'a number where a string belongs': { ...CAR, name: 12 },
  'a misspelt value': { ...CAR, state: 'ocupied' },
  'a misspelt name of a required attribute': { id: CAR.id, type: 'Car', sped: 1 },
  'a misspelt name of a member that is refused': { ...CAR, place: { streat: 'Main' } },
  'a misspelt value of a normalized attribute': { ...CAR, speed: { type: 'Property', value: '3' } },
  'a misspelt value of one instance of several': {
    ...CAR,
    speed: [
      { type: 'Property', value: 3 },
      { type: 'Property', value: '4', datasetId: 'urn:d:1' },
    ],
  },
  'a value of several types': { ...CAR, limit: '7' },
};

describe('suggestions', () => {
  it('a misspelled reserved member causes a warning, and the suggestion renames it', () => {
    const speed = { type: 'Property', value: 3 };
    for (const [written, meant] of [
      ['unitcode', 'unitCode'],
      ['unit_code', 'unitCode'],
      ['observedat', 'observedAt'],
      ['observed_At', 'observedAt'],
      ['datasetID', 'datasetId'],
    ] as const) {
      const value = meant === 'unitCode' ? 'KMH' : meant === 'datasetId' ? 'urn:d:1' : '2026-01-01T00:00:00Z';
      const entity = { ...CAR, speed: { ...speed, [written]: value } };
      const { warnings } = verdictOn(entity);
      const [warning] = warnings;
      assert.deepEqual([warnings.length, warning?.pointer], [1, `/speed/${written}`]);
      assert.ok(warning !== undefined);
      const { speed: fixed } = mended(entity, warning) as { speed: JsonObject };
      assert.deepEqual(fixed, { ...speed, [meant]: value });
      assert.deepEqual(verdictOn({ ...CAR, speed: fixed }), { ...verdictOn(CAR), form: 'normalized' });
    }
    // Attributes of the attribute that are meant as such.
    for (const own of [{ accuracy: 'high' }, { unit: 'KMH' }, { unitcode: { type: 'Property', value: 1 } }])
      assert.deepEqual(verdictOn({ ...CAR, speed: { ...speed, ...own } }).warnings, []);
  });

  it('the suggestion for a Relationship renames its value to object', () => {
    const entity = { ...CAR, owner: { type: 'Relationship', value: 'urn:a:1' } };
    const [error] = verdictOn(entity).errors;
    assert.ok(error !== undefined);
    const owner = { type: 'Relationship', object: 'urn:a:1' };
    assert.deepEqual(mended(entity, error)['owner'], owner);
    assert.deepEqual(verdictOn({ ...CAR, owner }).errors, []);
  });

  for (const [kind, entity] of Object.entries(MISTAKES))
    it(`the suggestion for ${kind} makes the entity valid`, () => {
      const { valid, errors } = verdictOn(entity);
      assert.equal(valid, false);
      const [error] = errors;
      assert.ok(error !== undefined);
      assert.equal(verdictOn(mended(entity, error)).valid, true);
    });

  it('a value that is also invalid is not suggested', () => {
    const model = validatorOf('Car', {
      type: 'object',
      properties: {
        seen: { type: 'string', format: 'date-time' },
        code: { allOf: [{ type: 'string' }, { pattern: '^[A-Z]+$' }] },
        share: { type: 'number', maximum: 1 },
        since: { oneOf: [{ type: 'string', format: 'date-time' }, { type: 'boolean' }] },
        name: { type: 'string', maxLength: 5 },
      },
    });
    const written = { seen: 1700000000, code: 12, share: '7', since: 1700000000, name: 12 };
    const { errors } = model.verdict({ id: 'urn:ngsi-ld:Car:1', type: 'Car', ...written });
    const suggested = errors.map(({ pointer, suggestion }) => [pointer, suggestion?.value]);
    assert.deepEqual(Object.fromEntries(suggested), {
      '/seen': undefined,
      '/code': undefined,
      '/share': undefined,
      '/since': undefined,
      '/name': '12',
    });
  });

  it('the array with a value is suggested where the model asks for an array, if the model accepts it', () => {
    const letters = { type: 'array', items: { type: 'string', maxLength: 2000 } };
    const model = validatorOf('Car', {
      type: 'object',
      properties: { one: letters, number: letters, two: { ...letters, minItems: 2 }, long: letters },
    });
    const long = 'x'.repeat(1001);
    const written = { one: 'a', number: 1, two: 'a', long };
    const suggestionsFor = (members: JsonObject) => {
      const { errors } = model.verdict({ id: 'urn:ngsi-ld:Car:1', type: 'Car', ...members });
      return errors.map(({ pointer, keyword, suggestion }) => [pointer, keyword, suggestion?.value]);
    };
    assert.deepEqual(suggestionsFor(written), [
      ['/one', 'type', ['a']],
      ['/number', 'type', undefined],
      ['/two', 'type', undefined],
      ['/long', 'type', undefined],
    ]);
    const normalized = { one: { type: 'Property', value: 'a' } };
    assert.deepEqual(suggestionsFor(normalized), [['/one/value', 'type', ['a']]]);
  });

  it('the suggestion for a misspelled name that the model allows ends the warning', () => {
    const entity = { ...CAR, stat: 'free' };
    const { valid, warnings } = verdictOn(entity);
    const [warning] = warnings;
    assert.ok(warning !== undefined);
    assert.deepEqual([valid, warning.suggestion], [true, { name: 'state' }]);
    assert.deepEqual(verdictOn(mended(entity, warning)).warnings, []);
  });

  it('a number is suggested for a string of up to fifteen characters, which a number represents exactly', () => {
    const suggestedFor = (speed: string) => verdictOn({ ...CAR, speed }).errors[0]?.suggestion;
    assert.deepEqual(suggestedFor('123456789012345'), { value: 123456789012345 });
    assert.equal(suggestedFor('1234567890123456'), undefined);
  });

  it('nothing is suggested if the intention is unclear, or cannot be written there', () => {
    const cases: readonly JsonObject[] = [
      { ...CAR, speed: 'fast' },
      { ...CAR, speed: '0x10' },
      { ...CAR, speed: '12345678901234567890' },
      { ...CAR, doors: '4.5' },
      { ...CAR, isOpen: 'yes' },
      { ...CAR, state: 'broken' },
      { ...CAR, speed: -1 },
      { ...CAR, name: { type: 'Property', value: ['a'] } },
      { ...CAR, stat: 'free', state: 'free' },
    ];
    for (const entity of cases) {
      const { errors, warnings } = verdictOn(entity);
      assert.ok(errors.length + warnings.length > 0, JSON.stringify(entity));
      for (const one of [...errors, ...warnings])
        assert.ok(!('suggestion' in one), JSON.stringify({ entity, one }));
    }
  });
});
