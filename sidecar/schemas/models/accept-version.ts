import { type JsonObject, type JsonValue, jsonEquals, sharingParts } from '../../shared/json/json.js';
import { parseJson, withDoubles } from '../../shared/json/lossless-json.js';
import { generateContext, type GeneratedContext, namesInSchema } from '../json-ld/generated-context.js';
import type { Needs } from '../json-ld/errors.js';
import {
  entityTypes,
  isNormalized,
  listedTypes,
  type ModelAttribute,
  cachedAttributesOf,
} from '../json-schema/attributes.js';
import { bundle, keepSchema, parsedDocument, parsedSchema } from '../json-schema/bundle.js';
import { type RefusedSchema, SchemaRefusedError } from '../json-schema/errors.js';
import { type LinkedSchema, resolveReferences, resolveReferencesIn } from '../json-schema/linker.js';
import type { Dialect } from '../json-schema/keywords.js';
import { usabilityFaults } from '../json-schema/usability.js';

/** A model's schema and the documents that it refers to, as JSON texts. */
export interface ModelSource {
  readonly schema: string;
  readonly documents: readonly (readonly [uri: string, text: string])[];
}

/** The facts about a schema from which other documents of a model version are derived. */
export interface ModelDescription {
  /** Text of the self-contained schema. */
  readonly bundled: string;
  readonly attributes: readonly Pick<ModelAttribute, 'name' | 'kind'>[];
  /** Names of attributes, and of the members of their values at any depth. */
  readonly names: readonly string[];
  /** The only values that the entity's `type` can have, if the schema lists them. */
  readonly types: readonly JsonValue[] | undefined;
  /** Names of attributes that are described in normalized form, which no entity has when it is validated. */
  readonly normalized: readonly string[];
}

/** Resolves a schema with the documents that it refers to. @throws SchemaRefusedError, RangeError */
export function resolveSchema(schema: JsonObject, documents: ModelSource['documents']): LinkedSchema {
  const parsed = new Map(documents.map(([uri, text]) => [uri, parsedDocument(text, uri)]));
  return resolveReferencesIn(schema, parsed);
}

/** Returns the result of work on a schema, or why the schema is refused. */
export function catchSchemaRefusal<Result>(work: () => Result): Result | RefusedSchema {
  try {
    return work();
  } catch (error) {
    return { refused: refusalOf(error) };
  }
}

function refusalOf(error: unknown): RefusedSchema['refused'] {
  if (error instanceof SchemaRefusedError) {
    const { kind, message, errors, missingUris } = error;
    return { kind, detail: message, errors, missingUris };
  }
  if (!(error instanceof RangeError)) throw error;
  const detail = 'schemas are nested, or refer to each other, too deeply';
  return {
    kind: 'schemaTooLarge',
    detail: `The schema is too large: ${detail}.`,
    errors: [{ pointer: '', detail }],
  };
}

/**
 * Describes a schema.
 *
 * @param bundled the self-contained schema
 * @param known its text, and the schema with its references resolved, if these are known
 */
export function descriptionOf(
  bundled: JsonObject,
  known?: { readonly text: string; readonly linked: LinkedSchema },
): ModelDescription {
  const described = cachedAttributesOf(bundled, known?.linked);
  const { targets, attributes } = described;
  const text = known?.text ?? JSON.stringify(bundled);
  keepSchema(text, bundled);
  return {
    bundled: text,
    attributes: attributes.map(({ name, kind }) => ({ name, kind })),
    names: namesInSchema(bundled),
    types: listedTypes(described)?.map(withDoubles),
    normalized: attributes.filter(({ schema }) => isNormalized(schema, targets)).map(({ name }) => name),
  };
}

/** The input for a version of a model. */
export interface VersionSource {
  /** Text of the schema. */
  readonly schema: string;
  /** The texts of the documents that the caller has looked for, by requested URI; undefined for those that do not exist. */
  readonly documents: ReadonlyMap<string, string | undefined>;
  /** The model's name. */
  readonly model: string;
  /** Base IRI of generated terms. */
  readonly contextBase: string;
  /** Text of the schema of the previous version. */
  readonly earlier?: string | undefined;
}

/** A schema that a version can be stored with. */
export interface AcceptedVersion {
  readonly description: ModelDescription;
  readonly dialect: Dialect;
  /** The requested URIs of the documents that the schema refers to, directly or indirectly. */
  readonly uris: readonly string[];
  readonly generated: GeneratedContext;
  /** Whether the schema is equal to that of the previous version. */
  readonly hasSameSchema: boolean;
}

/**
 * Checks a schema before it becomes a version of a model, describes it, and generates its context. If documents are
 * needed that the caller has not looked for, returns their URIs instead.
 */
export function acceptVersion(source: VersionSource): AcceptedVersion | Needs | RefusedSchema {
  // What both versions have in common is the same object, so that comparing it ends at once.
  const earlier = source.earlier === undefined ? undefined : parsedSchema(source.earlier);
  const schema = sharingParts(parseJson(source.schema) as JsonObject, earlier) as JsonObject;
  const needed = new Set<string>();
  const find = (uri: string): JsonValue | undefined => {
    if (!source.documents.has(uri)) needed.add(uri);
    const text = source.documents.get(uri);
    return text === undefined ? undefined : parsedDocument(text, uri);
  };
  const accepted = catchSchemaRefusal(() => {
    const linked = resolveReferences(schema, find);
    if (needed.size > 0) return undefined;
    const faults = usabilityFaults(linked);
    if (faults.length > 0) throw new SchemaRefusedError('schemaInvalid', 'The schema is not valid.', faults);
    keepSchema(source.schema, schema);
    const bundled = bundle(linked);
    const known = bundled === schema ? { text: source.schema, linked } : undefined;
    return { linked, description: descriptionOf(bundled, known) };
  });
  if (accepted === undefined || needed.size > 0) return { needs: { urls: [...needed] } };
  if ('refused' in accepted) return accepted;
  const { linked, description } = accepted;
  return {
    description,
    dialect: linked.main.dialect,
    uris: [...linked.documents.keys(), ...linked.metaSchemas],
    generated: generatedFor(source, description),
    hasSameSchema: earlier !== undefined && jsonEquals(earlier, schema),
  };
}

function generatedFor(
  { model, contextBase }: VersionSource,
  description: ModelDescription,
): GeneratedContext {
  const attributes = description.attributes.map(({ name }) => name);
  const otherTypes = entityTypes(model, description.types).filter((type) => type !== model);
  const names = { type: model, attributes: [...attributes, ...otherTypes], nested: description.names };
  return generateContext(names, contextBase);
}
