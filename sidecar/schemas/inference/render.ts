import { objectOf, type JsonObject, type JsonValue } from '../../shared/json/json.js';
import { SCHEMA_LIMITS } from '../json-schema/limits.js';
import { tooRich } from './errors.js';
import { definitionRef, geometryDefinitions, GEOMETRY_TYPES, type GeometryType } from './geojson.js';
import { LANGUAGE_MAP } from './language-map.js';
import { isGeometryOnly, typesIn, type ObjectsShape, type Shape, type ShapeType } from './shape.js';

/** Writes shapes as JSON Schemas of draft 2020-12, and keeps account of the definitions that they refer to. */
export class Renderer {
  readonly #geometries = new Set<GeometryType>();
  #count = 0;

  /** What the schemas written so far refer to, by name in `$defs`; undefined when that is nothing. */
  get definitions(): JsonObject | undefined {
    return this.#geometries.size === 0 ? undefined : objectOf(geometryDefinitions(this.#geometries));
  }

  /**
   * The schema of one place. Keywords on one type say nothing of the others, so that mixed types need no alternatives;
   * geometries alone stand beside the rest under `anyOf`.
   *
   * @throws {SamplesTooRichError} before writing more schemas than one may have
   */
  schemaOf(shape: Shape, enumerates: boolean): JsonObject {
    this.#count += 1;
    if (this.#count > SCHEMA_LIMITS.subschemas)
      throw tooRich(`more than ${SCHEMA_LIMITS.subschemas} schemas`);
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
   * The keywords on the members of objects. Where objects of several kinds are at one place, or have too many names, any
   * will do; but members that wrap a value are named, for that tells validation what the value of an attribute is.
   *
   * @param mayLack whether a member is not required, even though all objects have it
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
    const { geometries, languages, others } = objects;
    if (languages === undefined || geometries !== undefined || others > 0)
      return this.members(objects, (_, shape) => this.schemaOf(shape, enumerates));
    // Of an empty map nothing is known of its texts.
    const texts = languages.types !== 0 && { additionalProperties: this.schemaOf(languages, enumerates) };
    return {
      required: [LANGUAGE_MAP],
      properties: { [LANGUAGE_MAP]: { type: 'object', ...texts } },
    };
  }
}

/** An entity's own identity comes first, then names by their UTF-16 units. */
function compareNames(one: string, other: string): number {
  const rank = (name: string) => (name === 'id' ? 0 : name === 'type' ? 1 : 2);
  return rank(one) - rank(other) || (one < other ? -1 : one > other ? 1 : 0);
}

function typeKeyword(types: readonly ShapeType[]): { readonly type?: JsonValue } {
  // A fraction makes a number of the integers beside it.
  const names = types
    .filter((type) => type !== 'integer' || !types.includes('fraction'))
    .map((type) => (type === 'fraction' ? 'number' : type));
  const [first] = names;
  if (first === undefined) return {};
  return { type: names.length === 1 ? first : names };
}

/** What a place may hold, where that is words alone, or null. */
function enumerationOf(words: Shape['words'], types: readonly ShapeType[]): readonly JsonValue[] | undefined {
  const isWordsOnly = types.every((type) => type === 'string' || type === 'null');
  if (!words || !isWordsOnly) return undefined;
  return [...[...words].sort(), ...(types.includes('null') ? [null] : [])];
}
