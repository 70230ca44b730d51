import { isObject } from '../../shared/json/json.js';
import { visitMembers } from './document-survey.js';
import { type JsonLdWarning, shortJson } from './outcomes.js';

/**
 * Warns of lists that compaction dropped. A term for lists holds one list, so the processor keeps the last one if
 * several values of a property are lists and its choice for them is the same term.
 *
 * @param expandAgain expands the compacted document
 */
export async function droppedLists(
  document: object,
  expanded: readonly unknown[],
  expandAgain: () => Promise<readonly unknown[]>,
): Promise<readonly JsonLdWarning[]> {
  if (!hasSeveralLists(expanded)) return [];
  const given = listsIn(expanded);
  const kept = listsIn(await expandAgain());
  return [...given].flatMap(([property, count]) => {
    const left = kept.get(property) ?? 0;
    if (left >= count) return [];
    const detail = `A term for lists holds only one list: the result has ${left} of the ${count} lists of ${shortJson(property)}.`;
    const [pointer, ...others] = placesOf(property, document);
    const isKnown = pointer !== undefined && others.length === 0;
    return [{ code: 'dropped-list', detail, ...(isKnown ? { pointer } : {}) }];
  });
}

/** Whether some property of some node has several lists; nearly no document has. A list of lists is one list. */
function hasSeveralLists(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasSeveralLists);
  // The value of a JSON literal may be any JSON.
  if (!isObject(value) || Object.hasOwn(value, '@value')) return false;
  return Object.entries(value).some(
    ([name, held]) => (name !== '@list' && countLists(held) > 1) || hasSeveralLists(held),
  );
}

/** The number of lists among the values of each property. */
function listsIn(expanded: readonly unknown[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  visitMembers(expanded, '', ({ name: property, value }) => {
    const count = property === '@list' ? 0 : countLists(value);
    if (count > 0) sums.set(property, (sums.get(property) ?? 0) + count);
    // The value of a JSON literal may be any JSON.
    return property !== '@value';
  });
  return sums;
}

/** Pointers to the members of a document, if it is in expanded form, with several lists of a property. */
function placesOf(property: string, document: object): readonly string[] {
  const places: string[] = [];
  visitMembers(document, '/document', ({ name, value, pointer }) => {
    if (name === property && countLists(value) > 1) places.push(pointer);
    return true;
  });
  return places;
}

function countLists(value: unknown): number {
  if (!Array.isArray(value)) return 0;
  return (value as readonly unknown[]).filter((item) => isObject(item) && Object.hasOwn(item, '@list'))
    .length;
}
