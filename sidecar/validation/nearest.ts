/** Words longer than this are not compared: nobody mistypes them. */
const LENGTH_MAX = 100;

/** More mistakes than this are none of typing. */
const MISTAKES_MAX = 3;

/**
 * The candidate that a word is most likely a misspelling of; undefined when none is near. Case does not count; in short
 * words fewer mistakes are one. Among equally near ones the first.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let least = Infinity;
  for (const candidate of candidates) {
    const distance = mistakes(word, candidate);
    if (distance < least) [best, least] = [candidate, distance];
    if (least === 0) break;
  }
  return best;
}

/** The candidates, those in front that the word may be a misspelling of, nearest first; else in their order. */
export function byNearness(word: string, candidates: readonly string[]): readonly string[] {
  const rated = candidates.map((candidate) => ({ candidate, distance: mistakes(word, candidate) }));
  return [
    ...rated
      .filter(({ distance }) => distance < Infinity)
      .sort((one, other) => one.distance - other.distance),
    ...rated.filter(({ distance }) => distance === Infinity),
  ].map(({ candidate }) => candidate);
}

/**
 * How many letters have to be added, removed, replaced, or swapped with their neighbour, to make one word of the other;
 * infinite where that is too much for a misspelling.
 */
export function mistakes(word: string, other: string): number {
  const length = Math.max(word.length, other.length);
  const most = Math.min(MISTAKES_MAX, Math.floor(length / 3));
  if (length > LENGTH_MAX || Math.abs(word.length - other.length) > most) return Infinity;
  const distance = editDistance(word.toLowerCase(), other.toLowerCase(), most);
  return distance > most ? Infinity : distance;
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
