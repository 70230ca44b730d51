import type { ErrorObject, ValidateFunction } from 'ajv/dist/ajv.js';
import { LRUCache } from 'lru-cache';
import {
  type InputIssue,
  isNumber,
  isObject,
  type JsonObject,
  objectOf,
  type Schema,
  tokensOf,
} from '../../shared/json/json.js';
import { hasLosslessNumber, withDoubles, writeJson } from '../../shared/json/lossless-json.js';
import { issueFactoryOf, type Position, rootOf } from './document.js';
import { SchemaRefusedError } from './errors.js';
import { alternativesIn, type FlatSchema, flatten, schemasIn, targetOf } from './flatten.js';
import { ASSERTIONS, type Dialect, DIALECT_URIS, holdsSchemas } from './keywords.js';
import { patternsOf } from './limits.js';
import type { LinkedSchema } from './linker.js';
import { metaSchemasOf } from './vocabularies.js';
import { compileSchema, exceedsAjv } from './validator.js';

/**
 * Finds what prevents a schema from being compiled and used. Checks the value of every keyword, every pattern,
 * whether references form loops, and finally whether all parts of the schema compile. Empty if the schema is usable.
 *
 * Must run in a worker.
 */
export function usabilityFaults(linked: LinkedSchema): readonly InputIssue[] {
  try {
    const faults = faultsOf(linked);
    if (faults.length > 0) return faults;
    const flat = flatten(linked);
    const loops = loopsOf(linked, flat);
    if (loops.length > 0 || exceedsAjv(linked)) return loops;
    const parts = [...flat.sources.keys()].filter((part) => !compiledParts.has(part));
    // Schemas with exact numbers are not left to Ajv.
    const shapes = parts.map(shapeOf).filter((shape) => !hasLosslessNumber(shape));
    const byText = new Map(shapes.map((shape) => [writeJson(shape), shape]));
    const untried = [...byText].filter(([text]) => !compiledShapes.has(text));
    if (untried.length > 0)
      compileSchema(linked, { ...NO_DEFINITIONS, root: { allOf: untried.map(([, shape]) => shape) } });
    for (const [text] of untried) compiledShapes.set(text, true);
    for (const part of parts) compiledParts.add(part);
    return [];
  } catch (error) {
    if (error instanceof SchemaRefusedError) return error.errors;
    if (error instanceof RangeError)
      return [{ pointer: '', detail: 'schemas are nested, or refer to each other, too deeply' }];
    return [
      {
        pointer: '',
        detail: `cannot be compiled: ${error instanceof Error ? error.message : String(error)}`,
      },
    ];
  }
}

/** Maximum total length of the texts in `compiledShapes`. */
const MAX_COMPILED_CHARACTERS = 1024 * 1024;

/** The shapes of schemas that this worker has compiled; most attributes have one of a few. */
const compiledShapes = new LRUCache<string, true>({
  maxSize: MAX_COMPILED_CHARACTERS,
  sizeCalculation: (_, text) => text.length,
});

/** The schemas whose shapes this worker has compiled; versions of a model have most in common. */
const compiledParts = new WeakSet<JsonObject>();

const NO_DEFINITIONS = {
  definitions: new Map<string, Schema>(),
  targets: new Map<string, Schema>(),
  sources: new Map<JsonObject, Position>(),
} satisfies Omit<FlatSchema, 'root'>;

/**
 * What matters to whether a schema of draft 2020-12 compiles: its own assertions, with 0 in place of their bounds. A schema
 * compiles if all schemas in it do by themselves, because {@link SCHEMA_LIMITS} keeps it small enough for the stack.
 */
function shapeOf(schema: JsonObject): JsonObject {
  const own = Object.entries(schema).filter(
    ([keyword]) => ASSERTIONS.has(keyword) && !holdsSchemas(keyword, schema, '2020-12'),
  );
  return objectOf(own.map(([name, value]) => [name, isNumber(value) ? 0 : value]));
}

/**
 * Finds references that lead back to themselves without descending into the value. Validation would never end, which
 * a schema must not cause (JSON Schema core, section 9.4.1).
 */
export function loopsOf(
  linked: LinkedSchema,
  { targets, sources }: FlatSchema = flatten(linked),
): readonly InputIssue[] {
  const done = new Set<JsonObject>();
  /** The schemas on the path to the current one, in order. */
  const open = new Set<JsonObject>();
  const loops: InputIssue[] = [];
  const visit = (schema: Schema | undefined): void => {
    if (!isObject(schema) || done.has(schema)) return;
    if (open.has(schema)) {
      const loop = [...open].slice([...open].indexOf(schema));
      const referring = loop.find((one) => loop.some((other) => other === targetOf(one, targets)));
      const { document, tokens } = sources.get(referring ?? schema) ?? rootOf(linked.main);
      loops.push(
        issueFactoryOf(document, tokens)(
          ['$ref'],
          'leads back here without descending into the value, so validation would never end',
        ),
      );
      return;
    }
    open.add(schema);
    for (const next of [...schemasIn(schema, 'allOf'), ...alternativesIn(schema)]) visit(next);
    visit(targetOf(schema, targets));
    open.delete(schema);
    done.add(schema);
  };
  for (const schema of sources.keys()) if (!isLeaf(schema)) visit(schema);
  return loops;
}

/** Whether a schema of draft 2020-12 has no subschemas and no reference. */
function isLeaf(schema: JsonObject): boolean {
  return Object.keys(schema).every(
    (keyword) => keyword !== '$ref' && !holdsSchemas(keyword, schema, '2020-12'),
  );
}

/** Maximum number of faults reported; more would not make it clearer that a schema is wrong. */
const MAX_FAULTS = 100;

/**
 * Finds everything in use that the meta-schema of its own draft rejects, and every pattern that is not an ECMA-262
 * regular expression.
 *
 * Must run in a worker.
 */
export function faultsOf(linked: LinkedSchema): readonly InputIssue[] {
  const faults = [
    ...linked.entries.flatMap(metaFaults),
    ...[...linked.positions.values()].filter(isOfOtherDialect).flatMap(metaFaults),
    ...[...linked.positions.values()].flatMap(patternFaults),
  ];
  const distinct = new Map(faults.map((fault) => [`${fault.pointer} ${fault.detail}`, fault]));
  return [...distinct.values()].slice(0, MAX_FAULTS);
}

/**
 * Whether a resource begins here whose draft differs from that of its document. It was only checked as part of the
 * document.
 */
function isOfOtherDialect({ isResource, dialect, document }: Position): boolean {
  return isResource && dialect !== document.dialect;
}

function metaFaults({ document, tokens, schema, dialect }: Position): readonly InputIssue[] {
  const validate = metaValidator(dialect);
  if (validate(isObject(schema) ? withDoubles(schema) : schema)) return [];
  const errors = (validate.errors ?? []).filter((error) => !isOnlyAdvice(error));
  const blame = issueFactoryOf(document, tokens);
  return errors
    .filter((error) => !isConsequence(error, errors))
    .map((error) => blame(tokensOf(error.instancePath) ?? [], describe(error)));
}

function metaValidator(dialect: Dialect): ValidateFunction {
  const validator = metaSchemasOf(dialect).getSchema(DIALECT_URIS[dialect]);
  if (validator === undefined) throw new Error(`No meta-schema for ${dialect}`);
  return validator;
}

/** Ajv's meta-schema of draft-07 requires of `enum` what the draft only recommends (validation, section 6.1.2). */
function isOnlyAdvice({ schemaPath }: ErrorObject): boolean {
  return /\/properties\/enum\/(?:minItems|uniqueItems)$/.test(schemaPath);
}

/**
 * Whether an error only repeats what others say better. Of the errors of alternatives, only those of the alternative
 * that was meant matter. That no alternative matches is no information; nested errors are more specific than those at
 * the place itself; and an error about a value is more specific than one about its type.
 */
function isConsequence(error: ErrorObject, errors: readonly ErrorObject[]): boolean {
  const { instancePath, keyword } = error;
  if (keyword === 'anyOf') return true;
  const isAlternative = errors.some(
    (other) => other.keyword === 'anyOf' && other.instancePath === instancePath,
  );
  if (!isAlternative) return false;
  const isFurtherIn = (other: ErrorObject) => other.instancePath.startsWith(`${instancePath}/`);
  const saysMore = (other: ErrorObject) =>
    other.instancePath === instancePath && !['anyOf', 'type'].includes(other.keyword);
  return errors.some(isFurtherIn) || (keyword === 'type' && errors.some(saysMore));
}

function describe({ instancePath, keyword, message, params }: ErrorObject): string {
  const name = tokensOf(instancePath)?.at(-1) ?? 'the schema';
  const types = keyword === 'type' ? [params.type as unknown].flat() : [];
  const hint = types.length === 0 ? undefined : OTHER_DRAFTS.get(name);
  if (types.length === 2 && types.every((type) => type === 'object' || type === 'boolean'))
    return `${name} must be a schema: an object, true or false${hint ?? ''}`;
  const allowed: unknown = keyword === 'enum' ? params.allowedValues : undefined;
  return `${name} ${message ?? 'is not valid'}${Array.isArray(allowed) ? `: ${allowed.join(', ')}` : ''}${hint ?? ''}`;
}

/** How other drafts use a keyword, and how it is written in the current draft. */
const OTHER_DRAFTS: ReadonlyMap<string, string> = new Map([
  ['items', '; draft 2020-12 has a list of schemas in prefixItems'],
  ['exclusiveMinimum', '; true next to minimum is draft-04 syntax'],
  ['exclusiveMaximum', '; true next to maximum is draft-04 syntax'],
  ['required', ' of names, next to properties'],
]);

function patternFaults({ document, tokens, schema }: Position): readonly InputIssue[] {
  return patternsOf(schema).flatMap(({ tokens: inner, pattern }) => {
    const reason = syntaxErrorOf(pattern);
    if (reason === undefined) return [];
    const detail = `pattern ${pattern.slice(0, 200)} is not an ECMA-262 regular expression: ${reason}`;
    return [issueFactoryOf(document, tokens)(inner, detail)];
  });
}

/** Why a pattern is not a regular expression with the flag `u`, which JSON Schema requires; undefined if it is one. */
function syntaxErrorOf(pattern: string): string | undefined {
  try {
    new RegExp(pattern, 'u');
    return undefined;
  } catch (error) {
    // V8 repeats the pattern before the reason.
    const reason = error instanceof Error ? (error.message.split(': ').at(-1) ?? '') : String(error);
    return isLoosePattern(pattern)
      ? `${reason}; with the flag u, which JSON Schema requires, characters such as - and @ must not have a backslash, and braces need one`
      : reason;
  }
}

/** Whether a pattern is a regular expression without the flag `u`. */
function isLoosePattern(pattern: string): boolean {
  try {
    new RegExp(pattern);
    return true;
  } catch {
    return false;
  }
}
