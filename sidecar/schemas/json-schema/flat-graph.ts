import type { Targets } from './flatten.js';
import {
  isArray,
  isObject,
  isSchema,
  type JsonObject,
  member,
  type Schema,
  stringsOf,
} from '../../shared/json/json.js';

/**
 * All the schemas that apply wherever one of these does, by `$ref`, `allOf`, and `anyOf` or `oneOf` of one, these included; each
 * once.
 */
export function conjunctsOf(schemas: Iterable<Schema>, targets: Targets): readonly Schema[] {
  const found = new Set<Schema>();
  const open = [...schemas].reverse();
  for (let schema = open.pop(); schema !== undefined; schema = open.pop()) {
    if (found.has(schema)) continue;
    found.add(schema);
    if (!isObject(schema)) continue;
    open.push(...[...onlyAlternativesIn(schema), ...schemasIn(schema, 'allOf')].reverse());
    const target = targetOf(schema, targets);
    if (target !== undefined) open.push(target);
  }
  return [...found];
}

/** The alternatives of a schema that have no other beside them, so that they apply always. */
function onlyAlternativesIn(schema: JsonObject): readonly Schema[] {
  return ['anyOf', 'oneOf']
    .map((keyword) => schemasIn(schema, keyword))
    .filter(({ length }) => length === 1)
    .flat();
}

/** The schema that another refers to. */
export function targetOf(schema: JsonObject, targets: Targets): Schema | undefined {
  const reference = member(schema, '$ref');
  return typeof reference === 'string' ? targets.get(reference) : undefined;
}

/** The schemas in an object's keywords that apply to the same value on some condition; `allOf` has none. */
export function alternativesIn(schema: JsonObject): readonly Schema[] {
  return [
    ...['anyOf', 'oneOf'].flatMap((keyword) => schemasIn(schema, keyword)),
    ...['not', 'if', 'then', 'else'].flatMap((keyword) => eachSchemaIn([schema], keyword)),
    ...['dependentSchemas', 'dependencies'].flatMap((keyword) => [
      ...namedSchemasIn(schema, keyword).values(),
    ]),
  ];
}

/** The schemas in a keyword that holds a list of them. */
export function schemasIn(schema: JsonObject, keyword: string): readonly Schema[] {
  const value = member(schema, keyword);
  return isArray(value) ? value.filter(isSchema) : [];
}

/** The schemas in a keyword that holds them by name. */
export function namedSchemasIn(schema: JsonObject, keyword: string): ReadonlyMap<string, Schema> {
  const value = member(schema, keyword);
  const entries = isObject(value) ? Object.entries(value) : [];
  return new Map(entries.flatMap(([name, held]) => (isSchema(held) ? [[name, held] as const] : [])));
}

/** The schema of a name in a keyword that holds schemas by name. */
export function namedSchemaIn(schema: JsonObject, keyword: string, name: string): Schema | undefined {
  const value = member(schema, keyword);
  return isObject(value) ? schemaIn(value, name) : undefined;
}

/** The schema in a keyword that holds one. */
export function schemaIn(schema: JsonObject, keyword: string): Schema | undefined {
  const value = member(schema, keyword);
  return isSchema(value) ? value : undefined;
}

/** What each of the schemas has in a keyword that holds one, where it has. */
export function eachSchemaIn(schemas: readonly JsonObject[], keyword: string): readonly Schema[] {
  return schemas.map((schema) => schemaIn(schema, keyword)).filter((held) => held !== undefined);
}

/** Names in a keyword that maps names to lists of names. */
export function namesByName(schema: JsonObject, keyword: string): ReadonlyMap<string, readonly string[]> {
  const value = member(schema, keyword);
  const entries = isObject(value) ? Object.entries(value) : [];
  return new Map(
    entries.flatMap(([name, held]) => (isArray(held) ? [[name, stringsOf(held)] as const] : [])),
  );
}
