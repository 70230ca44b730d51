import { isMap, pointerTo } from './json.js';

/** What is known of a JSON-LD document from one look at it. */
export interface DocumentSurvey {
  /** The values of `@context` at its top, or at the top of each item of an array. */
  readonly outerContexts: readonly unknown[];
  /** Those further down; members of JSON literals are among them. */
  readonly innerContexts: readonly unknown[];
  readonly hasNull: boolean;
  /** Whether there is an array that is empty, of one item, or in another one. */
  readonly hasOddArray: boolean;
}

/** @param document nested no deeper than the stack allows */
export function surveyOf(document: object): DocumentSurvey {
  const outerContexts: unknown[] = [];
  const innerContexts: unknown[] = [];
  let [hasNull, hasOddArray] = [false, false];

  const visit = (value: unknown, isOuter: boolean): void => {
    if (value === null) hasNull = true;
    else if (Array.isArray(value)) {
      const items: readonly unknown[] = value;
      if (!isOuter && (items.length < 2 || items.some(Array.isArray))) hasOddArray = true;
      for (const item of items) visit(item, isOuter);
    } else if (isMap(value)) {
      for (const name of Object.keys(value)) {
        if (name !== '@context') visit(value[name], false);
        else if (isOuter) outerContexts.push(value[name]);
        else innerContexts.push(value[name]);
      }
    }
  };
  if (Array.isArray(document))
    for (const item of document as readonly unknown[]) visit(item, !Array.isArray(item));
  else visit(document, true);
  return { outerContexts, innerContexts, hasNull, hasOddArray };
}

/** A member of an object somewhere in a document. */
export interface Place {
  readonly name: string;
  readonly value: unknown;
  readonly pointer: string;
}

/**
 * Visits the members of all objects in a document, contexts apart.
 *
 * @param visit says whether to go into the member
 */
export function visitMembers(document: unknown, pointer: string, visit: (place: Place) => boolean): void {
  if (Array.isArray(document)) {
    for (const [index, item] of (document as readonly unknown[]).entries())
      visitMembers(item, pointerTo(pointer, index), visit);
  } else if (isMap(document)) {
    for (const [name, value] of Object.entries(document)) {
      if (name === '@context') continue;
      const at = pointerTo(pointer, name);
      if (visit({ name, value, pointer: at })) visitMembers(value, at, visit);
    }
  }
}
