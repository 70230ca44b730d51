import { typeMemberOf } from '../../ngsi-ld/representation/entity-checks.js';
import type { SubmittedForm } from '../../ngsi-ld/representation/form.js';
import { isFeature } from '../../ngsi-ld/representation/geojson.js';
import { localName } from '../../ngsi-ld/representation/names.js';
import { isArray, isObject, type JsonObject, member } from '../../shared/json/json.js';
import { pointerOf } from '../../shared/json/pointer.js';
import type { PlacedEntity, ValidationRefusal } from './entities-in.js';

/** The types of some entities of a body, and where the first of them stands. */
export interface TypesInBody {
  readonly types: readonly NamedType[];
  /** JSON pointer to the entity. */
  readonly pointer: string;
}

/** A type as an entity has it, and the name at its end where it is an IRI. */
export interface NamedType {
  readonly type: string;
  readonly localName: string;
}

/** Different types that the entities of one body may have. */
const MAX_TYPES = 100;

/** Faults that a refusal lists. */
const MAX_LISTED = 100;

const TOO_MANY_TYPES: ValidationRefusal = {
  code: 'LIMIT_EXCEEDED',
  detail: `The entities have more than ${MAX_TYPES} different types: send fewer at a time.`,
  errors: [],
};

/** The types of entities, once for each set of them; refused where an entity has none. */
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

/** The types that an entity says it has; of a Feature, the entity within. */
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
    code: 'BODY_INVALID',
    detail: `The body is invalid: ${pointers[0] === '' ? 'it' : String(pointers[0])} ${detail}.`,
    errors: pointers.slice(0, MAX_LISTED).map((pointer) => ({ pointer, detail })),
  };
}
