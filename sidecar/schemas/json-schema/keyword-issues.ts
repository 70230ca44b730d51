import {
  compareNumbers,
  doubleOf,
  isArray,
  isMultiple,
  isNumber,
  isObject,
  isOfType,
  isSchema,
  type JsonNumber,
  type JsonObject,
  type JsonValue,
  LosslessNumber,
  member,
  jsonEquals,
  type Schema,
  stringsOf,
} from '../../shared/json/json.js';
import { canonicalJson } from '../../shared/json/lossless-json.js';
import { namedSchemasIn, namesByName, schemaIn, schemasIn } from './flatten.js';
import { hasFormat } from './formats.js';
import {
  type Checker,
  isScalar,
  issue,
  MAX_ISSUES,
  type Issue,
  memberIssue,
  missingIssue,
  InstanceLocation,
  typeIssue,
  valueIssue,
  type MessageBuilder,
} from './issue.js';
import {
  allowedValue,
  pluralized,
  formatHint,
  formatWords,
  countWord,
  sentenceOf,
  shortValue,
  shownPattern,
  typeWord,
  type MessageParts,
} from './message-parts.js';

/** The issues that keywords find in an object, except those of `unevaluatedProperties` and conditions. */
export function objectIssues(
  schema: JsonObject,
  location: InstanceLocation,
  value: JsonObject,
  checker: Checker,
): readonly Issue[] {
  const described = member(schema, 'properties');
  if (isObject(described)) location.describe(described);
  const names = Object.keys(value);
  const found: Issue[] = [
    ...missing(schema, location, value),
    ...countIssues(schema, location, MEMBERS, names.length, () => `has ${countWord(names.length)}`),
  ];
  const naming = schemaIn(schema, 'propertyNames');
  const schemasOf = memberSchemas(schema, checker);
  for (const name of names) {
    if (found.length >= MAX_ISSUES) break;
    if (naming !== undefined) found.push(...nameIssues(naming, name, location, checker));
    for (const own of schemasOf(name)) {
      if (own === REFUSED) found.push(unknownMember(location.child(name), 'additionalProperties'));
      else if (own !== true) found.push(...checker.faultsOf(own, location.child(name)));
    }
  }
  return found;
}

/** The issue of a member that is not among those allowed. */
export function unknownMember(location: InstanceLocation, keyword: string): Issue {
  const plain = 'is not among the members that the schema allows';
  return memberIssue(location, keyword, () => ({ must: 'not be present', plain }));
}

/**
 * Marks a member that `additionalProperties` refuses. Its issue is worded differently from that of a member whose own
 * schema is `false`.
 */
const REFUSED = Symbol('refused');

/**
 * Returns a function that finds the schemas in `properties`, `patternProperties` and `additionalProperties` for a
 * member.
 */
function memberSchemas(
  schema: JsonObject,
  checker: Checker,
): (name: string) => readonly (Schema | typeof REFUSED)[] {
  const described = member(schema, 'properties');
  const patterns = Object.hasOwn(schema, 'patternProperties')
    ? [...namedSchemasIn(schema, 'patternProperties')].map(
        ([pattern, own]) => [checker.patternOf(pattern), own] as const,
      )
    : [];
  const rest = schemaIn(schema, 'additionalProperties');
  return (name) => {
    const own = isObject(described) ? member(described, name) : undefined;
    const found = [
      ...(isSchema(own) ? [own] : []),
      ...patterns.filter(([pattern]) => pattern.test(name)).map(([, held]) => held),
    ];
    return found.length > 0 || rest === undefined ? found : [rest === false ? REFUSED : rest];
  };
}

const DEPENDENT = ['dependentRequired', 'dependencies'];

function missing(schema: JsonObject, location: InstanceLocation, value: JsonObject): readonly Issue[] {
  const found: Issue[] = [];
  for (const name of stringsOf(member(schema, 'required')))
    if (!Object.hasOwn(value, name)) found.push(missingIssue(location, 'required', name));
  for (const keyword of DEPENDENT) {
    if (!Object.hasOwn(schema, keyword)) continue;
    for (const [name, others] of namesByName(schema, keyword)) {
      if (!Object.hasOwn(value, name)) continue;
      for (const other of others)
        if (!Object.hasOwn(value, other))
          found.push(missingIssue(location, keyword, other, `, which ${allowedValue(name)} requires`));
    }
  }
  return found;
}

/** The keywords that bound a count, and the words for it. */
interface Counting {
  readonly least: string;
  readonly most: string;
  readonly verb: string;
  readonly noun: string;
}

const MEMBERS: Counting = { least: 'minProperties', most: 'maxProperties', verb: 'have', noun: 'member' };
const ITEMS: Counting = { least: 'minItems', most: 'maxItems', verb: 'hold', noun: 'item' };
const CHARACTERS: Counting = { least: 'minLength', most: 'maxLength', verb: 'have', noun: 'character' };

function countIssues(
  schema: JsonObject,
  location: InstanceLocation,
  { least, most, verb, noun }: Counting,
  count: number,
  found: () => string,
): readonly Issue[] {
  const [low, high] = [limitIn(schema, least), limitIn(schema, most)];
  const isTooFew = low !== undefined && count < low;
  const isTooMany = high !== undefined && count > high;
  return [
    ...(isTooFew
      ? [
          issue(location, least, () => ({
            must: `${verb} at least ${pluralized(low, noun)}`,
            found: found(),
          })),
        ]
      : []),
    ...(isTooMany
      ? [issue(location, most, () => ({ must: `${verb} at most ${pluralized(high, noun)}`, found: found() }))]
      : []),
  ];
}

/** The limit in a keyword: the nearest double, because libraries in Java write 9223372036854775807 for "any number". */
function limitIn(schema: JsonObject, keyword: string): number | undefined {
  const limit = member(schema, keyword);
  return isNumber(limit) ? doubleOf(limit) : undefined;
}

function nameIssues(
  naming: Schema,
  name: string,
  location: InstanceLocation,
  checker: Checker,
): readonly Issue[] {
  const [first] = checker.faultsOf(naming, new InstanceLocation(name));
  if (first === undefined) return [];
  const words: MessageBuilder = (spelling) => {
    const inner = sentenceOf(first.message(spelling));
    return { must: 'have a different name', plain: `its name ${inner}` };
  };
  return [memberIssue(location.child(name), 'propertyNames', words)];
}

/** The issues that keywords find in an array, except those of `unevaluatedItems`. */
export function arrayIssues(
  schema: JsonObject,
  location: InstanceLocation,
  items: readonly JsonValue[],
  checker: Checker,
): readonly Issue[] {
  const found: Issue[] = [
    ...countIssues(schema, location, ITEMS, items.length, () => `holds ${countWord(items.length)}`),
    ...repetitionIssues(schema, location, items),
    ...containsIssues(schema, location, items, checker),
  ];
  const listed = schemasIn(schema, 'prefixItems');
  const rest = schemaIn(schema, 'items');
  const checked = rest === undefined ? Math.min(listed.length, items.length) : items.length;
  for (let index = 0; index < checked && found.length < MAX_ISSUES; index += 1) {
    const own = listed[index] ?? rest;
    if (own !== undefined && own !== true) found.push(...checker.faultsOf(own, location.child(index)));
  }
  return found;
}

/** The issue of an item that is not among those allowed. */
export function unknownItem(location: InstanceLocation, keyword: string): Issue {
  const plain = 'is not among the items that the schema allows';
  return issue(location, keyword, () => ({ must: 'not be present', plain }));
}

function repetitionIssues(
  schema: JsonObject,
  location: InstanceLocation,
  items: readonly JsonValue[],
): readonly Issue[] {
  const again = member(schema, 'uniqueItems') === true ? firstRepeated(items) : undefined;
  if (again === undefined) return [];
  const [first, second] = again;
  const words = () => ({
    must: 'hold no item twice',
    found: `holds ${shortValue(items[first] ?? null)} at ${first} and ${second}`,
  });
  return [issue(location, 'uniqueItems', words)];
}

function containsIssues(
  schema: JsonObject,
  location: InstanceLocation,
  items: readonly JsonValue[],
  checker: Checker,
): readonly Issue[] {
  const wanted = schemaIn(schema, 'contains');
  if (wanted === undefined) return [];
  const [least, most] = [limitIn(schema, 'minContains') ?? 1, limitIn(schema, 'maxContains') ?? Infinity];
  if (least === 0 && most === Infinity) return [];
  const count = items.filter(
    (_, index) => checker.faultsOf(wanted, location.child(index)).length === 0,
  ).length;
  if (count >= least && count <= most) return [];
  const [keyword, bound] =
    count < least
      ? (['minContains', `at least ${pluralized(least, 'item')}`] as const)
      : (['maxContains', `at most ${pluralized(most, 'item')}`] as const);
  const words = () => ({ must: `hold ${bound} ${whichIs(wanted)}`, found: `holds ${countWord(count)}` });
  return [issue(location, member(schema, keyword) === undefined ? 'contains' : keyword, words)];
}

/** Words for the items that `contains` requires; specific ones if its schema is simple. */
function whichIs(wanted: JsonObject | boolean): string {
  if (!isObject(wanted)) return 'of those that count';
  const constant = member(wanted, 'const');
  if (constant !== undefined) return `that is ${allowedValue(constant)}`;
  const type = member(wanted, 'type');
  if (Object.keys(wanted).length === 1 && typeof type === 'string') return `that is ${typeWord(type)}`;
  return 'as the schema describes it under "contains"';
}

/** The indexes of the first item that occurred before: of its first occurrence, and its own. */
export function firstRepeated(
  items: readonly JsonValue[],
): readonly [first: number, second: number] | undefined {
  const seen = new Map<string, number>();
  for (const [index, item] of items.entries()) {
    const text = canonicalJson(item);
    const first = seen.get(text);
    if (first !== undefined) return [first, index];
    seen.set(text, index);
  }
  return undefined;
}

/** The issue that `type`, `enum` or `const` finds in a value. There is only one, because the whole value is wrong. */
export function kindIssue(schema: JsonObject, location: InstanceLocation): Issue | undefined {
  const { value } = location;
  const constant = member(schema, 'const');
  if (constant !== undefined && !jsonEquals(constant, value))
    return valueIssue(location, 'const', [constant]);
  const listed = member(schema, 'enum');
  if (isArray(listed) && !isAmong(value, listed)) return valueIssue(location, 'enum', listed);
  const declared = member(schema, 'type');
  if (typeof declared === 'string')
    return isOfType(value, declared) ? undefined : typeIssue(location, [declared]);
  const types = stringsOf(declared);
  return types.length === 0 || types.some((type) => isOfType(value, type))
    ? undefined
    : typeIssue(location, types);
}

/** Whether a value is in a list. Most values are scalars, which are quick to find. */
function isAmong(value: JsonValue, listed: readonly JsonValue[]): boolean {
  return isScalar(value) && !(value instanceof LosslessNumber)
    ? listed.includes(value)
    : listed.some((one) => jsonEquals(one, value));
}

/** Keywords on numbers, with the words for their demand and a test whether a number meets it. */
const NUMBER_CHECKS: readonly (readonly [
  keyword: string,
  word: string,
  holds: (value: JsonNumber, limit: JsonNumber) => boolean,
])[] = [
  ['minimum', 'at least', (value, limit) => compareNumbers(value, limit) >= 0],
  ['exclusiveMinimum', 'greater than', (value, limit) => compareNumbers(value, limit) > 0],
  ['maximum', 'at most', (value, limit) => compareNumbers(value, limit) <= 0],
  ['exclusiveMaximum', 'less than', (value, limit) => compareNumbers(value, limit) < 0],
  ['multipleOf', 'a multiple of', isMultiple],
];

/** The issues that keywords find in a number. */
export function numberIssues(
  schema: JsonObject,
  location: InstanceLocation,
  value: JsonNumber,
): readonly Issue[] {
  const found: Issue[] = [];
  for (const [keyword, word, holds] of NUMBER_CHECKS) {
    const limit = member(schema, keyword);
    if (isNumber(limit) && !holds(value, limit))
      found.push(
        issue(location, keyword, () => ({
          must: `be ${word} ${shortValue(limit)}`,
          found: `is ${shortValue(value)}`,
        })),
      );
  }
  return [...found, ...formatIssues(schema, location)];
}

/** The issues that keywords find in a string. */
export function stringIssues(
  schema: JsonObject,
  location: InstanceLocation,
  value: string,
  checker: Checker,
): readonly Issue[] {
  const found: Issue[] = [];
  if (Object.hasOwn(schema, 'minLength') || Object.hasOwn(schema, 'maxLength')) {
    const length = lengthOf(value);
    found.push(...countIssues(schema, location, CHARACTERS, length, () => `has ${length}`));
  }
  const pattern = member(schema, 'pattern');
  if (typeof pattern === 'string' && !checker.patternOf(pattern).test(value))
    found.push(
      issue(location, 'pattern', () => ({
        must: `match the pattern ${shownPattern(pattern)}`,
        found: `is ${shortValue(value)}`,
      })),
    );
  return [...found, ...formatIssues(schema, location)];
}

function formatIssues(schema: JsonObject, location: InstanceLocation): readonly Issue[] {
  const { value } = location;
  const format = member(schema, 'format');
  if (typeof format !== 'string' || hasFormat(format, value)) return [];
  const words = (): MessageParts => ({
    must: `be ${formatWords(format)}`,
    found: `is ${shortValue(value)}`,
    hint: typeof value === 'string' ? formatHint(format, value) : undefined,
  });
  return [issue(location, 'format', words)];
}

/** Characters are code points (JSON Schema Validation, section 6.3). */
function lengthOf(text: string): number {
  let length = 0;
  for (const character of text) length += character.length > 0 ? 1 : 0;
  return length;
}
