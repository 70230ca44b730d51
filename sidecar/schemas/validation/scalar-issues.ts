import {
  compareNumbers,
  isArray,
  isMultiple,
  isNumber,
  isOfType,
  type JsonNumber,
  type JsonObject,
  type JsonValue,
  LosslessNumber,
  member,
  sameJson,
  stringsOf,
} from '../../shared/json/json.js';
import { hasFormat } from '../json-schema/formats.js';
import { issue, type Issue, isScalar, type Place, typeIssue, valueIssue } from './issue.js';
import { counted, formatHint, formatWords, shown, shownPattern, type Words } from './words.js';

/** Compiles a pattern as validators do. */
export type PatternOf = (pattern: string) => RegExp;

/** The issue that `type`, `enum` or `const` finds in a value; one, because the whole value is wrong. */
export function kindIssue(schema: JsonObject, place: Place): Issue | undefined {
  const { value } = place;
  const constant = member(schema, 'const');
  if (constant !== undefined && !sameJson(constant, value)) return valueIssue(place, 'const', [constant]);
  const listed = member(schema, 'enum');
  if (isArray(listed) && !isAmong(value, listed)) return valueIssue(place, 'enum', listed);
  const declared = member(schema, 'type');
  if (typeof declared === 'string')
    return isOfType(value, declared) ? undefined : typeIssue(place, [declared]);
  const types = stringsOf(declared);
  return types.length === 0 || types.some((type) => isOfType(value, type))
    ? undefined
    : typeIssue(place, types);
}

/** Scalars are most of what is looked for, and quick to find. */
function isAmong(value: JsonValue, listed: readonly JsonValue[]): boolean {
  return isScalar(value) && !(value instanceof LosslessNumber)
    ? listed.includes(value)
    : listed.some((one) => sameJson(one, value));
}

/** Keywords on numbers: how their demand is said, and whether a number meets it. */
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

/** What keywords on numbers have against one. */
export function numberIssues(schema: JsonObject, place: Place, value: JsonNumber): readonly Issue[] {
  const found: Issue[] = [];
  for (const [keyword, word, holds] of NUMBER_CHECKS) {
    const limit = member(schema, keyword);
    if (isNumber(limit) && !holds(value, limit))
      found.push(
        issue(place, keyword, () => ({ must: `be ${word} ${shown(limit)}`, found: `is ${shown(value)}` })),
      );
  }
  const unformatted = formatIssue(schema, place);
  return unformatted === undefined ? found : [...found, unformatted];
}

/** What keywords on strings have against one. */
export function stringIssues(
  schema: JsonObject,
  place: Place,
  value: string,
  patternOf: PatternOf,
): readonly Issue[] {
  const found: Issue[] = [];
  const add = (keyword: string, words: () => Words) => found.push(issue(place, keyword, words));
  const least = member(schema, 'minLength');
  const most = member(schema, 'maxLength');
  const pattern = member(schema, 'pattern');
  if (typeof least === 'number' || typeof most === 'number') {
    const length = lengthOf(value);
    const has = `has ${length}`;
    if (typeof least === 'number' && length < least)
      add('minLength', () => ({ must: `have at least ${counted(least, 'character')}`, found: has }));
    if (typeof most === 'number' && length > most)
      add('maxLength', () => ({ must: `have at most ${counted(most, 'character')}`, found: has }));
  }
  if (typeof pattern === 'string' && !patternOf(pattern).test(value))
    add('pattern', () => ({
      must: `match the pattern ${shownPattern(pattern)}`,
      found: `is ${shown(value)}`,
    }));
  const unformatted = formatIssue(schema, place);
  return unformatted === undefined ? found : [...found, unformatted];
}

function formatIssue(schema: JsonObject, place: Place): Issue | undefined {
  const { value } = place;
  const format = member(schema, 'format');
  if (typeof format !== 'string' || hasFormat(format, value)) return undefined;
  const words = (): Words => {
    const hint = typeof value === 'string' ? formatHint(format, value) : undefined;
    return {
      must: `be ${formatWords(format)}`,
      found: `is ${shown(value)}`,
      ...(hint === undefined ? {} : { hint }),
    };
  };
  return issue(place, 'format', words);
}

/** Characters are code points (JSON Schema Validation, section 6.3). */
function lengthOf(text: string): number {
  let length = 0;
  for (const character of text) length += character.length > 0 ? 1 : 0;
  return length;
}
