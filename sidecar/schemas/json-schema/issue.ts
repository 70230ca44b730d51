import {
  isArray,
  isNumber,
  isObject,
  type JsonObject,
  type JsonValue,
  member,
  type Schema,
} from '../../shared/json/json.js';
import type { ReferenceTargets } from './flatten.js';
import type { Spelling } from './spelling.js';
import { allowedValue, joinWithOr, shortValue, typed, typeWord, type MessageParts } from './message-parts.js';

/** Maximum number of allowed values that a sentence names. */
const MAX_LISTED = 20;

/** Puts an issue into words; may look for misspellings. */
export type MessageBuilder = (spelling: Spelling) => MessageParts;

/**
 * A mistake in a value, according to its schema. Words are made on demand, because most issues of alternatives are
 * never shown.
 */
export interface Issue {
  readonly location: InstanceLocation;
  /** The keyword that the value violates. */
  readonly keyword: string;
  readonly message: MessageBuilder;
  /** The only possible values. */
  readonly allowed?: readonly JsonValue[];
  /** The only possible types. */
  readonly types?: readonly string[];
  /** The missing member. */
  readonly missing?: string;
  /** Set if the issue is about the member itself, its name or presence, rather than about its value. */
  readonly ofMember?: true;
}

/** Maximum number of issues collected for one schema at one place; far more than are shown. */
export const MAX_ISSUES = 1000;

/** Checks values against schemas. */
export interface Checker {
  readonly targets: ReferenceTargets;
  /** Returns no issues for a valid value. */
  faultsOf(schema: Schema, location: InstanceLocation): readonly Issue[];
  /** Compiles a pattern as validators do. */
  patternOf(pattern: string): RegExp;
}

/** Makes an issue of a value. */
export function issue(location: InstanceLocation, keyword: string, message: MessageBuilder): Issue {
  return { location: location.kept(), keyword, message };
}

/** Makes an issue of the member that leads to a place. */
export function memberIssue(location: InstanceLocation, keyword: string, words: MessageBuilder): Issue {
  return { ...issue(location, keyword, words), ofMember: true };
}

/** Makes the issue of a value that is not one of those allowed. */
export function valueIssue(
  location: InstanceLocation,
  keyword: string,
  allowed: readonly JsonValue[],
): Issue {
  return {
    ...issue(location, keyword, (spelling) => allowedWords(allowed, location.value, spelling)),
    allowed,
  };
}

/** Makes the issue of a value that has none of the allowed types. */
export function typeIssue(location: InstanceLocation, types: readonly string[]): Issue {
  const words = (): MessageParts => ({
    must: `be ${joinWithOr([...new Set(types)].map(typeWord))}`,
    // For a number that should be an integer, the digits say enough.
    found: `is ${types.includes('integer') ? untypedNumber(location.value) : typed(location.value)}`,
    correction: correctionOf(location.value, ofAnotherType(location.value, types)),
  });
  return { ...issue(location, 'type', words), types };
}

function correctionOf(insteadOf: JsonValue, value: JsonValue | undefined): MessageParts['correction'] {
  return value === undefined ? undefined : { value, insteadOf };
}

/** Matches the text of a JSON number (RFC 8259 § 6). */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** What a scalar of another type was probably meant to be: 12 for "12", or the array with it. */
function ofAnotherType(value: JsonValue, types: readonly string[]): JsonValue | undefined {
  const isMeant = value !== null && isScalar(value) && types.includes('array');
  return withSameText(value, types) ?? (isMeant ? [value] : undefined);
}

/** The scalar of an allowed type with the same text as this one of another type: 12 for "12". */
function withSameText(value: JsonValue, types: readonly string[]): JsonValue | undefined {
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
  return isNumber(value) ? shortValue(value) : typed(value);
}

/** Makes the issue of a missing member. @param because completes the sentence by what requires the member */
export function missingIssue(
  location: InstanceLocation,
  keyword: string,
  missing: string,
  because = '',
): Issue {
  const name = allowedValue(missing);
  const words = (): MessageParts => ({
    must: `have the member ${name}${because}`,
    plain: `lacks the member ${name}${because}`,
  });
  return { ...issue(location, keyword, words), missing };
}

/** Whether an issue makes all other issues of the value, and of what it contains, not worth reporting. */
export function isDecisive({ keyword, allowed, types }: Issue): boolean {
  return allowed !== undefined || types !== undefined || keyword === 'false schema';
}

/** Whether the value is neither array nor object. */
export function isScalar(value: JsonValue): boolean {
  return !isArray(value) && !isObject(value);
}

function allowedWords(allowed: readonly JsonValue[], value: JsonValue, spelling: Spelling): MessageParts {
  const found = `is ${shortValue(value)}`;
  const [only, ...others] = allowed.slice(0, 2);
  if (only === undefined) return { must: 'not be present: no value is allowed' };
  const near = typeof value === 'string' ? spelling.near(value, allowed) : [];
  const [meant] = near;
  const hint = meant === undefined ? undefined : `did you mean ${shortValue(meant)}?`;
  const correction = correctionOf(value, meant);
  if (others.length === 0) return { must: `be ${allowedValue(only)}`, found, hint, correction };
  const isLong = allowed.length > MAX_LISTED;
  const ordered = isLong && typeof value === 'string' ? foremost(allowed, near) : allowed;
  const listed = ordered.slice(0, MAX_LISTED).map(allowedValue).join(', ');
  const rest = isLong ? ` and ${allowed.length - MAX_LISTED} more` : '';
  return { must: `be one of ${listed}${rest}`, found, hint, correction };
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
export class InstanceLocation {
  readonly value: JsonValue;
  readonly #parent: InstanceLocation | undefined;
  readonly #key: string | number;
  #inner: Map<string | number, InstanceLocation> | undefined;
  #described: Set<JsonObject> | undefined;

  constructor(value: JsonValue, parent?: InstanceLocation, key: string | number = '') {
    this.value = value;
    this.#parent = parent;
    this.#key = key;
  }

  get parent(): InstanceLocation | undefined {
    return this.#parent;
  }

  /** The last token of the path. */
  get token(): string {
    return String(this.#key);
  }

  /** The path from the document, as tokens of a JSON pointer. */
  get tokens(): readonly string[] {
    const tokens: string[] = [];
    for (let at = this as InstanceLocation | undefined; at?.parent !== undefined; at = at.parent)
      tokens.push(at.token);
    return tokens.reverse();
  }

  /** The number of steps of the path. */
  get depth(): number {
    let depth = 0;
    for (let at = this.#parent; at !== undefined; at = at.parent) depth += 1;
    return depth;
  }

  /** The place of a member or an item. */
  child(key: string | number): InstanceLocation {
    const known = this.#inner?.get(key);
    if (known !== undefined) return known;
    const location = new InstanceLocation(this.#at(key), this, key);
    // Documents have many scalars, but few have issues: the place of a scalar is kept only when it has one.
    return isArray(location.value) || isObject(location.value) ? location.kept() : location;
  }

  /** The object that represents this place from now on. */
  kept(): InstanceLocation {
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
