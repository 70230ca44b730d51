import { namedSchemasIn, namesByName, schemaIn } from '../json-schema/flat-graph.js';
import {
  isSchema,
  isObject,
  member,
  stringsOf,
  type JsonObject,
  type Schema,
} from '../../shared/json/json.js';
import { fault, lackingFault, memberFault, type Fault, type Verdict, type WordsOf } from './fault.js';
import { Place } from './place.js';
import type { PatternOf } from './scalar-faults.js';
import { allowedValue, counted, sentenceOf } from './words.js';

/** What keywords on objects have against one, unevaluatedProperties and conditions apart. */
export function objectFaults(
  schema: JsonObject,
  place: Place,
  value: JsonObject,
  verdict: Verdict,
  patternOf: PatternOf,
  most: number,
): readonly Fault[] {
  const described = member(schema, 'properties');
  if (isObject(described)) place.describe(described);
  const names = Object.keys(value);
  const found: Fault[] = [...lacking(schema, place, value), ...countFaults(schema, place, names.length)];
  const naming = schemaIn(schema, 'propertyNames');
  const schemasOf = memberSchemas(schema, patternOf);
  for (const name of names) {
    if (found.length >= most) break;
    if (naming !== undefined) found.push(...nameFaults(naming, name, place, verdict));
    for (const own of schemasOf(name)) {
      if (own === REFUSED) found.push(unknownMember(place.child(name), 'additionalProperties'));
      else if (own !== true) found.push(...verdict(own, place.child(name)));
    }
  }
  return found;
}

/** A member that is not allowed at all. */
export function unknownMember(place: Place, keyword: string): Fault {
  const plain = 'is not among the members that the schema allows';
  return memberFault(place, keyword, () => ({ must: 'not be there', plain }));
}

/** The member is one of no others that are allowed: said in other words than where the member itself is ruled out. */
const REFUSED = Symbol('refused');

/** The schemas in `properties`, `patternProperties` and `additionalProperties` for a member. */
export function memberSchemas(
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
    // Validators pass over a description of `__proto__`.
    const own = isObject(described) && name !== '__proto__' ? member(described, name) : undefined;
    const found = [
      ...(isSchema(own) ? [own] : []),
      ...patterns.filter(([pattern]) => pattern.test(name)).map(([, held]) => held),
    ];
    return found.length > 0 || rest === undefined ? found : [rest === false ? REFUSED : rest];
  };
}

const DEPENDENT = ['dependentRequired', 'dependencies'];

function lacking(schema: JsonObject, place: Place, value: JsonObject): readonly Fault[] {
  const found: Fault[] = [];
  for (const name of stringsOf(member(schema, 'required')))
    if (!Object.hasOwn(value, name)) found.push(lackingFault(place, 'required', name));
  for (const keyword of DEPENDENT) {
    if (!Object.hasOwn(schema, keyword)) continue;
    for (const [name, others] of namesByName(schema, keyword)) {
      if (!Object.hasOwn(value, name)) continue;
      for (const other of others)
        if (!Object.hasOwn(value, other))
          found.push(lackingFault(place, keyword, other, `, which ${allowedValue(name)} asks for`));
    }
  }
  return found;
}

function countFaults(schema: JsonObject, place: Place, count: number): readonly Fault[] {
  const found: Fault[] = [];
  const [least, most] = ['minProperties', 'maxProperties'].map((keyword) => member(schema, keyword));
  const has = `has ${count === 0 ? 'none' : count}`;
  if (typeof least === 'number' && count < least)
    found.push(
      fault(place, 'minProperties', () => ({
        must: `have at least ${counted(least, 'member')}`,
        found: has,
      })),
    );
  if (typeof most === 'number' && count > most)
    found.push(
      fault(place, 'maxProperties', () => ({ must: `have at most ${counted(most, 'member')}`, found: has })),
    );
  return found;
}

function nameFaults(naming: Schema, name: string, place: Place, verdict: Verdict): readonly Fault[] {
  const [first] = verdict(naming, new Place(name));
  if (first === undefined) return [];
  const words: WordsOf = (spelling) => {
    const inner = sentenceOf(first.words(spelling));
    return { must: 'have another name', plain: `its name ${inner}` };
  };
  return [memberFault(place.child(name), 'propertyNames', words)];
}
