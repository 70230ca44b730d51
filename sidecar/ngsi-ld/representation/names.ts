import { temporalKindOf } from '../q-time.js';
import { isDateTime, isUsualDateTime } from '../../shared/rfc3339.js';
import { isUri } from '../names.js';

const PLAIN_NAME = /^[A-Za-z][A-Za-z0-9_]*$/;
const NAME = /^\p{L}[\p{L}\p{N}_]*(?::\p{L}[\p{L}\p{N}_]*)?$/u;
const SCOPE = /^\/?\p{L}[\p{L}\p{N}_]*(?:\/\p{L}[\p{L}\p{N}_]*)*$/u;

/** Whether a name may name an attribute or a type: by the grammar of clause 4.6.2, or as an IRI. */
export function isStandardName(name: string): boolean {
  return PLAIN_NAME.test(name) || NAME.test(name) || isUri(name);
}

/** Whether a text is a scope (clause 4.18). */
export function isScope(text: string): boolean {
  return SCOPE.test(text);
}

/**
 * What a text is as a DateTime (clause 4.6.3): in UTC as the standard asks for, at another offset, as brokers take as well,
 * or none: without a zone no moment is meant.
 */
export function dateTimeOf(text: string): 'utc' | 'offset' | undefined {
  if (isUsualDateTime(text)) return 'utc';
  if (temporalKindOf(text) !== 'dateTime' || !isDateTime(text.replace(',', '.'))) return undefined;
  return text.endsWith('Z') ? 'utc' : 'offset';
}

/** The names that a type can be meant by: itself, and the last part of an IRI. */
export function localName(type: string): string {
  return type.slice(Math.max(type.lastIndexOf('/'), type.lastIndexOf('#'), type.lastIndexOf(':')) + 1);
}
