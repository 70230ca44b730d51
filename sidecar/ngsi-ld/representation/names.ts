import { temporalKindOf } from '../q-time.js';
import { isDateTime, isUsualDateTime } from '../../shared/rfc3339.js';
import { isUri } from '../names.js';

const PLAIN_NAME = /^[A-Za-z][A-Za-z0-9_]*$/;
const NAME = /^\p{L}[\p{L}\p{N}_]*(?::\p{L}[\p{L}\p{N}_]*)?$/u;
const SCOPE = /^\/?\p{L}[\p{L}\p{N}_]*(?:\/\p{L}[\p{L}\p{N}_]*)*$/u;

/** Whether a name is valid for an attribute or a type: by the grammar of clause 4.6.2, or as an IRI. */
export function isStandardName(name: string): boolean {
  return PLAIN_NAME.test(name) || NAME.test(name) || isUri(name);
}

/** Whether a text is a scope (clause 4.18). */
export function isScope(text: string): boolean {
  return SCOPE.test(text);
}

/**
 * Tells whether a text is a DateTime (clause 4.6.3): `utc` as the standard requires, or with another `offset`, which
 * brokers also accept. Undefined if it is not, or has no zone, because then it is not a definite moment.
 */
export function dateTimeOf(text: string): 'utc' | 'offset' | undefined {
  if (isUsualDateTime(text)) return 'utc';
  if (temporalKindOf(text) !== 'dateTime' || !isDateTime(text.replace(',', '.'))) return undefined;
  return text.endsWith('Z') ? 'utc' : 'offset';
}

/** Returns the last part of an IRI; a short name is unchanged. */
export function localName(type: string): string {
  return type.slice(Math.max(type.lastIndexOf('/'), type.lastIndexOf('#'), type.lastIndexOf(':')) + 1);
}
