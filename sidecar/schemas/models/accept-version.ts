import { type JsonObject, type JsonValue, jsonEquals, sharingParts } from '../../shared/json/json.js';
import { parseJson, withDoubles, writeJson } from '../../shared/json/lossless-json.js';
import type { ComposeInput, ComposeOutcome } from '../json-ld/compose-context.js';
import {
  contextDocument,
  generateContext,
  type GeneratedContext,
  namesInSchema,
} from '../json-ld/generated-context.js';
import type { Needs } from '../json-ld/errors.js';
import { jsonLdTasks } from '../json-ld/tasks.js';
import { comparableTerms, withoutCore } from '../json-ld/term-meanings.js';
import {
  entityTypes,
  isNormalized,
  listedTypes,
  type ModelAttribute,
  cachedAttributesOf,
} from '../json-schema/attributes.js';
import { bundle, keepSchema, parsedDocument, parsedSchema } from '../json-schema/bundle.js';
import { compareModels } from '../json-schema/tasks.js';
import { type ChangeReport, TOO_COMPLEX } from '../json-schema/differences.js';
import { type RefusedSchema, SchemaRefusedError } from '../json-schema/errors.js';
import { type LinkedSchema, resolveReferences, resolveReferencesIn } from '../json-schema/linker.js';
import type { MeaningSource } from '../json-schema/meaning.js';
import type { TermMeanings } from '../json-schema/term-changes.js';
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
  const text = known?.text ?? writeJson(bundled);
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
  /** The model's own context. */
  readonly own?: Pick<ComposeInput, 'text' | 'pointer' | 'keptBase'>;
  readonly before?: VersionBefore;
}

/** The previous version, with which the new one is compared. */
export interface VersionBefore extends ModelSource {
  /** Text of its self-contained schema, if it is cached. */
  readonly bundled: string | undefined;
  readonly context: string;
  /** Whether the new version refers to the same documents. */
  readonly hasSameDocuments: boolean;
  /** Whether to report the opposite direction as well: what the new version accepts and the old one refuses. */
  readonly inBothDirections: boolean;
}

/** A version that can be stored. */
export interface AcceptedVersion {
  readonly description: ModelDescription;
  readonly dialect: Dialect;
  /** The requested URIs of the documents that the schema refers to, directly or indirectly. */
  readonly uris: readonly string[];
  readonly generated: GeneratedContext;
  /** The model's own context with generated terms, or the other contexts that are needed to create it. */
  readonly composed?: ComposeOutcome;
  /** Whether the schema is equal to that of the previous version. */
  readonly hasSameSchema?: boolean;
  /** Changes from the previous version. Omitted if nothing changes, or if other contexts are needed to tell. */
  readonly change?: ChangeReport;
  /** Changes from this version back to the previous one. */
  readonly reverse?: ChangeReport;
}

/**
 * Checks a schema before it becomes a version of a model, describes it, generates its context, and compares both with
 * the previous version. Does everything for which no other contexts are needed. If documents are needed that the caller
 * has not looked for, returns their URIs instead.
 */
export async function acceptVersion(source: VersionSource): Promise<AcceptedVersion | Needs | RefusedSchema> {
  const { own, before, model } = source;
  const [parsed, earlier] = [parseJson(source.schema) as JsonObject, before && parsedSchema(before.schema)];
  const schema = sharingParts(parsed, earlier) as JsonObject;
  const hasSameSchema = before && jsonEquals(earlier, schema);
  const isSameBundle = hasSameSchema === true && before.hasSameDocuments;
  const old = before === undefined || isSameBundle ? undefined : bundledBefore(before);
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
    const made = bundle(linked);
    if (made === schema)
      return { linked, bundled: made, description: descriptionOf(made, { text: source.schema, linked }) };
    const bundled = sharingParts(made, old) as JsonObject;
    return { linked, bundled, description: descriptionOf(bundled) };
  });
  if (accepted === undefined || needed.size > 0) return { needs: { urls: [...needed] } };
  if ('refused' in accepted) return accepted;
  const { linked, bundled, description } = accepted;
  const generated = generatedFor(source, description);
  const composed =
    own && (await jsonLdTasks.composeContext({ ...own, generated: generated.terms, supplied: [] }));
  const version = {
    description,
    dialect: linked.main.dialect,
    uris: [...linked.documents.keys(), ...linked.metaSchemas],
    generated,
    ...(composed && { composed }),
  };
  if (before === undefined || hasSameSchema === undefined) return version;
  const context =
    composed === undefined
      ? JSON.stringify(contextDocument(generated.terms))
      : 'composed' in composed
        ? composed.composed.text
        : undefined;
  if (context === undefined || (isSameBundle && context === before.context))
    return { ...version, hasSameSchema };
  const changes = await changesFrom(
    before,
    { bundled: isSameBundle ? bundled : old, context: before.context },
    { bundled, context },
    model,
  );
  return { ...version, hasSameSchema, ...changes };
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

/** A version to compare: its self-contained schema, if available, and the text of its context. */
interface Compared {
  readonly bundled: JsonObject | undefined;
  readonly context: string;
}

async function changesFrom(
  { inBothDirections }: VersionBefore,
  old: Compared,
  fresh: Compared,
  model: string,
): Promise<Pick<AcceptedVersion, 'change' | 'reverse'>> {
  const isSameContext = old.context === fresh.context;
  const [oldTerms, freshTerms] = isSameContext
    ? [undefined, undefined]
    : [await termsOf(old.context), await termsOf(fresh.context)];
  if (old.bundled === undefined || fresh.bundled === undefined) return {};
  if (!isSameContext && (oldTerms === undefined || freshTerms === undefined)) return {};
  const [one, other] = [
    { schema: old.bundled, terms: oldTerms },
    { schema: fresh.bundled, terms: freshTerms },
  ];
  return {
    change: changeBetween(one, other, model),
    ...(inBothDirections ? { reverse: changeBetween(other, one, model) } : {}),
  };
}

/**
 * Returns the meaning of the terms of a context; undefined if other contexts are needed or the context cannot be
 * processed.
 */
async function termsOf(context: string): Promise<TermMeanings | undefined> {
  const text = JSON.stringify(withoutCore(context));
  const outcome = await jsonLdTasks.contextTerms({ text, supplied: [] });
  return 'terms' in outcome
    ? comparableTerms({ terms: new Map(outcome.terms), defaults: outcome.defaults })
    : undefined;
}

/** Returns the self-contained schema of the previous version; undefined if it can no longer be created. */
function bundledBefore({ bundled, schema, documents }: VersionBefore): JsonObject | undefined {
  try {
    const made =
      bundled === undefined ? bundle(resolveSchema(parsedSchema(schema), documents)) : parsedSchema(bundled);
    cachedAttributesOf(made);
    return made;
  } catch (error) {
    if (error instanceof SchemaRefusedError || error instanceof RangeError) return undefined;
    throw error;
  }
}

/**
 * Compares with witnesses, or without if the schemas nest too deeply for these. Schemas that nest too deeply to compare
 * count as narrowing.
 */
function changeBetween(before: MeaningSource, after: MeaningSource, entityType: string): ChangeReport {
  for (const withWitnesses of [true, false])
    try {
      return compareModels(before, after, { entityType, withWitnesses });
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
  return TOO_COMPLEX;
}
