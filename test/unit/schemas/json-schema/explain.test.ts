import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type JsonObject, type JsonValue, pointerOf } from '../../../../sidecar/shared/json/json.js';
import { loopsOf } from '../../../../sidecar/schemas/json-schema/usability.js';
import { resolveReferencesIn } from '../../../../sidecar/schemas/json-schema/linker.js';
import { compileSchema } from '../../../../sidecar/schemas/json-schema/validator.js';
import { explain } from '../../../../sidecar/schemas/json-schema/explain.js';
import { documents, schemas } from '../json-schema/schema-arbitraries.js';
import { runs } from '../../../support/thoroughness.js';
import { reversed, valueAt } from '../../../support/json-values.js';
import { column } from '../../../support/columns.js';

type Line = readonly [pointer: string, detail: string];

describe('an explanation of an invalid value', () => {
  it('an explanation states for each keyword the requirement and the value found', () => {
    const cases: readonly (readonly [schema: JsonObject, value: JsonValue, detail: string])[] = [
      [{ type: 'number' }, '12', 'must be a number, is the string "12"'],
      [{ type: 'string' }, 12, 'must be a string, is the number 12'],
      [{ type: 'integer' }, 1.5, 'must be an integer, is 1.5'],
      [{ type: ['string', 'null'] }, true, 'must be a string or null, is true'],
      [{ type: 'array' }, {}, 'must be an array, is an object'],
      [{ const: 'a' }, 'b', 'must be "a", is "b"'],
      [{ const: { a: 1 } }, [], 'must be {"a":1}, is an array'],
      [
        { enum: ['free', 'occupied'] },
        'ocupied',
        'must be one of "free", "occupied", is "ocupied"; did you mean "occupied"?',
      ],
      [{ enum: ['free', 3, null] }, 4, 'must be one of "free", 3, null, is 4'],
      [{ minimum: 0 }, -3, 'must be at least 0, is -3'],
      [{ exclusiveMinimum: 0 }, 0, 'must be greater than 0, is 0'],
      [{ maximum: 180 }, 186, 'must be at most 180, is 186'],
      [{ exclusiveMaximum: 1 }, 1, 'must be less than 1, is 1'],
      [{ multipleOf: 5 }, 7, 'must be a multiple of 5, is 7'],
      [{ multipleOf: 0.01 }, 19.995, 'must be a multiple of 0.01, is 19.995'],
      [{ minLength: 2 }, '😀', 'must have at least 2 characters, has 1'],
      [{ maxLength: 1 }, 'ab', 'must have at most 1 character, has 2'],
      [{ pattern: '^a+$' }, 'b', 'must match the pattern ^a+$, is "b"'],
      [{ format: 'date-time' }, 'x', 'must be a date-time such as 2026-01-31T12:00:00Z, is "x"'],
      [
        { format: 'date-time' },
        '2026-01-31T12:00:00',
        'must be a date-time such as 2026-01-31T12:00:00Z, is "2026-01-31T12:00:00"; the time zone, such as Z, is missing',
      ],
      [{ format: 'int32' }, 2 ** 40, 'must be a 32-bit integer, is 1099511627776'],
      [{ minItems: 1 }, [], 'must hold at least 1 item, holds none'],
      [{ maxItems: 1 }, [1, 2], 'must hold at most 1 item, holds 2'],
      [{ uniqueItems: true }, ['a', 'b', 'a'], 'must hold no item twice, holds "a" at 0 and 2'],
      [
        { uniqueItems: true },
        [
          { a: 1, b: 0 },
          { b: -0, a: 1 },
        ],
        'must hold no item twice, holds an object at 0 and 1',
      ],
      [{ contains: { const: 'x' } }, ['y'], 'must hold at least 1 item that is "x", holds none'],
      [
        { contains: { type: 'number' }, maxContains: 1 },
        [1, 2],
        'must hold at most 1 item that is a number, holds 2',
      ],
      [{ required: ['speed'] }, {}, 'lacks the member "speed"'],
      [{ dependentRequired: { a: ['b'] } }, { a: 1 }, 'lacks the member "b", which "a" requires'],
      [{ minProperties: 1 }, {}, 'must have at least 1 member, has none'],
      [{ maxProperties: 1 }, { a: 1, b: 2 }, 'must have at most 1 member, has 2'],
      [{ not: { const: 1 } }, 1, 'must not be 1'],
      [{ not: { pattern: '^a' } }, 'ab', 'must not match the pattern ^a, is "ab"'],
      [{ enum: [] }, 1, 'must not be present: no value is allowed'],
      [{ not: { required: ['a', 'b'] } }, { a: 1, b: 2 }, 'must not have the member "a" and "b" together'],
      [{ not: { type: 'string' } }, 'a', 'must not be a string'],
      [{ not: { minimum: 3 } }, 4, 'must not match the schema under "not", is 4'],
      [
        { oneOf: [{ minimum: 1 }, { maximum: 9 }] },
        5,
        'must match exactly one of 2 alternatives, matches 2 (1, 2)',
      ],
    ];
    for (const [schema, value, detail] of cases) assert.deepEqual(linesOf(schema, value), [['', detail]]);
  });

  it('an explanation names the keyword that counts the contained items', () => {
    const contains = { const: 1 };
    const cases: readonly (readonly [schema: JsonObject, value: readonly number[], keyword: string])[] = [
      [{ contains }, [], 'contains'],
      [{ contains, maxContains: 2 }, [2], 'contains'],
      [{ contains, minContains: 2 }, [1], 'minContains'],
      [{ contains, minContains: 0, maxContains: 2 }, [1, 1, 1], 'maxContains'],
      [{ contains, maxContains: 2 }, [1, 1, 1], 'maxContains'],
    ];
    for (const [schema, value, keyword] of cases)
      assert.deepEqual(
        explain(compileSchema(resolveReferencesIn(schema)).flat, value).map((one) => one.keyword),
        [keyword],
        JSON.stringify(schema),
      );
  });

  it('an explanation supports the older form of dependencies, of names and of schemas', () => {
    const schema = { dependencies: { a: ['b', 'c'], d: { properties: { e: { minimum: 1 } } } } };
    assert.deepEqual(linesOf(schema, { a: 1, b: 1 }), [['', 'lacks the member "c", which "a" requires']]);
    assert.deepEqual(linesOf(schema, { d: 1, e: 0 }), [['/e', 'must be at least 1, is 0']]);
  });

  it('an explanation says what is probably wrong with a text that does not match its format', () => {
    const hints: readonly (readonly [format: string, text: string, hint: string])[] = [
      ['date-time', '2026-01-31T12:00:00', 'the time zone, such as Z, is missing'],
      ['date-time', '2026-01-31 12:00:00.5', 'the time zone, such as Z, is missing'],
      ['date-time', '2026-01-31T12:00', 'the seconds and the time zone are missing'],
      ['date-time', '2026-01-31', 'the time is missing'],
      ['date-time', '2026-19-08', 'the calendar has no such day'],
      ['date-time', '2026-11-41T00:00:00Z', 'the calendar has no such day'],
      ['date', '2026-02-29', 'the calendar has no such day'],
      ['time', '12:00:00', 'the time zone, such as Z, is missing'],
      ['time', '12:00:00.5', 'the time zone, such as Z, is missing'],
      ['uri', 'urn:a b', 'it contains a space'],
      ['url', 'https://a b', 'it contains a space'],
    ];
    for (const [format, text, hint] of hints)
      assert.deepEqual(linesOf({ format }, text)[0]?.[1].split('; ').at(1), hint, `${format} ${text}`);
    for (const [format, text] of [
      ['date-time', 'now'],
      ['time', '12:00'],
      ['uri', 'text'],
      ['email', 'a b'],
    ] as const)
      assert.ok(!linesOf({ format }, text)[0]?.[1].includes(';'), `${format} ${text}`);
  });

  it('an explanation names twenty of many allowed values: for a text the similar ones, then texts, then others', () => {
    const numbers = Array.from({ length: 10 }, (_, index) => index);
    const texts = Array.from({ length: 12 }, (_, index) => 'abcdefghijkl'.charAt(index).repeat(6));
    const [[, detail] = ['', '']] = linesOf({ enum: [...numbers, ...texts] }, 'ffffffg');
    const others = texts.filter((text) => text !== 'ffffff').map((text) => JSON.stringify(text));
    assert.equal(
      detail,
      `must be one of ${['"ffffff"', ...others, ...numbers.slice(0, 8)].join(', ')} and 2 more, is "ffffffg"; did you mean "ffffff"?`,
    );
    const [[, ofNumber] = ['', '']] = linesOf({ enum: [...texts, ...numbers] }, 77);
    assert.ok(
      ofNumber.startsWith(`must be one of ${texts.map((text) => JSON.stringify(text)).join(', ')}, 0`),
    );
    assert.ok(
      !linesOf({ enum: numbers.concat(numbers.map((one) => one + 10)) }, 77)[0]?.[1].includes('more'),
    );
  });

  it('an explanation points at the wrong member or item', () => {
    const schema = {
      properties: { 'a/b': { items: { minimum: 1 } }, c: false },
      patternProperties: { '^x-': { type: 'string' } },
      additionalProperties: false,
      propertyNames: { maxLength: 5 },
    };
    assert.deepEqual(linesOf(schema, { 'a/b': [1, 0, 2], c: 1, 'x-1': 2, 'x-long': '', other: 1 }), [
      ['/a~1b/1', 'must be at least 1, is 0'],
      ['/c', 'must not be present'],
      ['/other', 'is not among the members that the schema allows'],
      ['/x-1', 'must be a string, is the number 2'],
      ['/x-long', 'its name must have at most 5 characters, has 6'],
    ]);
  });

  it('an explanation follows references, conditions and dependencies', () => {
    const schema = {
      $ref: '#/$defs/a',
      if: { required: ['b'] },
      then: { properties: { c: { const: 1 } } },
      else: { required: ['d'] },
      dependentSchemas: { b: { properties: { e: { type: 'string' } } } },
      $defs: { a: { properties: { next: { $ref: '#/$defs/a' }, b: { minimum: 1 } } } },
    };
    assert.deepEqual(linesOf(schema, { b: 0, c: 2, e: 3, next: { b: -1 } }), [
      ['/b', 'must be at least 1, is 0'],
      ['/c', 'must be 1, is 2'],
      ['/e', 'must be a string, is the number 3'],
      ['/next/b', 'must be at least 1, is -1'],
    ]);
    assert.deepEqual(linesOf(schema, {}), [['', 'lacks the member "d"']]);
  });

  it('an explanation reports unevaluated items', () => {
    assert.deepEqual(linesOf({ prefixItems: [true], unevaluatedItems: { type: 'string' } }, [1, 2, 'a']), [
      ['/1', 'must be a string, is the number 2'],
    ]);
    assert.deepEqual(linesOf({ contains: { type: 'string' }, unevaluatedItems: false }, ['a', 2, 'b']), [
      ['/1', 'is not among the items that the schema allows'],
    ]);
  });
});

describe('an explanation of unevaluated members', () => {
  const k = { properties: { k: { const: 1 } }, required: ['k'] };
  const known = { properties: { k: {} } };
  for (const [what, schema] of [
    ['a reference', { $ref: '#/$defs/known' }],
    ['allOf', { allOf: [known] }],
    ['an alternative of anyOf', { anyOf: [{ required: ['z'] }, k] }],
    ['an alternative of oneOf', { oneOf: [{ required: ['z'] }, k] }],
    ['a condition that holds', { if: k }],
    ['what follows from a condition', { if: { required: ['k'] }, then: known }],
    ['what follows from a condition that does not hold', { if: { required: ['z'] }, else: known }],
    ['a schema that a member brings', { dependentSchemas: { k: known } }],
    ['a schema that a member brings in the older form', { dependencies: { k: known } }],
    ['a pattern', { patternProperties: { '^k': {} } }],
  ] satisfies (readonly [string, JsonObject])[])
    it(`an explanation of unevaluated members omits those that were evaluated by ${what}`, () => {
      const closed = { ...schema, $defs: { known }, unevaluatedProperties: false };
      const refused = 'is not among the members that the schema allows';
      assert.deepEqual(linesOf(closed, { k: 1, other: 1 }), [['/other', refused]]);
    });

  for (const [what, schema] of [
    ['an alternative that does not fit', { anyOf: [k, {}] }],
    ['a condition that does not hold', { if: k }],
    ['what would follow from it', { if: { required: ['z'] }, then: known }],
    ['what would follow otherwise', { if: { required: ['k'] }, else: known }],
    ['a schema of a member that is not there', { dependentSchemas: { z: known } }],
  ] satisfies (readonly [string, JsonObject])[])
    it(`an explanation of unevaluated members names those that only ${what} describes`, () => {
      assert.deepEqual(
        linesOf({ ...schema, unevaluatedProperties: false }, { k: 2 }).map(([pointer]) => pointer),
        ['/k'],
      );
    });
});

describe('an explanation of alternatives', () => {
  const point = tagged('Point', { type: 'array', minItems: 2, items: { type: 'number' } });
  const line = tagged('LineString', { type: 'array', minItems: 2, items: { type: 'array' } });
  const geometry = { oneOf: [point, line, tagged('Polygon', { type: 'array', minItems: 4 })] };

  it('an explanation of alternatives chooses the one with the matching tag', () => {
    assert.deepEqual(linesOf(geometry, { type: 'LineString', coordinates: [[1, 2]] }), [
      ['/coordinates', 'must hold at least 2 items, holds 1'],
    ]);
    assert.deepEqual(linesOf(geometry, { type: 'Polygon' }), [['', 'lacks the member "coordinates"']]);
    assert.deepEqual(linesOf(geometry, { type: 'Point', coordinates: [1, '2'] }), [
      ['/coordinates/1', 'must be a number, is the string "2"'],
    ]);
  });

  it('an explanation of alternatives prefers the tag to an alternative with fewer faults', () => {
    const found = linesOf(geometry, { type: 'Point', coordinates: ['1', {}, null, 5] });
    assert.deepEqual(
      found.map(([pointer]) => pointer),
      ['/coordinates/0', '/coordinates/1', '/coordinates/2'],
    );
  });

  it('an explanation of alternatives names all tags if none matches', () => {
    assert.deepEqual(linesOf(geometry, { type: 'point', coordinates: [1, 2] }), [
      ['/type', 'must be one of "Point", "LineString", "Polygon", is "point"; did you mean "Point"?'],
    ]);
  });

  it('an explanation of alternatives names each tag that is wrong for all', () => {
    const only = (a: JsonValue, b: JsonValue) => ({ properties: { a: { enum: [a] }, b: { enum: [b] } } });
    for (const [value, alternatives] of [
      [{ a: 9, b: 9 }, [only(1, 2), only(3, 4)]],
      [{ b: 9, a: 9 }, [only(1, 2), only(3, 4)]],
    ] as const)
      assert.deepEqual(linesOf({ anyOf: alternatives }, value), [
        ['/a', 'must be one of 1, 3, is 9'],
        ['/b', 'must be one of 2, 4, is 9'],
      ]);
    assert.deepEqual(linesOf({ oneOf: [{ additionalProperties: { enum: [null] } }] }, { a: 2, c: {} }), [
      ['/a', 'must be null, is 2'],
      ['/c', 'must be null, is an object'],
    ]);
  });

  it('an explanation of alternatives chooses those of the type of the value', () => {
    const schema = {
      anyOf: [
        { type: 'null' },
        { type: 'object', required: ['a'] },
        { type: 'array', items: { minimum: 1 } },
      ],
    };
    assert.deepEqual(linesOf(schema, [1, 0]), [['/1', 'must be at least 1, is 0']]);
    assert.deepEqual(linesOf(schema, {}), [['', 'lacks the member "a"']]);
    assert.deepEqual(linesOf(schema, 'x'), [['', 'must be null, an object or an array, is the string "x"']]);
  });

  it('an explanation of alternatives names all requirements if each alternative has one', () => {
    const text = {
      anyOf: [
        { type: 'string', pattern: '^[a-z]+$' },
        { type: 'string', format: 'uri' },
      ],
    };
    assert.deepEqual(linesOf(text, 'A b'), [
      [
        '',
        'must match the pattern ^[a-z]+$, or be a URI such as urn:ngsi-ld:Vehicle:001, is "A b"; it contains a space',
      ],
    ]);
    assert.deepEqual(linesOf(text, 5), [['', 'must be a string, is the number 5']]);
    const either = { anyOf: [{ required: ['a'] }, { required: ['b'] }] };
    assert.deepEqual(linesOf(either, {}), [['', 'lacks the member "a" or "b"']]);
    const mixed = { anyOf: [{ enum: ['free', 'full'] }, { type: 'number' }] };
    assert.deepEqual(linesOf(mixed, 'ful'), [
      ['', 'must be one of "free", "full", is "ful"; did you mean "full"?'],
    ]);
    assert.deepEqual(linesOf(mixed, true), [['', 'must be one of "free", "full", or be a number, is true']]);
  });

  it('an explanation of alternatives chooses the nearest one if no other criterion decides', () => {
    const schema = {
      anyOf: [
        { required: ['a', 'b', 'c'] },
        { properties: { x: { properties: { y: { minimum: 3 } } } } },
        { properties: { x: { required: ['z', 'q'] } } },
      ],
    };
    assert.deepEqual(linesOf(schema, { x: { y: 1 } }), [['/x/y', 'must be at least 3, is 1']]);
    const deeper = {
      anyOf: [{ required: ['a'] }, { properties: { x: { properties: { y: { minimum: 3 } } } } }],
    };
    assert.deepEqual(linesOf(deeper, { x: { y: 1 } }), [['/x/y', 'must be at least 3, is 1']]);
    const fewer = { anyOf: [{ properties: { x: { minimum: 3 }, y: { minimum: 3 } } }, { required: ['a'] }] };
    assert.deepEqual(linesOf(fewer, { x: 1, y: 1 }), [['', 'lacks the member "a"']]);
  });
});

describe('one mistake', () => {
  it('a mistake is reported once, however many schemas find it', () => {
    const schema = {
      allOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }, { minimum: 5 }],
      $defs: { a: { minimum: 3 } },
    };
    assert.equal(linesOf(schema, 1).length, 1);
    assert.deepEqual(linesOf({ allOf: [{ type: 'string' }, { enum: ['a', 'b'] }, { pattern: 'a' }] }, 5), [
      ['', 'must be one of "a", "b", is 5'],
    ]);
    assert.deepEqual(linesOf({ allOf: [{ required: ['a'] }, { required: ['a', 'b'] }] }, {}), [
      ['', 'lacks the member "a"'],
      ['', 'lacks the member "b"'],
    ]);
  });

  it('a mistake hides faults that follow from it', () => {
    const schema = {
      allOf: [{ properties: { a: { type: 'string' } } }, { properties: { a: { required: ['b'] } } }],
    };
    assert.deepEqual(linesOf(schema, { a: {} }), [['/a', 'must be a string, is an object']]);
  });

  it('a mistake hides faults further inside', () => {
    const schema = {
      allOf: [
        { properties: { a: { properties: { b: { properties: { c: { minimum: 3 } } } } } } },
        { properties: { a: { type: 'string' } } },
      ],
    };
    assert.deepEqual(linesOf(schema, { a: { b: { c: 1 } } }), [['/a', 'must be a string, is an object']]);
  });

  it('a missing member and an unknown member of a similar name are reported as one misspelled name', () => {
    const schema: JsonObject = { properties: { speed: true, owner: true }, required: ['speed'] };
    const misspelt: Line = ['/sped', 'is probably meant to be "speed", which is missing'];
    assert.deepEqual(linesOf(schema, { sped: 1, owner: 1 }), [misspelt]);
    assert.deepEqual(linesOf({ ...schema, additionalProperties: false }, { sped: 1 }), [misspelt]);
    assert.deepEqual(linesOf({ ...schema, additionalProperties: false }, { speed: 1, ownr: 2 }), [
      ['/ownr', 'is not among the members that the schema allows; did you mean "owner"?'],
    ]);
  });

  it('a misspelled name explains one missing member, and no other', () => {
    // Each of them is similar enough to the name on its own.
    const [first, second] = ['speeds', 'sped'];
    for (const required of [
      [first, second],
      [second, first],
    ]) {
      assert.deepEqual(linesOf({ required }, { speds: 1 }), [
        ['', `lacks the member "${required[1]}"`],
        ['/speds', `is probably meant to be "${required[0]}", which is missing`],
      ]);
    }
  });

  it('a mistake of some items is reported for each, and a mistake of most of very many items with their number', () => {
    const schema = { items: { required: ['a'] } };
    assert.equal(linesOf(schema, [{}, {}, {}, { a: 1 }]).length, 3);
    const many = (wrong: number, right: number) => [
      ...Array.from({ length: wrong }, () => ({})),
      ...Array.from({ length: right }, () => ({ a: 1 })),
    ];
    assert.equal(linesOf(schema, many(299, 2)).length, 299);
    assert.deepEqual(linesOf(schema, many(300, 1)), [
      ['/0', 'lacks the member "a"; at least 300 of 301 items have this error'],
    ]);
    assert.deepEqual(linesOf(schema, many(301, 0)), [
      ['/0', 'lacks the member "a"; all 301 items have this error'],
    ]);
  });

  it('a mistake of all items of an array in the same way is reported as the shape of the array', () => {
    const rings = { items: { type: 'array', minItems: 4, items: { type: 'array' } } };
    assert.deepEqual(
      linesOf(rings, [
        [1, 2],
        [3, 4],
        [5, 6],
      ]),
      [['/0', 'must hold arrays only, holds numbers; all 3 items have this error']],
    );
    assert.deepEqual(linesOf({ items: { type: 'number' } }, ['1', '2']), [
      ['', 'must hold numbers only, holds strings'],
    ]);
    const texts = {
      oneOf: [
        { type: 'string', format: 'uri' },
        { type: 'string', maxLength: 3 },
      ],
    };
    assert.deepEqual(linesOf({ items: texts }, [{}, {}]), [['', 'must hold strings only, holds objects']]);
    assert.equal(linesOf({ items: { type: 'number' } }, ['1', 2, '3']).length, 2);
    assert.deepEqual(linesOf({ items: { required: ['a'] } }, [{}, {}, {}]), [
      ['/0', 'lacks the member "a"; all 3 items have this error'],
    ]);
    assert.equal(linesOf({ items: { required: ['a'] } }, [{}, {}]).length, 2);
    assert.equal(linesOf({ items: { enum: [1] } }, [2, 3, 4]).length, 3);
  });
});

describe('any explanation', () => {
  it('an explanation has faults exactly if the validator has, and points into the value', () => {
    fc.assert(
      fc.property(schemas, fc.array(documents, { minLength: 1, maxLength: 8 }), (schema, values) => {
        const linked = resolveReferencesIn(schema);
        fc.pre(loopsOf(linked).length === 0);
        const { flat, firstFault } = compileSchema(linked);
        for (const value of values) {
          const found = explain(flat, value);
          assert.equal(found.length === 0, firstFault(value) === undefined, JSON.stringify([schema, value]));
          for (const { tokens, predicate } of found) {
            assert.ok(predicate().length > 0);
            assert.notEqual(valueAt(value, tokens), undefined, JSON.stringify([schema, value, tokens]));
          }
        }
      }),
      { numRuns: runs(400) },
    );
  });

  it('an explanation does not depend on the order of members', () => {
    fc.assert(
      fc.property(schemas, documents, (schema, value) => {
        const linked = resolveReferencesIn(schema);
        fc.pre(loopsOf(linked).length === 0);
        const { flat } = compileSchema(linked);
        const lines = (document: JsonValue) =>
          explain(flat, document)
            .map(({ tokens, keyword, predicate }) => JSON.stringify([tokens, keyword, predicate()]))
            .sort();
        assert.deepEqual(lines(reversed(value)), lines(value));
      }),
      { numRuns: runs(300) },
    );
  });

  it('an explanation by the only alternative of the right type has the keyword of that alternative', () => {
    const schema = { anyOf: [{ type: 'string' }, { type: 'number', minimum: 5 }] };
    const { flat } = compileSchema(resolveReferencesIn(schema));
    assert.deepEqual(column(explain(flat, 3), 'keyword'), ['minimum']);
  });

  it('an explanation stays short and terminates, however large the schema and the value', () => {
    const values = Array.from({ length: 3000 }, (_, index) => `value${index}`);
    const [line] = linesOf({ enum: values }, 'valeu2999');
    assert.ok(line !== undefined && line[1].startsWith('must be one of "value2999", '));
    assert.match(line[1], / and 2980 more, is "valeu2999"; did you mean "value2999"\?$/);
    const mixed = linesOf({ enum: [...values.map((_, index) => index), 'on', 'off'] }, 'of');
    assert.match(mixed[0]?.[1] ?? '', /^must be one of "off", "on", 0, 1, 2, 3, /);
    assert.ok(line[1].length < 500);
    const [long] = linesOf({ pattern: 'b' }, 'a'.repeat(100_000));
    assert.ok(long !== undefined && long[1].length < 150);
    assert.equal(linesOf({ items: { type: 'string' } }, Array<number>(200_000).fill(1)).length, 1);
    const faults = linesOf(
      { additionalProperties: { minimum: 1 } },
      numbered(5000, () => 0),
    );
    assert.ok(faults.length >= 100 && faults.length <= 1000);
    const halves = ['0$', '1$'].map((end) => ({ patternProperties: { [end]: { minimum: 1 } } }));
    const members = Object.fromEntries(
      Array.from({ length: 1600 }, (_, index) => [`${index}${index % 2}`, 0]),
    );
    assert.equal(linesOf({ allOf: halves }, members).length, 1000);
    // The stack of a worker is larger than that of a test.
    const deep = nestedObject(150);
    const nested = linesOf({ properties: { a: { $ref: '#' } }, not: { type: 'number' } }, deep);
    assert.deepEqual(nested, [['/a'.repeat(150), 'must not be a number']]);
    // Alternatives that each visit the same value: naively 2 to the power of its depth.
    const fork = { anyOf: [{ properties: { a: { $ref: '#' } } }, { $ref: '#/$defs/b' }], not: { const: 0 } };
    const both: JsonObject & { readonly $defs: { readonly b: JsonObject } } = {
      ...fork,
      $defs: { b: { properties: { a: { $ref: '#' } } } },
    };
    assert.equal(
      explain(
        {
          root: both,
          targets: new Map([
            ['#', both],
            ['#/$defs/b', both.$defs.b],
          ]),
        },
        deep,
      ).length,
      1,
    );
  });

  it('an explanation accepts members of any name', () => {
    const value = JSON.parse('{"__proto__": 1, "constructor": 2, "": 3}') as JsonObject;
    const schema = {
      properties: { constructor: { minimum: 3 }, '': { minimum: 4 } },
      additionalProperties: false,
    };
    assert.deepEqual(linesOf(schema, value), [
      ['/', 'must be at least 4, is 3'],
      ['/__proto__', 'is not among the members that the schema allows'],
      ['/constructor', 'must be at least 3, is 2'],
    ]);
  });
});

function linesOf(schema: JsonObject, value: JsonValue): readonly Line[] {
  const { flat, firstFault } = compileSchema(resolveReferencesIn(schema));
  assert.notEqual(firstFault(value), undefined, 'the validator has something against it');
  return explain(flat, value)
    .map(({ tokens, predicate }): Line => [pointerOf(tokens), predicate()])
    .sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
}

function tagged(type: string, coordinates: JsonObject): JsonObject {
  return {
    type: 'object',
    required: ['type', 'coordinates'],
    properties: { type: { type: 'string', enum: [type] }, coordinates },
  };
}

function nestedObject(depth: number): JsonValue {
  let value: JsonValue = 0;
  for (let level = 0; level < depth; level += 1) value = { a: value };
  return value;
}

function numbered(count: number, value: (index: number) => JsonValue): JsonObject {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`m${index}`, value(index)]));
}
