import {
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  member,
  objectOf,
} from '../../shared/json/json.js';
import {
  type AttributeKind,
  KIND_BY_MEMBER,
  NON_ATTRIBUTE_MEMBERS,
  VALUE_MEMBERS,
  WRAPPED_KINDS,
} from '../members.js';
import { idMemberOf, isOfModel, typeMemberOf } from './entity-checks.js';
import { type Entries, wrappedMemberOf } from './form.js';
import { geometryInText } from './geometry.js';
import {
  datasetsOf,
  type Instance,
  instanceOf,
  instancesOf,
  plainValue,
  type LocatedInstance,
  tokensInValue,
} from './instances.js';

/**
 * The value of an instance, and how to convert it to the key-values form:
 * - `value`: remove wrappings;
 * - `geometry`: unchanged, or parsed if it is a string;
 * - `objects`: the URIs in a list of `{"object": URI}`;
 * - `wrapped`: the instance with only the member of its value;
 * - `as-is`: unchanged.
 */
interface ValueLocation {
  readonly shape: 'value' | 'geometry' | 'objects' | 'wrapped' | 'as-is';
  /** The place of `content`, relative to the instance. */
  readonly path: readonly string[];
  readonly content: JsonValue;
  /** For `wrapped`: the member to keep. */
  readonly member?: string;
}

/**
 * Finds the value of a normalized or concise instance.
 *
 * @param unwraps whether to use the value of a LanguageProperty, VocabProperty or JsonProperty without its wrapping
 * object
 */
function locateValue(instance: Instance, unwraps: boolean): ValueLocation {
  if (instance.how === 'bare')
    return { shape: instance.kind === 'GeoProperty' ? 'as-is' : 'value', path: [], content: instance.value };
  const { object, member: name } = instance;
  const content = name === undefined ? undefined : member(object, name);
  // For an unknown type, the member that holds the value is the best indication of the kind.
  const kind = instance.how === 'foreign' ? KIND_BY_MEMBER.get(name ?? '') : instance.kind;
  if (name === undefined || content === undefined || kind === undefined)
    return { shape: 'as-is', path: [], content: object };
  if (WRAPPED_KINDS.has(kind) && !unwraps)
    return { shape: 'wrapped', path: [], content: object, member: name };
  return { shape: SHAPES.get(kind) ?? 'as-is', path: [name], content };
}

const SHAPES: ReadonlyMap<string, ValueLocation['shape']> = new Map<string, ValueLocation['shape']>([
  ['Property', 'value'],
  ['GeoProperty', 'geometry'],
  ['ListProperty', 'value'],
  ['ListRelationship', 'objects'],
]);

/** Finds a value in key-values form. `unwraps`: as for {@link locateValue}, if the value came wrapped. */
function locateKeyValue(submitted: JsonValue, unwraps: boolean): ValueLocation {
  const name = unwraps ? wrappedMemberOf(submitted) : undefined;
  const content = name !== undefined && isObject(submitted) ? member(submitted, name) : undefined;
  return name === undefined || content === undefined
    ? { shape: 'value', path: [], content: submitted }
    : { shape: 'as-is', path: [name], content };
}

/** Returns the value in key-values form. */
function keyValueOf({ shape, content, member: name }: ValueLocation, isKeyValues: boolean): JsonValue {
  switch (shape) {
    case 'value':
      // In key-values form, a value that looks like an attribute is just a value.
      return plainValue(content, !isKeyValues);
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

/** Returns the key-values form of an instance whose kind is known. @param unwraps see {@link locateValue} */
export function keyValueOfTyped(object: JsonObject, kind: AttributeKind, unwraps: boolean): JsonValue {
  const instance = { how: 'typed', object, kind, member: VALUE_MEMBERS[kind] } as const;
  return keyValueOf(locateValue(instance, unwraps), false);
}

/** Maps tokens in the result of {@link keyValueOf} to tokens relative to the instance. */
function submittedTokens(
  place: ValueLocation,
  tokens: readonly string[],
  isKeyValues: boolean,
): readonly string[] {
  const { shape, path, content } = place;
  switch (shape) {
    case 'value':
      return [...path, ...tokensInValue(content, tokens, !isKeyValues)];
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

/** How to convert an entity to its key-values form. */
interface Conversion {
  readonly isKeyValues: boolean;
  /** Whether to treat every array of objects as instances. */
  readonly isNormalized: boolean;
  readonly model: string | undefined;
  readonly unwraps: (attribute: string) => boolean;
}

/** An attribute with more than one instance. */
interface MultipleInstances {
  readonly name: string;
  /** All instances except the default one or, without a default, the first. */
  readonly others: readonly LocatedInstance[];
}

/** An entity in key-values form (clause 4.5.4), with the mapping of its parts to the submitted entity. */
export class KeyValues {
  readonly #entity: JsonObject;
  readonly #conversion: Conversion;
  readonly #entries: (readonly [string, JsonValue])[] = [];
  readonly multipleInstances: readonly MultipleInstances[];
  readonly kinds: ReadonlyMap<string, AttributeKind>;

  constructor(entity: JsonObject, entries: Entries, conversion: Conversion) {
    this.#entity = entity;
    this.#conversion = conversion;
    const several: MultipleInstances[] = [];
    const kinds = new Map<string, AttributeKind>();
    for (const [name, value] of entries) {
      if (NON_ATTRIBUTE_MEMBERS.has(name)) {
        this.#addMember(name, value);
        continue;
      }
      const instances = this.#instances(value);
      const submitted = instances[0]?.submitted ?? value;
      if (instances.length > 1) several.push({ name, others: instances.slice(1) });
      const instance = conversion.isKeyValues ? undefined : instanceOf(submitted);
      this.#entries.push([name, this.#convert(name, submitted, instance)]);
      if (instance !== undefined && instance.how !== 'foreign') kinds.set(name, instance.kind);
    }
    this.multipleInstances = several;
    this.kinds = kinds;
  }

  /** Number of members in the key-values form. */
  get size(): number {
    return this.#entries.length;
  }

  /** Returns the whole form; if an attribute and an instance are given, with that instance of the attribute. */
  toObject(attribute?: string, instance?: LocatedInstance): JsonObject {
    if (attribute === undefined || instance === undefined) return objectOf(this.#entries);
    const value = this.#convert(attribute, instance.submitted);
    return objectOf(this.#entries.map((entry) => (entry[0] === attribute ? [attribute, value] : entry)));
  }

  /** Maps a place in {@link toObject} to its place in the entity as submitted; a missing member keeps its name. */
  locate(tokens: readonly string[], attribute?: string, instance?: LocatedInstance): readonly string[] {
    const [name, ...below] = tokens;
    if (name === undefined) return [];
    if (name === 'id') return [idMemberOf(this.#entity), ...below];
    if (name === 'type') return [...this.#locateType(), ...below];
    const value = member(this.#entity, name);
    if (value === undefined || NON_ATTRIBUTE_MEMBERS.has(name)) return tokens;
    const placed = name === attribute ? instance : this.#instances(value)[0];
    if (placed === undefined) return tokens;
    const place = this.#locateValue(name, placed.submitted);
    return [name, ...placed.path, ...submittedTokens(place, below, this.#conversion.isKeyValues)];
  }

  #addMember(name: string, value: JsonValue): void {
    const isId = name === idMemberOf(this.#entity);
    const isType = name === typeMemberOf(this.#entity);
    if (isId) this.#entries.push(['id', value]);
    else if (isType) this.#entries.push(['type', this.#typeFor(value)]);
    else if (!name.startsWith('@')) this.#entries.push([name, value]);
  }

  /** Returns the type that schemas expect: the model's name, even if the entity has further types or names it by an IRI. */
  #typeFor(type: JsonValue): JsonValue {
    const { model } = this.#conversion;
    return model !== undefined && isOfModel(type, model) ? model : type;
  }

  #locateType(): readonly string[] {
    const name = typeMemberOf(this.#entity);
    const type = member(this.#entity, name);
    const { model } = this.#conversion;
    const index =
      isArray(type) && model !== undefined ? type.findIndex((item) => isOfModel(item, model)) : -1;
    return index < 0 ? [name] : [name, String(index)];
  }

  #instances(value: JsonValue): readonly LocatedInstance[] {
    const { isKeyValues, isNormalized } = this.#conversion;
    return isKeyValues ? datasetsOf(value) : instancesOf(value, isNormalized);
  }

  #locateValue(name: string, submitted: JsonValue, known?: Instance): ValueLocation {
    const unwraps = this.#conversion.unwraps(name);
    return this.#conversion.isKeyValues
      ? locateKeyValue(submitted, unwraps)
      : locateValue(known ?? instanceOf(submitted), unwraps);
  }

  #convert(name: string, submitted: JsonValue, known?: Instance): JsonValue {
    return keyValueOf(this.#locateValue(name, submitted, known), this.#conversion.isKeyValues);
  }
}
