import {
  isObject,
  isSchema,
  type JsonObject,
  member,
  type Schema,
  stringsOf,
} from '../../shared/json/json.js';
import { namedSchemasIn, namesByName, schemaIn } from '../json-schema/flatten.js';
import { issue, type Issue, missingIssue, memberIssue, Place, type Check, type WordsOf } from './issue.js';
import type { PatternOf } from './scalar-issues.js';
import { allowedValue, counted, sentenceOf } from './words.js';

/** The issues that keywords on objects find in one, except unevaluatedProperties and conditions. */
export function objectIssues(
  schema: JsonObject,
  place: Place,
  value: JsonObject,
  check: Check,
  patternOf: PatternOf,
  most: number,
): readonly Issue[] {
  const described = member(schema, 'properties');
  if (isObject(described)) place.describe(described);
  const names = Object.keys(value);
  const found: Issue[] = [...missing(schema, place, value), ...countIssues(schema, place, names.length)];
  const naming = schemaIn(schema, 'propertyNames');
  const schemasOf = memberSchemas(schema, patternOf);
  for (const name of names) {
    if (found.length >= most) break;
    if (naming !== undefined) found.push(...nameIssues(naming, name, place, check));
    for (const own of schemasOf(name)) {
      if (own === REFUSED) found.push(unknownMember(place.child(name), 'additionalProperties'));
      else if (own !== true) found.push(...check(own, place.child(name)));
    }
  }
  return found;
}

/** A member that is not allowed at all. */
export function unknownMember(place: Place, keyword: string): Issue {
  const plain = 'is not among the members that the schema allows';
  return memberIssue(place, keyword, () => ({ must: 'not be there', plain }));
}

/** The member is one of no others that are allowed: said in other words than where the member itself is ruled out. */
const REFUSED = Symbol('refused');

/** The schemas in `properties`, `patternProperties` and `additionalProperties` for a member. */
function memberSchemas(
  schema: JsonObject,
  patternOf: PatternOf,
): (name: string) => readonly (Schema | typeof REFUSED)[] {
  const described = member(schema, 'properties');
  const patterns = Object.hasOwn(schema, 'patternProperties')
    ? [...namedSchemasIn(schema, 'patternProperties')].map(
        ([pattern, own]) => [patternOf(pattern), own] as const,
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

function missing(schema: JsonObject, place: Place, value: JsonObject): readonly Issue[] {
  const found: Issue[] = [];
  for (const name of stringsOf(member(schema, 'required')))
    if (!Object.hasOwn(value, name)) found.push(missingIssue(place, 'required', name));
  for (const keyword of DEPENDENT) {
    if (!Object.hasOwn(schema, keyword)) continue;
    for (const [name, others] of namesByName(schema, keyword)) {
      if (!Object.hasOwn(value, name)) continue;
      for (const other of others)
        if (!Object.hasOwn(value, other))
          found.push(missingIssue(place, keyword, other, `, which ${allowedValue(name)} asks for`));
    }
  }
  return found;
}

function countIssues(schema: JsonObject, place: Place, count: number): readonly Issue[] {
  const found: Issue[] = [];
  const [least, most] = ['minProperties', 'maxProperties'].map((keyword) => member(schema, keyword));
  const has = `has ${count === 0 ? 'none' : count}`;
  if (typeof least === 'number' && count < least)
    found.push(
      issue(place, 'minProperties', () => ({
        must: `have at least ${counted(least, 'member')}`,
        found: has,
      })),
    );
  if (typeof most === 'number' && count > most)
    found.push(
      issue(place, 'maxProperties', () => ({ must: `have at most ${counted(most, 'member')}`, found: has })),
    );
  return found;
}

function nameIssues(naming: Schema, name: string, place: Place, check: Check): readonly Issue[] {
  const [first] = check(naming, new Place(name));
  if (first === undefined) return [];
  const words: WordsOf = (spelling) => {
    const inner = sentenceOf(first.words(spelling));
    return { must: 'have another name', plain: `its name ${inner}` };
  };
  return [memberIssue(place.child(name), 'propertyNames', words)];
}
