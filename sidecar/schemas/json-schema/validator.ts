import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { DataValidationCxt } from 'ajv/dist/types/index.js';
import {
  compareNumbers,
  doubleOf,
  isArray,
  isMultiple,
  isNumber,
  isObject,
  type JsonNumber,
  type JsonObject,
  type JsonValue,
  LosslessNumber,
  member,
  objectOf,
  sameJson,
  type Schema,
} from '../../shared/json/json.js';
import { canonicalJson, hasLosslessNumber } from '../../shared/json/lossless-json.js';
import { type FlatSchema, flatten, namedSchemasIn, schemasIn, selfContained } from './flatten.js';
import { FORMATS } from './formats.js';
import { ASSERTIONS, usesUnevaluated } from './keywords.js';
import type { LinkedSchema } from './linker.js';
import { Unevaluated } from './unevaluated.js';

/** Keywords on items that depend on each other. */
const TUPLE_KEYWORDS = ['prefixItems', 'items'];

/** A validator, and the schema as it was compiled: flat, and of keywords that assert something only. */
interface CompiledSchema {
  readonly flat: FlatSchema;
  readonly validate: Validate;
}

interface CompileOptions {
  /** Whether validation may end at the first fault, so that its cost is bounded however wrong a document is. */
  readonly stopsAtFirst?: boolean;
  /** What {@link assertionsOf} gave, if it is at hand. */
  readonly flat?: FlatSchema;
}

/**
 * Compiles a schema of any supported draft. Formats are asserted where they are known and accepted where not, unknown
 * keywords are ignored, patterns are ECMA-262 expressions with the flag `u`.
 *
 * To be run in a worker: patterns may backtrack for ever, and large schemas compile slowly.
 *
 * @throws {RangeError} when the schema nests, through its references, too deeply for the stack
 */
export function createValidator(linked: LinkedSchema): Validate {
  return compileSchema(linked).validate;
}

/**
 * As {@link createValidator}, for who needs the schema itself as well, to explain what is wrong.
 *
 * @throws {RangeError} as {@link createValidator} does
 */
export function compileSchema(
  linked: LinkedSchema,
  { stopsAtFirst = false, flat = assertionsOf(linked) }: CompileOptions = {},
): CompiledSchema {
  const schemas = [...linked.positions.values()].map(({ schema }) => schema);
  const compile = compilerOf(flat, {
    tracksEvaluated: schemas.some(usesUnevaluated),
    // Ajv's code that stops at the first fault is wrong for some schemas with this keyword.
    allErrors:
      !stopsAtFirst || schemas.some((schema) => isObject(schema) && Object.hasOwn(schema, 'contains')),
  });
  return { flat, validate: validatingExactly(selfContained(flat), compile) };
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
    finish: (schema) =>
      standIn(countingContains(withTuplesApart(withProtoByPattern(withCountsAsDoubles(schema))))),
  });
}

interface CompilerSettings {
  readonly tracksEvaluated: boolean;
  readonly allErrors: boolean;
}

/** Compiles the schema, as often as it is asked to; it keeps nothing else. */
function compilerOf(flat: FlatSchema, { tracksEvaluated, allErrors }: CompilerSettings): Compile {
  return (prepare) => {
    // The schema was checked against its own draft's meta-schema, and conversion keeps it valid.
    const ajv = new Ajv2020({
      ...{ strict: false, allErrors, ownProperties: true, validateSchema: false, meta: false, logger: false },
      // Optimized code takes twice as long to make, and validates no faster.
      ...{ formats: FORMATS, code: { optimize: false } },
    });
    // The constructor turns it on; it costs time, and is wrong.
    ajv.opts.unevaluated = false;
    allowEmptyEnum(ajv);
    prepare(ajv);
    const document = selfContained(flat);
    return tracksEvaluated ? new Unevaluated(ajv, flat.targets, document).compile() : ajv.compile(document);
  };
}

/**
 * Has an empty `enum` refuse every value, as JSON Schema has it (validation, section 6.1.2: the array SHOULD have an element).
 * Ajv does not compile one.
 */
function allowEmptyEnum(ajv: Ajv2020): void {
  const definition = ajv.getKeyword('enum');
  if (typeof definition !== 'object' || !('code' in definition)) throw new TypeError('Ajv lacks enum.');
  ajv.removeKeyword('enum');
  ajv.addKeyword({
    ...definition,
    code(context, ruleType) {
      if (Array.isArray(context.schema) && context.schema.length === 0) context.fail();
      else definition.code(context, ruleType);
    },
  });
}

/**
 * Has the items counted that `contains` asks for. Ajv's other code for it, where one item is enough, keeps its finding in a
 * variable that an empty array leaves as the array before it had set it: in `[[1], []]`, the second item would contain what
 * the first one does.
 */
function countingContains(schema: JsonObject): JsonObject {
  const isCounted = Object.hasOwn(schema, 'maxContains') || (member(schema, 'minContains') ?? 1) !== 1;
  if (!Object.hasOwn(schema, 'contains') || isCounted) return schema;
  return { ...schema, maxContains: Number.MAX_SAFE_INTEGER };
}

/**
 * Moves `prefixItems` and `items` into a schema of their own, where other keywords look at all items. Where it may stop at the
 * first fault, as it always may within `not` and `if`, Ajv's code for `prefixItems` passes over the keywords after it for an
 * array that is shorter: an empty one would contain anything. And `uniqueItems` takes all items to be of the type that `items`
 * beside it asks for: others, which `prefixItems` describes, could be repeated.
 */
function withTuplesApart(schema: JsonObject): JsonObject {
  const looksAtAll = Object.hasOwn(schema, 'contains') || Object.hasOwn(schema, 'uniqueItems');
  return looksAtAll && Object.hasOwn(schema, 'prefixItems') ? withApart(schema, TUPLE_KEYWORDS) : schema;
}

/** A name that Ajv passes over wherever keywords describe members by name. */
const PROTO = '__proto__';

/** Describes a member called `__proto__` by a pattern, or on condition that it is there, which Ajv does not pass over. */
function withProtoByPattern(schema: JsonObject): JsonObject {
  const own = namedSchemasIn(schema, 'properties').get(PROTO);
  const dependent = ['dependentSchemas', 'dependentRequired', 'dependencies'].flatMap((keyword) => {
    const held = member(schema, keyword);
    const needed = isObject(held) ? member(held, PROTO) : undefined;
    return needed === undefined ? [] : [isArray(needed) ? { required: needed } : needed];
  });
  if (own === undefined && dependent.length === 0) return schema;
  const conditions = dependent.map((then) => ({ if: { type: 'object', required: [PROTO] }, then }));
  const pattern = `^${PROTO}$`;
  const patterns = namedSchemasIn(schema, 'patternProperties');
  const both = [own, patterns.get(pattern)].filter((one) => one !== undefined);
  return objectOf([
    ...Object.entries(schema),
    ...(own === undefined
      ? []
      : [['patternProperties', objectOf([...patterns, [pattern, { allOf: both }]])] as const]),
    ...(conditions.length === 0 ? [] : [['allOf', [...schemasIn(schema, 'allOf'), ...conditions]] as const]),
  ]);
}

/** The same schema, with these of its keywords as the first in its `allOf`. */
function withApart(schema: JsonObject, keywords: readonly string[]): JsonObject {
  const entries = Object.entries(schema);
  const own = objectOf(entries.filter(([keyword]) => keywords.includes(keyword)));
  const others = objectOf(entries.filter(([keyword]) => !keywords.includes(keyword)));
  return { ...others, allOf: [own, ...schemasIn(schema, 'allOf')] };
}

/** Checks a document against a schema; every fault is in the answer, none when it is valid. */
export type Validate = (document: JsonValue) => readonly ErrorObject[];

const NO_FAULTS: readonly ErrorObject[] = [];

/** Keywords that count something: there is never so much of it that the nearest double would not do. */
const COUNTS = [
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'],
  ...['minContains', 'maxContains'],
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

/** Makes an Ajv, has it prepared, and compiles a schema. */
type Compile = (prepare: (ajv: Ajv2020) => void) => ValidateFunction;

/**
 * A validator that takes numbers of schema and documents as they are written. Ajv knows doubles only: where there are other
 * numbers, it is given doubles of the same kind for those in a document, and keywords that look at the numbers themselves.
 *
 * @param schema as it is compiled
 * @param compile for the same schema
 * @throws {Error} when the schema cannot be compiled
 */
function validatingExactly(schema: JsonObject, compile: Compile): Validate {
  if (hasLosslessNumber(schema)) return exactValidator(compile);
  const plain = compile(divideExactly);
  // Compiled once it is needed, which it hardly ever is.
  let exact: Validate | undefined;
  return (document) => {
    if (hasLosslessNumber(document)) {
      exact ??= exactValidator(compile);
      return exact(document);
    }
    return plain(document) ? NO_FAULTS : (plain.errors ?? NO_FAULTS);
  };
}

/** Has decimals divided as they are written. Ajv divides doubles, for which 19.99 is no multiple of 0.01. */
function divideExactly(ajv: Ajv2020): void {
  const definition = ajv.getKeyword('multipleOf');
  if (typeof definition !== 'object') throw new TypeError('Ajv lacks multipleOf.');
  const { error } = definition;
  ajv.removeKeyword('multipleOf');
  ajv.addKeyword({
    ...{ keyword: 'multipleOf', type: 'number', schemaType: 'number', ...(error && { error }) },
    compile: (divisor: number) => (value: number) => isMultiple(value, divisor),
  });
}

type Test = (value: JsonValue) => boolean;

const ofNumbers =
  (holds: (value: JsonNumber, asked: JsonNumber) => boolean) =>
  (asked: JsonValue): Test =>
  (value) =>
    !isNumber(value) || !isNumber(asked) || holds(value, asked);

/** Keywords that look at numbers, or at values in which numbers may be: the test that a value of theirs asks for. */
const TESTS: Readonly<Record<string, (asked: JsonValue) => Test>> = {
  minimum: ofNumbers((value, asked) => compareNumbers(value, asked) >= 0),
  maximum: ofNumbers((value, asked) => compareNumbers(value, asked) <= 0),
  exclusiveMinimum: ofNumbers((value, asked) => compareNumbers(value, asked) > 0),
  exclusiveMaximum: ofNumbers((value, asked) => compareNumbers(value, asked) < 0),
  multipleOf: ofNumbers(isMultiple),
  const: (asked) => (value) => sameJson(value, asked),
  enum: (asked) => (value) => isArray(asked) && asked.some((one) => sameJson(value, one)),
  uniqueItems: (asked) => (value) =>
    asked !== true || !isArray(value) || new Set(value.map(canonicalJson)).size === value.length,
};

function exactValidator(compile: Compile): Validate {
  let root: JsonValue = null;
  let originals = new WeakMap<object, JsonValue>();
  const originalOf = (data: JsonValue, context: DataValidationCxt | undefined): JsonValue => {
    if (typeof data === 'object' && data !== null) return originals.get(data) ?? data;
    if (typeof data !== 'number') return data;
    // Of the document itself, there is nothing around it.
    if (context === undefined || context.instancePath === '') return root;
    const { parentData, parentDataProperty } = context;
    const around = originals.get(parentData);
    if (isArray(around)) return around[Number(parentDataProperty)] ?? data;
    return isObject(around) ? (around[String(parentDataProperty)] ?? data) : data;
  };
  const validate = compile((ajv) => {
    for (const [keyword, testOf] of Object.entries(TESTS)) {
      ajv.removeKeyword(keyword);
      ajv.addKeyword({
        keyword,
        compile(asked: JsonValue) {
          const test = testOf(asked);
          return (data: JsonValue, context) => test(originalOf(data, context));
        },
      });
    }
  });
  return (document) => {
    root = document;
    originals = new WeakMap();
    const copy = hasLosslessNumber(document) ? withStandIns(document, originals) : document;
    return validate(copy) ? NO_FAULTS : (validate.errors ?? NO_FAULTS);
  };
}

/** A copy with doubles in the place of exact numbers, which are integers where those are. */
function withStandIns(value: JsonValue, originals: WeakMap<object, JsonValue>): JsonValue {
  if (value instanceof LosslessNumber) return value.isInteger ? value.double : 0.5;
  if (isArray(value)) {
    const items = value.map((item) => withStandIns(item, originals));
    originals.set(items, value);
    return items;
  }
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([name, item]) => [name, withStandIns(item, originals)] as const);
  const object = objectOf(members);
  originals.set(object, value);
  return object;
}
