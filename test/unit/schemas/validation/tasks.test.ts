import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject, JsonValue } from '../../../../sidecar/shared/json/json.js';
import { MAX_ENTITIES } from '../../../../sidecar/schemas/validation/body-entities.js';
import { VEHICLE, VEHICLE_SCHEMA } from './models.js';
import { validatorOf } from './validating.js';

const MODEL = validatorOf('Vehicle', VEHICLE_SCHEMA);

describe('the task of validating', () => {
  it('the task of validating returns the place in the text of each error and warning, in order', () => {
    const text = [
      '{',
      '  "id": "urn:ngsi-ld:Vehicle:1",',
      '  "colour": {"type": "Property", "value": "red"},',
      '  "10": {"type": "Property", "value": 1},',
      '  "status": {"type": "Property", "value": "ocupied"},',
      '  "type": "Vehicle",',
      '  "speed": {"type": "Property",',
      '            "value": -3}',
      '}',
    ].join('\n');
    const { valid, errors, warnings } = MODEL.verdict(text);
    assert.equal(valid, false);
    assert.deepEqual(errors, [
      {
        pointer: '/status/value',
        detail: 'must be one of "free", "occupied", "closed", is "ocupied"; did you mean "occupied"?',
        keyword: 'enum',
        line: 5,
        column: 43,
        suggestion: { value: 'occupied' },
      },
      {
        pointer: '/speed/value',
        detail: 'must be at least 0, is -3',
        keyword: 'minimum',
        line: 8,
        column: 22,
      },
    ]);
    assert.deepEqual(
      warnings
        .filter(({ code }) => code === 'unknown-attribute')
        .map(({ pointer, line, column }) => [pointer, line, column]),
      [
        ['/colour', 3, 13],
        ['/10', 4, 9],
      ],
    );
  });

  it('the task of validating returns one result for each entity of an array, in order, with pointers that begin with the index', () => {
    const wrong = { ...VEHICLE, speed: { type: 'Property', value: -1 } };
    const verdicts = MODEL.verdicts(JSON.stringify([VEHICLE, wrong, VEHICLE, { id: 'urn:a:b' }]));
    assert.deepEqual(
      verdicts.map(({ valid }) => valid),
      [true, false, true, false],
    );
    assert.deepEqual(
      verdicts.map(({ errors }) => errors.map(({ pointer }) => pointer)),
      [[], ['/1/speed/value'], [], ['/3', '/3']],
    );
    assert.deepEqual(MODEL.verdicts('[]'), []);
  });

  it('the task of validating returns the errors and warnings of an entity in the order of the text, also within a line', () => {
    const text = '{"speed": -1, "zzz": 1, "id": "no uri", "type": "Vehicle", "aaa": 1}';
    for (const written of [text, text.replaceAll(',', ',\n')]) {
      const { errors, warnings } = MODEL.verdict(written);
      assert.deepEqual(
        [errors, warnings].map((all) => all.map(({ pointer }) => pointer)),
        [
          ['/speed', '/id'],
          ['/zzz', '/aaa'],
        ],
        written,
      );
    }
  });

  it('the task of validating distinguishes unreadable text from a body that is not an entity', () => {
    const unreadable = MODEL.outcome('{"a": 1,\n "a": 2}');
    assert.deepEqual(
      'unreadable' in unreadable && [unreadable.unreadable.line, unreadable.unreadable.column],
      [2, 2],
    );
    for (const text of ['null', '5', '"a"', 'true'])
      assert.deepEqual(MODEL.outcome(text), {
        refused: {
          kind: 'bodyInvalid',
          detail: 'The body is neither an entity nor an array of entities.',
          errors: [{ pointer: '', detail: 'must be an entity, or an array of entities' }],
        },
      });
    const mixed = MODEL.outcome(JSON.stringify([VEHICLE, 5, [], VEHICLE]));
    assert.deepEqual('refused' in mixed && mixed.refused.errors, [
      { pointer: '/1', detail: 'must be an entity, that is, an object' },
      { pointer: '/2', detail: 'must be an entity, that is, an object' },
    ]);
  });

  it('the task of validating names a hundred items that are not entities', () => {
    for (const [count, shown] of [
      [100, 100],
      [101, 100],
    ] as const) {
      const refused = MODEL.outcome(JSON.stringify(Array<JsonValue>(count).fill(1)));
      assert.ok('refused' in refused && refused.refused.errors.length === shown);
    }
  });

  it('the task of validating refuses too many entities with the limit, and accepts exactly as many', () => {
    const entity = '{"id":"urn:a:b","type":"Vehicle","speed":1}';
    const body = (count: number) => `[${Array<string>(count).fill(entity).join()}]`;
    const refused = MODEL.outcome(body(MAX_ENTITIES + 1));
    assert.ok('refused' in refused && refused.refused.kind === 'limitExceeded');
    assert.match(refused.refused.detail, /10001 entities, more than 10000/);
    assert.equal(MODEL.verdicts(body(MAX_ENTITIES)).filter(({ valid }) => valid).length, MAX_ENTITIES);
  });

  it('the task of validating shows the first hundred errors and warnings of an entity, and says that there are more', () => {
    const speeds = Array.from({ length: 150 }, (_, index) => ({
      type: 'Property',
      value: -1 - index,
      // The default instance is read first, wherever it is.
      ...(index < 149 ? { datasetId: `urn:d:${index}` } : {}),
    }));
    const others = Object.fromEntries(
      Array.from({ length: 120 }, (_, index) => [`other${index}`, { type: 'Property', value: 1 }]),
    );
    const text = JSON.stringify({ ...VEHICLE, speed: speeds, ...others });
    const { errors, warnings } = MODEL.verdict(text);
    assert.deepEqual(
      errors.map(({ pointer }) => pointer),
      speeds.slice(0, 100).map((_, index) => `/speed/${index}/value`),
    );
    assert.equal(warnings.length, 102);
    assert.deepEqual(
      warnings.slice(100).map(({ pointer, code }) => [pointer, code]),
      [
        ['', 'more-errors'],
        ['', 'more-warnings'],
      ],
    );
    assert.equal(warnings[99]?.pointer, '/other99');
  });

  it('the task of validating limits its answer about many wrong entities, each of which still has an error', () => {
    const entity: JsonObject = {
      id: 'no uri',
      type: 'Vehicle',
      speed: { type: 'Property', value: '5' },
      status: { type: 'Property', value: 'fre' },
      colour: { type: 'Property', value: 1 },
    };
    const verdicts = MODEL.verdicts(JSON.stringify(Array<JsonValue>(2000).fill(entity)));
    assert.ok(verdicts.every(({ valid, errors }) => !valid && errors.length > 0));
    const count = (what: 'errors' | 'warnings') => verdicts.reduce((sum, one) => sum + one[what].length, 0);
    assert.ok(count('errors') < 1003 + 2000);
    const last = verdicts.at(-1);
    assert.deepEqual(
      [
        last?.errors.map(({ pointer }) => pointer),
        last?.warnings.map(({ pointer, code }) => [pointer, code]),
      ],
      [
        ['/1999/id'],
        [
          ['/1999', 'more-errors'],
          ['/1999', 'more-warnings'],
        ],
      ],
    );
  });
});

describe('a verdict that would be too long', () => {
  it('a result that would be too long is refused, such as a long list of allowed values for each of many entities', () => {
    const allowed = Array.from({ length: 20 }, (_, index) => `${index}`.padEnd(80, '"'));
    const text = JSON.stringify(
      Array.from({ length: MAX_ENTITIES }, () => ({ id: 'urn:a:b', type: 'Vehicle', a: 1 })),
    );
    const outcome = validatorOf('Vehicle', { properties: { a: { enum: allowed } } }).outcome(text);
    assert.ok('refused' in outcome);
    assert.equal(outcome.refused.kind, 'limitExceeded');
    assert.match(outcome.refused.detail, /send fewer entities/);
  });
});
