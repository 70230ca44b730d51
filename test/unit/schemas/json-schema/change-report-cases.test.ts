import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compareSchemas } from '../../../../sidecar/schemas/json-schema/change-report.js';
import type { JsonObject } from '../../../../sidecar/shared/json/json.js';

const text: JsonObject = { type: 'string' };
const number: JsonObject = { type: 'number' };

/** The content of a report, as `class pointer: detail`. */
function said(before: JsonObject, after: JsonObject): readonly string[] {
  return compareSchemas(before, after).differences.map((one) => `${one.class} ${one.pointer}: ${one.detail}`);
}

function assertSaid(cases: readonly (readonly [JsonObject, JsonObject, ...string[]])[]): void {
  for (const [before, after, ...details] of cases)
    assert.deepEqual(said(before, after), details, JSON.stringify([before, after]));
}

describe('a change report of closed objects', () => {
  const closed = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
    type: 'object',
    properties,
    unevaluatedProperties: false,
    ...more,
  });
  const added = 'compatible /properties/p: property "p" is allowed now';

  it('an optional property may be added if unevaluatedProperties allows no others', () => {
    const base = { allOf: [{ $ref: '#/$defs/base' }], $defs: { base: { properties: { b: text } } } };
    const choices: readonly JsonObject[] = [
      {},
      base,
      { patternProperties: { '^x-': true } },
      { dependentSchemas: { a: { properties: { c: text } } } },
      {
        oneOf: [
          { required: ['b'], properties: { b: text } },
          { required: ['c'], properties: { c: text } },
        ],
      },
      { anyOf: [{ properties: { b: text } }, { properties: { c: text } }] },
      { if: { required: ['a'] }, then: { properties: { b: true } }, else: { properties: { c: true } } },
    ];
    assertSaid(choices.map((more) => [closed({ a: text }, more), closed({ a: text, p: text }, more), added]));
  });

  it('a property that unevaluatedProperties begins to refuse is named', () => {
    const lost = 'breaking /unevaluatedProperties: property "b" is no longer allowed';
    assertSaid([
      [closed({ a: text, b: text }), closed({ a: text }), lost],
      [
        { ...closed({ a: text, b: text }), unevaluatedProperties: true },
        closed({ a: text }),
        lost,
        'narrowing /unevaluatedProperties: unevaluatedProperties is false now',
      ],
      [
        closed({ a: text }, { anyOf: [{ properties: { b: text } }, { required: ['a'] }] }),
        closed({ a: text }, { anyOf: [{ required: ['b'] }, { required: ['a'] }] }),
        'breaking /unevaluatedProperties: property "b" is no longer allowed',
        'narrowing /anyOf/0/required: property "b" is required now',
      ],
    ]);
    const branches = (name: string): JsonObject => ({
      if: { required: [name] },
      then: { properties: { b: true } },
    });
    const moved = compareSchemas(closed({ a: text }, branches('a')), closed({ a: text }, branches('b')));
    assert.equal(moved.overall, 'narrowing');
  });

  it('unevaluatedProperties and additionalProperties close an object alike if no other keyword describes members', () => {
    const [byRest, byEvaluation] = ['additionalProperties', 'unevaluatedProperties'].map((keyword) => ({
      properties: { a: text },
      [keyword]: false,
    }));
    assert.ok(byRest !== undefined && byEvaluation !== undefined);
    assertSaid([
      [byRest, byEvaluation],
      [byEvaluation, byRest],
    ]);
  });

  it('a pattern that forbids properties is breaking only if the previous version describes them', () => {
    const forbidden = { patternProperties: { '^x': false } };
    assert.deepEqual(
      [
        [{ propertyNames: { pattern: '^a' } }, forbidden],
        [{ patternProperties: { '^x': text } }, forbidden],
      ].map(([before = {}, after = {}]) => compareSchemas(before, after).overall),
      ['narrowing', 'breaking'],
    );
  });

  it('a property may move between properties and a pattern that matches it', () => {
    const byName = { properties: { a1: text }, additionalProperties: false };
    const byPattern = { patternProperties: { '^a': text }, additionalProperties: false };
    const byOther = { patternProperties: { '^b': text }, additionalProperties: false };
    assertSaid([
      [byName, byPattern, 'compatible /patternProperties/^a: properties that match "^a" are allowed now'],
      [
        byPattern,
        byName,
        'narrowing /additionalProperties: properties that match "^a" are no longer allowed',
      ],
      [byPattern, { ...byPattern, properties: { a1: text } }],
      [
        byName,
        byOther,
        'breaking /additionalProperties: property "a1" is no longer allowed',
        'compatible /patternProperties/^b: properties that match "^b" are allowed now',
      ],
      [
        byName,
        { ...byPattern, patternProperties: { '^a': number } },
        'breaking /patternProperties/^a/type: type is "number", was "string"',
        'compatible /properties/a1/type: type is "number", was "string"',
        'compatible /patternProperties/^a: properties that match "^a" are allowed now',
      ],
    ]);
  });
});

describe('a change report of optional properties and choices', () => {
  const base = { type: 'object', properties: { a: text, b: text } };
  const extended = { type: 'object', properties: { ...base.properties, p: text } };

  it('an optional property is new whatever unchanged keywords are next to it', () => {
    const unchanged: readonly JsonObject[] = [
      { anyOf: [{ required: ['a'] }, { required: ['b'] }] },
      { oneOf: [{ required: ['a'] }, { required: ['b'] }] },
      { not: { required: ['a', 'b'] } },
      { if: { required: ['a'] }, then: { required: ['b'] } },
      { dependentRequired: { a: ['b'] } },
      { dependentSchemas: { a: { required: ['b'] } } },
      { patternProperties: { '^x-': number } },
      { minProperties: 1, propertyNames: { maxLength: 9 } },
      ...[true, {}, { description: 'Anything' }, { $ref: '#/$defs/any' }].map((rest) => ({
        additionalProperties: rest,
        $defs: { any: {} },
      })),
      ...[true, {}].map((rest) => ({ unevaluatedProperties: rest })),
    ];
    const added = 'compatible /properties/p: property "p" is new';
    assertSaid(unchanged.map((more) => [{ ...base, ...more }, { ...extended, ...more }, added]));
  });

  it('an optional property is new in its object, also in a choice, an item or a condition', () => {
    const places: readonly (readonly [pointer: string, (object: JsonObject) => JsonObject])[] = [
      ['/anyOf/1', (object) => ({ anyOf: [text, object] })],
      ['/oneOf/0', (object) => ({ oneOf: [object, { type: 'object', required: ['c'] }] })],
      ['/items', (object) => ({ items: object })],
      ['/contains', (object) => ({ contains: object })],
      ['/additionalProperties', (object) => ({ additionalProperties: object })],
      ['/patternProperties/^x', (object) => ({ patternProperties: { '^x': object } })],
      ['/then', (object) => ({ if: { required: ['a'] }, then: object })],
      ['/dependentSchemas/a', (object) => ({ dependentSchemas: { a: object } })],
    ];
    assertSaid(
      places.map(([pointer, held]) => [
        held(base),
        held(extended),
        `compatible ${pointer}/properties/p: property "p" is new`,
      ]),
    );
  });

  it('a new optional property that another choice describes differently may break a oneOf', () => {
    const choice = (properties: JsonObject): JsonObject => ({
      type: 'object',
      properties,
      additionalProperties: false,
    });
    const other = choice({ a: text, p: text });
    for (const [before, after] of [[choice({ a: text }), choice({ a: text, p: text })]] as const)
      assert.equal(
        compareSchemas({ oneOf: [before, other] }, { oneOf: [after, other] }).overall,
        'narrowing',
      );
    const others = choice({ a: text, q: text });
    assert.equal(
      compareSchemas({ oneOf: [choice({}), others] }, { oneOf: [choice({ p: text }), others] }).overall,
      'compatible',
    );
  });

  it('a new optional property of a nested object may break a oneOf if another choice describes it there', () => {
    const closed = (properties: JsonObject) => ({ type: 'object', properties, additionalProperties: false });
    const places: readonly ((object: JsonObject) => JsonObject)[] = [
      (object) => object,
      (items) => ({ items }),
      (item) => ({ prefixItems: [true, item] }),
      (object) => ({ patternProperties: { '^x': object } }),
      (object) => ({ additionalProperties: object }),
    ];
    for (const at of places) {
      const overall = (described: JsonObject) => {
        const [before, after] = [closed({ p: text }), closed({ p: text, q: text })].map((object) => ({
          oneOf: [
            { required: ['a'], properties: { a: at(object) } },
            { required: ['b'], properties: { a: at({ properties: described }) } },
          ],
        }));
        return compareSchemas(before ?? {}, after ?? {}).overall;
      };
      assert.deepEqual(
        [{ q: { type: 'number' } }, { r: { type: 'number' } }].map(overall),
        ['narrowing', 'compatible'],
        JSON.stringify(at({})),
      );
    }
  });

  it('an unchanged choice is not a difference next to a changed one', () => {
    const anyOf = [{ required: ['a'] }, { required: ['b'] }];
    assertSaid([
      [
        { ...base, anyOf },
        { ...base, properties: { a: { ...text, maxLength: 3 }, b: text }, anyOf },
        'narrowing /properties/a/maxLength: maxLength 3 is new',
      ],
    ]);
  });
});

describe('a change report of pairs of equal schemas', () => {
  it('excluding a property is the same as forbidding it', () => {
    const [excluded, forbidden] = [{ not: { required: ['a'] } }, { properties: { a: false } }];
    assertSaid([
      [
        { type: 'object', ...excluded },
        { type: 'object', ...forbidden },
      ],
      [
        { type: 'object', ...forbidden },
        { type: 'object', ...excluded },
      ],
      [excluded, forbidden, 'compatible /not: not {"required":["a"]} is gone'],
    ]);
    assert.equal(compareSchemas(forbidden, excluded).overall, 'narrowing', 'a text has no properties');
    assert.equal(compareSchemas({ not: { required: ['a', 'b'] } }, forbidden).overall, 'breaking');
  });

  it('the requirements of a required property are required', () => {
    const [direct, asked] = [{ required: ['a', 'b'] }, { required: ['a'], dependentRequired: { a: ['b'] } }];
    assertSaid([
      [direct, asked],
      [asked, direct],
      [
        { required: ['a'], dependencies: { a: ['c'], c: ['b'] } },
        direct,
        'compatible /dependencies: dependencies {"a":["c"],"c":["b"]} is gone',
      ],
    ]);
    assert.equal(compareSchemas({ dependentRequired: { a: ['b'] } }, direct).overall, 'breaking');
  });
});

describe('the words of a change report', () => {
  it('the words of a change report name the values that a long enumeration lost and gained, five at most', () => {
    const letters = (from: number, to: number): readonly string[] =>
      Array.from({ length: to - from }, (_, index) => `value-${from + index}`);
    assertSaid([
      [{ enum: letters(0, 12) }, { enum: letters(1, 12) }, 'narrowing /enum: enum lost "value-0"'],
      [{ enum: letters(1, 12) }, { enum: letters(0, 12) }, 'compatible /enum: enum gained "value-0"'],
      [
        { enum: letters(0, 12) },
        { enum: letters(6, 13) },
        'narrowing /enum: enum lost "value-0", "value-1", "value-2", "value-3", "value-4" and 1 more, gained "value-12"',
      ],
      [
        { enum: letters(0, 12) },
        { const: 'value-3' },
        'narrowing /const: const lost "value-0", "value-1", "value-2", "value-4", "value-5" and 6 more',
      ],
      [{}, { enum: letters(0, 12) }, 'narrowing /enum: enum with 12 entries is new'],
      [{ enum: ['a', 'b'] }, { const: 'a' }, 'narrowing /const: const is "a", was ["a","b"]'],
    ]);
  });

  it('the words of a change report never describe a change from a value to itself', () => {
    const long = (end: string): JsonObject => ({ const: 'x'.repeat(200) + end });
    const choices = (count: number): JsonObject => ({
      anyOf: Array.from({ length: count }, (_, index) => ({
        type: 'object',
        required: [`a-property-with-a-long-name-${index}`],
      })),
    });
    const tuple = (length: number, keyword: string): JsonObject => ({
      prefixItems: Array.from({ length }, () => text),
      [keyword]: false,
    });
    const pairs: readonly (readonly [JsonObject, JsonObject])[] = [
      [long('a'), long('b')],
      [choices(4), choices(3)],
      [tuple(2, 'items'), tuple(1, 'items')],
      [tuple(2, 'unevaluatedItems'), tuple(1, 'unevaluatedItems')],
      [
        { properties: { a: text, b: text }, additionalProperties: false },
        { properties: { a: text }, additionalProperties: false },
      ],
      [
        { anyOf: [{ $ref: '#/$defs/a' }, number], $defs: { a: text } },
        { anyOf: [{ $ref: '#/$defs/a' }, number], $defs: { a: { const: 1 } } },
      ],
    ];
    for (const [one, other] of pairs)
      for (const detail of [...said(one, other), ...said(other, one)]) {
        const [, is, was] = /: .* is (.*), was (.*)$/.exec(detail) ?? [];
        assert.ok(is === undefined || is !== was, detail);
        assert.doesNotMatch(detail, /"(?:old|new) /, 'references are shown as they are');
      }
  });
});
