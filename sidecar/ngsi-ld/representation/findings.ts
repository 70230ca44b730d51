/** A fault of an entity's structure: a broker would refuse it under any model. */
export interface Finding {
  /** Reference tokens (RFC 6901) of a place in the entity as submitted; or of the object in which a member is missing. */
  readonly tokens: readonly string[];
  /** The broken rule, by the name of the JSON Schema keyword for such rules. */
  readonly keyword: string;
  /** Predicate of a sentence about that place, e.g. `must be a URI, is 5`. */
  readonly detail: string;
  /** The name that the member at that place was probably meant to have. */
  readonly meantName?: string;
}

/** Something that a broker accepts but that is probably a mistake. */
export interface EntityWarning {
  readonly tokens: readonly string[];
  readonly code: string;
  readonly detail: string;
  /** The name that the member at that place was probably meant to have. */
  readonly meantName?: string;
}

/** Most faults, and most warnings, that are kept of one entity: far more than are shown. */
const MAX_FINDINGS = 1000;

/** Gathers faults and warnings during the walk through an entity, and knows where the walk is. */
export class Findings {
  readonly #faults: Finding[] = [];
  readonly #warnings: EntityWarning[] = [];
  readonly #path: string[] = [];

  get faults(): readonly Finding[] {
    return this.#faults;
  }

  get warnings(): readonly EntityWarning[] {
    return this.#warnings;
  }

  /** One step down; followed by {@link leave}. */
  enter(token: string): void {
    this.#path.push(token);
  }

  leave(): void {
    this.#path.pop();
  }

  /** @param below tokens from where the walk is */
  fault(keyword: string, detail: string, ...below: readonly string[]): void {
    if (this.#faults.length < MAX_FINDINGS)
      this.#faults.push({ tokens: [...this.#path, ...below], keyword, detail });
  }

  /** A fault of the name of the member where the walk is. @param meantName what would be right */
  faultyName(keyword: string, detail: string, meantName: string): void {
    if (this.#faults.length < MAX_FINDINGS)
      this.#faults.push({ tokens: [...this.#path], keyword, detail, meantName });
  }

  /** A warning of the name of the member where the walk is. @param meantName what was probably meant */
  suspectName(code: string, detail: string, meantName: string): void {
    if (this.#warnings.length < MAX_FINDINGS)
      this.#warnings.push({ tokens: [...this.#path], code, detail, meantName });
  }

  /** @param below tokens from where the walk is */
  warn(code: string, detail: string, ...below: readonly string[]): void {
    if (this.#warnings.length < MAX_FINDINGS)
      this.#warnings.push({ tokens: [...this.#path, ...below], code, detail });
  }
}

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
