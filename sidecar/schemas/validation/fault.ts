import { isArray, isObject, type JsonValue, type Schema } from '../../shared/json/json.js';
import type { Place } from './place.js';
import type { Spelling } from './spelling.js';
import { allowedValue, either, shown, typed, typeWord, type Words } from './words.js';

/** Allowed values that a sentence names. */
const LISTED_MAX = 20;

/** Puts a fault into words; looks for misspellings as long as those may be looked for. */
export type WordsOf = (spelling: Spelling) => Words;

/** What a schema has against a value. Words are made when they are needed: most faults of alternatives never are. */
export interface Fault {
  readonly place: Place;
  /** The keyword that asks for what is not so. */
  readonly keyword: string;
  readonly words: WordsOf;
  /** The only values possible. */
  readonly allowed?: readonly JsonValue[];
  /** The only types possible. */
  readonly types?: readonly string[];
  /** The member that is lacking. */
  readonly missing?: string;
  /** Set where it is said of the member as such, its name or that it is there, and not of its value. */
  readonly ofMember?: true;
}

/** What a schema has against a value: nothing, when the value is valid. */
export type Verdict = (schema: Schema, place: Place) => readonly Fault[];

export function fault(place: Place, keyword: string, words: WordsOf): Fault {
  return { place: place.kept(), keyword, words };
}

/** A fault of the member that leads to a place. */
export function memberFault(place: Place, keyword: string, words: WordsOf): Fault {
  return { ...fault(place, keyword, words), ofMember: true };
}

/** The value is none of those allowed. */
export function valueFault(place: Place, keyword: string, allowed: readonly JsonValue[]): Fault {
  return { ...fault(place, keyword, (spelling) => allowedWords(allowed, place.value, spelling)), allowed };
}

/** The value is of none of the types allowed. */
export function typeFault(place: Place, types: readonly string[]): Fault {
  const words = (): Words => ({
    must: `be ${either([...new Set(types)].map(typeWord))}`,
    // Of a number that should be an integer, the digits say it all.
    found: `is ${types.includes('integer') ? untypedNumber(place.value) : typed(place.value)}`,
  });
  return { ...fault(place, 'type', words), types };
}

function untypedNumber(value: JsonValue): string {
  return typeof value === 'number' ? shown(value) : typed(value);
}

/** A member is lacking. @param because completes the sentence, where something asks for the member */
export function lackingFault(place: Place, keyword: string, missing: string, because = ''): Fault {
  const name = allowedValue(missing);
  const words = (): Words => ({
    must: `have the member ${name}${because}`,
    plain: `lacks the member ${name}${because}`,
  });
  return { ...fault(place, keyword, words), missing };
}

/** A fault with which nothing else that is said of the value, or of what it holds, is worth saying. */
export function isDecisive({ keyword, allowed, types }: Fault): boolean {
  return allowed !== undefined || types !== undefined || keyword === 'false schema';
}

/** Whether the value is neither array nor object. */
export function isScalar(value: JsonValue): boolean {
  return !isArray(value) && !isObject(value);
}

function allowedWords(allowed: readonly JsonValue[], value: JsonValue, spelling: Spelling): Words {
  const found = `is ${shown(value)}`;
  const [only, ...others] = allowed.slice(0, 2);
  if (only === undefined) return { must: 'not be there: no value is allowed' };
  const near = typeof value === 'string' ? spelling.near(value, allowed) : [];
  const [meant] = near;
  const hint = meant === undefined ? {} : { hint: `did you mean ${shown(meant)}?` };
  if (others.length === 0) return { must: `be ${allowedValue(only)}`, found, ...hint };
  const isLong = allowed.length > LISTED_MAX;
  const ordered = isLong && typeof value === 'string' ? foremost(allowed, near) : allowed;
  const listed = ordered.slice(0, LISTED_MAX).map(allowedValue).join(', ');
  const rest = isLong ? ` and ${allowed.length - LISTED_MAX} more` : '';
  return { must: `be one of ${listed}${rest}`, found, ...hint };
}

/** Of a long list the values to name: those that are near, then other strings, then the rest. */
function foremost(allowed: readonly JsonValue[], near: readonly string[]): readonly JsonValue[] {
  const found: JsonValue[] = near.slice(0, LISTED_MAX);
  const isNear = new Set<JsonValue>(near);
  for (const isString of [true, false])
    for (const one of allowed) {
      if (found.length >= LISTED_MAX) return found;
      if ((typeof one === 'string') === isString && !isNear.has(one)) found.push(one);
    }
  return found;
}
