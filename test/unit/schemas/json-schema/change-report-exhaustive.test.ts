import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compareSchemas } from '../../../../sidecar/schemas/json-schema/change-report.js';
import type { JsonObject, JsonValue } from '../../../../sidecar/shared/json/json.js';
import { isThorough } from '../../../support/thoroughness.js';
import { verdictOf } from './verdicts.js';
import { column } from '../../../support/columns.js';
import { words } from '../../../support/words.js';

/** Alternatives for one part of a schema. */
type Part = readonly JsonObject[];

interface Family {
  readonly parts: readonly Part[];
  /** Maximum number of parts in one schema. */
  readonly most: number;
  /** In every schema. */
  readonly always?: JsonObject;
  readonly documents: readonly JsonValue[];
  /** Whether the report is expected to be exact for two of the schemas. */
  readonly isExact?: (before: JsonObject, after: JsonObject) => boolean;
}

const each = (keyword: string, ...values: readonly JsonValue[]): Part =>
  values.map((value) => ({ [keyword]: value }));

/** All lists of this many items, including shorter ones. */
function listsOf(items: readonly JsonValue[], longest: number): readonly JsonValue[][] {
  if (longest === 0) return [[]];
  const shorter = listsOf(items, longest - 1);
  const full = shorter.filter((list) => list.length === longest - 1);
  return [...shorter, ...full.flatMap((list) => items.map((item) => [...list, item]))];
}

/** All objects in which each of the names has one of the values, or is missing. */
function objectsOf(names: readonly string[], values: readonly JsonValue[]): readonly JsonObject[] {
  const [name, ...others] = names;
  if (name === undefined) return [{}];
  return objectsOf(others, values).flatMap((rest) => [
    rest,
    ...values.map((value) => ({ ...rest, [name]: value })),
  ]);
}

const LEAVES: Part = [
  { type: 'string' },
  { type: 'number' },
  { const: 1 },
  { minimum: 1 },
  { maxLength: 1 },
  { type: ['string', 'null'] },
];
const PAIRS = LEAVES.flatMap((left, index) => LEAVES.slice(index + 1).map((right) => [left, right]));
const NUMBER = { type: 'number' };
const ONE = { const: 1 };

/** Small schemas, and enough documents to distinguish them. */
const FAMILIES: Readonly<Record<string, Family>> = {
  numbers: {
    parts: [
      each('type', 'number', 'integer', ['string', 'integer'], 'null'),
      each('minimum', 0, 1, 2),
      each('maximum', 0, 1, 2),
      each('exclusiveMinimum', 0, 1),
      each('exclusiveMaximum', 1, 2),
      each('multipleOf', 1, 2, 4),
      [{ enum: [0, 1, 2] }, { enum: [1, 'a'] }, { enum: [2] }, { const: 1 }],
    ],
    most: 2,
    isExact: (before, after) => !('multipleOf' in before) && !('multipleOf' in after),
    documents: [null, 'a', 'b', -2, -1, -0.5, 0, 0.5, 1, 1.5, 2, 2.5, 3, 4, 6, 8, 12],
  },
  strings: {
    parts: [
      each('type', 'string', ['string', 'null'], 'number'),
      each('minLength', 0, 1, 2),
      each('maxLength', 0, 1, 2),
      each('pattern', '^a', 'b$', '^.?$'),
      each('format', 'date', 'ipv4', 'unheard-of'),
      [{ enum: ['a', 'ab'] }, { enum: ['', 'a', 1] }, { const: 'ab' }, { const: 'aab' }],
    ],
    most: 2,
    isExact: (before, after) =>
      [before, after].every((schema) => !('pattern' in schema || 'format' in schema)) &&
      before['maxLength'] !== 0,
    documents: [null, 1, 2, '', ...words('a b ab ba aa aab bba abc aaaa bbbb 2024-01-01 1.2.3.4 😀 😀😀')],
  },
  lists: {
    parts: [
      each('type', 'array', 'string'),
      each('minItems', 1, 2, 3),
      each('maxItems', 0, 1, 2),
      each('uniqueItems', true, false),
      each('items', false, NUMBER, ONE),
      each('prefixItems', [NUMBER], [ONE, NUMBER], [true, false]),
    ],
    most: 2,
    documents: [null, 'x', ...listsOf([1, 2, 'a'], 3), [1, 2, 'a', 1], [1, 1, 1, 1], [1, 2, 3, 4]],
  },
  'lists that contain': {
    parts: [each('contains', NUMBER, ONE, true), each('minContains', 0, 1, 2), each('maxContains', 1, 2, 3)],
    most: 3,
    isExact: ({ minContains, maxContains }) => Number(minContains ?? 1) <= Number(maxContains ?? Infinity),
    documents: [null, ...listsOf([1, 2, 'a'], 4)],
  },
  objects: {
    parts: [
      each('required', ['a'], ['b'], ['a', 'b']),
      each('minProperties', 1, 2),
      each('maxProperties', 0, 1),
      each('additionalProperties', false, NUMBER),
      each('propertyNames', { maxLength: 1 }, { enum: ['a', 'b'] }),
      [
        { dependentRequired: { a: ['b'] } },
        { dependentRequired: { a: ['b', 'cc'] } },
        { dependentSchemas: { a: { required: ['b'] } } },
      ],
      each('patternProperties', { '^c': NUMBER }, { c$: ONE }),
    ],
    most: 2,
    always: { properties: { a: NUMBER, b: true } },
    documents: [null, ...objectsOf(['a', 'b', 'cc', 'd'], [1, 'x'])],
  },
  'properties beside others': {
    parts: [
      each('properties', { cc: NUMBER }, { cc: { type: 'string' } }, { d: NUMBER, c: true }),
      each('patternProperties', { '^c': NUMBER }, { '^c': { type: 'string' } }, { c$: true }),
      each('additionalProperties', { type: 'string' }, false),
      each('required', ['cc']),
    ],
    most: 4,
    always: { additionalProperties: NUMBER },
    documents: [null, ...objectsOf(['c', 'cc', 'd', 'e'], [1, 'x'])],
  },
  'properties of objects': {
    parts: [
      [NUMBER, ONE, { type: 'string' }].flatMap((a) =>
        [false, true, NUMBER].map((b) => ({ properties: { a, b } })),
      ),
      each('required', ['a'], ['b']),
      each('additionalProperties', false),
    ],
    most: 3,
    always: { properties: { a: true, b: true } },
    isExact: () => true,
    documents: [null, ...objectsOf(['a', 'b', 'c'], [1, 2, 'x'])],
  },
  alternatives: {
    parts: [
      [...each('anyOf', ...PAIRS), ...each('oneOf', ...PAIRS), ...LEAVES],
      each('not', ...LEAVES),
      LEAVES.map((condition) => ({ if: condition, then: { minimum: 2 }, else: { type: 'string' } })),
    ],
    most: 1,
    documents: [null, true, 0, 0.5, 1, 2, 3, '', 'a', 'ab', [], [1], {}],
  },
};

function schemasOf({ parts, most, always = {} }: Family): readonly JsonObject[] {
  const schemas: { readonly schema: JsonObject; readonly size: number }[] = [{ schema: always, size: 0 }];
  for (const part of parts) {
    for (const { schema, size } of [...schemas]) {
      if (size === most) continue;
      for (const alternative of part) schemas.push({ schema: { ...schema, ...alternative }, size: size + 1 });
    }
  }
  return column(schemas, 'schema');
}

/** Keywords for which the report is not exact, even alone. */
const INEXACT: ReadonlySet<string> = new Set(['oneOf', 'if', 'patternProperties']);

/** Whether the schemas differ only in the value of their single keyword, or in omitted keywords. */
function isPlainChange(before: JsonObject, after: JsonObject, always: JsonObject = {}): boolean {
  const [only, ...others] = Object.keys(before).filter((keyword) => !(keyword in always));
  if ([only ?? '', ...others].some((keyword) => INEXACT.has(keyword))) return false;
  const changed = Object.keys(after).filter(
    (keyword) => JSON.stringify(before[keyword]) !== JSON.stringify(after[keyword]),
  );
  return changed.length === 0 || (others.length === 0 && changed.length === 1 && changed[0] === only);
}

describe('the change report on every pair of small schemas', () => {
  for (const [name, family] of Object.entries(FAMILIES)) {
    const schemas = schemasOf(family);
    it(`the change report classifies exactly the harmless changes as compatible among all pairs of small schemas: ${name}`, () => {
      const verdicts = schemas.map((schema) => family.documents.map(verdictOf(schema)));
      let compatible = 0;
      for (const [from, before] of schemas.entries()) {
        for (const [to, after] of schemas.entries()) {
          if (!isThorough && (7 * from + to) % 13 !== 0) continue;
          const lost = family.documents.filter(
            (_, index) => verdicts[from]?.[index] === true && verdicts[to]?.[index] === false,
          );
          const isCompatible = compareSchemas(before, after).overall === 'compatible';
          if (isCompatible) compatible += 1;
          if (isCompatible && lost.length > 0)
            assert.fail(`taken for compatible: ${JSON.stringify({ before, after, lost: lost[0] })}`);
          const isPlain = () =>
            isPlainChange(before, after, family.always) || family.isExact?.(before, after) === true;
          if (!isCompatible && lost.length === 0 && isPlain())
            assert.fail(`not found to be compatible: ${JSON.stringify({ before, after })}`);
        }
      }
      assert.ok(compatible > schemas.length / 2, 'enough changes were compatible to show something');
    });
  }
});
