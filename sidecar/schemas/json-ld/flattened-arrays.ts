import { isObject } from '../../shared/json/json.js';
import { type DocumentSurvey, visitMembers } from './document-survey.js';
import type { JsonLdWarning } from './outcomes.js';

/**
 * Warns of arrays in arrays of which expansion made one array (JSON-LD 1.1 API § 5.1.2, step 5): `[[1, 2], [3, 4]]`
 * became `[1, 2, 3, 4]`. Terms for lists and for JSON keep them, so those of the document and those of the result are
 * counted.
 *
 * @param expanded the expanded document
 * @param dropped the warnings of what was dropped, in which arrays do not count
 */
export function flattenedArrays(
  document: object,
  survey: DocumentSurvey,
  expanded: readonly unknown[],
  dropped: readonly JsonLdWarning[],
): readonly JsonLdWarning[] {
  const kept = survey.nestedArrays === 0 ? 0 : keptIn(expanded);
  // Without all places of what was dropped, the counts say nothing.
  if (kept >= survey.nestedArrays || dropped.some(({ pointer }) => pointer === undefined)) return [];
  const droppedAt = new Set(dropped.map(({ pointer }) => pointer));
  const places: string[] = [];
  let given = 0;
  visitMembers(document, '/document', ({ value, pointer }) => {
    if (droppedAt.has(pointer)) return false;
    const count = arraysIn(value);
    given += count;
    if (count > 0) places.push(pointer);
    return true;
  });
  if (kept >= given) return [];
  const warning = { code: 'array-flattened', detail: 'Arrays in an array become one array.' };
  // If some are kept, such as coordinates, it is not known which are not.
  return kept > 0 ? [warning] : places.map((pointer) => ({ ...warning, pointer }));
}

/** The number of arrays in an array, and in the arrays in it. */
function arraysIn(value: unknown): number {
  if (!Array.isArray(value)) return 0;
  const inner: readonly unknown[] = value.filter((item) => Array.isArray(item));
  return inner.reduce<number>((sum, array) => sum + 1 + arraysIn(array), 0);
}

/** The number of arrays in arrays in an expanded document: lists in lists, and arrays in JSON literals. */
function keptIn(value: unknown): number {
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value as readonly unknown[]) count += keptIn(item) + (Array.isArray(item) ? 1 : 0);
  } else if (isObject(value)) {
    for (const name of Object.keys(value)) {
      const inner = value[name];
      if (typeof inner !== 'object') continue;
      count += keptIn(inner);
      if (name === '@list' && Array.isArray(inner)) count += inner.filter(isList).length;
    }
  }
  return count;
}

function isList(value: unknown): boolean {
  return isObject(value) && Object.hasOwn(value, '@list');
}
