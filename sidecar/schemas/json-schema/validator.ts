import { Ajv2020 } from 'ajv/dist/2020.js';
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
} from '../../shared/json/json.js';
import { hasLosslessNumber } from '../../shared/json/lossless-json.js';
import { type Fault, faultsOf } from './explain.js';
import { type FlatSchema, flatten, selfContained } from './flatten.js';
import { FORMATS } from './formats.js';
import { firstRepeated } from './keyword-issues.js';
import { ASSERTIONS, usesUnevaluated } from './keywords.js';
import type { LinkedSchema } from './linker.js';
import { repetitionOf } from './repetition.js';

/** Checks a document against a schema: the answer is empty when it is valid. */
export type Validate = (document: JsonValue) => readonly Fault[];

/** A validator, and the schema as it was compiled: flat, and of keywords that assert something only. */
interface CompiledSchema {
  readonly flat: FlatSchema;
  /** Ends at the first fault, so that its cost is bounded however wrong a document is. */
  readonly validate: Validate;
}

const NO_FAULTS: readonly Fault[] = [];

/** How deep documents are at most that Ajv may check repeatedly in parts: as deep as an entity with a polygon. */
const MAX_LEVELS = 6;

/**
 * How often Ajv may check a part of a document, at most. As often as this, small documents take less than a millisecond, and
 * long ones at most three times as long as with our own code, which takes twenty times as long for flat ones.
 */
const MAX_REPETITIONS = 4096;

/**
 * Compiles a schema of any supported draft to a validator that names every fault of a document. Formats are asserted where they
 * are known and accepted where not, unknown keywords are ignored, patterns are ECMA-262 expressions with the flag `u`.
 *
 * To be run in a worker: patterns may backtrack for ever, and large schemas compile slowly.
 *
 * @throws {RangeError} when the schema nests, through its references, too deeply for the stack
 */
export function createValidator(linked: LinkedSchema): Validate {
  const { flat, validate } = compileSchema(linked);
  // Ajv would list the faults of all alternatives within each other, which may be exponentially many.
  return (document) => (validate(document).length === 0 ? NO_FAULTS : faultsOf(flat, document));
}

/**
 * As {@link createValidator}, but the validator names only the first fault that it finds; and with the schema itself, for
 * callers that explain what is wrong.
 *
 * Ajv decides where it is right and fast. What it gets wrong, numbers that no double holds, and documents of which
 * it would check parts exponentially often, is decided by the code that explains faults.
 *
 * @param flat what {@link assertionsOf} gave, if it is at hand
 * @throws {RangeError} as {@link createValidator} does
 */
export function compileSchema(linked: LinkedSchema, flat = assertionsOf(linked)): CompiledSchema {
  const decide: Validate = (document) => faultsOf(flat, document).slice(0, 1);
  const document = selfContained(flat);
  if (isBeyondAjv(linked) || hasLosslessNumber(document)) return { flat, validate: decide };
  // The schema was checked against its own draft's meta-schema, and conversion keeps it valid.
  const ajv = new Ajv2020({
    strict: false,
    ownProperties: true,
    validateSchema: false,
    meta: false,
    // Optimized code takes twice as long to make, and validates no faster.
    logger: false,
    formats: FORMATS,
    code: { optimize: false },
  });
  // The constructor turns it on; it costs time.
  ajv.opts.unevaluated = false;
  divideExactly(ajv);
  compareOnce(ajv);
  const validate = ajv.compile(document);
  const levels = levelsFor(repetitionOf(flat));
  return {
    flat,
    validate: (value) => {
      if (isDeeper(value, levels) || hasLosslessNumber(value)) return decide(value);
      return validate(value) ? NO_FAULTS : (validate.errors ?? NO_FAULTS);
    },
  };
}

/** How many levels of objects and lists a document may have that is left to Ajv. */
function levelsFor(repetition: number): number {
  if (repetition === 1) return Infinity;
  return Math.min(MAX_LEVELS, Math.floor(Math.log2(MAX_REPETITIONS) / Math.log2(repetition)));
}

/** Whether a value has more levels of objects and lists. */
function isDeeper(value: JsonValue, levels: number): boolean {
  if (levels === Infinity || (!isObject(value) && !isArray(value))) return false;
  const parts = isArray(value) ? value : Object.values(value);
  return levels === 0 || parts.some((part) => isDeeper(part, levels - 1));
}

/** Whether a schema in use has something that Ajv gets wrong, or does not compile. */
export function isBeyondAjv({ positions }: LinkedSchema): boolean {
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
    // Ajv decides while it compiles what can only be known of a value.
    usesUnevaluated(schema) ||
    // An empty array contains what the array before it did, and whatever is looked for if `prefixItems` describes more items.
    Object.hasOwn(schema, 'contains') ||
    // Items are not compared in a list that is shorter than `prefixItems`.
    (isTuple && Object.hasOwn(schema, 'uniqueItems')) ||
    // It does not compile (validation, section 6.1.2: the array SHOULD have an element).
    (isArray(listed) && listed.length === 0) ||
    // Ajv passes over this name.
    BY_NAME.some((keyword) => {
      const named = member(schema, keyword);
      return isObject(named) && Object.hasOwn(named, '__proto__');
    })
  );
}

/**
 * The schema as it is compiled: flat, and of keywords that assert something only.
 *
 * @param standIn what is compiled instead of a part
 */
export function assertionsOf(
  linked: LinkedSchema,
  standIn: (part: JsonObject) => Schema = (part) => part,
): FlatSchema {
  return flatten(linked, {
    // Ajv gives some keywords of other vocabularies a meaning of its own, and fails on others.
    keeps: (keyword) => ASSERTIONS.has(keyword),
    finish: (schema) => standIn(withCountsAsDoubles(schema)),
  });
}

/** Keywords that count something: there is never so much of it that the nearest double would not do. */
const COUNTS = [
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'minContains',
  'maxContains',
];

/** The schema with doubles for the counts that no double holds: libraries in Java write 9223372036854775807 for "any". */
function withCountsAsDoubles(schema: JsonObject): JsonObject {
  if (!COUNTS.some((keyword) => schema[keyword] instanceof LosslessNumber)) return schema;
  return objectOf(
    Object.entries(schema).map(([keyword, value]) => [
      keyword,
      COUNTS.includes(keyword) && isNumber(value) ? doubleOf(value) : value,
    ]),
  );
}

/** Has decimals divided as they are written. Ajv divides doubles, for which 19.99 is no multiple of 0.01. */
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

/** Looks each item up among those before it; Ajv compares each one with all others. */
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
