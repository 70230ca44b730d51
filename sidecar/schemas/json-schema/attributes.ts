import {
  ATTRIBUTE_KINDS,
  type AttributeKind,
  KIND_BY_NAME,
  NON_ATTRIBUTE_MEMBERS,
  VALUE_MEMBERS,
} from '../../ngsi-ld/members.js';
import { GEOMETRY_TYPES } from '../../ngsi-ld/geo-query.js';
import {
  isObject,
  type JsonObject,
  type JsonValue,
  member,
  jsonEquals,
  type Schema,
} from '../../shared/json/json.js';
import { ValueConstraints } from './value-constraints.js';
import {
  alwaysAppliedSchemas,
  eachSchemaIn,
  type FlatOptions,
  type FlatSchema,
  flatten,
  isStandardKeyword,
  namedSchemasIn,
  schemasIn,
  type ReferenceTargets,
  atomsWithin,
} from './flatten.js';
import { type LinkedSchema, resolveReferencesIn } from './linker.js';

/** An attribute that a model describes. */
export interface ModelAttribute {
  readonly name: string;
  readonly kind: AttributeKind;
  /** Whether every entity of the model has it. */
  readonly required: boolean;
  readonly description?: string;
  /** What the model says about its value in key-values form, with references as in the flat schema. */
  readonly schema: Schema;
}

/** The schema of a model in flat form, and the attributes that it describes. */
export interface ModelAttributes extends FlatSchema {
  /** The schema with its references resolved, for compiling it. */
  readonly linked: LinkedSchema;
  readonly attributes: readonly ModelAttribute[];
}

const BY_SPELLING: ReadonlyMap<unknown, AttributeKind> = new Map(
  [...KIND_BY_NAME].map(([name, kind]) => [name.toLowerCase(), kind] as const),
);

/**
 * Finds the attributes of a model: the properties of its schema that are not NGSI-LD members such as `id` and `type`
 * (clause 5.2.4), wherever `$ref`, `allOf` and alternatives describe them.
 *
 * The kind of an attribute is given by `x-ngsi.type`, or by the first word of its description (`Relationship. The
 * owner`). Otherwise it is GeoProperty if its schema is that of a geometry, or else Property.
 *
 * @param schema self-contained, as returned by `bundle`
 * @throws {SchemaRefusedError} when it is not self-contained
 */
export function attributesOf(
  schema: JsonObject,
  options: FlatOptions = {},
  linked = resolveReferencesIn(schema),
): ModelAttributes {
  const flat = flatten(linked, {
    keeps: (keyword) => isStandardKeyword(keyword) || keyword === 'x-ngsi',
    ...options,
  });
  const constraints = new ValueConstraints([flat.root], flat.targets);
  const always = descriptionsIn(constraints.atoms);
  const possible = possibleSchemas([flat.root], flat.targets);
  const attributes = [...(possible.length > constraints.atoms.length ? descriptionsIn(possible) : always)]
    .filter(([name]) => !NON_ATTRIBUTE_MEMBERS.has(name))
    .map(([name, schemas]): ModelAttribute => {
      const given = always.get(name);
      const all = alwaysAppliedSchemas(given ?? schemas, flat.targets).filter(isObject);
      const description = firstString(all, 'description');
      return {
        name,
        kind: kindOf(all, flat.targets),
        required: constraints.required.has(name),
        ...(description === undefined ? {} : { description }),
        schema: given === undefined ? combined('anyOf', schemas) : combined('allOf', given),
      };
    });
  return { ...flat, linked, attributes };
}

/** Models read so far, by their schemas: each model is read once, whether it is compared, described or given examples. */
const attributesCache = new WeakMap<JsonObject, ModelAttributes>();
let marks = 0;

/**
 * As {@link attributesOf}, computed once for each schema. References in two schemas are never equal, so both schemas
 * can be compared with one map of targets.
 *
 * @param linked the schema with its references resolved, if that is known
 */
export function cachedAttributesOf(schema: JsonObject, linked?: LinkedSchema): ModelAttributes {
  const known = attributesCache.get(schema);
  if (known !== undefined) return known;
  marks += 1;
  const mark = `${marks} `;
  const model = attributesOf(schema, { reference: (name) => `${mark}${name ?? '#'}` }, linked);
  attributesCache.set(schema, model);
  return model;
}

/**
 * Whether a schema describes a normalized attribute, with its type and the member that holds the value, rather than
 * the value.
 */
export function isNormalized(schema: Schema, targets: ReferenceTargets): boolean {
  const constraints = new ValueConstraints([schema], targets);
  const types = constraints.property('type');
  const kinds = types.length === 0 ? [] : (new ValueConstraints(types, targets).values ?? []);
  return (
    kinds.length > 0 &&
    kinds.every((kind) =>
      ATTRIBUTE_KINDS.some((one) => one === kind && constraints.describedNames.has(VALUE_MEMBERS[one])),
    )
  );
}

/**
 * All schemas that may apply as a whole to a value that satisfies the given ones: these themselves, their alternatives,
 * branches and dependent schemas.
 */
export function possibleSchemas(schemas: Iterable<Schema>, targets: ReferenceTargets): readonly JsonObject[] {
  return atomsWithin(schemas, targets, (atom) => [
    ...['anyOf', 'oneOf'].flatMap((keyword) => schemasIn(atom, keyword)),
    ...['then', 'else'].flatMap((keyword) => eachSchemaIn([atom], keyword)),
    ...namedSchemasIn(atom, 'dependentSchemas').values(),
  ]);
}

/** The schemas that describe each property. */
function descriptionsIn(atoms: readonly JsonObject[]): ReadonlyMap<string, readonly Schema[]> {
  const found = new Map<string, Schema[]>();
  for (const atom of atoms) {
    for (const [name, schema] of namedSchemasIn(atom, 'properties')) {
      const others = found.get(name);
      if (others === undefined) found.set(name, [schema]);
      else if (!others.some((other) => jsonEquals(other, schema))) others.push(schema);
    }
  }
  return found;
}

function combined(keyword: 'allOf' | 'anyOf', schemas: readonly Schema[]): Schema {
  const [only, ...others] = schemas;
  return only !== undefined && others.length === 0 ? only : { [keyword]: schemas };
}

function kindOf(schemas: readonly JsonObject[], targets: ReferenceTargets): AttributeKind {
  const hints = schemas.map((schema) => member(schema, 'x-ngsi')).filter(isObject);
  const words = [
    ...hints.map((hint) => member(hint, 'type')),
    ...schemas.map((schema) => /^\s*(\w+)/.exec(firstString([schema], 'description') ?? '')?.[1]),
  ];
  const named = words.map((word) => BY_SPELLING.get(spelling(word))).find((kind) => kind !== undefined);
  if (named !== undefined) return named;
  return schemas.some((schema) => isGeometry(schema, targets)) ? 'GeoProperty' : 'Property';
}

/**
 * Whether a schema is that of a GeoJSON geometry, or of a choice of them: it has coordinates, and its types are
 * geometries.
 */
function isGeometry(schema: JsonObject, targets: ReferenceTargets): boolean {
  const choices = ['oneOf', 'anyOf']
    .map((keyword) => schemasIn(schema, keyword))
    .find((list) => list.length > 0);
  if (choices !== undefined)
    return choices.every((choice) =>
      alwaysAppliedSchemas([choice], targets).some((one) => isObject(one) && isSingleGeometry(one, targets)),
    );
  return isSingleGeometry(schema, targets);
}

function isSingleGeometry(schema: JsonObject, targets: ReferenceTargets): boolean {
  const properties = namedSchemasIn(schema, 'properties');
  const type = properties.get('type');
  if (type === undefined || !(properties.has('coordinates') || properties.has('geometries'))) return false;
  const { values } = new ValueConstraints([type], targets);
  return (
    values !== undefined &&
    values.length > 0 &&
    values.every((value) => GEOMETRY_TYPES.some((type) => type === value))
  );
}

function firstString(schemas: readonly JsonObject[], keyword: string): string | undefined {
  return schemas.map((schema) => member(schema, keyword)).find((value) => typeof value === 'string');
}

/** Models write `Geoproperty` as well as `GeoProperty`. */
function spelling(word: JsonValue | undefined): string | undefined {
  return typeof word === 'string' ? word.toLowerCase() : undefined;
}

/**
 * The types that a schema lists for the member `type`, also in each of its alternatives and as items of arrays;
 * undefined if it allows others.
 */
export function listedTypes({
  root,
  targets,
}: Pick<FlatSchema, 'root' | 'targets'>): readonly JsonValue[] | undefined {
  return typesListedBy(new ValueConstraints([root], targets).property('type'), targets);
}

/** How deep alternatives are followed, which may refer to themselves. */
const MAX_ALTERNATIVES = 4;

function typesListedBy(
  schemas: readonly Schema[],
  targets: ReferenceTargets,
  depth = 0,
): readonly JsonValue[] | undefined {
  const { values, types, atoms } = new ValueConstraints(schemas, targets);
  if (values !== undefined || depth === MAX_ALTERNATIVES) return values;
  const isArray = types.size === 1 && types.has('array');
  const lists = isArray
    ? ['contains', 'items'].map((keyword) => eachSchemaIn(atoms, keyword).slice(0, 1))
    : atoms.flatMap((atom) => ['anyOf', 'oneOf'].map((keyword) => schemasIn(atom, keyword)));
  for (const list of lists) {
    const listed = list.map((one) => typesListedBy([one], targets, depth + 1));
    if (listed.length > 0 && listed.every((found) => found !== undefined)) return listed.flat();
  }
  return undefined;
}

/**
 * The types that entities of a model may have, at least one: the name of the model if the schema allows it, otherwise
 * the types that the schema lists for the member `type`. If it lists no strings, the name of the model is returned,
 * although no entity is valid.
 *
 * @param listed see {@link listedTypes}
 */
export function entityTypes(model: string, listed: readonly JsonValue[] | undefined): readonly string[] {
  if (listed === undefined) return [model];
  const types = [...new Set(listed.flat())].filter((type) => typeof type === 'string');
  return types.length === 0 || types.includes(model) ? [model] : types;
}
