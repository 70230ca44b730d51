import {
  isArray,
  isNumber,
  isObject,
  type JsonObject,
  type JsonValue,
  member,
  type Schema,
} from '../../shared/json/json.js';
import type { Spelling } from './spelling.js';
import { allowedValue, either, shown, typed, typeWord, type Words } from './words.js';

/** Maximum number of allowed values that a sentence names. */
const MAX_LISTED = 20;

/** Puts an issue into words; may look for misspellings. */
export type WordsOf = (spelling: Spelling) => Words;

/**
 * A mistake in a value, according to its schema. Words are made on demand, because most issues of alternatives are
 * never shown.
 */
export interface Issue {
  readonly place: Place;
  /** The keyword that the value violates. */
  readonly keyword: string;
  readonly words: WordsOf;
  /** The only possible values. */
  readonly allowed?: readonly JsonValue[];
  /** The only possible types. */
  readonly types?: readonly string[];
  /** The missing member. */
  readonly missing?: string;
  /** Set if the issue is about the member itself, its name or presence, rather than about its value. */
  readonly ofMember?: true;
}

/** Checks a value against a schema; returns no issues for a valid value. */
export type Check = (schema: Schema, place: Place) => readonly Issue[];

/** Makes an issue of a value. */
export function issue(place: Place, keyword: string, words: WordsOf): Issue {
  return { place: place.kept(), keyword, words };
}

/** Makes an issue of the member that leads to a place. */
export function memberIssue(place: Place, keyword: string, words: WordsOf): Issue {
  return { ...issue(place, keyword, words), ofMember: true };
}

/** Makes the issue of a value that is not one of those allowed. */
export function valueIssue(place: Place, keyword: string, allowed: readonly JsonValue[]): Issue {
  return { ...issue(place, keyword, (spelling) => allowedWords(allowed, place.value, spelling)), allowed };
}

/** Makes the issue of a value that has none of the allowed types. */
export function typeIssue(place: Place, types: readonly string[]): Issue {
  const words = (): Words => ({
    must: `be ${either([...new Set(types)].map(typeWord))}`,
    // For a number that should be an integer, the digits say enough.
    found: `is ${types.includes('integer') ? untypedNumber(place.value) : typed(place.value)}`,
    ...meantOf(place.value, ofAnotherType(place.value, types)),
  });
  return { ...issue(place, 'type', words), types };
}

function meantOf(insteadOf: JsonValue, value: JsonValue | undefined): Pick<Words, 'meant'> {
  return value === undefined ? {} : { meant: { value, insteadOf } };
}

/** Matches the text of a JSON number (RFC 8259 § 6). */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** The scalar of an allowed type with the same text as this one of another type: 12 for "12". */
function ofAnotherType(value: JsonValue, types: readonly string[]): JsonValue | undefined {
  if (typeof value === 'string') {
    if (types.includes('boolean') && (value === 'true' || value === 'false')) return value === 'true';
    const number = NUMBER.test(value) && value.length <= 15 ? Number(value) : NaN;
    const fits = types.includes('number') || (types.includes('integer') && Number.isInteger(number));
    return fits && Number.isFinite(number) ? number : undefined;
  }
  const isWritten = isNumber(value) || typeof value === 'boolean';
  return isWritten && types.includes('string') ? String(value) : undefined;
}

function untypedNumber(value: JsonValue): string {
  return isNumber(value) ? shown(value) : typed(value);
}

/** Makes the issue of a missing member. @param because completes the sentence by what requires the member */
export function missingIssue(place: Place, keyword: string, missing: string, because = ''): Issue {
  const name = allowedValue(missing);
  const words = (): Words => ({
    must: `have the member ${name}${because}`,
    plain: `lacks the member ${name}${because}`,
  });
  return { ...issue(place, keyword, words), missing };
}

/** Whether an issue makes all other issues of the value, and of what it contains, not worth reporting. */
export function isDecisive({ keyword, allowed, types }: Issue): boolean {
  return allowed !== undefined || types !== undefined || keyword === 'false schema';
}

/** Whether the value is neither array nor object. */
export function isScalar(value: JsonValue): boolean {
  return !isArray(value) && !isObject(value);
}

function allowedWords(allowed: readonly JsonValue[], value: JsonValue, spelling: Spelling): Words {
  const found = `is ${shown(value)}`;
  const [only, ...others] = allowed.slice(0, 2);
  if (only === undefined) return { must: 'not be present: no value is allowed' };
  const near = typeof value === 'string' ? spelling.near(value, allowed) : [];
  const [meant] = near;
  const hint = meant === undefined ? {} : { hint: `did you mean ${shown(meant)}?`, ...meantOf(value, meant) };
  if (others.length === 0) return { must: `be ${allowedValue(only)}`, found, ...hint };
  const isLong = allowed.length > MAX_LISTED;
  const ordered = isLong && typeof value === 'string' ? foremost(allowed, near) : allowed;
  const listed = ordered.slice(0, MAX_LISTED).map(allowedValue).join(', ');
  const rest = isLong ? ` and ${allowed.length - MAX_LISTED} more` : '';
  return { must: `be one of ${listed}${rest}`, found, ...hint };
}

/** The values of a long list to name: similar ones, then other strings, then the rest. */
function foremost(allowed: readonly JsonValue[], near: readonly string[]): readonly JsonValue[] {
  const found: JsonValue[] = near.slice(0, MAX_LISTED);
  const isNear = new Set<JsonValue>(near);
  for (const isString of [true, false])
    for (const one of allowed) {
      if (found.length >= MAX_LISTED) return found;
      if ((typeof one === 'string') === isString && !isNear.has(one)) found.push(one);
    }
  return found;
}

/**
 * A value in a document that is checked against a schema, and the path to it. If the value is an array or object, or
 * has issues, its place is always the same object, so that results can be stored by place.
 */
export class Place {
  readonly value: JsonValue;
  readonly #parent: Place | undefined;
  readonly #key: string | number;
  #inner: Map<string | number, Place> | undefined;
  #described: Set<JsonObject> | undefined;

  constructor(value: JsonValue, parent?: Place, key: string | number = '') {
    this.value = value;
    this.#parent = parent;
    this.#key = key;
  }

  get parent(): Place | undefined {
    return this.#parent;
  }

  /** The last token of the path. */
  get token(): string {
    return String(this.#key);
  }

  /** The path from the document, as tokens of a JSON pointer. */
  get tokens(): readonly string[] {
    const tokens: string[] = [];
    for (let at = this as Place | undefined; at?.parent !== undefined; at = at.parent) tokens.push(at.token);
    return tokens.reverse();
  }

  /** The number of steps of the path. */
  get depth(): number {
    let depth = 0;
    for (let at = this.#parent; at !== undefined; at = at.parent) depth += 1;
    return depth;
  }

  /** The place of a member or an item. */
  child(key: string | number): Place {
    const known = this.#inner?.get(key);
    if (known !== undefined) return known;
    const place = new Place(this.#at(key), this, key);
    // Documents have many scalars, but few have issues: the place of a scalar is kept only when it has one.
    return isArray(place.value) || isObject(place.value) ? place.kept() : place;
  }

  /** The object that represents this place from now on. */
  kept(): Place {
    if (this.#parent === undefined) return this;
    const around = this.#parent;
    around.#inner ??= new Map();
    const known = around.#inner.get(this.#key) ?? this;
    around.#inner.set(this.#key, known);
    return known;
  }

  /** Records that a schema describes these members. */
  describe(properties: JsonObject): void {
    this.#described ??= new Set();
    this.#described.add(properties);
  }

  /** The members that schemas describe. */
  get describedNames(): readonly string[] {
    return [...new Set([...(this.#described ?? [])].flatMap((properties) => Object.keys(properties)))];
  }

  #at(key: string | number): JsonValue {
    if (typeof key === 'number') return isArray(this.value) ? (this.value[key] ?? null) : null;
    return isObject(this.value) ? (member(this.value, key) ?? null) : null;
  }
}
