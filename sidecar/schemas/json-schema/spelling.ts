import type { JsonValue } from '../../shared/json/json.js';
import { canBeNear, mistakes } from '../../shared/misspelling.js';

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
