import { LRUCache } from 'lru-cache';
import { type AttributeKind, VALUE_MEMBERS, WRAPPED_KINDS } from '../../ngsi-ld/members.js';
import { isObject, type JsonObject, type JsonValue, member, type Schema } from '../../shared/json/json.js';
import {
  entityTypes,
  listedTypes,
  type ModelAttribute,
  cachedAttributesOf,
} from '../json-schema/attributes.js';
import { parsedSchema } from '../json-schema/bundle.js';
import { generateExample } from '../json-schema/example.js';
import { type Fault, faultsOf } from '../json-schema/explain.js';
import {
  alwaysAppliedSchemas,
  eachSchemaIn,
  type FlatSchema,
  namedSchemasIn,
  type ReferenceTargets,
  atomsWithin,
} from '../json-schema/flatten.js';
import { compileSchema } from '../json-schema/validator.js';
import { ValueConstraints } from '../json-schema/value-constraints.js';

/** A model prepared for validating entities. */
export interface Model {
  /** The model's name. */
  readonly name: string;
  /** The types of its entities, at least one; see `entityTypes`. */
  readonly types: readonly string[];
  /** Its schema in flat form, as it was compiled. */
  readonly flat: FlatSchema;
  /** Returns the first fault of an entity in key-values form; undefined if it is valid. */
  readonly firstFault: (keyValues: JsonValue) => Fault | undefined;
  /** The kind that the model states for each attribute; undefined if it does not state one. */
  readonly attributes: ReadonlyMap<string, AttributeKind | undefined>;
  /** Whether the model describes an attribute without naming it: by a pattern, or by a schema for all other properties. */
  readonly describesByPattern: (attribute: string) => boolean;
  /** Members of every entity, such as createdAt, that the schema does not describe. They are not validated. */
  readonly undescribedMembers: ReadonlySet<string>;
  /** Whether the schema describes or requires the `@context`, which is not part of the entity otherwise. */
  readonly seesContext: boolean;
  /**
   * An `@context` that a schema accepts which requires one, shown for entities without: in application/json, the
   * header Link names it, and brokers leave it out.
   */
  readonly assumedContext: JsonValue | undefined;
  /**
   * How the model describes `type` and `scope` if it allows only one way: brokers show an array of one item as the item,
   * because NGSI-LD means the same by both (clauses 4.16 and 4.18).
   */
  readonly setForms: ReadonlyMap<string, 'array' | 'item'>;
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
  const described = cachedAttributesOf(schema);
  const { attributes, targets } = described;
  const { flat, firstFault } = compileSchema(described.linked);
  const unwrapped = new Map(
    attributes.map((one) => [one.name, !describesWrapping(one.schema, targets)] as const),
  );
  const unnamed = unnamedBy(described);
  const constraints = new ValueConstraints([flat.root], flat.targets);
  const requiresContext = constraints.required.has('@context');
  return {
    name,
    types: entityTypes(name, listedTypes(described)),
    flat,
    firstFault,
    attributes: new Map(attributes.map((one) => [one.name, statedKind(one, targets)] as const)),
    describesByPattern: (attribute) => unnamed(attribute).length > 0,
    undescribedMembers: new Set(
      COMMON_MEMBERS.filter((member) => !describes(flat.root, flat.targets, member)),
    ),
    seesContext: requiresContext || describes(flat.root, flat.targets, '@context'),
    assumedContext: requiresContext ? contextFor(constraints, flat.targets) : undefined,
    setForms: new Map(SET_MEMBERS.flatMap((name) => setFormOf(name, constraints, flat.targets))),
    unwraps: (attribute) => {
      const known = unwrapped.get(attribute);
      if (known !== undefined) return known;
      const all = unnamed(attribute);
      return all.some(({ isDescribed }) => isDescribed) && !all.some(({ wraps }) => wraps);
    },
  };
}

const SET_MEMBERS = ['type', 'scope'];

function setFormOf(
  name: string,
  constraints: ValueConstraints,
  targets: ReferenceTargets,
): readonly (readonly [string, 'array' | 'item'])[] {
  const { types } = new ValueConstraints(constraints.property(name), targets);
  const isArray = types.has('array');
  return isArray === types.has('string') ? [] : [[name, isArray ? 'array' : 'item']];
}

/** An `@context` that the schemas accept; undefined if none is found. */
function contextFor(constraints: ValueConstraints, targets: ReferenceTargets): JsonValue | undefined {
  const root = { allOf: constraints.propertyByPatterns('@context') };
  const { example, faults } = generateExample(root, targets, {
    check: (one) => faultsOf({ root, targets }, one),
  });
  return faults.length === 0 ? example : undefined;
}

/** The kind of an attribute; undefined if it is a Property only because nothing states its kind. */
function statedKind(
  { kind, schema, description }: ModelAttribute,
  targets: ReferenceTargets,
): AttributeKind | undefined {
  if (kind !== 'Property' || /^\s*property\b/i.test(description ?? '')) return kind;
  const isStated = alwaysAppliedSchemas([schema], targets).some(
    (one) => isObject(one) && isObject(member(one, 'x-ngsi')),
  );
  return isStated ? kind : undefined;
}

/** Members that brokers add to entities, or that any entity may have (clause 5.2.4). */
const COMMON_MEMBERS = ['createdAt', 'modifiedAt', 'deletedAt', 'expiresAt', 'scope'];

const WRAPPING: readonly string[] = [...WRAPPED_KINDS].map((kind) => VALUE_MEMBERS[kind]);

/** Whether a schema, in some alternative, describes the member that wraps a value, such as `languageMap`. */
function describesWrapping(schema: Schema, targets: ReferenceTargets): boolean {
  return describes(schema, targets, ...WRAPPING);
}

/** Whether a schema, in some alternative, describes one of the properties by name. */
function describes(schema: Schema, targets: ReferenceTargets, ...properties: readonly string[]): boolean {
  return atomsWithin([schema], targets).some((atom) => {
    const names = namedSchemasIn(atom, 'properties');
    return properties.some((property) => names.has(property));
  });
}

const REST = ['additionalProperties', 'unevaluatedProperties'];

/** What a schema says of an attribute that the model does not name. */
interface UnnamedAttributes {
  /** Whether it says anything beyond that the attribute may or may not exist. */
  readonly isDescribed: boolean;
  readonly wraps: boolean;
}

/**
 * What the model says of attributes without a schema of their own: by the patterns they match, or as of all other
 * properties.
 */
function unnamedBy({ root, targets }: FlatSchema): (attribute: string) => readonly UnnamedAttributes[] {
  const atoms = alwaysAppliedSchemas([root], targets).filter(isObject);
  const said = (schema: Schema): UnnamedAttributes => ({
    isDescribed: isObject(schema),
    wraps: describesWrapping(schema, targets),
  });
  const patterns = atoms
    .flatMap((atom) => [...namedSchemasIn(atom, 'patternProperties')])
    .map(([pattern, schema]) => ({ expression: new RegExp(pattern, 'u'), ...said(schema) }));
  const rest = REST.flatMap((keyword) => eachSchemaIn(atoms, keyword))
    .filter(isObject)
    .map(said);
  return (attribute) => {
    const own = patterns.filter(({ expression }) => expression.test(attribute));
    return own.length > 0 ? own : rest;
  };
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
  const model = prepareModel(one.name, parsedSchema(schema));
  models.set(`${one.key} ${one.name}`, { model, characters: schema.length });
  return model;
}
