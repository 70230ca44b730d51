import { isArray, isObject, member, stringsOf, type Schema } from '../../shared/json/json.js';
import { fault, type Fault } from './fault.js';
import type { Place } from './place.js';
import { allowedValue, either, shown, shownPattern, typeWord, type Words } from './words.js';

/** Members that a sentence names. */
const NAMED_MAX = 20;

/** The value fits a schema that it must not fit. */
export function negationFault(excluded: Schema, place: Place): Fault {
  return fault(place, 'not', () => wordsFor(excluded, place));
}

/** In words where the schema says but one thing. */
function wordsFor(excluded: Schema, { value }: Place): Words {
  const general: Words = {
    must: 'not fit what the schema excludes under "not"',
    found: `is ${shown(value)}`,
  };
  if (!isObject(excluded)) return { must: 'not be there' };
  const [keyword, ...others] = Object.keys(excluded);
  if (keyword === undefined) return { must: 'not be there' };
  const held = others.length === 0 ? member(excluded, keyword) : undefined;
  if (held === undefined) return general;
  switch (keyword) {
    case 'const':
      return { must: `not be ${allowedValue(held)}` };
    case 'enum':
      return { must: `not be ${allowedValue(value)}` };
    case 'type':
      return {
        must: `not be ${either((isArray(held) ? stringsOf(held) : stringsOf([held])).map(typeWord))}`,
      };
    case 'required': {
      const names = stringsOf(held);
      if (names.length === 0) return general;
      const together = names.length > 1 ? ' together' : '';
      return {
        must: `not have the member ${names.slice(0, NAMED_MAX).map(allowedValue).join(' and ')}${together}`,
      };
    }
    case 'pattern':
      return {
        must: `not match the pattern ${shownPattern(typeof held === 'string' ? held : '')}`,
        found: `is ${shown(value)}`,
      };
    default:
      return general;
  }
}
