import {
  type InputIssue,
  isArray,
  isObject,
  type JsonValue,
  member,
  type Schema,
} from '../../shared/json/json.js';
import { type IssueFactory, submittedIssue, SchemaRefusedError } from './errors.js';

/** Limits on the size of a schema, which bound the cost of checking and compiling it. Counts include referenced parts. */
export const SCHEMA_LIMITS = {
  /** UTF-8 bytes of one document. */
  bytes: 1_048_576,
  /** Nesting depth of arrays and objects in one document. */
  nesting: 256,
  /** Nesting depth of schemas. */
  depth: 100,
  /** Schemas in use; each holds at most one reference. */
  subschemas: 2000,
  /** UTF-16 units of one pattern. */
  patternLength: 4096,
  /** Documents that a schema refers to, directly or indirectly. */
  documents: 64,
} as const;

/**
 * Checks the size and nesting of a document as a whole. Safe for input of any depth.
 *
 * @throws {SchemaRefusedError}
 */
export function checkDocumentLimits(document: JsonValue, issueAt: IssueFactory = submittedIssue): void {
  const tooDeep = tooDeepIn(document, SCHEMA_LIMITS.nesting);
  if (tooDeep !== undefined)
    throw limitError(issueAt(tooDeep, `more than ${SCHEMA_LIMITS.nesting} levels of nesting`));
  const bytes = Buffer.byteLength(JSON.stringify(document));
  if (bytes > SCHEMA_LIMITS.bytes)
    throw limitError(issueAt([], `${bytes} bytes, more than ${SCHEMA_LIMITS.bytes}`));
}

/** The path to an array or object in a value that has more levels above it than allowed. */
function tooDeepIn(value: JsonValue, levels: number): readonly string[] | undefined {
  if (!isArray(value) && !isObject(value)) return undefined;
  if (levels === 0) return [];
  for (const [name, inner] of Object.entries(value)) {
    const below = tooDeepIn(inner, levels - 1);
    if (below !== undefined) return [name, ...below];
  }
  return undefined;
}

/**
 * Checks one of the schemas in use.
 *
 * @param depth how many schemas contain it
 * @param count how many schemas are in use, including this one
 * @throws {SchemaRefusedError}
 */
export function checkSchemaLimits(schema: Schema, depth: number, count: number, issueAt: IssueFactory): void {
  if (depth > SCHEMA_LIMITS.depth)
    throw limitError(issueAt([], `schemas nested more than ${SCHEMA_LIMITS.depth} deep`));
  if (count > SCHEMA_LIMITS.subschemas)
    throw limitError(issueAt([], `more than ${SCHEMA_LIMITS.subschemas} schemas, referenced ones included`));
  for (const { tokens, pattern } of patternsOf(schema)) {
    if (pattern.length > SCHEMA_LIMITS.patternLength)
      throw limitError(issueAt(tokens, `a pattern of more than ${SCHEMA_LIMITS.patternLength} characters`));
  }
}

function limitError(fault: InputIssue): SchemaRefusedError {
  return new SchemaRefusedError('schemaTooLarge', `The schema is too large: ${fault.detail}.`, [fault]);
}

/** A regular expression in a schema, and the tokens of a JSON pointer to it within that schema. */
interface SchemaPattern {
  readonly tokens: readonly string[];
  readonly pattern: string;
}

/** The regular expressions of a schema itself: `pattern` and the keys of `patternProperties`. */
export function patternsOf(schema: Schema): readonly SchemaPattern[] {
  if (!isObject(schema)) return [];
  const pattern = member(schema, 'pattern');
  const properties = member(schema, 'patternProperties');
  const keys = isObject(properties) ? Object.keys(properties) : [];
  return [
    ...(typeof pattern === 'string' ? [{ tokens: ['pattern'], pattern }] : []),
    ...keys.map((key) => ({ tokens: ['patternProperties', key], pattern: key })),
  ];
}
