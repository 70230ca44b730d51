import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { isPlainlyValid, validateInLikelyForm } from '../../../../sidecar/schemas/validation/choose-form.js';
import { Spelling } from '../../../../sidecar/schemas/json-schema/spelling.js';
import type { EntityOptions } from '../../../../sidecar/schemas/validation/validate-entity.js';
import type { JsonObject, JsonValue } from '../../../../sidecar/shared/json/json.js';
import { modelOf } from './models.js';

/** Its `drain` is data that looks like a concise Property. */
const TANK = modelOf(
  {
    properties: {
      temp: { type: 'number' },
      level: { type: 'number' },
      drain: {
        type: 'object',
        required: ['value', 'unit'],
        properties: { value: { type: 'number' }, unit: { type: 'string' } },
      },
      address: { properties: { street: { type: 'string' } } },
    },
  },
  'Tank',
);

const TANK_ENTITY: JsonObject = { id: 'urn:ngsi-ld:Tank:1', type: 'Tank' };
const DRAIN = { value: 33, unit: 'l' };

function verdictOn(attributes: JsonObject, options: EntityOptions = {}) {
  const { form, errors, warnings } = validateInLikelyForm(
    { ...TANK_ENTITY, ...attributes },
    TANK,
    options,
    new Spelling(),
  );
  return {
    form,
    errors: errors.map(({ tokens }) => tokens.join('/')),
    warnings: warnings.filter(({ code }) => code === 'other-form').map(({ predicate }) => predicate()),
  };
}

describe('the form in which an entity is validated', () => {
  it('an entity is validated as key-values if the model describes a concise-looking Property as data', () => {
    const { form, errors, warnings } = verdictOn({ temp: 3, drain: DRAIN });
    assert.deepEqual([form, errors], ['keyvalues', []]);
    assert.deepEqual(warnings, [
      'is read as key-values: it may also be concise, but is not valid as such; send form=keyvalues or form=concise to decide',
    ]);
  });

  it('an entity is validated as concise if that is valid, or if neither form is', () => {
    assert.deepEqual(verdictOn({ temp: 3, level: { value: 5 } }), {
      form: 'concise',
      errors: [],
      warnings: [],
    });
    const wrong = { drain: { value: 'x', unit: 'l' } };
    assert.deepEqual(verdictOn(wrong), { form: 'concise', errors: ['drain/value'], warnings: [] });
  });

  it('an entity is validated in the given form, even if another would be valid', () => {
    const claimed = verdictOn({ temp: 3, drain: DRAIN }, { form: 'concise' });
    assert.deepEqual(claimed, { form: 'concise', errors: ['drain/value'], warnings: [] });
    assert.deepEqual(verdictOn({ temp: 3, drain: DRAIN }, { form: 'keyvalues' }).errors, []);
  });

  it('an entity is validated in the guessed form, with a warning about another valid form, if the model does not decide', () => {
    // A null value is not a concise Property; the model says nothing about "other".
    const { form, errors, warnings } = verdictOn({ temp: 3, other: { value: null } });
    assert.deepEqual([form, errors], ['concise', ['other/value']]);
    assert.deepEqual(warnings, [
      'is read as concise; as key-values it is valid: send form=keyvalues if that is meant',
    ]);
  });

  it('an entity is validated in the guessed form if the model knows only one of its ambiguous attributes', () => {
    const data = { value: 5, unit: 'l' };
    const { form, errors, warnings } = verdictOn({ temp: 3, drain: DRAIN, other: data });
    assert.deepEqual([form, errors], ['concise', ['drain/value']]);
    assert.match(warnings[0] ?? '', /^is read as concise; as key-values it is valid/);
  });

  it('an entity is validated as concise without a warning if an attribute names its kind', () => {
    const { form, errors, warnings } = verdictOn({ temp: { type: 'Property', value: 3 }, drain: DRAIN });
    assert.deepEqual([form, errors, warnings], ['concise', ['drain/value'], []]);
  });

  it('a warning says that an entity is valid as concise if only that form explains a nested attribute', () => {
    const { form, errors, warnings } = verdictOn({
      temp: 3,
      address: { street: { type: 'Property', value: 'A' } },
    });
    assert.deepEqual([form, errors], ['keyvalues', ['address/street']]);
    assert.match(warnings[0] ?? '', /as concise it is valid/);
  });

  it('an entity is validated in the form found leniently on request', () => {
    const lenient = verdictOn({ temp: 3, other: { value: null } }, { isStrict: false });
    assert.deepEqual([lenient.form, lenient.errors], ['concise', []]);
  });
});

const value: fc.Arbitrary<JsonValue> = fc.constantFrom<JsonValue>(
  3,
  'x',
  null,
  'urn:ngsi-ld:null',
  [],
  [1, 2],
  { street: 'A' },
  { street: 5 },
  DRAIN,
);
const attribute: fc.Arbitrary<JsonValue> = fc.oneof(
  { weight: 9, arbitrary: fc.constant<JsonValue>({ type: 'Property', value: 3 }) },
  value,
  fc.record(
    {
      type: fc.constantFrom('Property', 'Relationship', 'GeoProperty', 'property'),
      value,
      object: fc.constantFrom('urn:x:1', 'no URI'),
      observedAt: fc.constantFrom('2026-01-01T00:00:00Z', '2026-02-30T00:00:00Z', 'today'),
      datasetId: fc.constantFrom('urn:d:1', 'urn:d:2'),
      unit: fc.constant('l'),
    },
    { requiredKeys: [] },
  ),
);
const entity: fc.Arbitrary<JsonObject> = fc.record(
  {
    id: fc.constantFrom('urn:ngsi-ld:Tank:1', 'urn:ngsi-ld:Tank:2', 'no URI'),
    type: fc.constantFrom<JsonValue>('Tank', 'Other', ['Other', 'Tank'], 'https://x.example/Tank', 'Feature'),
    ...Object.fromEntries(
      ['temp', 'level', 'drain', 'address', 'other'].map((name) => [
        name,
        fc.oneof({ weight: 5, arbitrary: attribute }, fc.array(attribute, { maxLength: 3 })),
      ]),
    ),
  },
  { requiredKeys: ['id', 'type'] },
);

it('an entity is reported as plainly valid only if its validation finds no error', () => {
  let valid = 0;
  fc.assert(
    fc.property(entity, (one) => {
      if (!isPlainlyValid(one, TANK)) return;
      valid += 1;
      assert.deepEqual(validateInLikelyForm(one, TANK, {}, new Spelling()).errors, []);
    }),
    { numRuns: 2000 },
  );
  assert.ok(valid > 20, String(valid));
});
