import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compareSchemas } from '../../../../sidecar/schemas/json-schema/change-report.js';
import { reasonOf } from '../../../../sidecar/schemas/json-schema/differences.js';
import type { JsonObject } from '../../../../sidecar/shared/json/json.js';
import { words } from '../../../support/words.js';

function detailOf(before: JsonObject, after: JsonObject): string {
  const [difference, ...others] = compareSchemas(before, after).differences;
  assert.deepEqual(others, []);
  return difference?.detail ?? '';
}

describe('the details of a change report', () => {
  it('the details of a change report name the number of contained items if only this number has changed', () => {
    const one = { contains: { const: 1 } };
    const details: readonly (readonly [JsonObject, JsonObject, string])[] = [
      [one, { ...one, minContains: 2 }, 'minContains is 2, was 1'],
      [{ ...one, minContains: 2 }, one, 'minContains is 1, was 2'],
      [{ ...one, minContains: 0 }, one, 'minContains is 1, was 0'],
      [one, { ...one, maxContains: 3 }, 'maxContains 3 is new'],
      [{ ...one, maxContains: 3 }, one, 'maxContains 3 is gone'],
      [{ ...one, maxContains: 3 }, { ...one, maxContains: 2 }, 'maxContains is 2, was 3'],
      [one, { contains: { const: 2 } }, 'contains is {"const":2}, was {"const":1}'],
      [{}, { ...one, minContains: 2 }, 'contains {"const":1} is new'],
    ];
    for (const [before, after, detail] of details) assert.equal(detailOf(before, after), detail);
    const [difference] = compareSchemas(one, { ...one, minContains: 2 }).differences;
    assert.deepEqual([difference?.pointer, difference?.reason], ['/minContains', 'range']);
  });

  it('the details of a change report explain the change of every keyword', () => {
    const reasons = {
      type: ['type'],
      values: ['enum', 'const'],
      format: ['format', 'pattern'],
      range: words(`
        minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength
        minItems maxItems uniqueItems minProperties maxProperties minContains maxContains
      `),
      required: ['dependentRequired'],
      structure: ['items', 'additionalProperties', 'anyOf', 'not', 'constructor', '__proto__', ''],
    };
    for (const [reason, keywords] of Object.entries(reasons))
      for (const keyword of keywords) assert.equal(reasonOf(keyword), reason, keyword);
  });

  it('the details of a change report name a removed property, even if another keyword there has changed', () => {
    const before = { type: 'object', properties: { a: { type: 'string' }, b: {} }, required: ['a', 'b'] };
    const after = { type: 'object', properties: { a: { type: 'string' } }, required: ['a', 'c'] };
    assert.deepEqual(
      compareSchemas(before, after).differences.map((one) => [one.pointer, one.class, one.detail]),
      [
        ['/required', 'breaking', 'property "c" is required now'],
        ['/properties/b', 'compatible', 'property "b" is no longer described'],
        ['/required', 'compatible', 'property "b" is no longer required'],
      ],
    );
  });

  it('forbidding a property breaks a schema that did not mention the property', () => {
    const [only, ...others] = compareSchemas({}, { properties: { a: false } }).differences;
    assert.deepEqual([only?.class, only?.pointer, others], ['breaking', '/properties/a', []]);
  });

  it('a property that a pattern may allow may stay valid if others are forbidden', () => {
    const before = { type: 'object', properties: { a: { type: 'string' } } };
    const forbidden = { type: 'object', additionalProperties: false };
    assert.equal(compareSchemas(before, forbidden).overall, 'breaking');
    assert.equal(
      compareSchemas(before, { ...forbidden, patternProperties: { '^a': {} } }).overall,
      'narrowing',
    );
  });

  it('members that a removed pattern allowed are forbidden if only others are allowed, however many patterns there are', () => {
    const allowing = (...patterns: readonly string[]) => ({
      additionalProperties: false,
      patternProperties: Object.fromEntries(patterns.map((pattern) => [pattern, {}])),
    });
    for (const [before, after] of [
      [['^x-'], ['^y-']],
      [
        ['^x-', '^y-'],
        ['^y-', '^z-'],
      ],
      [['^x-', '^y-'], ['^y-']],
    ] as const)
      assert.notEqual(
        compareSchemas(allowing(...before), allowing(...after)).overall,
        'compatible',
        after[0],
      );
    assert.equal(compareSchemas(allowing('^x-'), allowing('^x-', '^y-')).overall, 'compatible');
  });

  it('a forbidden item breaks a schema exactly if every array has the item', () => {
    const after = { prefixItems: [true, false] };
    for (const [minItems, weight] of [
      [1, 'narrowing'],
      [2, 'breaking'],
    ] as const)
      assert.equal(compareSchemas({ type: 'array', minItems }, after).overall, weight, `${minItems} items`);
  });

  it('a difference that affects several properties is reported once, with the most severe class, in any order', () => {
    const some = { type: 'string' };
    const all = { type: 'string', const: 'ab' };
    const after: JsonObject = {
      properties: { a: { $ref: '#/$defs/code' }, b: { $ref: '#/$defs/code' } },
      $defs: { code: { type: 'string', minLength: 3 } },
    };
    for (const [a, b] of [
      [some, all],
      [all, some],
    ] as const) {
      const found = compareSchemas({ properties: { a, b } }, after).differences;
      assert.deepEqual(
        found.filter((one) => one.reason === 'range').map((one) => [one.pointer, one.class]),
        [['/$defs/code/minLength', 'breaking']],
      );
    }
  });

  it('the lengths of listed values are counted in characters, not in UTF-16 units', () => {
    const before = { enum: ['\u{1F697}\u{1F697}'] };
    for (const [after, weight] of [
      [{ maxLength: 2 }, 'compatible'],
      [{ maxLength: 1 }, 'breaking'],
      [{ minLength: 2 }, 'compatible'],
      [{ minLength: 3 }, 'breaking'],
    ] as const)
      assert.equal(compareSchemas(before, after).overall, weight, JSON.stringify(after));
  });

  it('the details of a change report are short, however long the values are', () => {
    const long = (letter: string) => ({ const: letter.repeat(10_000) });
    assert.ok(detailOf(long('a'), long('b')).length < 300);
    const many = (from: number) => ({ enum: Array.from({ length: 500 }, (_, index) => from + index) });
    assert.match(detailOf(many(0), many(1)), /500/);
  });
});
