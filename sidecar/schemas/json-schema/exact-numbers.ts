import type { Ajv2020, ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
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
  objectOf,
  sameJson,
} from '../../shared/json/json.js';
import { canonicalJson, hasLosslessNumber } from '../../shared/json/lossless-json.js';

/** Checks a document against a schema; every fault is in the answer, none when it is valid. */
export type Validate = (document: JsonValue) => readonly ErrorObject[];

const NO_FAULTS: readonly ErrorObject[] = [];

/** Keywords that count something: there is never so much of it that the nearest double would not do. */
const COUNTS = [
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'],
  ...['minContains', 'maxContains'],
];

/** The schema with doubles for the counts that no double holds: libraries in Java write 9223372036854775807 for "any". */
export function withCountsAsDoubles(schema: JsonObject): JsonObject {
  if (!COUNTS.some((keyword) => schema[keyword] instanceof LosslessNumber)) return schema;
  return objectOf(
    Object.entries(schema).map(([keyword, value]) => [
      keyword,
      COUNTS.includes(keyword) && isNumber(value) ? doubleOf(value) : value,
    ]),
  );
}

/** Makes an Ajv, has it prepared, and compiles a schema. */
export type Compile = (prepare: (ajv: Ajv2020) => void) => ValidateFunction;

/**
 * A validator that takes numbers of schema and documents as they are written. Ajv knows doubles only: where there are other
 * numbers, it is given doubles of the same kind for those in a document, and keywords that look at the numbers themselves.
 *
 * @param schema as it is compiled
 * @param compile for the same schema
 * @throws {Error} when the schema cannot be compiled
 */
export function validatingExactly(schema: JsonObject, compile: Compile): Validate {
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
