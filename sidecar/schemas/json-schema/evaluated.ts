import { isObject, type JsonObject, type JsonValue, member, type Schema } from '../../shared/json/json.js';
import {
  dependentSchemasFor,
  eachSchemaIn,
  schemaIn,
  schemasIn,
  targetOf,
  type ReferenceTargets,
} from './flatten.js';

/** The functions needed to find out which parts of one value are evaluated. */
export interface Evaluation {
  readonly targets: ReferenceTargets;
  /** Whether the value itself satisfies a schema. */
  readonly fits: (schema: Schema) => boolean;
  /** Whether the item at an index satisfies a schema. */
  readonly itemFits: (schema: Schema, index: number) => boolean;
  readonly patternOf: (pattern: string) => RegExp;
}

/**
 * The members of an object that no keyword of a flat schema evaluates, apart from its own `unevaluatedProperties`
 * (JSON Schema 2020-12, core, sections 11.3 and 10.3.2), in the object's order.
 *
 * All schemas that apply to the same object count: those in references and `allOf`, and the alternatives and
 * conditions that the object satisfies.
 */
export function unevaluatedMembers(
  schema: JsonObject,
  value: JsonObject,
  around: Evaluation,
): readonly string[] {
  const applied = appliedSchemas(schema, value, around);
  const takesRest = (one: JsonObject): boolean =>
    schemaIn(one, 'additionalProperties') !== undefined ||
    (one !== schema && schemaIn(one, 'unevaluatedProperties') !== undefined);
  if (applied.some(takesRest)) return [];
  const described = applied.map((one) => member(one, 'properties')).filter(isObject);
  const patterns = applied.flatMap((one) => {
    const held = member(one, 'patternProperties');
    return isObject(held) ? Object.keys(held).map(around.patternOf) : [];
  });
  return Object.keys(value).filter(
    (name) =>
      !described.some((names) => Object.hasOwn(names, name)) &&
      !patterns.some((pattern) => pattern.test(name)),
  );
}

/**
 * The indexes of the array items that no keyword of a flat schema evaluates, apart from its own `unevaluatedItems`
 * (section 11.2). Works like {@link unevaluatedMembers}; `contains` evaluates the items that satisfy it.
 */
export function unevaluatedIndexes(
  schema: JsonObject,
  items: readonly JsonValue[],
  around: Evaluation,
): readonly number[] {
  const applied = appliedSchemas(schema, items, around);
  const takesRest = (one: JsonObject): boolean =>
    schemaIn(one, 'items') !== undefined ||
    (one !== schema && schemaIn(one, 'unevaluatedItems') !== undefined);
  if (applied.some(takesRest)) return [];
  const listed = Math.max(0, ...applied.map((one) => schemasIn(one, 'prefixItems').length));
  const wanted = applied.map((one) => schemaIn(one, 'contains')).filter((one) => one !== undefined);
  return [...items.keys()].filter(
    (index) => index >= listed && !wanted.some((one) => around.itemFits(one, index)),
  );
}

/** The schema, and all others that it applies to the same value. */
function appliedSchemas(schema: JsonObject, value: JsonValue, around: Evaluation): readonly JsonObject[] {
  const found = new Set<Schema>([schema]);
  // Grows while it is gone through.
  for (const next of found)
    if (isObject(next)) for (const one of schemasAppliedBy(next, value, around)) found.add(one);
  return [...found].filter(isObject);
}

function schemasAppliedBy(
  schema: JsonObject,
  value: JsonValue,
  { targets, fits }: Evaluation,
): readonly Schema[] {
  const target = targetOf(schema, targets);
  const condition = schemaIn(schema, 'if');
  const holds = condition !== undefined && fits(condition);
  return [
    ...(target === undefined ? [] : [target]),
    ...schemasIn(schema, 'allOf'),
    ...['anyOf', 'oneOf'].flatMap((keyword) => schemasIn(schema, keyword)).filter(fits),
    ...(holds ? [condition] : []),
    ...(condition === undefined ? [] : eachSchemaIn([schema], holds ? 'then' : 'else')),
    ...dependentSchemasFor(schema, value),
  ];
}
