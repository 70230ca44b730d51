import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { compareSchemas } from '../../../../sidecar/schemas/json-schema/change-report.js';
import type { ChangeReport } from '../../../../sidecar/schemas/json-schema/differences.js';
import { isArray, isObject, type JsonObject, type JsonValue } from '../../../../sidecar/shared/json/json.js';
import { loopsOf } from '../../../../sidecar/schemas/json-schema/usability.js';
import { resolveReferencesIn } from '../../../../sidecar/schemas/json-schema/linker.js';
import { createValidator } from '../../../support/validator.js';
import { runs } from '../../../support/thoroughness.js';
import { documents, schemas } from './schema-arbitraries.js';

const usable = schemas.filter((schema) => loopsOf(resolveReferencesIn(schema)).length === 0);

/** A schema and another: an unrelated one, or an edited copy. */
const pairs = usable.chain((before) =>
  fc.tuple(
    fc.constant(before),
    fc.oneof(
      usable,
      fc.array(fc.nat(), { minLength: 1, maxLength: 3 }).map((edits) => edits.reduce(edited, before)),
    ),
  ),
);

/** A case that one run in 100,000 found: not the report but the validator was wrong, about an empty list after another list. */
const FOUND_BEFORE: [[JsonObject, JsonObject], JsonValue[]] = [
  [
    { items: { contains: { $ref: '#/$defs/d' } }, $defs: { d: {} } },
    { items: { contains: {} }, $defs: { d: {} } },
  ],
  [[[null], []]],
];

describe('the change report on generated schemas', () => {
  it('the change report classifies a change as compatible only if every valid document stays valid, except for added names', () => {
    let compatible = 0;
    fc.assert(
      fc.property(
        pairs,
        fc.array(documents, { minLength: 40, maxLength: 40 }),
        ([before, after], samples) => {
          const report = compareSchemas(before, after);
          if (report.overall !== 'compatible' || before === after) return;
          compatible += 1;
          const [old, fresh] = [
            createValidator(resolveReferencesIn(before)),
            createValidator(resolveReferencesIn(after)),
          ];
          const added = addedNames(report, before);
          for (const sample of samples.filter((one) => !uses(one, added) && old(one).length === 0))
            assert.deepEqual(fresh(sample), [], JSON.stringify({ before, after, sample, report }));
        },
      ),
      { numRuns: runs(200), examples: [FOUND_BEFORE] },
    );
    assert.ok(compatible > 50, 'enough changes were compatible to show something');
  });

  it('the class of a change report on generated schemas is the worst of its differences', () => {
    const severity = ['compatible', 'narrowing', 'breaking'];
    fc.assert(
      fc.property(pairs, ([before, after]) => {
        const { overall, differences } = compareSchemas(before, after);
        const worst = Math.max(0, ...differences.map((one) => severity.indexOf(one.class)));
        assert.equal(overall, severity[worst]);
      }),
      { numRuns: runs(60) },
    );
  });
});

/** Names that nothing described before; if one alternative forbade them, another may have allowed them. */
function addedNames({ differences }: ChangeReport, before: JsonObject): ReadonlySet<string | undefined> {
  const isAdded = JSON.stringify(before).includes('"oneOf"')
    ? /^property .* is (?:new|allowed now)$/
    : /^property .* is new$/;
  const added = differences.filter(({ detail }) => isAdded.test(detail));
  return new Set(added.map(({ pointer }) => pointer.split('/').at(-1)));
}

function uses(document: JsonValue, names: ReadonlySet<string | undefined>): boolean {
  if (isArray(document)) return document.some((item) => uses(item, names));
  return (
    isObject(document) &&
    Object.entries(document).some(([name, held]) => names.has(name) || uses(held, names))
  );
}

/** The schema with one change: a number moved, a boolean inverted, an item or a member removed, an enum longer. */
function edited(schema: JsonObject, seed: number): JsonObject {
  const places = [...placesIn(schema)].filter(
    ([path]) => path.join() !== '$defs' && path.join() !== '$defs,d',
  );
  const [path, value] = places[seed % places.length] ?? [[], schema];
  const sign = seed % 2 === 0 ? 1 : -1;
  const isMultiple = path.at(-1) === 'multipleOf';
  if (typeof value === 'number') return replaced(schema, path, isMultiple ? 1 : Math.max(0, value + sign));
  if (typeof value === 'boolean') return replaced(schema, path, !value);
  if (isObject(value) && path.at(-1) === 'properties' && seed % 3 > 0)
    return replaced(schema, path, { ...value, d: { type: 'string' } });
  if (isArray(value) && path.at(-1) === 'enum') return replaced(schema, path, [...value, 'more']);
  if (isArray(value) && value.length > 1) return replaced(schema, path, value.slice(1));
  return replaced(schema, path, undefined);
}

function* placesIn(value: JsonValue, path: readonly string[] = []): Iterable<[readonly string[], JsonValue]> {
  if (path.length > 0) yield [path, value];
  if (isObject(value))
    for (const [name, held] of Object.entries(value)) yield* placesIn(held, [...path, name]);
  else if (isArray(value))
    for (const [index, held] of value.entries())
      if (isObject(held)) yield* placesIn(held, [...path, String(index)]);
}

function replaced(schema: JsonObject, path: readonly string[], value: JsonValue | undefined): JsonObject {
  const change = (at: JsonValue, [token, ...rest]: readonly string[]): JsonValue => {
    if (token === undefined) return value ?? {};
    if (isArray(at)) return at.map((item, index) => (String(index) === token ? change(item, rest) : item));
    if (!isObject(at)) return at;
    const isGone = rest.length === 0 && value === undefined;
    return Object.fromEntries(
      Object.entries(at).flatMap(([name, held]) => {
        if (name !== token) return [[name, held]];
        return isGone ? [] : [[name, change(held, rest)]];
      }),
    );
  };
  const changed = change(schema, path);
  return isObject(changed) ? changed : schema;
}
