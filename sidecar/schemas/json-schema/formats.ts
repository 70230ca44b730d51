import type { Format } from 'ajv';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { compareDecimals, decimalOf } from '../../shared/json/decimal.js';
import { isNumber, type JsonNumber, type JsonValue } from '../../shared/json/json.js';
import { isDateTime, isDuration, isFullDate, isFullTime, isTimeOfDay } from '../../shared/rfc3339.js';
import type { ConstraintType } from './value-constraints.js';
import { IPV4, IPV6, IRI_GRAMMAR, URI_GRAMMAR, URI_TEMPLATE } from './uri.js';

/** A mailbox of RFC 5321 (section 4.1.2) with a domain of several labels, or with an address in brackets. */
const EMAIL = ((): RegExp => {
  const atom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
  const quoted = String.raw`"(?:[ !#-\[\]-~]|\\[ -~])*"`;
  const label = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
  const literal = String.raw`\[(?:${IPV4}|IPv6:${IPV6})\]`;
  return new RegExp(String.raw`^(?:${atom}(?:\.${atom})*|${quoted})@(?:(?:${label}\.)+${label}|${literal})$`);
})();

/**
 * The formats that are asserted: the same for validators, explanations, inference and change reports. The RFCs that
 * JSON Schema names for a format are decisive; the library's checks are kept where they agree with these.
 */
export const FORMATS: Readonly<Record<string, Format>> = {
  ...fullFormats,
  'date-time': isDateTime,
  date: isFullDate,
  time: isFullTime,
  duration: isDuration,
  'iso-date-time': isIsoDateTime,
  'iso-time': isIsoTime,
  uri: URI_GRAMMAR.absolute,
  'uri-reference': URI_GRAMMAR.reference,
  iri: IRI_GRAMMAR.absolute,
  'iri-reference': IRI_GRAMMAR.reference,
  'uri-template': URI_TEMPLATE,
  email: EMAIL,
  uuid: /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i,
  hostname: /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i,
  regex: isRegex,
  // The library accepts every integer as one of 64 bits.
  int64: { type: 'number', validate: isInt64 },
};

/** Whether a text is a time of ISO 8601; the offset may be missing, or have no minutes. */
function isIsoTime(text: string): boolean {
  const [time = '', offset] = text.split(/(?=[Zz+-])/);
  if (offset === undefined) return isTimeOfDay(time);
  return isFullTime(time + (/^[+-]\d\d$/.test(offset) ? `${offset}:00` : offset));
}

function isIsoDateTime(text: string): boolean {
  return /^[Tt]$/.test(text.charAt(10)) && isFullDate(text.slice(0, 10)) && isIsoTime(text.slice(11));
}

/** Whether a text is an ECMA-262 regular expression with the flag `u`, as required for `pattern`. */
function isRegex(text: string): boolean {
  try {
    new RegExp(text, 'u');
    return true;
  } catch {
    return false;
  }
}

const [MIN_INT64, MAX_INT64] = [decimalOf('-9223372036854775808'), decimalOf('9223372036854775807')];

function isInt64(value: JsonNumber): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && Math.abs(value) < 2 ** 63;
  const { isInteger, decimal } = value;
  return isInteger && compareDecimals(decimal, MIN_INT64) >= 0 && compareDecimals(decimal, MAX_INT64) <= 0;
}

/** Formats of numbers, and the types of numbers that they may refuse; `float` and `double` accept all numbers. */
const NUMBER_FORMATS: Readonly<Record<string, readonly ConstraintType[]>> = {
  int32: ['integer', 'fraction'],
  int64: ['integer', 'fraction'],
  float: [],
  double: [],
};

/** The types of values that a format may refuse; it accepts all others. Empty for a format that is not asserted. */
export function typesRefusedBy(format: string): readonly ConstraintType[] {
  if (!Object.hasOwn(FORMATS, format) || ['password', 'binary'].includes(format)) return [];
  return (Object.hasOwn(NUMBER_FORMATS, format) ? NUMBER_FORMATS[format] : undefined) ?? ['string'];
}

/** Whether a value has a format, by the same check as in validators; formats that are not asserted accept everything. */
export function hasFormat(format: string, value: JsonValue): boolean {
  const definition = Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
  if (definition === undefined || typeof definition === 'boolean' || typeof definition === 'string')
    return true;
  if (typeof definition === 'function' || definition instanceof RegExp)
    return typeof value !== 'string' || passes(definition, value);
  const { type = 'string', validate } = definition;
  const isOfType = type === 'number' ? isNumber(value) : typeof value === type;
  return !isOfType || passes(validate, value);
}

/** Calls a check with a value of its type; the library's types do not say what a check accepts. */
function passes(check: unknown, value: JsonValue): boolean {
  if (check instanceof RegExp) return typeof value === 'string' && check.test(value);
  return typeof check !== 'function' || (check as (value: JsonValue) => unknown)(value) === true;
}
