import {
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  member,
  type Schema,
} from '../../shared/json/json.js';
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
 * The members of an object, or the indexes of the items of an array, that no keyword of a flat schema evaluates, apart
 * from its own `unevaluatedProperties` or `unevaluatedItems` (JSON Schema 2020-12, core, section 11), in their order.
 *
 * All schemas that apply to the same value count: those in references and `allOf`, and the alternatives and conditions
 * that the value satisfies.
 */
export function unevaluatedIn(
  schema: JsonObject,
  value: JsonValue,
  around: Evaluation,
): readonly (string | number)[] {
  const applied = appliedSchemas(schema, value, around);
  const [rest, unevaluated] = isArray(value)
    ? ['items', 'unevaluatedItems']
    : ['additionalProperties', 'unevaluatedProperties'];
  const takesRest = (one: JsonObject): boolean =>
    schemaIn(one, rest) !== undefined || (one !== schema && schemaIn(one, unevaluated) !== undefined);
  if (applied.some(takesRest)) return [];
  if (isArray(value)) return unevaluatedIndexes(applied, value, around);
  return isObject(value) ? unevaluatedMembers(applied, value, around) : [];
}

function unevaluatedMembers(
  applied: readonly JsonObject[],
  value: JsonObject,
  { patternOf }: Evaluation,
): readonly string[] {
  const described = applied.map((one) => member(one, 'properties')).filter(isObject);
  const patterns = applied.flatMap((one) =>
    Object.keys(member(one, 'patternProperties') ?? {}).map(patternOf),
  );
  return Object.keys(value).filter(
    (name) =>
      !described.some((names) => Object.hasOwn(names, name)) &&
      !patterns.some((pattern) => pattern.test(name)),
  );
}

/** Items that satisfy `contains` are evaluated. */
function unevaluatedIndexes(
  applied: readonly JsonObject[],
  items: readonly JsonValue[],
  { itemFits }: Evaluation,
): readonly number[] {
  const listed = Math.max(0, ...applied.map((one) => schemasIn(one, 'prefixItems').length));
  const wanted = eachSchemaIn(applied, 'contains');
  return [...items.keys()].filter((index) => index >= listed && !wanted.some((one) => itemFits(one, index)));
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
