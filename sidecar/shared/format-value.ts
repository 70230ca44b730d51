import { isArray, isObject, type JsonValue } from './json/json.js';

/** Maximum length of external text that messages repeat. */
export const MAX_QUOTED_CHARS = 100;

/** Maximum length of a string value that messages repeat. */
const MAX_STRING_CHARS = 60;

/** Formats external text for messages: in double quotes, escaped, and shortened if it is long. */
export function quoted(text: string, maxChars = MAX_QUOTED_CHARS): string {
  return JSON.stringify(truncate(text, maxChars));
}

/** Shortens a text to a maximum length, with an ellipsis if it was cut; never splits a surrogate pair. */
export function truncate(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const end = /[\uD800-\uDBFF]/.test(text.charAt(maxChars - 1)) ? maxChars - 1 : maxChars;
  return `${text.slice(0, end)}…`;
}

/** Returns advice for a time whose + was not encoded in a URL and became a space: 2026-01-01T00:00:00+02:00. */
export function plusSignHint(time: string): string {
  return / \d\d:\d\d$/.test(time) ? ' (in a URL, write + as %2B)' : '';
}

/** Formats a value for messages; the result is always short. */
export function formatValue(value: JsonValue | undefined): string {
  if (value === undefined) return 'missing';
  if (isArray(value)) return formatArray(value);
  if (isObject(value)) return Object.keys(value).length === 0 ? 'an empty object' : 'an object';
  return typeof value === 'string' ? quoted(value, MAX_STRING_CHARS) : String(value);
}

/** Short arrays of scalars are shown in full: they may be positions. */
function formatArray(value: readonly JsonValue[]): string {
  if (value.length === 0) return 'an empty array';
  if (value.length > 4 || value.some((item) => isArray(item) || isObject(item))) return 'an array';
  return `[${value.map(formatValue).join(', ')}]`;
}
