import { schemaIn, schemasIn, namedSchemasIn, targetOf } from '../json-schema/flat-graph.js';
import type { Targets } from '../json-schema/flatten.js';
import { isObject, type JsonObject, type Schema } from '../../shared/json/json.js';
import type { Verdict } from './fault.js';
import { memberSchemas } from './object-faults.js';
import type { Place } from './place.js';
import type { PatternOf } from './scalar-faults.js';

/** What `unevaluatedProperties` and `unevaluatedItems` ask their surroundings. */
export interface Surroundings {
  readonly targets: Targets;
  readonly verdict: Verdict;
  readonly patternOf: PatternOf;
}

/**
 * Whether a schema, or one that applies along with it, has looked at a member of an object (2020-12 core, section 11).
 * Alternatives count where the object fits them.
 */
export function evaluatesMember(
  schema: Schema,
  place: Place,
  around: Surroundings,
): (name: string) => boolean {
  const checks = applied(schema, place, around).map((one) => {
    const takesRest = schemaIn(one, 'unevaluatedProperties') !== undefined && one !== schema;
    const schemasOf = memberSchemas(one, around.patternOf);
    return (name: string) => takesRest || schemasOf(name).length > 0;
  });
  return (name) => checks.some((check) => check(name));
}

/** How many items, from the first, have been looked at; as {@link evaluatesMember}. */
export function evaluatedItems(schema: Schema, place: Place, around: Surroundings): number {
  return Math.max(
    0,
    ...applied(schema, place, around).map((one) => {
      const takesRest = ['items', 'contains', 'unevaluatedItems'].some(
        (keyword) =>
          schemaIn(one, keyword) !== undefined && !(keyword === 'unevaluatedItems' && one === schema),
      );
      // Ajv takes `contains` to look at all items.
      return takesRest ? Infinity : schemasIn(one, 'prefixItems').length;
    }),
  );
}

/** The schema, and all that apply to the same value with it. */
function applied(schema: Schema, place: Place, { targets, verdict }: Surroundings): readonly JsonObject[] {
  const found = new Set<JsonObject>();
  const open: Schema[] = [schema];
  const fits = (one: Schema) => verdict(one, place).length === 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (!isObject(next) || found.has(next)) continue;
    found.add(next);
    const target = targetOf(next, targets);
    const condition = schemaIn(next, 'if');
    const holds = condition !== undefined && fits(condition);
    const conclusion = condition === undefined ? undefined : schemaIn(next, holds ? 'then' : 'else');
    const { value } = place;
    const dependent = ['dependentSchemas', 'dependencies'].flatMap((keyword) => [
      ...namedSchemasIn(next, keyword),
    ]);
    open.push(
      ...(target === undefined ? [] : [target]),
      ...schemasIn(next, 'allOf'),
      ...[...schemasIn(next, 'anyOf'), ...schemasIn(next, 'oneOf')].filter(fits),
      ...(holds ? [condition] : []),
      ...(conclusion === undefined ? [] : [conclusion]),
      ...dependent.flatMap(([name, own]) => (isObject(value) && Object.hasOwn(value, name) ? [own] : [])),
    );
  }
  return [...found];
}
