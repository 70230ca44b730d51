import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { compareSchemas } from '../../../../sidecar/schemas/json-schema/change-report.js';
import { resolveReferencesIn } from '../../../../sidecar/schemas/json-schema/linker.js';
import { loopsOf } from '../../../../sidecar/schemas/json-schema/usability.js';
import {
  isArray,
  isObject,
  isSchema,
  type JsonObject,
  type JsonValue,
  objectOf,
  type Schema,
  sharingParts,
} from '../../../../sidecar/shared/json/json.js';
import { runs } from '../../../support/thoroughness.js';
import { schemas } from './schema-arbitraries.js';
import { words } from '../../../support/words.js';

const TEXT = { type: 'string' };

/** The same schema written differently; parts that have to be valid are moved into `definitions`. */
type Rewrite = (schema: JsonObject, definitions: Record<string, JsonValue>) => JsonObject;

const REWRITES: Readonly<Record<string, Rewrite>> = {
  'members in another order': (schema) => Object.fromEntries(Object.entries(schema).reverse()),
  'other annotations': (schema) => ({ ...schema, title: 'Otherwise', description: 'Property. Otherwise.' }),
  'further properties allowed in so many words': (schema) => ({ additionalProperties: true, ...schema }),
  'further items allowed in so many words': (schema) => ({ items: {}, ...schema }),
  'a choice of one': (schema) => ({ oneOf: [{ anyOf: [schema] }] }),
  'an allOf of one': (schema) => ({ allOf: [schema] }),
  'a reference': (schema, definitions) => {
    const name = `r${Object.keys(definitions).length}`;
    definitions[name] = schema;
    return { $ref: `#/$defs/${name}` };
  },
  'a list of one value': ({ const: value, ...schema }) =>
    value === undefined || 'enum' in schema
      ? { ...schema, ...(value !== undefined && { const: value }) }
      : { ...schema, enum: [value] },
};

/** Keywords that contain schemas, by the way in which they contain them. */
const HOLDERS: Readonly<Record<string, 'one' | 'list' | 'named'>> = {
  ...Object.fromEntries(
    words(`
      not if then else items contains additionalProperties propertyNames unevaluatedProperties
      unevaluatedItems
    `).map((keyword) => [keyword, 'one' as const]),
  ),
  ...Object.fromEntries(
    ['allOf', 'anyOf', 'oneOf', 'prefixItems'].map((keyword) => [keyword, 'list' as const]),
  ),
  ...Object.fromEntries(
    ['properties', 'patternProperties', 'dependentSchemas', '$defs'].map((keyword) => [
      keyword,
      'named' as const,
    ]),
  ),
};

/** The schema with every schema in it, itself included, replaced from the inside out. */
function mapped(schema: Schema, change: (schema: JsonObject, path: string) => Schema, path = ''): Schema {
  if (!isObject(schema)) return schema;
  const held = (value: JsonValue, at: string) => (isSchema(value) ? mapped(value, change, at) : value);
  const entries = Object.entries(schema).map(([keyword, value]): [string, JsonValue] => {
    const at = `${path}/${keyword}`;
    const way = Object.hasOwn(HOLDERS, keyword) ? HOLDERS[keyword] : undefined;
    if (way === 'one') return [keyword, held(value, at)];
    if (way === 'list' && isArray(value))
      return [keyword, value.map((one, index) => held(one, `${at}/${index}`))];
    if (way === 'named' && isObject(value)) {
      const named = Object.entries(value).map(([name, one]) => [name, held(one, `${at}/${name}`)] as const);
      return [keyword, Object.fromEntries(named)];
    }
    return [keyword, value];
  });
  return change(Object.fromEntries(entries), path);
}

/** The schema, of which each part may be rewritten. */
function rewritten(schema: JsonObject, rewrite: Rewrite, choose: () => boolean): JsonObject {
  const definitions: Record<string, JsonValue> = {};
  const { $defs = {}, ...root } = schema;
  const change = (part: JsonObject) => (choose() ? rewrite(part, definitions) : part);
  const [newRoot, named] = [mapped(root, change), mapped({ properties: $defs }, (part) => part)];
  assert.ok(isObject(newRoot) && isObject(named));
  const others = isObject($defs)
    ? Object.entries($defs).map(([name, one]) => [name, isSchema(one) ? mapped(one, change) : one] as const)
    : [];
  return { ...newRoot, $defs: { ...Object.fromEntries(others), ...definitions } };
}

const usable = schemas.filter((schema) => loopsOf(resolveReferencesIn(schema)).length === 0);

describe('a change report of a schema that is written differently', () => {
  for (const [title, rewrite] of Object.entries(REWRITES))
    it(`a change report has no difference if a schema is written differently: ${title}`, () => {
      fc.assert(
        fc.property(usable, fc.infiniteStream(fc.boolean()), (schema, choices) => {
          // A schema that allows everything also evaluates everything.
          fc.pre(!title.startsWith('further') || !JSON.stringify(schema).includes('unevaluated'));
          const other = rewritten(schema, rewrite, () => choices.next().value === true);
          for (const [before, after] of [
            [schema, other],
            [other, schema],
          ] as const)
            assert.deepEqual(compareSchemas(before, after).differences, [], JSON.stringify(other));
        }),
        { numRuns: runs(25) },
      );
    });

  it('a change report of two versions is the same if their common parts are the same objects', () => {
    fc.assert(
      fc.property(usable, usable, fc.infiniteStream(fc.boolean()), (before, other, choices) => {
        const mixed = Object.entries({ ...other, ...before }).map(
          ([keyword, own]) =>
            [keyword, choices.next().value === true ? own : (other[keyword] ?? own)] as const,
        );
        const after = objectOf(mixed);
        fc.pre(loopsOf(resolveReferencesIn(after)).length === 0);
        const old = structuredClone(before);
        const fresh = sharingParts(structuredClone(after), old) as JsonObject;
        const said = JSON.stringify({ before, after });
        assert.deepEqual(compareSchemas(old, fresh, 'Car'), compareSchemas(before, after, 'Car'), said);
        assert.deepEqual(compareSchemas(fresh, old, 'Car'), compareSchemas(after, before, 'Car'), said);
      }),
      { numRuns: runs(50) },
    );
  });

  it('a change report has no difference if a recursive schema is unrolled, inlined or large', () => {
    const node = (child: Schema): JsonObject => ({
      type: 'object',
      properties: {
        value: TEXT,
        children: { type: 'array', items: child },
        other: { anyOf: [child, { type: 'null' }] },
      },
      additionalProperties: false,
    });
    const here = node({ $ref: '#' });
    const there = { $ref: '#/$defs/node', $defs: { node: node({ $ref: '#/$defs/node' }) } };
    const unrolled = {
      ...node({ $ref: '#/$defs/node' }),
      $defs: { node: node(node({ $ref: '#/$defs/node' })) },
    };
    const wide = (title: string): JsonObject => ({
      oneOf: Array.from({ length: 40 }, (_, index) => ({
        title,
        type: 'object',
        required: ['kind'],
        properties: {
          kind: { const: index },
          next: { $ref: '#' },
          list: { type: 'array', contains: { $ref: '#' } },
        },
      })),
    });
    for (const [before, after] of [
      [here, there],
      [there, unrolled],
      [unrolled, here],
      [wide('a'), wide('b')],
    ] as const)
      assert.deepEqual(compareSchemas(before, after).differences, []);
  });
});

describe('a change report of nested alternatives', () => {
  it('a change report compares nested alternatives with those with which they have most in common', () => {
    const model = (properties: JsonObject): JsonObject => ({
      type: 'object',
      properties: {
        a: {
          anyOf: [
            { anyOf: [{ type: 'array' }, { anyOf: [{ $ref: '#/$defs/d' }, { type: 'string' }] }] },
            { type: 'array', items: { type: 'array' } },
          ],
        },
      },
      $defs: { d: { properties: { a: { type: 'object', properties, additionalProperties: false } } } },
    });
    const { overall, differences } = compareSchemas(model({}), model({ added: { type: 'string' } }));
    assert.equal(overall, 'compatible');
    for (const { pointer } of differences) assert.ok(pointer.startsWith('/$defs/d/properties/a'), pointer);
  });
});
