import { isArray, member, type JsonObject, type JsonValue } from '../../shared/json/json.js';
import { localName } from '../../ngsi-ld/representation/names.js';

const LONGEST_SHOWN = 100;

/** What keeps a sample from being one of the model, whose name is among the types of its entities; undefined for nothing. */
export function typeFault(type: JsonValue | undefined, model: string): string | undefined {
  if (type === undefined || type === model) return undefined;
  if (isArray(type) && type.includes(model) && type.every((name) => typeof name === 'string'))
    return undefined;
  const found = JSON.stringify(type);
  const shown = found.length > LONGEST_SHOWN ? `${found.slice(0, LONGEST_SHOWN)}…` : found;
  return `must be "${model}", or a list of types with it; found ${shown}`;
}

/** The schema of the member `type` of a model's entities. */
export function typeSchema(model: string, hasLists: boolean): JsonObject {
  const alone = { const: model };
  if (!hasLists) return alone;
  return { anyOf: [alone, { type: 'array', items: { type: 'string' }, contains: alone }] };
}

/**
 * A schema of `type` that lists types, with the names that IRIs among them end in: validation shows a schema the name of
 * its model where an entity has the IRI. Any other schema as it is.
 */
export function withLocalNames(schema: JsonObject): JsonObject {
  const listed = member(schema, 'enum');
  if (!isArray(listed)) return schema;
  const names = listed.filter((type) => typeof type === 'string');
  const all = new Set([...names, ...names.map(localName).filter((name) => name !== '')]);
  const types = [...[...all].sort(), ...listed.filter((type) => type === null)];
  const [only] = types;
  return only !== undefined && types.length === 1 ? { const: only } : { ...schema, enum: types };
}
