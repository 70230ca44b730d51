import type { JsonValue } from '../../shared/json/json.js';
import { losslessNumbersIn } from '../../shared/json/lossless-json.js';
import { cut } from '../../shared/shown.js';
import type { JsonLdWarning } from './outcomes.js';

/** Characters of a number that are shown. */
const MAX_SHOWN = 80;

/**
 * A warning for each number that processing changes, because no double holds it: JSON-LD processors calculate with doubles.
 *
 * @param document as it was submitted
 * @param pointer where it stands in the body
 */
export function changedNumbers(document: JsonValue, pointer: string): readonly JsonLdWarning[] {
  return [...losslessNumbersIn(document, pointer)].map(({ pointer: at, number }) => ({
    code: 'number-changed',
    pointer: at,
    detail: `${cut(number.text, MAX_SHOWN)} is a number that no IEEE 754 double holds; the result has ${number.double}.`,
  }));
}
