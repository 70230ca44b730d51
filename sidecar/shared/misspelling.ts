/** Longer words are not compared: they are unlikely to be typing mistakes. */
const MAX_LENGTH = 100;

/** Words that differ in more letters are not misspellings of each other. */
const MAX_DISTANCE = 3;

/**
 * Computes how many letters have to be added, removed, replaced, or swapped with their neighbour to turn one word into
 * the other, whatever their case.
 *
 * @param max maximum distance; by default, what counts as a misspelling of a word of that length
 * @returns infinite if the distance is larger
 */
export function misspellingDistance(word: string, other: string, max = maxDistance(word, other)): number {
  if (!mayBeMisspelling(word, other, max)) return Infinity;
  const distance = editDistance(word.toLowerCase(), other.toLowerCase(), max);
  return distance > max ? Infinity : distance;
}

/** Whether two words are close enough in length for one to be a misspelling of the other. Cheap. */
export function mayBeMisspelling(word: string, other: string, max = maxDistance(word, other)): boolean {
  if (word.length > MAX_LENGTH || other.length > MAX_LENGTH) return false;
  return Math.abs(word.length - other.length) <= max;
}

/**
 * Returns the candidate that the word is most likely a misspelling of; the first of several, undefined if none is near.
 *
 * @param max as for {@link misspellingDistance}
 */
export function closestMatch(word: string, candidates: Iterable<string>, max?: number): string | undefined {
  let closest: { readonly candidate: string; readonly distance: number } | undefined;
  for (const candidate of candidates) {
    const distance = misspellingDistance(word, candidate, max);
    if (distance < (closest?.distance ?? Infinity)) closest = { candidate, distance };
  }
  return closest?.candidate;
}

function maxDistance(word: string, other: string): number {
  return Math.min(MAX_DISTANCE, Math.floor(Math.max(word.length, other.length) / 3));
}

/**
 * Computes the optimal string alignment distance, with regard to case; only visits cells that can be within the bound.
 *
 * @returns a number above the bound if the distance is
 */
export function editDistance(one: string, other: string, most: number): number {
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
