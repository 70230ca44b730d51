import { LRUCache } from 'lru-cache';
import { type AttributeKind, VALUE_MEMBERS, WRAPPED_KINDS } from '../../ngsi-ld/members.js';
import { isObject, type JsonObject, type JsonValue, member, type Schema } from '../../shared/json/json.js';
import { parseJson } from '../../shared/json/lossless-json.js';
import { entityTypes, listedTypes, type ModelAttribute, modelOf } from '../json-schema/attributes.js';
import type { Fault } from '../json-schema/explain.js';
import {
  conjunctsOf,
  type FlatSchema,
  namedSchemasIn,
  schemaIn,
  type Targets,
  atomsWithin,
} from '../json-schema/flatten.js';
import { resolveWith } from '../json-schema/linker.js';
import { compileSchema } from '../json-schema/validator.js';

/** A model prepared for validating entities. */
export interface Model {
  /** The model's name. */
  readonly name: string;
  /** The types of its entities, at least one; see `entityTypes`. */
  readonly types: readonly string[];
  /** Its schema in flat form, as it was compiled. */
  readonly flat: FlatSchema;
  /** The validator's first error for an entity in key-values form; undefined if it is valid. */
  readonly firstError: (keyValues: JsonValue) => Fault | undefined;
  /** The kind that the model states for each attribute; undefined if it does not state one. */
  readonly attributes: ReadonlyMap<string, AttributeKind | undefined>;
  /** Whether the model describes an attribute without naming it: by a pattern, or by a schema for all other properties. */
  readonly foresees: (attribute: string) => boolean;
  /** Members of every entity, such as createdAt, that the schema does not describe. They are not validated. */
  readonly unsaid: ReadonlySet<string>;
  /**
   * Whether the model describes the bare value of an attribute whose key-values form wraps the value; see
   * `ReadOptions`.
   */
  readonly unwraps: (attribute: string) => boolean;
}

/**
 * Compiles a model. Expensive, and must run in a worker.
 *
 * @param schema self-contained, as returned by `bundle`, and known to be usable
 * @throws {SchemaRefusedError | RangeError} when it is not
 */
export function prepareModel(name: string, schema: JsonObject): Model {
  const { flat, validate } = compileSchema(resolveWith(schema));
  const described = modelOf(schema);
  const kinds = described.attributes.map((one) => [one.name, statedKind(one, described.targets)] as const);
  const unwrapped = described.attributes.filter(
    ({ schema: own }) => !describesWrapping(own, described.targets),
  );
  const unwrappedNames = new Set(unwrapped.map((attribute) => attribute.name));
  return {
    name,
    types: entityTypes(name, listedTypes(described)),
    flat,
    firstError: (keyValues) => validate(keyValues)[0],
    attributes: new Map(kinds),
    foresees: foreseenBy(described),
    unsaid: new Set(COMMON_MEMBERS.filter((member) => !describes(flat.root, flat.targets, member))),
    unwraps: unwrapsBy(described, unwrappedNames, new Set(kinds.map(([attribute]) => attribute))),
  };
}

/** The kind of an attribute; undefined if it is a Property only because nothing states its kind. */
function statedKind(
  { kind, schema, description }: ModelAttribute,
  targets: Targets,
): AttributeKind | undefined {
  if (kind !== 'Property' || /^\s*property\b/i.test(description ?? '')) return kind;
  const isStated = conjunctsOf([schema], targets).some(
    (one) => isObject(one) && isObject(member(one, 'x-ngsi')),
  );
  return isStated ? kind : undefined;
}

/** Members that brokers add to entities, or that any entity may have (clause 5.2.4). */
const COMMON_MEMBERS = ['createdAt', 'modifiedAt', 'deletedAt', 'expiresAt', 'scope'];

const WRAPPING: readonly string[] = [...WRAPPED_KINDS].map((kind) => VALUE_MEMBERS[kind]);

/** Whether a schema, in some alternative, describes the member that wraps a value, such as `languageMap`. */
function describesWrapping(schema: Schema, targets: Targets): boolean {
  return describes(schema, targets, ...WRAPPING);
}

/** Whether a schema, in some alternative, describes one of the properties by name. */
function describes(schema: Schema, targets: Targets, ...properties: readonly string[]): boolean {
  return atomsWithin([schema], targets).some((atom) => {
    const names = namedSchemasIn(atom, 'properties');
    return properties.some((property) => names.has(property));
  });
}

const REST = ['additionalProperties', 'unevaluatedProperties'];

function foreseenBy({ root, targets }: FlatSchema): (attribute: string) => boolean {
  const atoms = conjunctsOf([root], targets).filter(isObject);
  const expressions = patternsIn(atoms).map(([expression]) => expression);
  const describesOthers = restIn(atoms).length > 0;
  return (attribute) => describesOthers || expressions.some((expression) => expression.test(attribute));
}

/**
 * Attributes without a schema of their own are treated according to the patterns they match, or like all other
 * properties.
 */
function unwrapsBy(
  { root, targets }: FlatSchema,
  unwrapped: ReadonlySet<string>,
  named: ReadonlySet<string>,
): (attribute: string) => boolean {
  const atoms = conjunctsOf([root], targets).filter(isObject);
  const isWrapped = (schema: Schema) => describesWrapping(schema, targets);
  const patterns = patternsIn(atoms).map(
    ([expression, schema]) => [expression, isWrapped(schema), isObject(schema)] as const,
  );
  const rest = restIn(atoms);
  const unwrapsRest = rest.length > 0 && !rest.some(isWrapped);
  return (attribute) => {
    if (named.has(attribute)) return unwrapped.has(attribute);
    const own = patterns.filter(([expression]) => expression.test(attribute));
    if (own.length === 0) return unwrapsRest;
    return own.some(([, , isSaid]) => isSaid) && !own.some(([, wraps]) => wraps);
  };
}

function patternsIn(atoms: readonly JsonObject[]): readonly (readonly [RegExp, Schema])[] {
  return atoms.flatMap((atom) =>
    [...namedSchemasIn(atom, 'patternProperties')].map(
      ([pattern, schema]) => [new RegExp(pattern, 'u'), schema] as const,
    ),
  );
}

/** The schemas for properties that nothing else describes. */
function restIn(atoms: readonly JsonObject[]): readonly JsonObject[] {
  return atoms.flatMap((atom) => REST.map((keyword) => schemaIn(atom, keyword)).filter(isObject));
}

interface Prepared {
  readonly model: Model;
  /** Length of the text of its schema, in characters. */
  readonly characters: number;
}

/**
 * Maximum total length of the schemas of all compiled models. A model takes some forty times as much memory, and one
 * for writes twice that.
 */
const MAX_MODELS_CHARACTERS = 4 * 1024 * 1024;

/** Minimum length that counts for each model, so that there are at most 64. */
const MIN_MODEL_CHARACTERS = MAX_MODELS_CHARACTERS / 64;

/** Compiled models of this worker. No schema is larger than a quarter of the cache. */
const models = new LRUCache<string, Prepared>({
  maxSize: MAX_MODELS_CHARACTERS,
  sizeCalculation: ({ characters }) => Math.max(characters, MIN_MODEL_CHARACTERS),
});

/** The texts of the schemas that workers asked for, by key. */
export type GivenSchemas = readonly (readonly [key: string, schema: string])[];

/** A model by the key of its schema: the same key always means the same schema. */
export interface KeyedModel {
  readonly key: string;
  readonly name: string;
}

/**
 * Returns the models, compiled by this worker earlier or now; or the keys of the schemas that it needs for that.
 *
 * @throws {SchemaRefusedError | RangeError} for an unusable schema, which no stored one should be
 */
export function compiledModels<One extends KeyedModel>(
  all: readonly One[],
  schemas: GivenSchemas,
): { readonly ready: readonly (One & { readonly model: Model })[] } | { readonly needs: readonly string[] } {
  const given = new Map(schemas);
  const ready: (One & { readonly model: Model })[] = [];
  const needs: string[] = [];
  for (const one of all) {
    const schema = given.get(one.key);
    const model = schema === undefined ? cachedModel(one) : compiledModel(one, schema);
    if (model === undefined) needs.push(one.key);
    else ready.push({ ...one, model });
  }
  return needs.length > 0 ? { needs } : { ready };
}

/** The model, if this worker has compiled it and still caches it. */
export function cachedModel({ key, name }: KeyedModel): Model | undefined {
  return models.get(`${key} ${name}`)?.model;
}

/** The model, compiled now if it is not cached. @throws as {@link compiledModels} does */
export function compiledModel(one: KeyedModel, schema: string): Model {
  const known = cachedModel(one);
  if (known !== undefined) return known;
  const model = prepareModel(one.name, parseJson(schema) as JsonObject);
  models.set(`${one.key} ${one.name}`, { model, characters: schema.length });
  return model;
}
