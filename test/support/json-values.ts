import {
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  objectOf,
  childAt,
} from '../../sidecar/shared/json/json.js';

/** Returns the value with the members of all its objects in reverse order. */
export function reversed(value: JsonObject): JsonObject;
export function reversed(value: JsonValue): JsonValue;
export function reversed(value: JsonValue): JsonValue {
  if (isArray(value)) return value.map((item) => reversed(item));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([name, held]) => [name, reversed(held)] as const);
  return objectOf(entries.reverse());
}

/** Returns what reference tokens lead to in a value. */
export function valueAt(value: JsonValue, tokens: readonly string[]): JsonValue | undefined {
  return tokens.reduce<JsonValue | undefined>(childAt, value);
}
