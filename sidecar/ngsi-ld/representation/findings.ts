/** A fault of an entity's structure: a broker would refuse it under any model. */
export interface Finding {
  /** Reference tokens (RFC 6901) of a place in the entity as submitted; or of the object in which a member is missing. */
  readonly tokens: readonly string[];
  /** The broken rule, by the name of the JSON Schema keyword for such rules. */
  readonly keyword: string;
  /** Predicate of a sentence about that place, e.g. `must be a URI, is 5`. */
  readonly detail: string;
}

/** Something that a broker accepts but that is probably a mistake. */
export interface EntityWarning {
  readonly tokens: readonly string[];
  readonly code: string;
  readonly detail: string;
}

/** Most faults, and most warnings, that are kept of one entity: far more than are shown. */
export const MAX_FINDINGS = 1000;

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

  /** @param below tokens from where the walk is */
  warn(code: string, detail: string, ...below: readonly string[]): void {
    if (this.#warnings.length < MAX_FINDINGS)
      this.#warnings.push({ tokens: [...this.#path, ...below], code, detail });
  }
}
