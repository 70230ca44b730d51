import { type AttributeKind, VALUE_MEMBERS, WRAPPED_KINDS } from '../../ngsi-ld/members.js';
import {
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  member,
  objectOf,
  type Schema,
  omitMembers,
} from '../../shared/json/json.js';
import { attributesOf, type ModelAttribute, type ModelAttributes } from '../json-schema/attributes.js';
import {
  alwaysAppliedSchemas,
  isStandardKeyword,
  namedSchemasIn,
  type ReferenceTargets,
} from '../json-schema/flatten.js';
import { ENTITY_MEMBER_SCHEMAS, URI } from './attribute-schemas.js';
import { isClosed, withMembers } from './entity-members.js';

/** Names of the components that normalized schemas refer to. */
export interface SharedNames {
  readonly kinds: Readonly<Record<AttributeKind, string>>;
  readonly typedValue: string;
  readonly context: string;
}

/** The normalized representation of a model's entities (ETSI GS CIM 009 V1.9.1, clause 4.5.1), and the schema as it is used. */
export interface NormalizedSchemas {
  /** The model's schema, which allows what brokers show besides: members of all entities, and wrapped values. */
  readonly keyValues: JsonObject;
  /** The schemas that it refers to, by component name. */
  readonly definitions: ReadonlyMap<string, Schema>;
  readonly entity: JsonObject;
  /** Some members of an entity, as sent to add or change attributes. */
  readonly fragment: JsonObject;
  /** One schema for an instance of each attribute, by component name. */
  readonly attributes: readonly (readonly [string, JsonObject])[];
}

/**
 * Makes the normalized schemas from the key-values schema: the schema of a member becomes that of the attribute's
 * value.
 *
 * @param model the name of the model, for titles
 * @param types the types of the model's entities, at least one
 * @param nameOf returns the component name of an attribute
 */
export function normalizedSchemas(
  model: string,
  types: readonly string[],
  flat: ModelAttributes,
  shared: SharedNames,
  nameOf: (attribute: string) => string,
): NormalizedSchemas {
  const { root, targets, attributes } = flat;
  const own = attributes.map((attribute) => ({ attribute, component: nameOf(attribute.name) }));
  const ofAll: JsonObject = { ...ENTITY_MEMBER_SCHEMAS, '@context': componentRef(shared.context) };
  const members = objectOf([
    ['id', { ...URI, description: 'Identifier of the entity.' }],
    ['type', typeSchema(types)],
    ...own.map(({ attribute, component }) => [attribute.name, instances(component)] as const),
    ...Object.entries(ofAll),
  ]);
  const required = attributes.filter((attribute) => attribute.required).map(({ name }) => name);
  const closed: JsonObject = isClosed(flat) ? { additionalProperties: false } : {};
  const alternatives = new Map(
    attributes.flatMap((one): readonly (readonly [string, (schema: Schema) => Schema])[] => {
      if (isBareOfWrapped(one, targets)) return [[one.name, (schema) => wrapper(one, schema)]];
      return isTime(one, targets) ? [[one.name, () => componentRef(shared.typedValue)]] : [];
    }),
  );
  const opened = withMembers(flat, ofAll, alternatives);
  return {
    keyValues: opened.root,
    definitions: opened.definitions,
    entity: {
      title: model,
      ...annotationsOf([root], ['description']),
      type: 'object',
      required: ['id', 'type', ...required],
      properties: members,
      ...closed,
    },
    fragment: { title: `Attributes of ${model}`, type: 'object', properties: members, ...closed },
    attributes: own.map(({ attribute, component }) => [
      component,
      instanceSchema(attribute, targets, shared),
    ]),
  };
}

/** Whether a model describes the bare value of an attribute that brokers show wrapped, in key-values form, too. */
function isBareOfWrapped({ kind, schema }: ModelAttribute, targets: ReferenceTargets): boolean {
  if (!WRAPPED_KINDS.has(kind)) return false;
  const written = alwaysAppliedSchemas([schema], targets).filter(isObject);
  return !written.some((part) => namedSchemasIn(part, 'properties').has(VALUE_MEMBERS[kind]));
}

/** Makes the schema of an object that has only the member with the value. */
function wrapper({ kind }: ModelAttribute, value: Schema): JsonObject {
  const name = VALUE_MEMBERS[kind];
  return { type: 'object', required: [name], properties: { [name]: value } };
}

/** Makes the schema of an attribute: one instance, or several with different datasetIds (clause 4.5.5). */
function instances(component: string): JsonObject {
  return { anyOf: [componentRef(component), { type: 'array', minItems: 1, items: componentRef(component) }] };
}

function typeSchema(types: readonly string[]): JsonObject {
  const [only = '', ...others] = types;
  const type = others.length === 0 ? { const: only } : { enum: types };
  return {
    description: 'Entity type; an entity may have several.',
    anyOf: [type, { type: 'array', items: { type: 'string' }, contains: type }],
  };
}

function instanceSchema(
  attribute: ModelAttribute,
  targets: ReferenceTargets,
  shared: SharedNames,
): JsonObject {
  const { kind } = attribute;
  const written = alwaysAppliedSchemas([attribute.schema], targets).filter(isObject);
  const value = valueSchema(attribute, written);
  const isTyped = value !== undefined && isTime(attribute, targets);
  const shown = isTyped ? { anyOf: [value, componentRef(shared.typedValue)] } : value;
  return {
    ...annotationsOf(written, ['title', 'description', 'deprecated']),
    allOf: [componentRef(shared.kinds[kind])],
    ...(shown !== undefined && { properties: { [VALUE_MEMBERS[kind]]: shown } }),
  };
}

/** Formats of strings that brokers may store as typed values. */
const TIMES: ReadonlySet<JsonValue | undefined> = new Set(['date-time', 'date', 'time']);

function isTime({ schema }: ModelAttribute, targets: ReferenceTargets): boolean {
  return alwaysAppliedSchemas([schema], targets).some(
    (part) => isObject(part) && TIMES.has(member(part, 'format')),
  );
}

/**
 * Returns the schema of the member that holds the value; undefined if the model's schema cannot apply to it.
 *
 * @param written everything that the model says about the member of a key-values entity
 */
function valueSchema({ kind, schema }: ModelAttribute, written: readonly JsonObject[]): Schema | undefined {
  // Items are URIs in key-values form, but objects in normalized form.
  if (kind === 'ListRelationship') return undefined;
  if (WRAPPED_KINDS.has(kind)) {
    const inner = written
      .map((part) => namedSchemasIn(part, 'properties').get(VALUE_MEMBERS[kind]))
      .filter((found) => found !== undefined);
    const [first] = inner;
    if (first !== undefined) return inner.length === 1 ? first : { allOf: inner };
  }
  const expected = kind === 'LanguageProperty' ? 'object' : kind === 'ListProperty' ? 'array' : undefined;
  const types = written.map((part) => member(part, 'type')).filter((type) => type !== undefined);
  if (expected !== undefined && types.some((type) => type !== expected)) return undefined;
  return isObject(schema) ? omitMembers(schema, SAID_OF_ATTRIBUTES) : schema;
}

/** Annotations that belong to the attribute, not to its value. */
const SAID_OF_ATTRIBUTES: ReadonlySet<string> = new Set(['title', 'description']);

/** Collects annotations; if several schemas have the same one, the first applies. */
function annotationsOf(schemas: readonly JsonObject[], keywords: readonly string[]): JsonObject {
  return objectOf(
    keywords.flatMap((keyword) => {
      const value = schemas.map((schema) => member(schema, keyword)).find((found) => found !== undefined);
      return value === undefined ? [] : [[keyword, value] as const];
    }),
  );
}

export function componentRef(name: string): { readonly $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}

/**
 * Splits a self-contained schema: what it refers to becomes components. Identifiers, and keywords that are neither JSON
 * Schema 2020-12 nor OpenAPI extensions, are removed (OpenAPI 3.1.0 § 4.8.24).
 *
 * @param rootName component name of the schema itself
 * @param nameFor makes the names of the other components
 * @throws SchemaRefusedError if the schema is not self-contained
 */
export function flatModel(
  schema: JsonObject,
  rootName: string,
  nameFor: (word: string) => string,
): ModelAttributes {
  return attributesOf(schema, {
    reference: (name) => componentRef(name ?? rootName).$ref,
    nameFor,
    keeps: isKept,
  });
}

/**
 * `readOnly` and `writeOnly` say who may change what a device or a person sees. Brokers know neither, and clients that
 * tools generate would leave out such values when they create an entity.
 */
const LEFT_OUT: ReadonlySet<string> = new Set(['$comment', 'readOnly', 'writeOnly']);

/**
 * Whether to keep a keyword that contains no schemas in OpenAPI. Keywords whose value contains a `$ref` are removed,
 * because tools that look for references everywhere would take it for one and fetch it.
 */
function isKept(keyword: string, value: JsonValue): boolean {
  const isKnown = isStandardKeyword(keyword) || keyword.startsWith('x-');
  return isKnown && !LEFT_OUT.has(keyword) && !holdsReference(value);
}

/** Whether a value contains a member that looks like a reference, at any depth. */
export function holdsReference(value: JsonValue): boolean {
  if (isArray(value)) return value.some(holdsReference);
  return isObject(value) && (Object.hasOwn(value, '$ref') || Object.values(value).some(holdsReference));
}
