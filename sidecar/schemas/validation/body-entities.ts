import { typeMemberOf } from '../../ngsi-ld/representation/entity-checks.js';
import type { SubmittedForm } from '../../ngsi-ld/representation/form.js';
import { featuresIn, isFeature } from '../../ngsi-ld/representation/geojson.js';
import { localName } from '../../ngsi-ld/representation/names.js';
import {
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  member,
  pointerOf,
} from '../../shared/json/json.js';
import type { TaskRefusal } from '../../shared/task-answer.js';

/** Maximum number of entities in one body. */
export const MAX_ENTITIES = 10_000;

/** Maximum number of faults that a refusal lists. */
const MAX_LISTED = 100;

/** Why a body is refused. */
export type ValidationRefusal = TaskRefusal<'bodyInvalid' | 'limitExceeded'>;

/** An entity, and the reference tokens that lead to it in the body. */
export interface PlacedEntity {
  readonly entity: JsonObject;
  readonly path: readonly string[];
}

/** The entities of a body. */
export interface BodyEntities {
  readonly entities: readonly PlacedEntity[];
  /** Whether the body is an array of entities, or a GeoJSON FeatureCollection, even of one Feature. */
  readonly isList: boolean;
}

/**
 * Finds the entities of a body: the body itself, the items of an array, or the Features of a FeatureCollection.
 *
 * @param form the claimed form; only GeoJSON has collections
 * @param types the types that entities may have; `FeatureCollection` may be one
 */
export function entitiesIn(
  body: JsonValue,
  form: SubmittedForm | undefined,
  types: readonly string[] = [],
): BodyEntities | { readonly refused: ValidationRefusal } {
  const mayBeGeoJson = form === 'geojson' || (form === undefined && !types.includes('FeatureCollection'));
  const features = mayBeGeoJson ? featuresIn(body) : undefined;
  if (features !== undefined) return listed(features, ['features']);
  if (isArray(body)) return listed(body, []);
  return isObject(body) ? { entities: [{ entity: body, path: [] }], isList: false } : invalid([[]]);
}

function listed(
  items: readonly JsonValue[],
  base: readonly string[],
): BodyEntities | { readonly refused: ValidationRefusal } {
  if (items.length > MAX_ENTITIES) {
    const detail = `holds ${items.length} entities, more than ${MAX_ENTITIES}`;
    const errors = [{ pointer: pointerOf(base), detail }];
    return { refused: { kind: 'limitExceeded', detail: `The body ${detail}.`, errors } };
  }
  const pathOf = (index: number) => [...base, String(index)];
  const others = items.flatMap((item, index) => (isObject(item) ? [] : [pathOf(index)]));
  if (others.length > 0) return invalid(others);
  const entities = items.flatMap((item, index) =>
    isObject(item) ? [{ entity: item, path: pathOf(index) }] : [],
  );
  return { entities, isList: true };
}

/** @param places of the values that should be entities */
function invalid(places: readonly (readonly string[])[]): { readonly refused: ValidationRefusal } {
  return {
    refused: {
      kind: 'bodyInvalid',
      detail: 'The body is neither an entity nor an array of entities.',
      errors: places.slice(0, MAX_LISTED).map((tokens) => ({
        pointer: pointerOf(tokens),
        detail:
          tokens.length === 0
            ? 'must be an entity, or an array of entities'
            : 'must be an entity, that is, an object',
      })),
    },
  };
}

/** A set of types that entities of a body have, and the place of the first such entity. */
export interface TypesInBody {
  readonly types: readonly NamedType[];
  /** JSON pointer to the entity. */
  readonly pointer: string;
}

/** A type as written in an entity, and the name at its end if it is an IRI. */
export interface NamedType {
  readonly type: string;
  readonly localName: string;
}

/** Maximum number of different types among the entities of one body. */
const MAX_TYPES = 100;

const TOO_MANY_TYPES: ValidationRefusal = {
  kind: 'limitExceeded',
  detail: `The entities have more than ${MAX_TYPES} different types: send fewer at a time.`,
  errors: [],
};

/** The types of entities, once for each different set; refused if an entity has no type. */
export function typesInBody(
  entities: readonly PlacedEntity[],
  form: SubmittedForm | undefined,
): readonly TypesInBody[] | { readonly refused: ValidationRefusal } {
  const lists = new Map<string, TypesInBody>();
  const untyped: string[] = [];
  const all = new Set<string>();
  for (const { entity, path } of entities) {
    const types = typesOf(entity, form);
    const pointer = pointerOf(path);
    if (types.length === 0) untyped.push(pointer);
    for (const type of types) all.add(type);
    if (all.size > MAX_TYPES) return { refused: TOO_MANY_TYPES };
    const list = JSON.stringify([...types].sort());
    if (!lists.has(list))
      lists.set(list, { types: types.map((type) => ({ type, localName: localName(type) })), pointer });
  }
  return untyped.length > 0 ? { refused: refusalOfUntyped(untyped) } : [...lists.values()];
}

/** The types that an entity states; for a Feature, those of the entity inside. */
export function typesOf(entity: JsonObject, form: SubmittedForm | undefined): readonly string[] {
  const isGeoJson = form === 'geojson' || (form === undefined && isFeature(entity));
  const properties = isGeoJson ? member(entity, 'properties') : undefined;
  const holder = isObject(properties) ? properties : entity;
  const type = member(holder, typeMemberOf(holder));
  return (isArray(type) ? type : [type]).filter(
    (one) => typeof one === 'string' && one !== '',
  ) as readonly string[];
}

function refusalOfUntyped(pointers: readonly string[]): ValidationRefusal {
  const detail = 'must have a type, such as "Vehicle", by which its model is found';
  return {
    kind: 'bodyInvalid',
    detail: `The body is invalid: ${pointers[0] === '' ? 'it' : String(pointers[0])} ${detail}.`,
    errors: pointers.slice(0, MAX_LISTED).map((pointer) => ({ pointer, detail })),
  };
}
