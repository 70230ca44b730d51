import { isArray, isObject, type JsonValue, LosslessNumber, pointerTo, sameJson } from './json.js';

/** A place where two documents differ; the words are those of JSON Patch (RFC 6902). */
export interface ChangedPointer {
  readonly op: 'add' | 'remove' | 'replace';
  /** JSON pointer (RFC 6901) into the new document, or into the old one for what is removed. */
  readonly pointer: string;
}

/**
 * Where two documents differ: the innermost members and items that are new, gone or another, in the order of the old
 * document, what is new after that. Items are compared by their index, and the order of members does not count.
 */
export function changedPointers(before: JsonValue, after: JsonValue): readonly ChangedPointer[] {
  return [...changesIn(before, after, '')];
}

function* changesIn(before: JsonValue, after: JsonValue, pointer: string): Iterable<ChangedPointer> {
  if (before === after || (before instanceof LosslessNumber && sameJson(before, after))) return;
  const [old, fresh] = [membersOf(before), membersOf(after)];
  if (old === undefined || fresh === undefined || isArray(before) !== isArray(after)) {
    yield { op: 'replace', pointer };
    return;
  }
  for (const [name, value] of old) {
    const other = fresh.get(name);
    if (other === undefined) yield { op: 'remove', pointer: pointerTo(pointer, name) };
    else yield* changesIn(value, other, pointerTo(pointer, name));
  }
  for (const name of fresh.keys()) if (!old.has(name)) yield { op: 'add', pointer: pointerTo(pointer, name) };
}

function membersOf(value: JsonValue): ReadonlyMap<string, JsonValue> | undefined {
  return isArray(value) || isObject(value) ? new Map(Object.entries(value)) : undefined;
}
