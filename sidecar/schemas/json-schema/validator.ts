import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import {
  doubleOf,
  isArray,
  isMultiple,
  isNumber,
  isObject,
  type JsonObject,
  type JsonValue,
  LosslessNumber,
  member,
  objectOf,
  type Schema,
  tokensOf,
} from '../../shared/json/json.js';
import { hasLosslessNumber } from '../../shared/json/lossless-json.js';
import { type Fault, faultsOf } from './explain.js';
import { type FlatSchema, flatten, toSelfContained } from './flatten.js';
import { FORMATS } from './formats.js';
import { firstRepeated } from './keyword-issues.js';
import { ASSERTIONS, COUNTS, usesUnevaluated } from './keywords.js';
import type { LinkedSchema } from './linker.js';
import { repetitionOf } from './repetition.js';

/** A validator, and the schema as it was compiled: flat, with only the keywords that assert something. */
interface CompiledSchema {
  readonly flat: FlatSchema;
  /**
   * Returns the first fault of a document, or undefined if it is valid. Does not look for more, so that its cost is bounded
   * however wrong a document is.
   */
  readonly firstFault: (document: JsonValue) => Fault | undefined;
}

/**
 * Maximum nesting depth of documents that are left to Ajv although it may check parts of them repeatedly: that of an
 * entity with a polygon.
 */
const MAX_LEVELS = 6;

/**
 * Maximum number of times that Ajv may check the same part of a document. Up to this number, small documents take
 * less than a millisecond, and long ones at most three times as long as with our own code. For flat documents our own
 * code takes twenty times as long as Ajv.
 */
const MAX_REPETITIONS = 4096;

/**
 * Compiles a schema of any supported draft. The flat schema is returned as well, for callers that explain what is wrong. Known
 * formats are asserted and unknown ones accepted, unknown keywords are ignored, and patterns are ECMA-262 expressions with the
 * flag `u`.
 *
 * Ajv decides if it is correct and fast. The code that explains faults decides what Ajv gets wrong, numbers that no
 * double holds, and documents of which Ajv would check parts exponentially often.
 *
 * Must run in a worker: patterns may backtrack for ever, and large schemas compile slowly.
 *
 * @throws {RangeError} when the schema nests, through its references, too deeply for the stack
 */
export function compileSchema(linked: LinkedSchema): CompiledSchema {
  const flat = assertionsOf(linked);
  const decide = (document: JsonValue) => faultsOf(flat, document)[0];
  const document = toSelfContained(flat);
  if (exceedsAjv(linked) || hasLosslessNumber(document)) return { flat, firstFault: decide };
  // The schema was checked against its own draft's meta-schema, and conversion keeps it valid.
  const ajv = new Ajv2020({
    strict: false,
    ownProperties: true,
    validateSchema: false,
    meta: false,
    logger: false,
    formats: FORMATS,
    // Optimized code takes twice as long to generate, and validates no faster.
    code: { optimize: false },
    // Ajv would compile a definition once more for each reference to it: a large one takes minutes and gigabytes. It would also
    // overlook references in members that are named like keywords.
    inlineRefs: false,
  });
  // The constructor turns this on. It costs time, and schemas that need it are not left to Ajv.
  ajv.opts.unevaluated = false;
  divideExactly(ajv);
  compareOnce(ajv);
  const validate = ajv.compile(document);
  const levels = levelsFor(repetitionOf(flat));
  return {
    flat,
    firstFault: (value) => {
      if (isDeeper(value, levels) || hasLosslessNumber(value)) return decide(value);
      return validate(value) ? undefined : faultOf(validate.errors?.[0]);
    },
  };
}

function faultOf({ instancePath, keyword, message = 'is not valid' }: Partial<ErrorObject> = {}): Fault {
  return { tokens: tokensOf(instancePath ?? '') ?? [], keyword: keyword ?? '', predicate: () => message };
}

/** Maximum nesting depth of documents that are left to Ajv, counting arrays and objects. */
function levelsFor(repetition: number): number {
  if (repetition === 1) return Infinity;
  return Math.min(MAX_LEVELS, Math.floor(Math.log2(MAX_REPETITIONS) / Math.log2(repetition)));
}

/** Whether arrays and objects in a value are nested deeper than a number of levels. */
function isDeeper(value: JsonValue, levels: number): boolean {
  if (levels === Infinity || (!isObject(value) && !isArray(value))) return false;
  const parts = isArray(value) ? value : Object.values(value);
  return levels === 0 || parts.some((part) => isDeeper(part, levels - 1));
}

/** Whether a linked schema contains something that Ajv gets wrong or does not compile. */
function exceedsAjv({ positions }: LinkedSchema): boolean {
  for (const { schema } of positions.values()) if (holdsMoreThanAjv(schema)) return true;
  return false;
}

/** Keywords that describe members by name. */
const BY_NAME = ['properties', 'dependentSchemas', 'dependentRequired', 'dependencies'];

function holdsMoreThanAjv(schema: Schema): boolean {
  if (!isObject(schema)) return false;
  const listed = member(schema, 'enum');
  const isTuple = Object.hasOwn(schema, 'prefixItems') || isArray(member(schema, 'items'));
  return (
    // What is evaluated depends on the value, but Ajv decides it at compile time.
    usesUnevaluated(schema) ||
    // Ajv finds in an empty array whatever the previous array contained, or anything if `prefixItems` describes more
    // items than there are.
    Object.hasOwn(schema, 'contains') ||
    // Ajv does not compare the items of an array that is shorter than `prefixItems`.
    (isTuple && Object.hasOwn(schema, 'uniqueItems')) ||
    // Ajv does not compile an empty `enum` (validation, section 6.1.2: the array SHOULD have an element).
    (isArray(listed) && listed.length === 0) ||
    // Ajv ignores this name.
    BY_NAME.some((keyword) => {
      const named = member(schema, keyword);
      return isObject(named) && Object.hasOwn(named, '__proto__');
    })
  );
}

/** The schema as it is compiled: flat, with only the keywords that assert something. */
export function assertionsOf(linked: LinkedSchema): FlatSchema {
  return flatten(linked, {
    // Ajv gives some keywords of other vocabularies a meaning of its own, and fails on others.
    keeps: (keyword) => ASSERTIONS.has(keyword),
    finish: withCountsAsDoubles,
  });
}

/**
 * Replaces counts that no double holds by doubles: libraries in Java write 9223372036854775807 for "any number".
 * The nearest double is exact enough for any count that can occur.
 */
function withCountsAsDoubles(schema: JsonObject): JsonObject {
  if (!COUNTS.some((keyword) => schema[keyword] instanceof LosslessNumber)) return schema;
  return objectOf(
    Object.entries(schema).map(([keyword, value]) => [
      keyword,
      COUNTS.some((count) => count === keyword) && isNumber(value) ? doubleOf(value) : value,
    ]),
  );
}

/**
 * Makes Ajv divide decimals as they are written. By itself it divides doubles, of which 19.99 is not a multiple of
 * 0.01.
 */
function divideExactly(ajv: Ajv2020): void {
  const definition = ajv.getKeyword('multipleOf');
  if (typeof definition !== 'object') throw new TypeError('Ajv lacks multipleOf.');
  const { error } = definition;
  ajv.removeKeyword('multipleOf');
  ajv.addKeyword({
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    ...(error && { error }),
    compile: (divisor: number) => (value: number) => isMultiple(value, divisor),
  });
}

/** Makes Ajv look up each item among the previous ones. By itself it compares each item with all others. */
function compareOnce(ajv: Ajv2020): void {
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    compile: (isAsked: boolean) => (items: readonly JsonValue[]) =>
      !isAsked || firstRepeated(items) === undefined,
  });
}
