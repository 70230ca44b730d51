/** A question with the name that was probably meant; empty when none is near. */
export function didYouMean(written: string, names: Iterable<string>): string {
  const near = nearestName(written, names);
  return near === undefined ? '' : `; did you mean ${JSON.stringify(near)}?`;
}

/** Longest name that is compared. */
const MAX_NAME_CHARS = 64;

/**
 * The name that a misspelt one is nearest to: the same but for upper and lower case, or at most two letters wrong (one in
 * short names); the first of several. Undefined when there is none, or the name itself is among them.
 */
export function nearestName(written: string, names: Iterable<string>): string | undefined {
  if (written.length > MAX_NAME_CHARS) return undefined;
  const low = written.toLowerCase();
  let best: string | undefined;
  let bestDistance = written.length <= 4 ? 2 : 3;
  for (const name of names) {
    if (name === written) return undefined;
    if (Math.abs(name.length - written.length) >= bestDistance || name.length > MAX_NAME_CHARS) continue;
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
