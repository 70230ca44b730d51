import type { JsonValue } from '../../shared/json/json.js';

/** What is spent on misspellings at most. */
export const SPELLING_LIMITS = {
  /** Words that are compared for one answer; some hundred sentences that name what was meant. */
  comparisons: 12_000,
  /** Longest list in which a word is looked for. */
  candidates: 5000,
} as const;

/** Lists are gone through to find words of about the same length: so many of them cost as much as one comparison. */
const PASSED_OVER = 16;

const NONE: readonly string[] = [];

/**
 * Finds what words are misspellings of, while there is something left to spend; afterwards nothing is near to anything.
 * It remembers what it has found: one is for one answer.
 */
export class Spelling {
  #left: number = SPELLING_LIMITS.comparisons;
  readonly #known = new Map<readonly JsonValue[], Map<string, readonly string[]>>();

  /** Comparisons that may still be made. */
  get left(): number {
    return this.#left;
  }

  /** The string that a word is most likely a misspelling of; undefined when none is near. Among equally near ones the first. */
  nearest(word: string, candidates: readonly JsonValue[]): string | undefined {
    return this.near(word, candidates)[0];
  }

  /** All strings among the candidates that the word may be a misspelling of, nearest first. */
  near(word: string, candidates: readonly JsonValue[]): readonly string[] {
    const known = this.#known.get(candidates) ?? new Map<string, readonly string[]>();
    const before = known.get(word);
    if (before !== undefined) return before;
    if (this.#left <= 0 || candidates.length > SPELLING_LIMITS.candidates) return NONE;
    const found = this.#compare(word, candidates);
    this.#known.set(candidates, known.set(word, found));
    return found;
  }

  #compare(word: string, candidates: readonly JsonValue[]): readonly string[] {
    this.#left -= Math.ceil(candidates.length / PASSED_OVER);
    const rated: { readonly candidate: string; readonly distance: number }[] = [];
    for (const candidate of candidates) {
      if (typeof candidate !== 'string' || !canBeNear(word, candidate)) continue;
      if (this.#left <= 0) break;
      this.#left -= 1;
      const distance = mistakes(word, candidate);
      if (distance < Infinity) rated.push({ candidate, distance });
    }
    if (rated.length === 0) return NONE;
    return rated.sort((one, other) => one.distance - other.distance).map(({ candidate }) => candidate);
  }
}

/** Words longer than this are not compared: they are not typing mistakes. */
const MAX_LENGTH = 100;

/** Words that differ more are not misspellings of each other. */
const MAX_MISTAKES = 3;

/**
 * How many letters have to be added, removed, replaced, or swapped with their neighbour, to make one word of the other;
 * infinite where that is too much for a misspelling.
 */
export function mistakes(word: string, other: string): number {
  if (!canBeNear(word, other)) return Infinity;
  const most = mostMistakes(word, other);
  const distance = editDistance(word.toLowerCase(), other.toLowerCase(), most);
  return distance > most ? Infinity : distance;
}

/** Whether two words are so alike in length that one may be a misspelling of the other. Cheap. */
function canBeNear(word: string, other: string): boolean {
  if (word.length > MAX_LENGTH || other.length > MAX_LENGTH) return false;
  return Math.abs(word.length - other.length) <= mostMistakes(word, other);
}

function mostMistakes(word: string, other: string): number {
  return Math.min(MAX_MISTAKES, Math.floor(Math.max(word.length, other.length) / 3));
}

/** Optimal string alignment; only cells that can be within the bound are looked at. */
function editDistance(one: string, other: string, most: number): number {
  let before: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row += 1) {
    const from = Math.max(1, row - most);
    const to = Math.min(other.length, row + most);
    const current = new Array<number>(other.length + 1).fill(Infinity);
    if (from === 1) current[0] = row;
    let least = Infinity;
    for (let column = from; column <= to; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      let cost = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (isSame ? 0 : 1),
      );
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (row > 1 && column > 1 && isSwapped) cost = Math.min(cost, at(before, column - 2) + 1);
      current[column] = cost;
      least = Math.min(least, cost);
    }
    if (least > most) return Infinity;
    [before, last] = [last, current];
  }
  return at(last, other.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}
