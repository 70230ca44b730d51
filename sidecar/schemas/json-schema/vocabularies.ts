import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { Ajv } from 'ajv/dist/ajv.js';
import {
  isArray,
  isObject,
  isSchema,
  type JsonObject,
  type JsonValue,
  member,
  objectOf,
  type Schema,
} from '../../shared/json/json.js';
import { type IssueFactory, SchemaRefusedError } from './errors.js';
import {
  ASSERTIONS,
  type Dialect,
  DIALECT_URIS,
  dialectOf,
  holdsNamedSchemas,
  holdsSchemas,
  isEffective,
  unsupportedDialect,
} from './keywords.js';
import { checkDocumentLimits } from './limits.js';

/**
 * The vocabularies of a draft, by the last part of their URIs, with those of their keywords that restrict the data: each
 * is described by a part of the draft's meta-schema, except the one that asserts formats.
 */
function vocabulariesOf(dialect: Dialect): ReadonlyMap<string, readonly string[]> {
  const base = `https://json-schema.org/draft/${dialect}/meta/`;
  const found = new Map(dialect === '2020-12' ? [['format-assertion', ['format']]] : []);
  for (const [uri, part] of Object.entries(metaSchemasOf(dialect).schemas)) {
    if (!uri.startsWith(base) || !isObject(part?.schema)) continue;
    const keywords = Object.keys(member(part.schema, 'properties') ?? {});
    const isAsserting = (keyword: string) => ASSERTIONS.has(keyword) || keyword === 'additionalItems';
    found.set(uri.slice(base.length), keywords.filter(isAsserting));
  }
  return found;
}

/**
 * Rewrites a document that has its own meta-schema to the supported draft that the meta-schema builds on, without the
 * keywords of vocabularies that the meta-schema leaves out (JSON Schema core, section 8.1.2).
 *
 * @param metaSchema undefined if the document that `$schema` names is missing
 * @throws {SchemaRefusedError} also if the meta-schema requires an unknown vocabulary
 */
export function inSupportedDraft(
  document: JsonObject,
  metaSchema: JsonValue | undefined,
  issueAt: IssueFactory,
): JsonObject {
  if (!isObject(metaSchema)) throw unsupportedDialect(document, issueAt);
  checkDocumentLimits(metaSchema, (_, detail) => issueAt(['$schema'], `in the meta-schema: ${detail}`));
  const dialect = dialectOf(metaSchema, undefined, (_, detail) =>
    issueAt(['$schema'], `in the meta-schema: ${detail}`),
  );
  const ignored = ignoredKeywords(metaSchema, dialect, issueAt);
  const rewritten = ignored.size === 0 ? document : without(document, dialect, ignored);
  const entries = Object.entries(rewritten);
  return objectOf(
    entries.map((entry) => (entry[0] === '$schema' ? ['$schema', DIALECT_URIS[dialect]] : entry)),
  );
}

function ignoredKeywords(
  metaSchema: JsonObject,
  dialect: Dialect,
  issueAt: IssueFactory,
): ReadonlySet<string> {
  const named = member(metaSchema, '$vocabulary');
  // Draft-07 has no vocabularies, and a meta-schema need not list any.
  if (!isObject(named) || dialect === 'draft-07') return new Set();
  const known = vocabulariesOf(dialect);
  const base = `https://json-schema.org/draft/${dialect}/vocab/`;
  const nameOf = (uri: string) => (uri.startsWith(base) ? uri.slice(base.length) : '');
  const unknown = Object.keys(named).find((uri) => named[uri] === true && !known.has(nameOf(uri)));
  if (unknown !== undefined) {
    const detail = `the meta-schema requires the vocabulary ${unknown.slice(0, 200)}, which is not supported here`;
    throw new SchemaRefusedError('schemaDialectUnsupported', detail, [issueAt(['$schema'], detail)]);
  }
  const kept = new Set(Object.keys(named).flatMap((uri) => known.get(nameOf(uri)) ?? []));
  return new Set([...known.values()].flat().filter((keyword) => !kept.has(keyword)));
}

function without(schema: Schema, dialect: Dialect, ignored: ReadonlySet<string>): Schema {
  if (!isObject(schema)) return schema;
  const inner = (held: JsonValue): JsonValue => {
    // An inner schema that names a draft itself belongs to that draft.
    const isOfOther = isObject(held) && Object.hasOwn(held, '$schema');
    return isSchema(held) && !isOfOther ? without(held, dialect, ignored) : held;
  };
  const within = (keyword: string, value: JsonValue): JsonValue => {
    if (!holdsSchemas(keyword, schema, dialect)) return value;
    if (isArray(value)) return value.map(inner);
    if (!isObject(value) || !holdsNamedSchemas(keyword)) return inner(value);
    return objectOf(Object.entries(value).map(([name, held]) => [name, inner(held)]));
  };
  return objectOf(
    Object.entries(schema)
      .filter(([keyword]) => !ignored.has(keyword))
      .map(([keyword, value]) => [keyword, within(keyword, value)]),
  );
}

/** Formats are not checked: patterns are checked one by one, and URIs by resolving them. */
const OPTIONS = { strict: false, allErrors: true, ownProperties: true, logger: false } as const;

const AJV_CLASSES: Readonly<Record<Dialect, () => Ajv>> = {
  'draft-04': () => new Ajv(OPTIONS).addMetaSchema(olderMetaSchema('draft-04')),
  'draft-06': () => new Ajv(OPTIONS).addMetaSchema(olderMetaSchema('draft-06')),
  'draft-07': () =>
    new Ajv({ ...OPTIONS, meta: false }).addMetaSchema(metaSchemaOfDraft07(), undefined, false),
  '2019-09': () => new Ajv2019(OPTIONS),
  '2020-12': () => new Ajv2020(OPTIONS),
};

/** Drafts whose meta-schemas are used as published. */
const PUBLISHED = ['draft-07', '2019-09', '2020-12'] as const satisfies readonly Dialect[];

/** Ajv's copy requires of `enum` what the draft only recommends (validation, section 6.1.2). */
function metaSchemaOfDraft07(): JsonObject {
  const { schema } = new Ajv(OPTIONS).getSchema(DIALECT_URIS['draft-07']) ?? {};
  const { properties, ...others } = schema as JsonObject;
  return { ...others, properties: { ...(properties as JsonObject), enum: { type: 'array', items: true } } };
}

/**
 * Derives the meta-schema of an earlier draft from that of draft-07: without the keywords that were added later, and
 * in draft-04 with boolean keywords for exclusive bounds. It accepts more than those drafts do, such as an empty list
 * of required properties.
 */
function olderMetaSchema(dialect: 'draft-04' | 'draft-06'): JsonObject {
  const newer = metaSchemasOf('draft-07').getSchema(DIALECT_URIS['draft-07'])?.schema as JsonObject;
  const properties = Object.entries(member(newer, 'properties') as JsonObject);
  const known = properties.filter(([keyword]) => isEffective(keyword, {}, dialect));
  const older = { ...newer, $id: DIALECT_URIS[dialect] };
  if (dialect === 'draft-06') return { ...older, properties: objectOf(known) };
  return {
    ...older,
    properties: objectOf([
      ...known,
      ['id', { type: 'string' }],
      ['exclusiveMinimum', { type: 'boolean' }],
      ['exclusiveMaximum', { type: 'boolean' }],
    ]),
    dependencies: { exclusiveMinimum: ['minimum'], exclusiveMaximum: ['maximum'] },
  };
}

/** Created when first needed; meta-schemas do not change. */
const ajvInstances = new Map<Dialect, Ajv>();

/** An Ajv instance that has the meta-schema of a draft. */
export function metaSchemasOf(dialect: Dialect): Ajv {
  const ajv = ajvInstances.get(dialect) ?? AJV_CLASSES[dialect]();
  ajvInstances.set(dialect, ajv);
  return ajv;
}

/**
 * Finds the published meta-schema, or the part of one, that has a URI. Schemas may refer to it although nobody has
 * stored it.
 *
 * @param uri in its normal form, without fragment
 */
export function metaSchemaAt(uri: string): JsonObject | undefined {
  if (!/^https?:\/\/json-schema\.org\/draft/.test(uri)) return undefined;
  for (const dialect of PUBLISHED) {
    const found: JsonValue | undefined = metaSchemasOf(dialect).schemas[uri]?.schema;
    if (isObject(found)) return found;
  }
  return undefined;
}
