import { fullFormats } from 'ajv-formats/dist/formats.js';
import type { FactType } from './facts.js';
import type { JsonValue } from '../../shared/json/json.js';

/** Formats of numbers, and the numbers that they may refuse: `float` and `double` take them all. */
const NUMBER_FORMATS: Readonly<Record<string, readonly FactType[]>> = {
  int32: ['integer', 'fraction'],
  int64: ['fraction'],
  float: [],
  double: [],
};

/** The types of values that a format may refuse; it takes all others. None for a format that is not asserted. */
export function typesRefusedBy(format: string): readonly FactType[] {
  if (!Object.hasOwn(fullFormats, format) || ['password', 'binary'].includes(format)) return [];
  return (Object.hasOwn(NUMBER_FORMATS, format) ? NUMBER_FORMATS[format] : undefined) ?? ['string'];
}

/** Whether a value has a format, by the same check that validators make; formats that are not asserted accept everything. */
export function hasFormat(format: string, value: JsonValue): boolean {
  const definition = DEFINITIONS.get(format);
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
