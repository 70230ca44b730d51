import { fullFormats } from 'ajv-formats/dist/formats.js';
import type { JsonValue } from './json.js';

/** Whether a format is asserted. Any other is accepted and means nothing. */
export function isAssertedFormat(format: string): boolean {
  return Object.hasOwn(fullFormats, format) && !['password', 'binary'].includes(format);
}

/** Whether a value has a format, by the very check that validators make; formats that are not asserted take all. */
export function hasFormat(format: string, value: JsonValue): boolean {
  const definition = isAssertedFormat(format) ? DEFINITIONS.get(format) : undefined;
  if (definition === undefined || typeof definition === 'boolean' || typeof definition === 'string')
    return true;
  if (typeof definition === 'function' || definition instanceof RegExp)
    return typeof value !== 'string' || passes(definition, value);
  const { type = 'string', validate } = definition;
  return typeof value !== type || passes(validate, value);
}

/** The libraries' types leave open what a check takes; it is only given values of its type. */
function passes(check: unknown, value: JsonValue): boolean {
  if (check instanceof RegExp) return typeof value === 'string' && check.test(value);
  return typeof check !== 'function' || (check as (value: JsonValue) => unknown)(value) === true;
}

const DEFINITIONS: ReadonlyMap<string, (typeof fullFormats)[keyof typeof fullFormats]> = new Map(
  Object.entries(fullFormats),
);
