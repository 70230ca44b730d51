import type { AttributeKind } from '../../ngsi-ld/attribute-kinds.js';
import type { JsonObject } from '../../shared/json/json.js';
import { NO_OWN_ATTRIBUTES } from '../../ngsi-ld/entity-members.js';
import { isGeometryOnly, isLanguageMapOnly, typesIn, type Shape } from './shape.js';

type Kinds = ReadonlyMap<string, AttributeKind>;
type Units = ReadonlyMap<string, ReadonlySet<string | undefined>>;

/** What the samples say of attributes that no keyword of JSON Schema says: their kind, and their unit. */
export class Annotations {
  readonly #kinds = new Map<string, Set<AttributeKind>>();
  readonly #units = new Map<string, Set<string | undefined>>();

  add(kinds: Kinds, units: Units): void {
    for (const [name, kind] of kinds) setAt(this.#kinds, name).add(kind);
    for (const [name, codes] of units) for (const code of codes) setAt(this.#units, name).add(code);
  }

  /**
   * The schema of an attribute with `x-ngsi`: its kind, where all samples that name one agree, or where its values can
   * be of one kind only; its unit code, where all agree.
   */
  annotated(name: string, shape: Shape, schema: JsonObject): JsonObject {
    if (NO_OWN_ATTRIBUTES.has(name)) return schema;
    const kinds = this.#kinds.get(name);
    const kind = kinds === undefined ? kindByValue(shape) : onlyOne(kinds);
    const units = onlyOne(this.#units.get(name));
    if (kind === undefined && units === undefined) return schema;
    return { ...schema, 'x-ngsi': { ...(kind && { type: kind }), ...(units !== undefined && { units }) } };
  }
}

/** The kind of an attribute that was only seen in key-values form, where its values tell. */
function kindByValue(shape: Shape): AttributeKind | undefined {
  if (refersToEntities(shape)) return 'Relationship';
  const { types, objects } = shape;
  const isObjectsOnly = typesIn(types).every((type) => type === 'object' || type === 'null');
  if (!isObjectsOnly || objects === undefined) return undefined;
  if (isGeometryOnly(objects)) return 'GeoProperty';
  return isLanguageMapOnly(objects) ? 'LanguageProperty' : undefined;
}

/** Ids of entities, or arrays of them. */
function refersToEntities({ types, areEntityIds, items }: Shape): boolean {
  const seen = typesIn(types).filter((type) => type !== 'null');
  const areItemsIds = items === undefined || (items.areEntityIds === true && onlyStrings(items));
  const isThere = areEntityIds === true || items?.areEntityIds === true;
  return (
    isThere &&
    areEntityIds !== false &&
    areItemsIds &&
    seen.every((type) => type === 'string' || type === 'array')
  );
}

function onlyStrings({ types }: Shape): boolean {
  return typesIn(types).every((type) => type === 'string');
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
