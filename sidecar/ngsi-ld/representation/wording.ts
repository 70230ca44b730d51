import { isArray, isObject, type JsonValue } from '../../shared/json/json.js';

/** Longest piece of a string that a message shows, in UTF-16 code units. */
const SHOWN_MAX = 60;

/** A value as messages show it: short, whatever its size. */
export function shown(value: JsonValue | undefined): string {
  if (value === undefined) return 'missing';
  if (isArray(value)) return shownArray(value);
  if (isObject(value)) return Object.keys(value).length === 0 ? 'an empty object' : 'an object';
  if (typeof value !== 'string') return String(value);
  if (value.length <= SHOWN_MAX) return JSON.stringify(value);
  return `${JSON.stringify(value.slice(0, SHOWN_MAX)).slice(0, -1)}…"`;
}

/** Short arrays of numbers are shown, for they are positions. */
function shownArray(value: readonly JsonValue[]): string {
  if (value.length === 0) return 'an empty array';
  if (value.length > 4 || value.some((item) => isArray(item) || isObject(item))) return 'an array';
  return `[${value.map(shown).join(', ')}]`;
}

/** A question that names what was probably meant; empty when nothing is near. */
export function didYouMean(written: string, names: Iterable<string>): string {
  const near = nearestName(written, names);
  return near === undefined ? '' : `; did you mean ${JSON.stringify(near)}?`;
}

/** Longest name that is compared. */
const NAME_LENGTH_MAX = 64;

/**
 * The name that a misspelt one is nearest to: the same but for upper and lower case, or at most two letters wrong (one in
 * short names); the first of several. Undefined when there is none, or the name itself is among them.
 */
export function nearestName(written: string, names: Iterable<string>): string | undefined {
  if (written.length > NAME_LENGTH_MAX) return undefined;
  const low = written.toLowerCase();
  let best: string | undefined;
  let bestDistance = written.length <= 4 ? 2 : 3;
  for (const name of names) {
    if (name === written) return undefined;
    if (Math.abs(name.length - written.length) >= bestDistance || name.length > NAME_LENGTH_MAX) continue;
    const distance = editDistance(low, name.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [name, distance];
  }
  return best;
}

/** Levenshtein's distance: letters to put in, take out or replace. */
function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 0; i < one.length; i += 1) {
    const next = [i + 1];
    for (let j = 0; j < other.length; j += 1) {
      const replaced = (row[j] ?? 0) + (one[i] === other[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
