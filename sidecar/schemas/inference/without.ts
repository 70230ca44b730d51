import { objectOf, type JsonObject } from '../../shared/json/json.js';

/** The object without the members of these names; itself when it has none of them. */
export function without(object: JsonObject, names: ReadonlySet<string>): JsonObject {
  if (![...names].some((name) => Object.hasOwn(object, name))) return object;
  return objectOf(Object.entries(object).filter(([name]) => !names.has(name)));
}
