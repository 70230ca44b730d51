import type { JsonValue } from '../../shared/json/json.js';
import { mayBeMisspelling, misspellingDistance } from '../../shared/misspelling.js';

/** Limits on the search for misspellings. */
export const SPELLING_LIMITS = {
  /** Maximum number of words compared for one answer: enough for some hundred sentences that name what was meant. */
  comparisons: 12_000,
  /** Maximum length of a list that is searched for a word. */
  candidates: 5000,
} as const;

/** How many candidates cost as much as one comparison: the whole list is searched for words of about the same length. */
const PASSED_OVER = 16;

const NONE: readonly string[] = [];

/**
 * Finds what words are probably misspellings of, within a limit on comparisons; past the limit it finds nothing. It
 * remembers its results, so use one instance for each answer.
 */
export class Spelling {
  #left: number = SPELLING_LIMITS.comparisons;
  readonly #known = new Map<readonly JsonValue[], Map<string, readonly string[]>>();

  /** The number of comparisons left. */
  get left(): number {
    return this.#left;
  }

  /**
   * The string that a word is most likely a misspelling of; undefined if none is similar. The first one if several
   * are equally similar.
   */
  nearest(word: string, candidates: readonly JsonValue[]): string | undefined {
    return this.near(word, candidates)[0];
  }

  /** All strings among the candidates that the word may be a misspelling of, the most similar first. */
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
      if (typeof candidate !== 'string' || !mayBeMisspelling(word, candidate)) continue;
      if (this.#left <= 0) break;
      this.#left -= 1;
      const distance = misspellingDistance(word, candidate);
      if (distance < Infinity) rated.push({ candidate, distance });
    }
    if (rated.length === 0) return NONE;
    return rated.sort((one, other) => one.distance - other.distance).map(({ candidate }) => candidate);
  }
}
