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
import { type Blame, SchemaRefusedError } from './errors.js';
import {
  type Dialect,
  DIALECT_URIS,
  dialectOf,
  holdsNamedSchemas,
  holdsSchemas,
  isEffective,
  unsupportedDialect,
} from './keywords.js';
import { checkDocumentLimits } from './limits.js';

const VALIDATION = [
  'type',
  'enum',
  'const',
  'multipleOf',
  'maximum',
  'exclusiveMaximum',
  'minimum',
  'exclusiveMinimum',
  'maxLength',
  'minLength',
  'pattern',
  'maxItems',
  'minItems',
  'uniqueItems',
  'maxContains',
  'minContains',
  'maxProperties',
  'minProperties',
  'required',
  'dependentRequired',
];
const APPLICATOR = [
  'items',
  'contains',
  'additionalProperties',
  'properties',
  'patternProperties',
  'dependentSchemas',
  'propertyNames',
  'if',
  'then',
  'else',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
];
const UNEVALUATED = ['unevaluatedItems', 'unevaluatedProperties'];

/** The vocabularies of each draft by the last part of their URIs, with those of their keywords that decide on data. */
const VOCABULARIES: Readonly<Record<Dialect, Readonly<Record<string, readonly string[]>>>> = {
  'draft-04': {},
  'draft-06': {},
  'draft-07': {},
  '2019-09': {
    core: [],
    'meta-data': [],
    content: [],
    applicator: [...APPLICATOR, ...UNEVALUATED, 'additionalItems'],
    validation: VALIDATION,
    format: ['format'],
  },
  '2020-12': {
    core: [],
    'meta-data': [],
    content: [],
    applicator: [...APPLICATOR, 'prefixItems'],
    unevaluated: UNEVALUATED,
    validation: VALIDATION,
    'format-annotation': ['format'],
    'format-assertion': ['format'],
  },
};

/**
 * A document in terms of the draft that its own meta-schema builds on, without the keywords of vocabularies that the
 * meta-schema leaves out (JSON Schema core, section 8.1.2).
 *
 * @param metaSchema undefined where the document that `$schema` names is not there
 * @throws {SchemaRefusedError} also where it asks for a vocabulary that is not known here
 */
export function inSupportedDraft(
  document: JsonObject,
  metaSchema: JsonValue | undefined,
  blame: Blame,
): JsonObject {
  if (!isObject(metaSchema)) throw unsupportedDialect(document, blame);
  checkDocumentLimits(metaSchema, (_, detail) => blame(['$schema'], `in the meta-schema: ${detail}`));
  const dialect = dialectOf(metaSchema, undefined, (_, detail) =>
    blame(['$schema'], `in the meta-schema: ${detail}`),
  );
  const ignored = ignoredKeywords(metaSchema, dialect, blame);
  const rewritten = ignored.size === 0 ? document : without(document, dialect, ignored);
  const entries = Object.entries(rewritten);
  return objectOf(
    entries.map((entry) => (entry[0] === '$schema' ? ['$schema', DIALECT_URIS[dialect]] : entry)),
  );
}

function ignoredKeywords(metaSchema: JsonObject, dialect: Dialect, blame: Blame): ReadonlySet<string> {
  const named = member(metaSchema, '$vocabulary');
  // Draft-07 has no vocabularies, nor has a meta-schema that does not say.
  if (!isObject(named) || dialect === 'draft-07') return new Set();
  const known = VOCABULARIES[dialect];
  const base = `https://json-schema.org/draft/${dialect}/vocab/`;
  const nameOf = (uri: string) => (uri.startsWith(base) ? uri.slice(base.length) : '');
  const unknown = Object.keys(named).find((uri) => named[uri] === true && !Object.hasOwn(known, nameOf(uri)));
  if (unknown !== undefined) {
    const detail = `the meta-schema asks for the vocabulary ${unknown.slice(0, 200)}, which is not known here`;
    throw new SchemaRefusedError('schemaDialectUnsupported', detail, [blame(['$schema'], detail)]);
  }
  const kept = new Set(Object.keys(named).flatMap((uri) => known[nameOf(uri)] ?? []));
  return new Set(
    Object.values(known)
      .flat()
      .filter((keyword) => !kept.has(keyword)),
  );
}

function without(schema: Schema, dialect: Dialect, ignored: ReadonlySet<string>): Schema {
  if (!isObject(schema)) return schema;
  const inner = (held: JsonValue): JsonValue => {
    // A schema that names a draft itself is of that one.
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

/** No formats: patterns are checked one by one, and URIs by following them. */
const OPTIONS = { strict: false, allErrors: true, ownProperties: true, logger: false } as const;

const MAKERS: Readonly<Record<Dialect, () => Ajv>> = {
  'draft-04': () => new Ajv(OPTIONS).addMetaSchema(olderMetaSchema('draft-04')),
  'draft-06': () => new Ajv(OPTIONS).addMetaSchema(olderMetaSchema('draft-06')),
  'draft-07': () => new Ajv(OPTIONS),
  '2019-09': () => new Ajv2019(OPTIONS),
  '2020-12': () => new Ajv2020(OPTIONS),
};

/** Drafts whose meta-schemas are those that were published. */
const PUBLISHED = ['draft-07', '2019-09', '2020-12'] as const satisfies readonly Dialect[];

/**
 * The meta-schema of draft-07 as the drafts before it have it: without the keywords that came later, and in draft-04 with bounds
 * that are excluded by a keyword beside them. It takes more than they do, such as an empty list of required properties.
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

/** Made when first needed; meta-schemas do not change. */
const made = new Map<Dialect, Ajv>();

/** A validator that knows the meta-schema of a draft. */
export function metaSchemasOf(dialect: Dialect): Ajv {
  const ajv = made.get(dialect) ?? MAKERS[dialect]();
  made.set(dialect, ajv);
  return ajv;
}

/**
 * The meta-schema of a supported draft, or a part of one, that has a URI: schemas may refer to it without anybody having
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
