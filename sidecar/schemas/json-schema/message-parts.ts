import { isArray, isNumber, isObject, type JsonValue } from '../../shared/json/json.js';
import { isFullDate } from '../../shared/rfc3339.js';
import { truncate, quoted } from '../../shared/format-value.js';

/** Maximum number of characters of a value that are shown. */
const MAX_SHOWN = 80;

/** Maximum number of characters of a pattern that are shown; it is higher, because part of a pattern says little. */
const MAX_PATTERN = 200;

/**
 * What was probably meant: another value, or another name for the member. `insteadOf` is the value that was checked,
 * because it may be a conversion of what was written.
 */
export type Correction =
  | { readonly value: JsonValue; readonly insteadOf: JsonValue }
  | { readonly name: string };

/** The parts of a sentence about a value. */
export interface MessageParts {
  /** Completes "must …". */
  readonly must: string;
  /** What was found instead; completes "it …". */
  readonly found?: string | undefined;
  /** A suggestion. */
  readonly hint?: string | undefined;
  readonly correction?: Correction | undefined;
  /** The demand of an issue that is shown alone, if "must …" would sound unnatural. */
  readonly plain?: string;
}

/** Makes a sentence, without capital and full stop: "must be at least 0, is -3". */
export function sentenceOf({ must, found, hint, plain }: MessageParts): string {
  const parts = [plain ?? `must ${must}`, ...(found === undefined ? [] : [found])].join(', ');
  return hint === undefined ? parts : `${parts}; ${hint}`;
}

/** A value in a few characters: a scalar as JSON, an array or object only by its type. */
export function shortValue(value: JsonValue): string {
  if (isArray(value)) return 'an array';
  if (isObject(value)) return 'an object';
  return typeof value === 'string' ? quoted(value, MAX_SHOWN) : String(value);
}

/** A value that a schema allows; an array or object is shown as JSON. */
export function allowedValue(value: JsonValue): string {
  if (!isArray(value) && !isObject(value)) return shortValue(value);
  return truncate(JSON.stringify(value), MAX_SHOWN);
}

/** A pattern, shortened if it is long. */
export function shownPattern(pattern: string): string {
  return truncate(pattern, MAX_PATTERN);
}

/** A value with its type, for messages about a wrong type. */
export function typed(value: JsonValue): string {
  if (typeof value === 'string') return `the string ${shortValue(value)}`;
  return isNumber(value) ? `the number ${shortValue(value)}` : shortValue(value);
}

/** The types of JSON Schema in words: for one value, and for several. */
const TYPES: ReadonlyMap<string, readonly [one: string, several: string]> = new Map([
  ['null', ['null', 'null']],
  ['boolean', ['true or false', 'true and false']],
  ['object', ['an object', 'objects']],
  ['array', ['an array', 'arrays']],
  ['string', ['a string', 'strings']],
  ['integer', ['an integer', 'integers']],
  ['number', ['a number', 'numbers']],
]);

/** The words for a type of JSON Schema. */
export function typeWord(type: string): string {
  return TYPES.get(type)?.[0] ?? type;
}

/** The words for types of JSON Schema, for several values. */
export function typeWords(types: readonly string[]): readonly string[] {
  return types.map((type) => TYPES.get(type)?.[1] ?? type);
}

/** "a", "a or b", "a, b or c". */
export function joinWithOr(words: readonly string[]): string {
  const last = words.at(-1) ?? '';
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} or ${last}`;
}

/** "1 item", "2 items". */
export function pluralized(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** "none", "1", "2". */
export function countWord(count: number): string {
  return count === 0 ? 'none' : String(count);
}

/** What a string of each format is, with an example; formats that most people do not know are only named. */
const FORMATS: ReadonlyMap<string, string> = new Map([
  ['date-time', 'a date-time such as 2026-01-31T12:00:00Z'],
  ['date', 'a date such as 2026-01-31'],
  ['time', 'a time such as 12:00:00Z'],
  ['iso-date-time', 'a date-time such as 2026-01-31T12:00:00Z'],
  ['iso-time', 'a time such as 12:00:00'],
  ['duration', 'a duration such as PT1H30M'],
  ['uri', 'a URI such as urn:ngsi-ld:Vehicle:001'],
  ['url', 'a URL such as https://city.example/map'],
  ['uri-reference', 'a URI or a relative reference'],
  ['iri', 'an IRI such as https://städte.example/karte'],
  ['iri-reference', 'an IRI or a relative reference'],
  ['uri-template', 'a URI template (RFC 6570)'],
  ['email', 'an email address such as name@city.example'],
  ['hostname', 'a host name such as city.example'],
  ['ipv4', 'an IPv4 address such as 192.0.2.1'],
  ['ipv6', 'an IPv6 address such as 2001:db8::1'],
  ['uuid', 'a UUID such as 123e4567-e89b-12d3-a456-426614174000'],
  ['regex', 'a regular expression'],
  ['json-pointer', 'a JSON pointer such as /a/0'],
  ['byte', 'base64'],
  ['int32', 'a 32-bit integer'],
  ['int64', 'a 64-bit integer'],
]);

/** What a format requires; completes "must be …". */
export function formatWords(format: string): string {
  return FORMATS.get(format) ?? `in the format ${format.slice(0, 80)}`;
}

/** What is probably wrong with the text; undefined if nothing is obvious. */
export function formatHint(format: string, text: string): string | undefined {
  const isDated = format === 'date' || format.endsWith('date-time');
  if (isDated && /^\d{4}-\d\d-\d\d(?:\D|$)/.test(text) && !isFullDate(text.slice(0, 10)))
    return 'the calendar has no such day';
  if (format === 'date-time') {
    if (/^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/.test(text)) {
      return /:\d\d:/.test(text)
        ? 'the time zone, such as Z, is missing'
        : 'the seconds and the time zone are missing';
    }
    if (/^\d{4}-\d\d-\d\d$/.test(text)) return 'the time is missing';
    if (/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/.test(text)) return 'date and time must be separated by T';
    if (/:\d\d(?:\.\d+)?[+-]\d\d$/.test(text)) return 'the offset needs its minutes, such as +02:00';
  }
  if (format === 'time' && /^\d\d:\d\d:\d\d(?:\.\d+)?$/.test(text))
    return 'the time zone, such as Z, is missing';
  return (format === 'uri' || format === 'url') && /\s/.test(text) ? 'it contains a space' : undefined;
}
