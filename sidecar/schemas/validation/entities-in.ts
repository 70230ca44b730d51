import type { SubmittedForm } from '../../ngsi-ld/representation/form.js';
import { featuresIn } from '../../ngsi-ld/representation/geojson.js';
import { isArray, isObject, type JsonObject, type JsonValue } from '../../shared/json/json.js';
import { pointerOf } from '../../shared/json/pointer.js';
import type { TaskRefusal } from '../../shared/task-answer.js';

/** Entities of one body. */
export const MAX_ENTITIES = 10_000;

/** Faults that a refusal lists. */
const MAX_LISTED = 100;

/** Why a body is refused. */
export type ValidationRefusal = TaskRefusal<'bodyInvalid' | 'limitExceeded'>;

/** An entity, and the reference tokens that lead to it in the body. */
export interface PlacedEntity {
  readonly entity: JsonObject;
  readonly path: readonly string[];
}

export interface BodyEntities {
  readonly entities: readonly PlacedEntity[];
  /** Whether the body is an array of entities, or a GeoJSON FeatureCollection, even of one. */
  readonly isList: boolean;
}

/**
 * The entities of a body: itself, the items of an array, or the Features of a FeatureCollection.
 *
 * @param form that is claimed; in another than GeoJSON there are no collections
 * @param types that entities may have; `FeatureCollection` may be one
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

/** @param places of what should be an entity */
function invalid(places: readonly (readonly string[])[]): { readonly refused: ValidationRefusal } {
  return {
    refused: {
      kind: 'bodyInvalid',
      detail: 'The body is neither an entity nor an array of entities.',
      errors: places.slice(0, MAX_LISTED).map((tokens) => ({
        pointer: pointerOf(tokens),
        detail:
          tokens.length === 0 ? 'must be an entity, or an array of entities' : 'must be an entity, an object',
      })),
    },
  };
}
