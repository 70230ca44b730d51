import { isArray, type JsonObject, type JsonValue } from '../json-schema/json.js';

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
