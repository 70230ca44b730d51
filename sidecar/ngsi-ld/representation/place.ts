import { isArray, isObject, type JsonValue, member } from '../../shared/json/json.js';
import { wrappedMemberOf } from './form.js';
import { geometryInText } from './geometry.js';
import type { Instance } from './instances.js';
import { plainValue, tokensInValue, type PlainOptions } from './plain-value.js';
import { KIND_OF_MEMBER, WRAPPED_KINDS } from '../value-members.js';

/**
 * The value of an instance, and how it becomes the one of the key-values form:
 * - `value`: without wrappings;
 * - `geometry`: unchanged, or parsed when it is a string;
 * - `objects`: the URIs of a list of `{"object": URI}`;
 * - `wrapped`: the instance with its value's member alone;
 * - `as-is`.
 */
export interface Place {
  readonly shape: 'value' | 'geometry' | 'objects' | 'wrapped' | 'as-is';
  /** Where `content` stands, below the instance. */
  readonly path: readonly string[];
  readonly content: JsonValue;
  /** Of `wrapped`: the member that is kept. */
  readonly member?: string;
}

const NORMALIZED: PlainOptions = { unwrapsAttributes: true };
/** A value that looks like an attribute is a value: so says the form. */
const KEY_VALUES: PlainOptions = { unwrapsAttributes: false };

/**
 * The place of the value of a normalized or concise instance.
 *
 * @param unwraps whether the value of a LanguageProperty, VocabProperty or JsonProperty stands for itself
 */
export function placeOf(instance: Instance, unwraps: boolean): Place {
  if (instance.how === 'bare')
    return { shape: instance.kind === 'GeoProperty' ? 'as-is' : 'value', path: [], content: instance.value };
  const { object, member: name } = instance;
  const content = name === undefined ? undefined : member(object, name);
  // Of an unknown type, the member that holds the value is the best evidence.
  const kind = instance.how === 'foreign' ? KIND_OF_MEMBER.get(name ?? '') : instance.kind;
  if (name === undefined || content === undefined || kind === undefined)
    return { shape: 'as-is', path: [], content: object };
  if (WRAPPED_KINDS.has(kind) && !unwraps)
    return { shape: 'wrapped', path: [], content: object, member: name };
  return { shape: SHAPES.get(kind) ?? 'as-is', path: [name], content };
}

const SHAPES: ReadonlyMap<string, Place['shape']> = new Map<string, Place['shape']>([
  ['Property', 'value'],
  ['GeoProperty', 'geometry'],
  ['ListProperty', 'value'],
  ['ListRelationship', 'objects'],
]);

/** The place of a value in key-values form. `unwraps`: as for {@link placeOf}, where the value came wrapped. */
export function keyValuesPlaceOf(submitted: JsonValue, unwraps: boolean): Place {
  const name = unwraps ? wrappedMemberOf(submitted) : undefined;
  const content = name !== undefined && isObject(submitted) ? member(submitted, name) : undefined;
  return name === undefined || content === undefined
    ? { shape: 'value', path: [], content: submitted }
    : { shape: 'as-is', path: [name], content };
}

/** The value in key-values form. */
export function keyValueAt({ shape, content, member: name }: Place, isKeyValues: boolean): JsonValue {
  switch (shape) {
    case 'value':
      return plainValue(content, isKeyValues ? KEY_VALUES : NORMALIZED);
    case 'geometry':
      return typeof content === 'string' ? (geometryInText(content) ?? content) : content;
    case 'objects':
      return isArray(content) ? content.map((item) => objectIn(item) ?? item) : content;
    case 'wrapped':
      return name === undefined || !isObject(content) ? content : { [name]: member(content, name) ?? null };
    case 'as-is':
      return content;
  }
}

/** Tokens below the instance of what has these tokens in {@link keyValueAt}. */
export function tokensAt(place: Place, tokens: readonly string[], isKeyValues: boolean): readonly string[] {
  const { shape, path, content } = place;
  switch (shape) {
    case 'value':
      return [...path, ...tokensInValue(content, tokens, isKeyValues ? KEY_VALUES : NORMALIZED)];
    case 'geometry':
      return typeof content === 'string' ? path : [...path, ...tokens];
    case 'objects': {
      const [index, ...others] = tokens;
      if (index === undefined) return path;
      const item = isArray(content) ? content[Number(index)] : undefined;
      const object = objectIn(item) === undefined ? [] : ['object'];
      return [...path, index, ...object, ...others];
    }
    case 'wrapped':
    case 'as-is':
      return [...path, ...tokens];
  }
}

function objectIn(item: JsonValue | undefined): JsonValue | undefined {
  return isObject(item) ? member(item, 'object') : undefined;
}
