import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { JsonObject, JsonValue, Schema } from '../../../../sidecar/shared/json/json.js';
import { type Dialect, DIALECT_URIS } from '../../../../sidecar/schemas/json-schema/keywords.js';
import { acceptedBy, AJV_DIALECTS } from './verdicts.js';
import { loopsOf, usabilityFaults } from '../../../../sidecar/schemas/json-schema/usability.js';
import { resolveWith } from '../../../../sidecar/schemas/json-schema/linker.js';
import { compileSchema, createValidator } from '../../../../sidecar/schemas/json-schema/validator.js';
import { explain } from '../../../../sidecar/schemas/json-schema/explain.js';
import { documents, schemas } from './schema-arbitraries.js';
import { runs } from '../../../support/thoroughness.js';

describe('a validator', () => {
  it('a validator reports every fault with its pointer and keyword', () => {
    const errors = createValidator(
      resolveWith({ properties: { a: { type: 'string' }, 'b/c': { minimum: 1 } }, required: ['d'] }),
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

  for (const dialect of Object.keys(DIALECT_URIS) as Dialect[])
    it(`a validator of a ${dialect} schema refuses every value if an enum is empty, and names the place`, () => {
      const linked = resolveWith({ $schema: DIALECT_URIS[dialect], properties: { a: { enum: [] } } });
      assert.deepEqual(usabilityFaults(linked), []);
      const { flat, validate } = compileSchema(linked);
      assert.deepEqual(validate({}), []);
      assert.deepEqual(
        validate({ a: 1 }).map(({ instancePath, keyword }) => [instancePath, keyword]),
        [['/a', 'enum']],
      );
      assert.deepEqual(
        explain(flat, { a: 1 }).map(({ tokens, keyword, say }) => [...tokens, keyword, say()]),
        [['a', 'enum', 'must not be present: no value is allowed']],
      );
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
    const { validate } = compileSchema(resolveWith({ multipleOf: 0.01 }));
    for (const value of [19.99, 1.11, 8.69, 0.94, 0, -4.35, 'text'])
      assert.deepEqual(validate(value), [], String(value));
    assert.deepEqual(
      validate(0.995).map(({ keyword, message }) => [keyword, message]),
      [['multipleOf', 'must be multiple of 0.01']],
    );
    assert.ok(validity({ multipleOf: 0.0001 })(0.0075));
    assert.ok(validity({ multipleOf: 1e-8 })(12391239123));
    assert.ok(!validity({ multipleOf: 0.123456789 })(1e308));
    assert.ok(!validity({ not: { multipleOf: 0.1 } })(0.3));
  });

  it('a validator gives patterns the semantics of ECMA-262', () => {
    assert.ok(validity({ pattern: '^\\p{Letter}+$' })('é'));
    assert.ok(validity({ pattern: '^(?!urn:)\\S+$' })('id'));
    assert.ok(!validity({ pattern: '^(?!urn:)\\S+$' })('urn:x'));
    assert.ok(validity({ pattern: 'es' })('unanchored test'));
    assert.ok(validity({ pattern: '^.$' })('😀'));
  });

  // The second branch does not match, and the parts that it would evaluate are known only with a document.
  const unfit: Branch[] = [{}, { minProperties: 2, allOf: [{ patternProperties: { '^a': true } }] }];

  it('a validator counts as evaluated the parts evaluated by matching alternatives, and by no others', () => {
    fc.assert(
      fc.property(branchesOf(2), fc.array(objects, { minLength: 1 }), (branch, values) => {
        const schema = { ...branch, unevaluatedProperties: false } as unknown as JsonObject;
        const validate = createValidator(resolveWith(schema));
        for (const value of values) {
          const looked = lookedAt(branch, value);
          const isValid = looked !== undefined && Object.keys(value).every((name) => looked.has(name));
          assert.equal(validate(value).length === 0, isValid, JSON.stringify({ schema, value }));
        }
      }),
      {
        numRuns: runs(25),
        examples: [
          [{ anyOf: unfit }, [{ a: 1 }]],
          [{ oneOf: unfit }, [{ a: 1 }]],
        ],
      },
    );
  });

  it('a validator names a fault within an unevaluated member by its whole path', () => {
    const inner = { properties: { 'p/q': { type: 'string' } }, unevaluatedProperties: false };
    const validate = createValidator(resolveWith({ properties: { deep: { unevaluatedProperties: inner } } }));
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
    const validate = createValidator(resolveWith(contains));
    assert.deepEqual(validate([[1], ['a', 2]]), []);
    assert.deepEqual(
      validate([[1], []]).map(({ instancePath, keyword }) => [instancePath, keyword]),
      [['/1', 'contains']],
    );
  });

  for (const dialect of AJV_DIALECTS)
    it(`a validator of a ${dialect} schema checks all items, even of a list that is shorter than its prefix items`, () => {
      for (const tuple of TUPLES) {
        const schema = { $schema: DIALECT_URIS[dialect], properties: around(inDialect(tuple, dialect)) };
        const { validate } = compileSchema(resolveWith(schema));
        for (const list of LISTS) {
          const isGood = fits(tuple, list);
          const expected = { plain: isGood, not: !isGood, then: !isGood, else: isGood, lists: !isGood };
          for (const [name, isValid] of Object.entries(expected)) {
            const found = validate({ [name]: name === 'lists' ? [list] : list });
            assert.equal(found.length === 0, isValid, JSON.stringify({ tuple, name, list }));
          }
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
    const { validate } = compileSchema(resolveWith(schema));
    assert.deepEqual(validate({ a: [1], b: [2, 1] }), []);
    assert.notDeepEqual(validate({ a: [1], b: [] }), []);
  });

  it('a validator of a 2019-09 schema counts no item as evaluated by a contains with a minimum of zero', () => {
    const { validate } = compileSchema(
      resolveWith({
        $schema: 'https://json-schema.org/draft/2019-09/schema',
        contains: { type: 'string' },
        minContains: 0,
        unevaluatedItems: { type: 'number' },
      }),
    );
    assert.deepEqual(validate([1]), []);
    assert.notDeepEqual(validate([1, 'a']), []);
  });

  it('a validator that reports every fault finds faults exactly if one that stops at the first does', () => {
    const compile = (schema: JsonObject) => {
      const linked = resolveWith(schema);
      return [compileSchema(linked).validate, createValidator(linked)] as const;
    };
    const [first, all] = compile({ items: { type: 'string' } });
    assert.deepEqual([first([1, 2, 3]).length, all([1, 2, 3]).length], [1, 3]);
    fc.assert(
      fc.property(schemas, fc.array(documents, { minLength: 1 }), (schema, values) => {
        fc.pre(loopsOf(resolveWith(schema)).length === 0);
        const [one, every] = compile(schema);
        for (const value of values) assert.equal(one(value).length === 0, every(value).length === 0);
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
      const validate = createValidator(resolveWith({ $ref: '#/$defs/node', $defs: { node } }));
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

  it('a validator leaves flat documents to Ajv, even if alternatives lead back to themselves', () => {
    const attribute = (type: string) => ({
      required: ['type'],
      properties: { type: { const: type } },
      additionalProperties: { $ref: '#/$defs/attribute' },
    });
    const validatorOf = (types: readonly string[]) =>
      compileSchema(
        resolveWith({
          items: { $ref: '#/$defs/attribute' },
          $defs: { attribute: { anyOf: types.map(attribute) } },
        }),
      ).validate;
    const nested = (levels: number): JsonObject =>
      levels === 1 ? { type: 'Other' } : { type: 'B', inner: nested(levels - 1) };
    const two = ['A', 'B'];
    const four = [...two, 'C', 'D'];
    const eight = [...four, 'E', 'F', 'G', 'H'];
    const many = Array.from({ length: 5000 }, () => ({ type: 'B' }));
    for (const [types, documents, isLeft] of [
      [two, [nested(5)], true],
      [two, [nested(6)], false],
      [four, [...many, nested(1)], true],
      [four, [nested(5)], true],
      [four, [nested(6)], false],
      [eight, [...many, nested(1)], true],
      [eight, [nested(3)], true],
      [eight, [nested(4)], false],
    ] as const) {
      const [fault] = validatorOf(types)(documents);
      assert.ok(fault);
      // Ajv names the place in the schema.
      assert.equal(
        'schemaPath' in fault,
        isLeft,
        `${types.length} types, ${JSON.stringify(documents.at(-1))}`,
      );
    }
  });

  it('a validator reads each of many items once to find repeated items', () => {
    const validate = createValidator(resolveWith({ uniqueItems: true }));
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
      resolveWith({ ...any, $defs: Object.fromEntries(kinds.map((kind) => [kind, typed(kind)])) }),
    );
    const nested = kinds.slice(0, 5).reduce<JsonObject>((next, kind) => ({ kind, next }), { kind: 'none' });
    assert.deepEqual(
      validate(nested).map(({ instancePath }) => instancePath),
      ['/next/next/next/next/next/kind'],
    );
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

const TUPLES: readonly Tuple[] = [[TEXT], [TEXT, TEXT], [true, TEXT], [{}, {}, TEXT]].flatMap((prefixItems) =>
  [{}, { items: { type: 'number' } }].flatMap((rest) =>
    [{ contains: TEXT }, { contains: { type: 'number' } }, { uniqueItems: true }].map((all) => ({
      prefixItems,
      ...rest,
      ...all,
    })),
  ),
);

const LISTS: readonly (readonly (string | number)[])[] = [
  [],
  [1],
  ['a'],
  [1, 1],
  [1, 2],
  [1, 'a'],
  ['a', 1],
  ['a', 'a'],
  ['a', 'b'],
  [1, 1, 'a'],
  [2, 1, 'a', 1],
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

/** The specification (2020-12 core, section 10.3.1; validation, section 6.4), for lists of strings and numbers. */
function fits(
  { prefixItems, items = true, contains, uniqueItems }: Tuple,
  list: readonly JsonValue[],
): boolean {
  const isOf = (schema: Schema, value: JsonValue): boolean =>
    typeof schema === 'boolean' ? schema : schema['type'] === undefined || schema['type'] === typeof value;
  return (
    list.every((value, index) => isOf(prefixItems[index] ?? items, value)) &&
    (contains === undefined || list.some((value) => isOf(contains, value))) &&
    (uniqueItems !== true || new Set(list).size === list.length)
  );
}

function validity(schema: JsonObject): (value: JsonValue) => boolean {
  return acceptedBy(resolveWith(schema));
}

/** A schema of the keywords that evaluate members, and of alternatives. */
interface Branch {
  readonly minProperties?: number;
  readonly properties?: Readonly<Record<string, boolean>>;
  readonly patternProperties?: Readonly<Record<string, boolean>>;
  readonly allOf?: Branch[];
  readonly anyOf?: Branch[];
  readonly oneOf?: Branch[];
}

const objects = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom(1, 2), { maxKeys: 3 });

const members = (...names: readonly string[]) => fc.dictionary(fc.constantFrom(...names), fc.boolean());

/** Branches whose alternatives have one level less. */
function branchesOf(level: number): fc.Arbitrary<Branch> {
  const own = {
    minProperties: fc.integer({ min: 0, max: 3 }),
    properties: members('a', 'b', 'c'),
    patternProperties: members('^a', '[bc]'),
  };
  if (level === 0) return fc.record(own, { requiredKeys: [] });
  const several = fc.array(branchesOf(level - 1), { minLength: 1, maxLength: 3 });
  return fc.record({ ...own, allOf: several, anyOf: several, oneOf: several }, { requiredKeys: [] });
}

/** The members that a branch evaluates (JSON Schema 2020-12, Core, § 11); undefined if it does not match. */
function lookedAt(branch: Branch, value: Readonly<Record<string, number>>): Set<string> | undefined {
  const { minProperties = 0, properties = {}, patternProperties = {}, allOf = [], anyOf, oneOf } = branch;
  const names = Object.keys(value);
  if (names.length < minProperties) return undefined;
  const looked = new Set<string>();
  for (const name of names) {
    const own = Object.hasOwn(properties, name) ? [properties[name]] : [];
    const matching = Object.entries(patternProperties).filter(([pattern]) =>
      new RegExp(pattern, 'u').test(name),
    );
    const verdicts = [...own, ...matching.map(([, verdict]) => verdict)];
    if (verdicts.includes(false)) return undefined;
    if (verdicts.length > 0) looked.add(name);
  }
  const fitting = (list: readonly Branch[]) =>
    list.map((one) => lookedAt(one, value)).filter((one) => one !== undefined);
  const [all, any, one] = [fitting(allOf), fitting(anyOf ?? []), fitting(oneOf ?? [])];
  if (all.length < allOf.length || (anyOf && any.length === 0) || (oneOf && one.length !== 1))
    return undefined;
  return new Set([...looked, ...[...all, ...any, ...one].flatMap((names) => [...names])]);
}
