import { type AttributeKind, NON_ATTRIBUTE_MEMBERS } from '../../ngsi-ld/members.js';
import { type JsonObject, type JsonValue, objectOf } from '../../shared/json/json.js';
import { SCHEMA_LIMITS } from '../json-schema/limits.js';
import { limitExceeded } from './errors.js';
import {
  definitionRef,
  GEOMETRY_TYPES,
  geometryDefinitions,
  type GeometryType,
  LANGUAGE_MAP,
} from './geojson.js';
import {
  isGeometryOnly,
  isLanguageMapOnly,
  type ObjectsShape,
  type Shape,
  type ShapeType,
  typesIn,
} from './shape.js';

/** Converts shapes to JSON Schemas of draft 2020-12, and keeps track of the definitions that they refer to. */
export class Renderer {
  readonly #geometries = new Set<GeometryType>();
  #count = 0;

  /** The definitions that the schemas so far refer to, by name in `$defs`; undefined if there are none. */
  get definitions(): JsonObject | undefined {
    return this.#geometries.size === 0 ? undefined : objectOf(geometryDefinitions(this.#geometries));
  }

  /**
   * Returns the schema of one place. Keywords for one type do not affect other types, so mixed types need no
   * alternatives; only geometries need an `anyOf` next to the rest.
   *
   * @throws {SamplesRefusedError} before making more schemas than allowed
   */
  schemaOf(shape: Shape, enumerates: boolean): JsonObject {
    this.#count += 1;
    if (this.#count > SCHEMA_LIMITS.subschemas)
      throw limitExceeded(`more than ${SCHEMA_LIMITS.subschemas} schemas`);
    const { objects } = shape;
    const types = typesIn(shape.types);
    if (objects === undefined || !isGeometryOnly(objects)) return this.#plain(shape, types, enumerates);
    const branches = GEOMETRY_TYPES.filter((type) => objects.geometries?.has(type)).map((type) => {
      this.#geometries.add(type);
      return definitionRef(type);
    });
    const rest = types.filter((type) => type !== 'object');
    if (rest.length > 0) branches.push(this.#plain(shape, rest, enumerates));
    const [first] = branches;
    return first !== undefined && branches.length === 1 ? first : { anyOf: branches };
  }

  /**
   * Returns the keywords for the members of objects. If a place has objects of several kinds, or too many names, any
   * object is accepted; but members that wrap a value are listed, because validation must know what the value of an
   * attribute is.
   *
   * @param mayLack whether a member is optional even though all objects have it
   */
  members(
    { geometries, languages, wrappings, others, members }: ObjectsShape,
    schemaOf: (name: string, shape: Shape) => JsonObject,
    mayLack: (shape: Shape) => boolean = () => false,
  ): JsonObject {
    if (geometries || (languages && others > 0) || !members) {
      const named = [...(wrappings ?? [])].sort().map((name) => [name, {}] as const);
      return named.length === 0 ? {} : { properties: objectOf(named) };
    }
    const sorted = [...members].sort(([one], [other]) => compareNames(one, other));
    const required = sorted
      .filter(([, shape]) => shape.count === others && !mayLack(shape))
      .map(([name]) => name);
    return {
      ...(required.length > 0 && { required }),
      ...(sorted.length > 0 && {
        properties: objectOf(sorted.map(([name, shape]) => [name, schemaOf(name, shape)])),
      }),
    };
  }

  #plain(shape: Shape, types: readonly ShapeType[], enumerates: boolean): JsonObject {
    const { objects, items, format, words } = shape;
    const enumeration = enumerates ? enumerationOf(words, types) : undefined;
    return {
      ...typeKeyword(types),
      ...(enumeration && { enum: enumeration }),
      ...(typeof format === 'string' && { format }),
      ...(items && { items: this.schemaOf(items, enumerates) }),
      ...(types.includes('object') && objects && this.#objects(objects, enumerates)),
    };
  }

  #objects(objects: ObjectsShape, enumerates: boolean): JsonObject {
    const { languages } = objects;
    if (languages === undefined || !isLanguageMapOnly(objects))
      return this.members(objects, (_, shape) => this.schemaOf(shape, enumerates));
    // An empty map says nothing about its texts.
    const texts = languages.types !== 0 && { additionalProperties: this.schemaOf(languages, enumerates) };
    return {
      required: [LANGUAGE_MAP],
      properties: { [LANGUAGE_MAP]: { type: 'object', ...texts } },
    };
  }
}

/** Orders id and type first, then names by their UTF-16 code units. */
function compareNames(one: string, other: string): number {
  const rank = (name: string) => (name === 'id' ? 0 : name === 'type' ? 1 : 2);
  return rank(one) - rank(other) || (one < other ? -1 : one > other ? 1 : 0);
}

function typeKeyword(types: readonly ShapeType[]): { readonly type?: JsonValue } {
  // With fractions, integers are numbers too.
  const names = types
    .filter((type) => type !== 'integer' || !types.includes('fraction'))
    .map((type) => (type === 'fraction' ? 'number' : type));
  const [first] = names;
  if (first === undefined) return {};
  return { type: names.length === 1 ? first : names };
}

/** Returns the values of a place that only has words, or null. */
function enumerationOf(words: Shape['words'], types: readonly ShapeType[]): readonly JsonValue[] | undefined {
  const isWordsOnly = types.every((type) => type === 'string' || type === 'null');
  if (!words || !isWordsOnly) return undefined;
  return [...[...words].sort(), ...(types.includes('null') ? [null] : [])];
}

type Kinds = ReadonlyMap<string, AttributeKind>;
type Units = ReadonlyMap<string, ReadonlySet<string | undefined>>;

/** What samples reveal about attributes that no keyword of JSON Schema can express: their kind and their unit. */
export class Annotations {
  readonly #kinds = new Map<string, Set<AttributeKind>>();
  readonly #units = new Map<string, Set<string | undefined>>();

  add(kinds: Kinds, units: Units): void {
    for (const [name, kind] of kinds) setAt(this.#kinds, name).add(kind);
    for (const [name, codes] of units) for (const code of codes) setAt(this.#units, name).add(code);
  }

  /**
   * Adds `x-ngsi` to the schema of an attribute: its kind, if all samples that state one agree or its values can only
   * be of one kind; and its unit code, if all agree.
   */
  annotated(name: string, shape: Shape, schema: JsonObject): JsonObject {
    if (NON_ATTRIBUTE_MEMBERS.has(name)) return schema;
    const kinds = this.#kinds.get(name);
    const kind = kinds === undefined ? kindByValue(shape) : onlyOne(kinds);
    const units = onlyOne(this.#units.get(name));
    if (kind === undefined && units === undefined) return schema;
    return { ...schema, 'x-ngsi': { ...(kind && { type: kind }), ...(units !== undefined && { units }) } };
  }
}

/** Returns the kind of an attribute that was only seen in key-values form, if its values reveal it. */
function kindByValue(shape: Shape): AttributeKind | undefined {
  if (refersToEntities(shape)) return 'Relationship';
  const { types, objects } = shape;
  const isObjectsOnly = typesIn(types).every((type) => type === 'object' || type === 'null');
  if (!isObjectsOnly || objects === undefined) return undefined;
  if (isGeometryOnly(objects)) return 'GeoProperty';
  return isLanguageMapOnly(objects) ? 'LanguageProperty' : undefined;
}

/** Whether the values are ids of entities, or arrays of them. */
function refersToEntities({ types, areEntityIds, items }: Shape): boolean {
  const isThere = areEntityIds === true || items?.areEntityIds === true;
  if (!isThere || areEntityIds === false || items?.areEntityIds === false) return false;
  const isOnly = (seen: number, ...allowed: readonly ShapeType[]) =>
    typesIn(seen).every((type) => allowed.includes(type));
  return isOnly(types, 'string', 'array', 'null') && (items === undefined || isOnly(items.types, 'string'));
}

function onlyOne<Item>(items: ReadonlySet<Item> = new Set<Item>()): Item | undefined {
  return items.size === 1 ? [...items][0] : undefined;
}

function setAt<Item>(sets: Map<string, Set<Item>>, name: string): Set<Item> {
  const known = sets.get(name);
  if (known !== undefined) return known;
  const added = new Set<Item>();
  sets.set(name, added);
  return added;
}
