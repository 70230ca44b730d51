import type { ModelAttribute } from '../json-schema/attributes.js';
import { freeNames } from '../json-schema/flatten.js';
import { VALUE_MEMBERS } from '../../ngsi-ld/members.js';
import { type JsonObject, type JsonValue, member, objectOf } from '../../shared/json/json.js';
import { API_HEADERS, API_PARAMETERS, API_RESPONSES, API_SCHEMAS } from './api-components.js';
import { attributeSchema, LD_CONTEXT, TYPED_VALUE } from './attribute-schemas.js';
import { normalizedExample } from '../json-schema/example.js';
import {
  componentRef,
  flatModel,
  holdsReference,
  normalizedSchemas,
  type SharedNames,
} from './normalized-schema.js';
import { modelPaths } from './model-paths.js';

/** The input for the OpenAPI document of a model. */
export interface ModelOpenApiInput {
  readonly domain: string;
  readonly model: string;
  /** The types of the model's entities; the name of the model if not given. */
  readonly types?: readonly string[] | undefined;
  /** Version of the model. */
  readonly version: number | string;
  readonly description?: string | undefined;
  /** The schema of entities in key-values form: JSON Schema 2020-12, self-contained. */
  readonly schema: JsonObject;
  /** An entity in key-values form. */
  readonly example?: JsonObject;
  /** Whether the example is valid in key-values form only. */
  readonly isKeyValuesOnly?: boolean;
  /** `@context` of the examples in JSON-LD. */
  readonly context?: JsonValue;
  /** Base URL of the broker or gateway, `/` by default. */
  readonly serverUrl?: string;
}

/**
 * Makes the OpenAPI 3.1 document of a model: the NGSI-LD operations on its entities. The document contains no external
 * references.
 *
 * Schemas are named `<Model>` (normalized), `<Model>KeyValues`, `<Model>Fragment` (only attributes) and
 * `<Model>.<attribute>`.
 *
 * @throws SchemaRefusedError if the schema is not self-contained
 */
export function modelOpenApi(input: ModelOpenApiInput): JsonObject {
  const { domain, model, types = [model], version, description } = input;
  const nameFor = freeNames(Object.keys(API_SCHEMAS));
  const own = {
    entity: nameFor(model),
    keyValues: nameFor(`${model}KeyValues`),
    fragment: nameFor(`${model}Fragment`),
  };
  const shared = sharedNames(nameFor);
  const flat = flatModel(input.schema, own.keyValues, nameFor);
  const nameOf = (attribute: string) => nameFor(`${model}.${attribute}`);
  const normalized = normalizedSchemas(model, types, flat, shared, nameOf);
  const usedKinds = new Set(flat.attributes.map(({ kind }) => kind));
  const schemas = [
    [own.entity, normalized.entity],
    [own.keyValues, normalized.keyValues],
    [own.fragment, normalized.fragment],
    ...normalized.attributes,
    ...normalized.definitions,
    ...[...usedKinds].map((kind) => [shared.kinds[kind], attributeSchema(kind)] as const),
    [shared.typedValue, TYPED_VALUE],
    [shared.context, LD_CONTEXT],
    ...Object.entries(API_SCHEMAS),
  ] as const;
  const examples = exampleComponents(input, flat.attributes);
  return {
    openapi: '3.1.0',
    info: {
      title: `${model} (${domain})`,
      version: String(version),
      ...descriptionOf(description, input.schema),
    },
    servers: [{ url: input.serverUrl ?? '/' }],
    tags: [{ name: model, description: `Entities of type ${types.join(' or ')}` }],
    paths: modelPaths({
      model,
      types,
      entity: componentRef(own.entity),
      keyValues: componentRef(own.keyValues),
      fragment: componentRef(own.fragment),
      attributeNames: flat.attributes.map(({ name }) => name),
      examples: {
        json: refTo(examples, 'normalized'),
        ld: refTo(examples, 'normalizedLd'),
        keyValues: refTo(examples, 'keyValues'),
      },
    }),
    components: {
      schemas: objectOf(schemas),
      parameters: API_PARAMETERS,
      headers: API_HEADERS,
      responses: API_RESPONSES,
      ...(Object.keys(examples).length > 0 ? { examples } : {}),
    },
  };
}

function descriptionOf(description: string | undefined, schema: JsonObject): JsonObject {
  const text = description ?? member(schema, 'description');
  return typeof text === 'string' ? { description: text } : {};
}

/** Returns the example in its representations; none if tools would find a reference in it. */
function exampleComponents(
  { example, isKeyValuesOnly = false, context }: ModelOpenApiInput,
  attributes: readonly ModelAttribute[],
): JsonObject {
  if (example === undefined || holdsReference(example)) return {};
  const keyValues = { summary: 'Key-values', value: example };
  if (isKeyValuesOnly) return { keyValues };
  const normalized = { summary: 'Normalized', value: normalizedExample(example, attributes) };
  if (context === undefined) return { normalized, keyValues };
  const value = normalizedExample(example, attributes, context);
  return { normalized, normalizedLd: { summary: 'Normalized, JSON-LD', value }, keyValues };
}

function refTo(examples: JsonObject, name: string): JsonObject {
  return Object.hasOwn(examples, name) ? { [name]: { $ref: `#/components/examples/${name}` } } : {};
}

function sharedNames(nameFor: (word: string) => string): SharedNames {
  const kinds = Object.keys(VALUE_MEMBERS).map((kind) => [kind, nameFor(kind)] as const);
  return {
    kinds: Object.fromEntries(kinds) as SharedNames['kinds'],
    typedValue: nameFor('TypedValue'),
    context: nameFor('LdContext'),
  };
}
