import { isObject, type JsonObject, pointerTo } from '../../shared/json/json.js';

/** The results of one pass over a JSON-LD document. */
export interface DocumentSurvey {
  /** The values of `@context` at the top of the document, or at the top of each item of an array. */
  readonly outerContexts: readonly unknown[];
  /** The values of `@context` further down, including members of that name in JSON literals. */
  readonly innerContexts: readonly unknown[];
  readonly hasNull: boolean;
  /**
   * Maps and arrays that may not survive a round trip: arrays that are empty, have one item or contain arrays; and
   * everything that contains one of these, or null, at any depth.
   */
  readonly fragile: ReadonlySet<object>;
}

/** Surveys a document. @param document nested no deeper than the stack allows */
export function surveyOf(document: object): DocumentSurvey {
  const outerContexts: unknown[] = [];
  const innerContexts: unknown[] = [];
  const fragile = new Set<object>();
  let hasNull = false;

  /** @returns whether the value is null or fragile */
  const visit = (value: object | null, isOuter: boolean): boolean => {
    if (value === null) {
      hasNull = true;
      return true;
    }
    const isFragile = Array.isArray(value)
      ? visitItems(value, isOuter)
      : visitMap(value as JsonObject, isOuter);
    if (isFragile) fragile.add(value);
    return isFragile;
  };
  const visitItems = (items: readonly unknown[], isOuter: boolean): boolean => {
    let isFragile = !isOuter && items.length < 2;
    for (const item of items) {
      if (typeof item !== 'object') continue;
      if (visit(item, isOuter) || (!isOuter && Array.isArray(item))) isFragile = true;
    }
    return isFragile;
  };
  const visitMap = (map: JsonObject, isOuter: boolean): boolean => {
    let isFragile = false;
    for (const name of Object.keys(map)) {
      const value = map[name];
      if (name === '@context') (isOuter ? outerContexts : innerContexts).push(value);
      else if (typeof value === 'object' && visit(value, false)) isFragile = true;
    }
    return isFragile;
  };
  if (Array.isArray(document)) {
    for (const item of document as readonly unknown[])
      if (typeof item === 'object') visit(item, !Array.isArray(item));
  } else visit(document, true);
  return { outerContexts, innerContexts, hasNull, fragile };
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
