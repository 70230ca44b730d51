import { closestMatch } from '../../shared/misspelling.js';

/** A structural fault of an entity: a broker would refuse it, whatever the model. */
export interface Finding {
  /** Reference tokens (RFC 6901) of a place in the entity as submitted; for a missing member, of the object that lacks it. */
  readonly tokens: readonly string[];
  /** The broken rule, named after the JSON Schema keyword for such rules. */
  readonly keyword: string;
  /** Predicate of a sentence about that place, e.g. `must be a URI, is 5`. */
  readonly detail: string;
  /** The probably intended name of the member at that place. */
  readonly meantName?: string;
}

/** Something that a broker accepts but that is probably a mistake. */
export interface EntityWarning {
  readonly tokens: readonly string[];
  readonly code: string;
  readonly detail: string;
  /** The probably intended name of the member at that place. */
  readonly meantName?: string;
}

/** Maximum number of faults, and of warnings, kept for one entity: far more than are shown. */
const MAX_FINDINGS = 1000;

/** Collects faults and warnings while walking through an entity, and keeps track of the current position. */
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

  /** Moves one step down; must be followed by {@link leave}. */
  enter(token: string): void {
    this.#path.push(token);
  }

  leave(): void {
    this.#path.pop();
  }

  /** @param below tokens relative to the current position */
  fault(keyword: string, detail: string, ...below: readonly string[]): void {
    if (this.#faults.length < MAX_FINDINGS)
      this.#faults.push({ tokens: [...this.#path, ...below], keyword, detail });
  }

  /** Reports a fault in the name of the member at the current position. @param meantName the correct name */
  faultyName(keyword: string, detail: string, meantName: string): void {
    if (this.#faults.length < MAX_FINDINGS)
      this.#faults.push({ tokens: [...this.#path], keyword, detail, meantName });
  }

  /** Reports a suspicious name of the member at the current position. @param meantName the probably intended name */
  suspectName(code: string, detail: string, meantName: string): void {
    if (this.#warnings.length < MAX_FINDINGS)
      this.#warnings.push({ tokens: [...this.#path], code, detail, meantName });
  }

  /** @param below tokens relative to the current position */
  warn(code: string, detail: string, ...below: readonly string[]): void {
    if (this.#warnings.length < MAX_FINDINGS)
      this.#warnings.push({ tokens: [...this.#path, ...below], code, detail });
  }
}

/** Asks whether a similar name was meant; empty if none is similar. */
export function didYouMean(written: string, names: Iterable<string>): string {
  const near = nearestName(written, names);
  return near === undefined ? '' : `; did you mean ${JSON.stringify(near)}?`;
}

/**
 * Finds the name that a misspelt name is nearest to, with at most two wrong letters (one in short names): all names here
 * are short, so more would find names that were not meant.
 */
export function nearestName(written: string, names: Iterable<string>): string | undefined {
  return closestMatch(written, names, written.length <= 4 ? 1 : 2);
}
