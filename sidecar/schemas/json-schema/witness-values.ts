import {
  doubleOf,
  isArray,
  isNumber,
  isObject,
  jsonType,
  type JsonValue,
  objectOf,
  type Schema,
} from '../../shared/json/json.js';
import type { Finding } from './checks.js';
import { ExampleGenerator } from './example-generator.js';
import { FORMATTED } from './example-values.js';
import { ValueConstraints } from './value-constraints.js';
import type { ReferenceTargets } from './flatten.js';

/** Maximum number of bounds around which numbers and strings are made. */
const MAX_BOUNDS = 24;

/** Maximum length of strings and arrays that are made. */
const MAX_LENGTH = 300;

/** Maximum number of parts of schemas that are searched for bounds. */
const MAX_LOOKED_AT = 2000;

/** Maximum number of values taken from an enumeration. */
const MAX_LISTED = 64;

/** Maximum number of further examples made from what is known about a value. */
const MAX_EXAMPLES = 48;

/** Values of all types, the plainest first; `null` comes last, because it is no value in NGSI-LD. */
const PLAIN: readonly JsonValue[] = [
  'text',
  0,
  1,
  0.5,
  true,
  -1,
  'a',
  '',
  100,
  1e9,
  false,
  'some text',
  'Text-1',
  'urn:ngsi-ld:Thing:001',
  ...FORMATTED,
  {},
  [],
  ['text'],
  [1],
  [{}],
  { property1: 'text' },
  [0, 0],
  null,
];

/** A name that hardly any schema describes. */
const STRANGE_NAME = 'property1';

/**
 * Values that may satisfy what was known at a place but not the condition of a finding, the likeliest first: those
 * that the old schema lists, examples of it, values at the bounds of either schema, and plain ones.
 */
export function* likelyValues(finding: Finding, targets: ReferenceTargets): Iterable<JsonValue> {
  const given = finding.knownSchemas ?? [];
  const constraints = new ValueConstraints(given, targets);
  yield* (constraints.values ?? []).slice(0, MAX_LISTED);
  const examples = [...examplesOf(constraints, targets)];
  yield* examples;
  const asked: Schema = { [finding.tokens[0] ?? 'allOf']: finding.value };
  yield* [...listedValuesIn(asked)].slice(0, MAX_LISTED);
  if (isObject(finding.value)) yield* examplesOf(new ValueConstraints([finding.value], targets), targets);
  const bounds = boundsIn([...given, asked]);
  yield* numbersAround(bounds);
  yield* textsOfLengths(bounds);
  for (const example of examples) yield* resized(example, bounds);
  yield* PLAIN;
}

/** Examples of each possible type, each made in several of the possible ways. */
function* examplesOf({ types, schemas }: ValueConstraints, targets: ReferenceTargets): Iterable<JsonValue> {
  let left = MAX_EXAMPLES;
  for (const type of types) {
    const schema: Schema = { allOf: [...schemas, { type: type === 'fraction' ? 'number' : type }] };
    const first = new ExampleGenerator(targets);
    const example = first.document(schema, new Map());
    if (example !== undefined) yield example;
    for (const [choice, count] of first.options) {
      for (let way = 1; way < count && left > 0; way += 1) {
        left -= 1;
        const other = new ExampleGenerator(targets, new Map([[choice, way]])).document(schema, new Map());
        if (other !== undefined) yield other;
      }
    }
  }
}

/** The values of `const` and `enum` in a schema, at any depth. */
function* listedValuesIn(schema: JsonValue): Iterable<JsonValue> {
  if (isArray(schema)) for (const item of schema) yield* listedValuesIn(item);
  if (!isObject(schema)) return;
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'const') yield value;
    else if (keyword === 'enum' && isArray(value)) yield* value;
    else yield* listedValuesIn(value);
  }
}

/** The numbers in keywords of the schemas, such as bounds and lengths. */
function boundsIn(schemas: readonly Schema[]): readonly number[] {
  const found = new Set<number>();
  const open: JsonValue[] = [...schemas];
  // `open` grows during the iteration.
  for (const value of open) {
    if (found.size >= MAX_BOUNDS || open.length > MAX_LOOKED_AT) break;
    if (isNumber(value)) found.add(doubleOf(value));
    else if (isArray(value)) open.push(...value);
    else if (isObject(value)) open.push(...Object.values(value));
  }
  return [...found];
}

function* numbersAround(bounds: readonly number[]): Iterable<number> {
  for (const bound of bounds)
    for (const number of [bound, bound + 1, bound - 1, bound + 0.5, bound - 0.5, 2 * bound, -bound])
      // JSON has neither NaN nor Infinity.
      if (Number.isFinite(number)) yield number;
}

function* textsOfLengths(bounds: readonly number[]): Iterable<string> {
  for (const length of lengthsAround(bounds)) yield 'a'.repeat(length);
}

function lengthsAround(bounds: readonly number[]): readonly number[] {
  const lengths = bounds.flatMap((bound) => [bound, bound + 1, bound - 1]);
  return lengths.filter((length) => Number.isInteger(length) && length >= 0 && length <= MAX_LENGTH);
}

/** The value with more or fewer items or characters. */
function* resized(value: JsonValue, bounds: readonly number[]): Iterable<JsonValue> {
  if (isArray(value))
    for (const length of lengthsAround(bounds))
      yield Array.from({ length }, (_, index) => value[index % Math.max(1, value.length)] ?? index);
  else if (typeof value === 'string' && value !== '')
    for (const length of lengthsAround(bounds)) yield value.padEnd(length, value).slice(0, length);
}

/** Variants of a value: with something added, removed or changed. */
export function* variantsOf(value: JsonValue): Iterable<JsonValue> {
  if (isArray(value)) yield* variantsOfArray(value);
  else if (isObject(value)) {
    for (const extra of ['text', 1, true, {}, []]) yield { ...value, [STRANGE_NAME]: extra };
    for (const name of Object.keys(value).slice(0, MAX_LISTED))
      yield objectOf(Object.entries(value).filter(([other]) => other !== name));
  } else if (typeof value === 'number') {
    yield* [value + 1, value - 1, value + 0.5, -value, 1000 * value, String(value)];
  } else if (typeof value === 'string') {
    yield* [`${value} text`, `${value}1`, value.slice(1), value.toUpperCase(), '', 'a'.repeat(MAX_LENGTH)];
  }
  yield [value];
  yield* PLAIN.filter((plain) => jsonType(plain) !== jsonType(value) || !isObject(plain));
}

function* variantsOfArray(value: readonly JsonValue[]): Iterable<JsonValue> {
  yield [];
  const [first] = value;
  if (first !== undefined) yield* [first, [first], [...value, first]];
  for (const extra of ['text', 1, 0.5, true, {}, [], null])
    yield* [
      [...value, extra],
      [extra, ...value.slice(1)],
    ];
}
