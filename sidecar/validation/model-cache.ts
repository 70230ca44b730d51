/** What a cache holds at most. */
export interface CacheLimits {
  readonly entries: number;
  /** Of all entries together, in whatever unit the weights are. */
  readonly weight: number;
}

/** Values by key, of which the least recently used go when they are too many, or weigh too much together. */
export class ModelCache<Value> {
  readonly #limits: CacheLimits;
  readonly #entries = new Map<string, { readonly value: Value; readonly weight: number }>();
  #weight = 0;

  constructor(limits: CacheLimits) {
    this.#limits = limits;
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    // A map keeps the order of insertion: the first is the one that was not used for longest.
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** The newest entry stays, however much it weighs: it is about to be used. */
  set(key: string, value: Value, weight: number): void {
    this.#remove(key);
    this.#entries.set(key, { value, weight });
    this.#weight += weight;
    for (const oldest of this.#entries.keys()) {
      const isWithin = this.#entries.size <= this.#limits.entries && this.#weight <= this.#limits.weight;
      if (isWithin || oldest === key) break;
      this.#remove(oldest);
    }
  }

  #remove(key: string): void {
    this.#weight -= this.#entries.get(key)?.weight ?? 0;
    this.#entries.delete(key);
  }
}
