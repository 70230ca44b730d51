import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { JsonObject, JsonValue, Schema } from '../../../../sidecar/shared/json/json.js';
import { type Dialect, DIALECT_URIS } from '../../../../sidecar/schemas/json-schema/keywords.js';
import { acceptedBy, AJV_DIALECTS } from './verdicts.js';
import { loopsOf } from '../../../../sidecar/schemas/json-schema/usability.js';
import { resolveReferencesIn } from '../../../../sidecar/schemas/json-schema/linker.js';
import { compileSchema } from '../../../../sidecar/schemas/json-schema/validator.js';
import { createValidator } from '../../../support/validator.js';
import { documents, schemas } from './schema-arbitraries.js';
import { runs } from '../../../support/thoroughness.js';
import { column, columns } from '../../../support/columns.js';

describe('a validator', () => {
  it('a validator reports every fault with its pointer and keyword', () => {
    const errors = createValidator(
      resolveReferencesIn({ properties: { a: { type: 'string' }, 'b/c': { minimum: 1 } }, required: ['d'] }),
    )({ a: 1, 'b/c': 0 });
    assert.deepEqual(errors.map(({ instancePath, keyword }) => [instancePath, keyword]).sort(), [
      ['', 'required'],
      ['/a', 'type'],
      ['/b~1c', 'minimum'],
    ]);
  });

  it('a validator does not treat a format as known if it is named like a member of every object', () => {
    for (const format of Object.getOwnPropertyNames(Object.prototype))
      // The second schema is not left to Ajv.
      for (const schema of [{ format }, { format, unevaluatedProperties: false }])
        assert.ok(validity(schema)('anything at all'), JSON.stringify(schema));
  });

  it('a validator follows references in members that are named like keywords', () => {
    for (const name of ['type', 'format', 'pattern', 'required', 'enum', 'const', 'minimum', 'maxLength']) {
      const ways: readonly JsonObject[] = [
        { properties: { [name]: { $ref: '#' }, n: { type: 'number' } } },
        { properties: { [name]: { items: { $ref: '#' } }, n: { type: 'number' } } },
        { patternProperties: { [name]: { allOf: [{ $ref: '#' }] } }, properties: { n: { type: 'number' } } },
        { properties: { type: { dependentSchemas: { [name]: { $ref: '#' } } }, n: { type: 'number' } } },
      ];
      const [member, items, pattern, dependent] = ways.map(validity);
      for (const [n, isFine] of [
        [1, true],
        ['1', false],
      ] as const) {
        assert.equal(member?.({ [name]: { [name]: { n } } }), isFine, name);
        assert.equal(items?.({ [name]: [{ [name]: [{ n }] }] }), isFine, name);
        assert.equal(pattern?.({ [name]: { [name]: { n } } }), isFine, name);
        assert.equal(dependent?.({ type: { [name]: 0, n } }), isFine, name);
      }
    }
  });

  it('a validator ignores keywords that only other validators know', () => {
    const isValid = validity({
      properties: { a: { nullable: true }, b: { type: 'string', nullable: true } },
      $async: true,
      id: 'x',
    });
    assert.ok(isValid({ a: 1, b: '' }));
    assert.ok(!isValid({ b: null }));
    assert.ok(!validity({ type: 'number', minimum: 3, const: { $data: '/x' } })(4));
  });

  it('a validator divides decimals exactly as they are written', () => {
    const { firstFault } = compileSchema(resolveReferencesIn({ multipleOf: 0.01 }));
    for (const value of [19.99, 1.11, 8.69, 0.94, 0, -4.35, 'text'])
      assert.equal(firstFault(value), undefined, String(value));
    const fault = firstFault(0.995);
    assert.deepEqual([fault?.keyword, fault?.predicate()], ['multipleOf', 'must be multiple of 0.01']);
    assert.ok(validity({ multipleOf: 0.0001 })(0.0075));
    assert.ok(validity({ multipleOf: 1e-8 })(12391239123));
    assert.ok(!validity({ multipleOf: 0.123456789 })(1e308));
    assert.ok(!validity({ not: { multipleOf: 0.1 } })(0.3));
  });

  it('a validator counts nothing as evaluated by an alternative that does not match', () => {
    // What the second alternative would evaluate is known only with a document.
    const unfit = [{}, { minProperties: 2, allOf: [{ patternProperties: { '^a': true } }] }];
    for (const keyword of ['anyOf', 'oneOf'])
      assert.ok(!validity({ [keyword]: unfit, unevaluatedProperties: false })({ a: 1 }), keyword);
  });

  it('a validator names a fault within an unevaluated member by its whole path', () => {
    const inner = { properties: { 'p/q': { type: 'string' } }, unevaluatedProperties: false };
    const validate = createValidator(
      resolveReferencesIn({ properties: { deep: { unevaluatedProperties: inner } } }),
    );
    assert.deepEqual(
      validate({ deep: { m: { 'p/q': 1, other: 1 } } }).map(({ instancePath, keyword }) => [
        instancePath,
        keyword,
      ]),
      [
        ['/deep/m/p~1q', 'type'],
        ['/deep/m/other', 'unevaluatedProperties'],
      ],
    );
  });

  it('a validator finds an empty list that lacks the required item, even after a list that contains it', () => {
    const contains = { type: 'array', items: { contains: { $ref: '#/$defs/d' } }, $defs: { d: {} } };
    const validate = createValidator(resolveReferencesIn(contains));
    assert.deepEqual(validate([[1], ['a', 2]]), []);
    assert.deepEqual(columns(validate([[1], []]), 'instancePath', 'keyword'), [['/1', 'contains']]);
  });

  for (const dialect of AJV_DIALECTS)
    it(`a validator of a ${dialect} schema checks all items, even of a list that is shorter than its prefix items`, () => {
      for (const [tuple, list, isGood] of TUPLES) {
        const schema = { $schema: DIALECT_URIS[dialect], properties: around(inDialect(tuple, dialect)) };
        const { firstFault } = compileSchema(resolveReferencesIn(schema));
        const expected = { plain: isGood, not: !isGood, then: !isGood, else: isGood, lists: !isGood };
        for (const [name, isValid] of Object.entries(expected)) {
          const found = firstFault({ [name]: name === 'lists' ? [list] : list });
          assert.equal(found === undefined, isValid, JSON.stringify({ tuple, name, list }));
        }
      }
    });

  it('a validator ignores keywords of later drafts than that of the schema', () => {
    const strict = { type: 'null' };
    const later: JsonObject = {
      dependentRequired: { a: ['z'] },
      dependentSchemas: { a: strict },
      unevaluatedItems: strict,
      unevaluatedProperties: strict,
      prefixItems: [strict],
      minContains: 2,
      maxContains: 0,
      $dynamicRef: '#nowhere',
      $recursiveRef: '#nowhere',
    };
    const ofNewest = ['prefixItems', '$dynamicRef'];
    for (const [keyword, held] of Object.entries(later)) {
      const contains = keyword.endsWith('Contains') ? { contains: { const: 1 } } : {};
      for (const dialect of ['draft-07', '2019-09'] as const) {
        if (dialect === '2019-09' && !ofNewest.includes(keyword)) continue;
        const isValid = validity({ $schema: DIALECT_URIS[dialect], ...contains, [keyword]: held });
        assert.deepEqual([isValid([1]), isValid({ a: 1 })], [true, true], `${dialect} ${keyword}`);
      }
    }
  });

  it('a validator of a 2019-09 schema with unevaluatedItems finds an empty list that lacks the required item, even after a list that contains it', () => {
    const $schema = DIALECT_URIS['2019-09'];
    const schema = { $schema, unevaluatedItems: {}, additionalProperties: { contains: { const: 1 } } };
    const { firstFault } = compileSchema(resolveReferencesIn(schema));
    assert.equal(firstFault({ a: [1], b: [2, 1] }), undefined);
    assert.notEqual(firstFault({ a: [1], b: [] }), undefined);
  });

  it('a validator of a 2019-09 schema counts no item as evaluated by a contains with a minimum of zero', () => {
    const { firstFault } = compileSchema(
      resolveReferencesIn({
        $schema: 'https://json-schema.org/draft/2019-09/schema',
        contains: { type: 'string' },
        minContains: 0,
        unevaluatedItems: { type: 'number' },
      }),
    );
    assert.equal(firstFault([1]), undefined);
    assert.notEqual(firstFault([1, 'a']), undefined);
  });

  it('a validator that reports every fault finds faults exactly if one that stops at the first does', () => {
    const compile = (schema: JsonObject) => {
      const linked = resolveReferencesIn(schema);
      return [compileSchema(linked).firstFault, createValidator(linked)] as const;
    };
    const [first, all] = compile({ items: { type: 'string' } });
    assert.deepEqual([first([1, 2, 3])?.keyword, all([1, 2, 3]).length], ['type', 3]);
    fc.assert(
      fc.property(schemas, fc.array(documents, { minLength: 1 }), (schema, values) => {
        fc.pre(loopsOf(resolveReferencesIn(schema)).length === 0);
        const [one, every] = compile(schema);
        for (const value of values) assert.equal(one(value) === undefined, every(value).length === 0);
      }),
      { numRuns: runs(100) },
    );
  });

  it('a validator checks each part of a document a few times, however many alternatives lead back to themselves', () => {
    const kinds = ['and', 'or', 'xor', 'not'];
    const branches = kinds.map((kind) => ({
      required: ['children'],
      properties: { children: { items: { $ref: '#/$defs/node' } }, kind: { const: kind } },
    }));
    const leaf = { required: ['leaf'], properties: { leaf: { type: 'string' } } };
    for (const node of [{ anyOf: [...branches, leaf] }, { oneOf: [...branches, leaf] }]) {
      const validate = createValidator(resolveReferencesIn({ $ref: '#/$defs/node', $defs: { node } }));
      for (const [text, faults] of [
        ['a', 0],
        [1, 1],
      ] as const) {
        let reads = 0;
        let document: JsonObject = {
          get leaf() {
            reads += 1;
            return text;
          },
        };
        for (let level = 0; level < 8; level += 1) document = { kind: 'not', children: [document] };
        assert.equal(validate(document).length, faults);
        assert.ok(reads < 100, `${reads} reads`);
      }
    }
  });

  it('a validator reads each of many items once to find repeated items', () => {
    const validate = createValidator(resolveReferencesIn({ uniqueItems: true }));
    let reads = 0;
    const items = Array.from({ length: 200 }, (_, index) => ({
      get name() {
        reads += 1;
        return `item ${index}`;
      },
    }));
    assert.equal(validate(items).length, 0);
    assert.ok(reads <= 3 * items.length, `${reads} reads`);
    assert.equal(validate([...items, { name: 'item 7' }]).length, 1);
  });

  it('a validator reports a fault once, however many ways through alternatives lead to it', () => {
    const kinds = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'];
    const any = { oneOf: kinds.map((kind) => ({ $ref: `#/$defs/${kind}` })) };
    const typed = (kind: string) => ({
      properties: { kind: { const: kind }, next: any },
      required: ['kind'],
    });
    const validate = createValidator(
      resolveReferencesIn({ ...any, $defs: Object.fromEntries(kinds.map((kind) => [kind, typed(kind)])) }),
    );
    const nested = kinds.slice(0, 5).reduce<JsonObject>((next, kind) => ({ kind, next }), { kind: 'none' });
    assert.deepEqual(column(validate(nested), 'instancePath'), ['/next/next/next/next/next/kind']);
  });
});

/** The keywords for lists: their first items, the others, and an item that must be contained. */
interface Tuple extends JsonObject {
  readonly prefixItems: readonly Schema[];
  readonly items?: Schema;
  readonly contains?: JsonObject;
  readonly uniqueItems?: boolean;
}

const TEXT = { type: 'string' };

const NUMBER = { type: 'number' };

/** Lists of which some are shorter than the description of their first items, and whether they are valid. */
const TUPLES: readonly (readonly [Tuple, list: readonly JsonValue[], isGood: boolean])[] = [
  [{ prefixItems: [TEXT, TEXT], contains: TEXT }, [], false],
  [{ prefixItems: [TEXT, TEXT], contains: TEXT }, ['a'], true],
  [{ prefixItems: [TEXT], contains: NUMBER }, ['a'], false],
  [{ prefixItems: [TEXT], contains: NUMBER }, ['a', 1], true],
  [{ prefixItems: [{}, {}, TEXT], contains: TEXT }, [1, 1], false],
  [{ prefixItems: [{}, {}, TEXT], uniqueItems: true }, [1, 1], false],
  [{ prefixItems: [{}, {}, TEXT], uniqueItems: true }, [1, 2], true],
  [{ prefixItems: [true, TEXT], items: NUMBER, uniqueItems: true }, [2, 'a', 1, 1], false],
  [{ prefixItems: [true, TEXT], items: NUMBER, uniqueItems: true }, [2, 'a', 1], true],
  [{ prefixItems: [TEXT], items: NUMBER, contains: TEXT }, ['a', 1, 'b'], false],
];

/** Schemas that check one list against the tuple in different ways. */
function around(tuple: JsonObject): JsonObject {
  return {
    plain: tuple,
    not: { not: tuple },
    then: { if: tuple, then: false },
    else: { if: tuple, else: false },
    lists: { items: { not: tuple } },
  };
}

/** Older drafts have other names for the same. */
function inDialect({ prefixItems, items, ...rest }: Tuple, dialect: Dialect): JsonObject {
  if (dialect === '2020-12') return { prefixItems, ...(items === undefined ? {} : { items }), ...rest };
  return { items: prefixItems, ...(items === undefined ? {} : { additionalItems: items }), ...rest };
}

function validity(schema: JsonObject): (value: JsonValue) => boolean {
  return acceptedBy(resolveReferencesIn(schema));
}
