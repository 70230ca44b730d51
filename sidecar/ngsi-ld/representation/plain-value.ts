import {
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  member,
  objectOf,
  step,
} from '../../shared/json/json.js';
import { VALUE_MEMBERS, kindNamed } from '../value-members.js';

/** What a wrapping in a value holds. */
interface Wrapped {
  readonly token: string;
  readonly inside: JsonValue;
  /** Whether it is taken unchanged: a typed value does not hold another. */
  readonly isFinal: boolean;
}

/** Which wrappings are taken off beside typed values. */
export interface PlainOptions {
  /** Attributes that stand inside of a value, which no representation has but people write. */
  readonly unwrapsAttributes: boolean;
}

/**
 * A value without its wrappings, at any depth: typed values `{"@type": "DateTime", "@value": …}` (clause 4.6.3) become what
 * they hold, and so do attributes inside of values, where they are taken off. The value itself when it has none.
 */
export function plainValue(value: JsonValue, options: PlainOptions): JsonValue {
  return holdsWrapped(value, options) ? unwrapped(value, options) : value;
}

/** Nearly no value does, and looking costs a part of what copying would. */
function holdsWrapped(value: JsonValue, options: PlainOptions): boolean {
  if (isArray(value)) return value.some((item) => holdsWrapped(item, options));
  if (!isObject(value)) return false;
  if (wrappedIn(value, options) !== undefined) return true;
  for (const name of Object.keys(value)) if (holdsWrapped(value[name] ?? null, options)) return true;
  return false;
}

function unwrapped(value: JsonValue, options: PlainOptions): JsonValue {
  const wrapped = wrappedIn(value, options);
  if (wrapped !== undefined) return wrapped.isFinal ? wrapped.inside : unwrapped(wrapped.inside, options);
  if (isArray(value)) return value.map((item) => unwrapped(item, options));
  if (!isObject(value)) return value;
  return objectOf(Object.entries(value).map(([name, item]) => [name, unwrapped(item, options)]));
}

/** The way back from the plain form: the tokens in the value; a missing part keeps its name. */
export function tokensInValue(
  value: JsonValue | undefined,
  tokens: readonly string[],
  options: PlainOptions,
): readonly string[] {
  const wrapped = wrappedIn(value, options);
  if (wrapped?.isFinal === true) return [wrapped.token, ...tokens];
  if (wrapped !== undefined) return [wrapped.token, ...tokensInValue(wrapped.inside, tokens, options)];
  const [token, ...others] = tokens;
  return token === undefined ? [] : [token, ...tokensInValue(step(value, token), others, options)];
}

/** Where the first attribute inside of a value stands, of those that {@link plainValue} takes off. */
export function firstAttributeIn(value: JsonValue): readonly string[] | undefined {
  if (!isObject(value) && !isArray(value)) return undefined;
  if (isObject(value)) {
    if (typedValueIn(value) !== undefined) return undefined;
    if (attributeIn(value) !== undefined) return [];
  }
  for (const token of Object.keys(value)) {
    const item = step(value, token);
    const found = typeof item === 'object' && item !== null ? firstAttributeIn(item) : undefined;
    if (found !== undefined) return [token, ...found];
  }
  return undefined;
}

function wrappedIn(value: JsonValue | undefined, { unwrapsAttributes }: PlainOptions): Wrapped | undefined {
  if (!isObject(value)) return undefined;
  return typedValueIn(value) ?? (unwrapsAttributes ? attributeIn(value) : undefined);
}

/** A JSON-LD value object: `@value`, with or without `@type`, and nothing else. */
function typedValueIn(value: JsonObject): Wrapped | undefined {
  const inside = member(value, '@value');
  if (inside === undefined) return undefined;
  const count = typeof member(value, '@type') === 'string' ? 2 : 1;
  return Object.keys(value).length === count ? { token: '@value', inside, isFinal: true } : undefined;
}

function attributeIn(value: JsonObject): Wrapped | undefined {
  const kind = kindNamed(member(value, 'type'));
  const token = kind === undefined ? undefined : VALUE_MEMBERS[kind];
  const inside = token === undefined ? undefined : member(value, token);
  return token === undefined || inside === undefined ? undefined : { token, inside, isFinal: false };
}
