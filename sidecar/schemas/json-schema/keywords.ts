import {
  isArray,
  isObject,
  isSchema,
  type JsonObject,
  type JsonValue,
  member,
  type Schema,
  childAt,
} from '../../shared/json/json.js';
import { type IssueFactory, submittedIssue, SchemaRefusedError } from './errors.js';
import { truncate } from '../../shared/format-value.js';
import { documentUri } from './uri.js';

/** A schema directly within another: the tokens that lead to it, and whether it applies only if a reference leads to it. */
interface Subschema {
  readonly tokens: readonly [keyword: string] | readonly [keyword: string, key: string];
  readonly schema: Schema;
  readonly definition: boolean;
}

/** Keywords of every draft whose value is a schema, a list of schemas, or an object of schemas by name. */
const SINGLE = ['not', 'if', 'then', 'else', 'additionalProperties', 'propertyNames', 'contains'];
const LISTS = ['allOf', 'anyOf', 'oneOf'];
const NAMED = ['properties', 'patternProperties', 'dependencies'];
const DEFINITIONS: ReadonlySet<string> = new Set(['$defs', 'definitions']);

/** Keywords that hold schemas in any draft, except definitions and `additionalItems` of the older drafts. */
const APPLICATORS: ReadonlySet<string> = new Set([
  ...SINGLE,
  ...LISTS,
  ...NAMED,
  'items',
  'prefixItems',
  'dependentSchemas',
  'unevaluatedItems',
  'unevaluatedProperties',
  'contentSchema',
]);

const LATER_THAN_07 = [
  '$dynamicAnchor',
  '$dynamicRef',
  '$recursiveAnchor',
  '$recursiveRef',
  '$vocabulary',
  'prefixItems',
  'dependentRequired',
  'dependentSchemas',
  'unevaluatedItems',
  'unevaluatedProperties',
  'minContains',
  'maxContains',
  'contentSchema',
];
const LATER_THAN_06 = [...LATER_THAN_07, 'if', 'then', 'else'];

/** Keywords of later drafts, which have no meaning in the draft. */
const LATER_THAN: Readonly<Record<Dialect, ReadonlySet<string>>> = {
  'draft-04': new Set([...LATER_THAN_06, '$id', 'const', 'contains', 'propertyNames']),
  'draft-06': new Set(LATER_THAN_06),
  'draft-07': new Set(LATER_THAN_07),
  '2019-09': new Set(['$dynamicAnchor', '$dynamicRef', 'prefixItems']),
  '2020-12': new Set([]),
};

/** Keywords that describe a schema and do not restrict the data. */
export const ANNOTATIONS: ReadonlySet<string> = new Set([
  '$comment',
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  'contentMediaType',
  'contentEncoding',
  'contentSchema',
]);

/** Keywords that compare a number. */
export const BOUNDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'] as const;

/** Keywords that bound a count. */
export const COUNTS = [
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'minContains',
  'maxContains',
] as const;

/** The keywords of the vocabulary "validation". */
export const VALIDATION: readonly string[] = [
  'type',
  'enum',
  'const',
  'pattern',
  'uniqueItems',
  'required',
  'dependentRequired',
  ...BOUNDS,
  ...COUNTS,
];

/** Keywords of 2020-12 that restrict the data, and `dependencies`, which validators still honour. */
export const ASSERTIONS: ReadonlySet<string> = new Set([
  ...VALIDATION,
  'format',
  ...[...APPLICATORS].filter((keyword) => keyword !== 'contentSchema'),
]);

/** Keywords that apply to what no other keyword of the schema has evaluated. */
const UNEVALUATED = ['unevaluatedProperties', 'unevaluatedItems'] as const;

/** Whether a schema itself has one of these keywords. */
export function usesUnevaluated(schema: Schema): boolean {
  return isObject(schema) && UNEVALUATED.some((keyword) => Object.hasOwn(schema, keyword));
}

/**
 * Drafts before 2019-09. In them, the siblings of a `$ref` are ignored, an anchor is written as an identifier, and
 * `dependencies` is one keyword.
 */
export function isBefore2019(dialect: Dialect): boolean {
  return dialect === 'draft-04' || dialect === 'draft-06' || dialect === 'draft-07';
}

/** The keyword that holds the identifier of a schema. */
export function identifierKeyword(dialect: Dialect): '$id' | 'id' {
  return dialect === 'draft-04' ? 'id' : '$id';
}

/** Whether a `$ref` disables the rest of the schema, as it does before draft 2019-09. */
export function refStandsAlone(schema: JsonObject, dialect: Dialect): boolean {
  return isBefore2019(dialect) && typeof member(schema, '$ref') === 'string';
}

/** Whether the keyword has a meaning in the draft, given the other keywords of the schema. */
export function isEffective(keyword: string, schema: JsonObject, dialect: Dialect): boolean {
  if (LATER_THAN[dialect].has(keyword)) return false;
  if (keyword === 'additionalItems' && dialect !== '2020-12') return isArray(member(schema, 'items'));
  if (!refStandsAlone(schema, dialect)) return true;
  return keyword === '$ref' || DEFINITIONS.has(keyword) || ANNOTATIONS.has(keyword);
}

/** The schemas directly within a schema, in the keywords that hold schemas according to its draft. */
export function subschemasOf(schema: JsonObject, dialect: Dialect): readonly Subschema[] {
  const all: Subschema[] = [];
  for (const keyword of Object.keys(schema)) {
    if (!holdsSchemas(keyword, schema, dialect)) continue;
    for (const key of keysWithin(keyword, schema)) {
      const found = subschemaUnder(schema, key === undefined ? [keyword] : [keyword, key]);
      if (found !== undefined) all.push(found);
    }
  }
  return all;
}

/** The schema directly within another that the first tokens lead to. The result has the tokens used. */
export function subschemaAt(
  schema: JsonObject,
  dialect: Dialect,
  [keyword, key]: readonly string[],
): Subschema | undefined {
  if (keyword === undefined || !holdsSchemas(keyword, schema, dialect)) return undefined;
  const value = member(schema, keyword);
  if (!holdsNamedSchemas(keyword) && !isArray(value)) return subschemaUnder(schema, [keyword]);
  return key === undefined ? undefined : subschemaUnder(schema, [keyword, key]);
}

/** Whether the keyword holds schemas in the draft, given the other keywords of the schema. */
export function holdsSchemas(keyword: string, schema: JsonObject, dialect: Dialect): boolean {
  // `additionalItems` applies to the items after a list of schemas in `items`.
  const isLegacy = keyword === 'additionalItems' && dialect !== '2020-12';
  const holds = DEFINITIONS.has(keyword) || APPLICATORS.has(keyword) || isLegacy;
  return holds && isEffective(keyword, schema, dialect);
}

/** The tokens that follow the keyword on the paths to its schemas; undefined if the keyword itself holds one. */
function keysWithin(keyword: string, schema: JsonObject): readonly (string | undefined)[] {
  const value = member(schema, keyword);
  if (isArray(value)) return Object.keys(value);
  if (!holdsNamedSchemas(keyword)) return [undefined];
  return isObject(value) ? Object.keys(value) : [];
}

function subschemaUnder(schema: JsonObject, tokens: Subschema['tokens']): Subschema | undefined {
  const [keyword, key] = tokens;
  const holder = member(schema, keyword);
  const found = key === undefined ? holder : childAt(holder, key);
  return isSchema(found) ? { tokens, schema: found, definition: DEFINITIONS.has(keyword) } : undefined;
}

/** Whether the value of the keyword is an object of schemas by name. */
export function holdsNamedSchemas(keyword: string): boolean {
  return DEFINITIONS.has(keyword) || NAMED.includes(keyword) || keyword === 'dependentSchemas';
}

/** Whether the schemas of the keyword apply only if a reference leads to them. */
export function isDefinitions(keyword: string): boolean {
  return DEFINITIONS.has(keyword);
}

/** The URIs of the supported drafts, as `$schema` names them. */
export const DIALECT_URIS = {
  'draft-04': 'http://json-schema.org/draft-04/schema#',
  'draft-06': 'http://json-schema.org/draft-06/schema#',
  'draft-07': 'http://json-schema.org/draft-07/schema#',
  '2019-09': 'https://json-schema.org/draft/2019-09/schema',
  '2020-12': 'https://json-schema.org/draft/2020-12/schema',
} as const;

/** A supported draft of JSON Schema. */
export type Dialect = keyof typeof DIALECT_URIS;

const NEWEST: Dialect = '2020-12';

/** `http://json-schema.org/schema` named the newest draft while drafts had such URIs; the last one was draft-07. */
const BY_URI: ReadonlyMap<string, Dialect> = new Map([
  ...Object.entries(DIALECT_URIS).map(([dialect, uri]) => [plain(uri), dialect as Dialect] as const),
  ['json-schema.org/schema', 'draft-07'],
]);

/**
 * The draft of a schema, according to its `$schema`: with or without an empty fragment, http or https.
 *
 * @param absent the draft of a schema without `$schema`
 * @throws {SchemaRefusedError} for any other `$schema`
 */
export function dialectOf(
  schema: JsonObject,
  absent: Dialect = NEWEST,
  issueAt: IssueFactory = submittedIssue,
): Dialect {
  const uri = member(schema, '$schema');
  if (uri === undefined) return absent;
  const dialect = typeof uri === 'string' ? BY_URI.get(plain(uri)) : undefined;
  if (dialect !== undefined) return dialect;
  throw unsupportedDialect(schema, issueAt);
}

/** The URI of the meta-schema that a document uses instead of that of a supported draft; undefined if it uses none. */
export function ownMetaSchemaUri(document: JsonValue | undefined): string | undefined {
  const uri = isObject(document) ? member(document, '$schema') : undefined;
  if (typeof uri !== 'string' || BY_URI.has(plain(uri))) return undefined;
  const named = documentUri(uri);
  // All other documents at json-schema.org are drafts that are not supported.
  return named === undefined || new URL(named).hostname.endsWith('json-schema.org') ? undefined : named;
}

/** The error that the `$schema` of a schema names neither a supported draft nor an available meta-schema. */
export function unsupportedDialect(schema: JsonObject, issueAt: IssueFactory): SchemaRefusedError {
  const uri = member(schema, '$schema');
  const shown = typeof uri === 'string' ? truncate(uri, 200) : 'not a string';
  const supported = Object.values(DIALECT_URIS).join(', ');
  const detail = `$schema is ${shown}; supported values are ${supported}, and meta-schemas of these that are stored as references`;
  return new SchemaRefusedError('schemaDialectUnsupported', detail, [issueAt(['$schema'], detail)]);
}

function plain(uri: string): string {
  return uri.replace(/^https?:\/\//, '').replace(/#$/, '');
}
