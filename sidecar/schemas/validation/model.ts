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
  /** Its schema, flat, as it was compiled. */
  readonly flat: FlatSchema;
  /** The validator's first error for an entity in key-values form; undefined when it is valid. */
  readonly firstError: (keyValues: JsonValue) => Fault | undefined;
  /** The kind that the model gives each attribute; undefined where it does not say. */
  readonly attributes: ReadonlyMap<string, AttributeKind | undefined>;
  /** Whether the model describes an attribute without naming it: by a pattern, or as any other. */
  readonly foresees: (attribute: string) => boolean;
  /** Members of every entity, such as createdAt, of which the schema says nothing: it is not asked about them. */
  readonly unsaid: ReadonlySet<string>;
  /** Whether it describes the value itself of attributes whose key-values form wraps it; see `ReadOptions`. */
  readonly unwraps: (attribute: string) => boolean;
}

/**
 * Compiles a model. Costly; to be run in a worker.
 *
 * @param schema self-contained, as `bundle` makes it, and found usable before
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

/** The attribute's kind, unless it is Property for want of a word on it. */
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

/** What brokers add to entities, and what any entity may have (clause 5.2.4). */
const COMMON_MEMBERS = ['createdAt', 'modifiedAt', 'deletedAt', 'expiresAt', 'scope'];

const WRAPPING: readonly string[] = [...WRAPPED_KINDS].map((kind) => VALUE_MEMBERS[kind]);

/** Whether a schema, in some alternative, knows the member that wraps a value, such as `languageMap`. */
function describesWrapping(schema: Schema, targets: Targets): boolean {
  return describes(schema, targets, ...WRAPPING);
}

/** Whether a schema, in some alternative, names one of the properties. */
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

/** Attributes that have no schema of their own follow those that patterns, or the rest of the members, have. */
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

/** What is asked of members that nothing else describes. */
function restIn(atoms: readonly JsonObject[]): readonly JsonObject[] {
  return atoms.flatMap((atom) => REST.map((keyword) => schemaIn(atom, keyword)).filter(isObject));
}

interface Prepared {
  readonly model: Model;
  /** Characters of its schema's text. */
  readonly characters: number;
}

/** Total length of the schemas of all compiled models, which take some forty times as much memory; twice that for writes. */
const MAX_MODELS_CHARACTERS = 4 * 1024 * 1024;

/** The least that each model counts, so that there are at most 64. */
const MIN_MODEL_CHARACTERS = MAX_MODELS_CHARACTERS / 64;

/** Compiled models of this worker. No schema is larger than a quarter of the cache. */
const models = new LRUCache<string, Prepared>({
  maxSize: MAX_MODELS_CHARACTERS,
  sizeCalculation: ({ characters }) => Math.max(characters, MIN_MODEL_CHARACTERS),
});

/** Texts of the schemas that workers have asked for, by key. */
export type GivenSchemas = readonly (readonly [key: string, schema: string])[];

/** A model by the key of its schema: the same key always means the same schema. */
export interface KeyedModel {
  readonly key: string;
  readonly name: string;
}

/**
 * Models as this worker has compiled them, or compiles them now; or the keys of the schemas that it needs to.
 *
 * @throws {SchemaRefusedError | RangeError} for a schema that cannot be used, which no stored one should be
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

/** The model, if this worker has compiled it and it is still cached. */
export function cachedModel({ key, name }: KeyedModel): Model | undefined {
  return models.get(`${key} ${name}`)?.model;
}

/** The model, compiled now if it is not cached. @throws as {@link compiledModels} */
export function compiledModel(one: KeyedModel, schema: string): Model {
  const known = cachedModel(one);
  if (known !== undefined) return known;
  const model = prepareModel(one.name, parseJson(schema) as JsonObject);
  models.set(`${one.key} ${one.name}`, { model, characters: schema.length });
  return model;
}
