import { isArray, isObject, type JsonValue } from '../../shared/json/json.js';

/** The type of a value, by the name that schemas have for it; all numbers are numbers. */
export function jsonType(value: JsonValue): 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object' {
  if (value === null) return 'null';
  if (isArray(value)) return 'array';
  if (isObject(value)) return 'object';
  switch (typeof value) {
    case 'boolean':
      return 'boolean';
    case 'number':
      return 'number';
    default:
      return 'string';
  }
}

/** Whether a value is of a type of JSON Schema: 1.0 is an integer. */
export function isOfType(value: JsonValue, type: string): boolean {
  return type === 'integer' ? Number.isInteger(value) : jsonType(value) === type;
}
