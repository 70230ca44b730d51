import { isArray, isObject, type JsonObject, member, type Schema } from '../../shared/json/json.js';
import { dependentSchemasFor, eachSchemaIn, schemaIn, schemasIn, targetOf } from './flatten.js';
import type { Checker, InstanceLocation } from './issue.js';

/**
 * The members of an object, or the indexes of the items of an array, that no keyword of a flat schema evaluates, apart
 * from its own `unevaluatedProperties` or `unevaluatedItems` (JSON Schema 2020-12, core, section 11), in their order.
 *
 * All schemas that apply to the same value count: those in references and `allOf`, and the alternatives and conditions
 * that the value satisfies.
 */
export function unevaluatedIn(
  schema: JsonObject,
  location: InstanceLocation,
  checker: Checker,
): readonly (string | number)[] {
  const { value } = location;
  const applied = appliedSchemas(schema, location, checker);
  const [rest, unevaluated] = isArray(value)
    ? ['items', 'unevaluatedItems']
    : ['additionalProperties', 'unevaluatedProperties'];
  const takesRest = (one: JsonObject): boolean =>
    schemaIn(one, rest) !== undefined || (one !== schema && schemaIn(one, unevaluated) !== undefined);
  if (applied.some(takesRest)) return [];
  if (isObject(value)) return unevaluatedMembers(applied, value, checker);
  // Items that satisfy `contains` are evaluated.
  const listed = Math.max(0, ...applied.map((one) => schemasIn(one, 'prefixItems').length));
  const wanted = eachSchemaIn(applied, 'contains');
  const isWanted = (index: number) => wanted.some((one) => isValid(one, location.child(index), checker));
  return isArray(value) ? [...value.keys()].filter((index) => index >= listed && !isWanted(index)) : [];
}

function isValid(schema: Schema, location: InstanceLocation, checker: Checker): boolean {
  return checker.faultsOf(schema, location).length === 0;
}

function unevaluatedMembers(
  applied: readonly JsonObject[],
  value: JsonObject,
  checker: Checker,
): readonly string[] {
  const described = applied.map((one) => member(one, 'properties')).filter(isObject);
  const patterns = applied.flatMap((one) =>
    Object.keys(member(one, 'patternProperties') ?? {}).map((pattern) => checker.patternOf(pattern)),
  );
  return Object.keys(value).filter(
    (name) =>
      !described.some((names) => Object.hasOwn(names, name)) &&
      !patterns.some((pattern) => pattern.test(name)),
  );
}

/** The schema, and all others that it applies to the same value. */
function appliedSchemas(
  schema: JsonObject,
  location: InstanceLocation,
  checker: Checker,
): readonly JsonObject[] {
  const found = new Set<Schema>([schema]);
  // Grows while it is gone through.
  for (const next of found)
    if (isObject(next)) for (const one of schemasAppliedBy(next, location, checker)) found.add(one);
  return [...found].filter(isObject);
}

function schemasAppliedBy(
  schema: JsonObject,
  location: InstanceLocation,
  checker: Checker,
): readonly Schema[] {
  const fits = (one: Schema) => isValid(one, location, checker);
  const target = targetOf(schema, checker.targets);
  const condition = schemaIn(schema, 'if');
  const holds = condition !== undefined && fits(condition);
  return [
    ...(target === undefined ? [] : [target]),
    ...schemasIn(schema, 'allOf'),
    ...['anyOf', 'oneOf'].flatMap((keyword) => schemasIn(schema, keyword)).filter(fits),
    ...(holds ? [condition] : []),
    ...(condition === undefined ? [] : eachSchemaIn([schema], holds ? 'then' : 'else')),
    ...dependentSchemasFor(schema, location.value),
  ];
}
