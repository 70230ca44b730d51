import { isObject, type JsonObject, pointerTo } from '../../shared/json/json.js';

/** The results of one pass over a JSON-LD document. */
export interface DocumentSurvey {
  /** The values of `@context` at the top of the document, or at the top of each item of an array. */
  readonly outerContexts: readonly unknown[];
  /** The values of `@context` further down, including members of that name in JSON literals. */
  readonly innerContexts: readonly unknown[];
  /** The number of arrays that are items of arrays. */
  readonly nestedArrays: number;
}

/** Surveys a document. @param document nested no deeper than the stack allows */
export function surveyOf(document: object): DocumentSurvey {
  const outerContexts: unknown[] = [];
  const innerContexts: unknown[] = [];
  let nestedArrays = 0;

  const visit = (value: object | null, isOuter: boolean): void => {
    if (Array.isArray(value)) {
      for (const item of value as readonly unknown[]) {
        if (typeof item !== 'object') continue;
        if (!isOuter && Array.isArray(item)) nestedArrays += 1;
        visit(item, isOuter && !Array.isArray(item));
      }
    } else if (value !== null) {
      const map = value as JsonObject;
      for (const name of Object.keys(map)) {
        const inner = map[name];
        if (name === '@context') (isOuter ? outerContexts : innerContexts).push(inner);
        else if (typeof inner === 'object') visit(inner, false);
      }
    }
  };
  visit(document, true);
  return { outerContexts, innerContexts, nestedArrays };
}

/** A member of an object somewhere in a document. */
export interface VisitedMember {
  readonly name: string;
  readonly value: unknown;
  readonly pointer: string;
}

/**
 * Visits the members of all objects in a document, except in contexts.
 *
 * @param visit returns whether to visit the members inside this one as well
 */
export function visitMembers(
  document: unknown,
  pointer: string,
  visit: (place: VisitedMember) => boolean,
): void {
  if (Array.isArray(document)) {
    for (const [index, item] of (document as readonly unknown[]).entries())
      visitMembers(item, pointerTo(pointer, index), visit);
  } else if (isObject(document)) {
    for (const [name, value] of Object.entries(document)) {
      if (name === '@context') continue;
      const at = pointerTo(pointer, name);
      if (visit({ name, value, pointer: at })) visitMembers(value, at, visit);
    }
  }
}

/** Whether the JSON text of a value has more than about this many characters. Stops as soon as this is known. */
export function isLarger(value: unknown, characters: number): boolean {
  return rest(value, characters) < 0;
}

/** How many of the characters are left after the value. Recursive, so only for values whose depth was checked. */
function rest(value: unknown, characters: number): number {
  if (typeof value === 'string') return characters - value.length - 3;
  if (typeof value !== 'object' || value === null) return characters - 5;
  let left = characters - 2;
  if (Array.isArray(value)) {
    for (const item of value as readonly unknown[]) {
      left = rest(item, left);
      if (left < 0) break;
    }
    return left;
  }
  for (const name of Object.keys(value)) {
    left = rest((value as Readonly<Record<string, unknown>>)[name], left - name.length - 4);
    if (left < 0) break;
  }
  return left;
}
