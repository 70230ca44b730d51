/** Values by key, of which the least recently used go when they weigh too much together. */
export class BoundedCache<Value> {
  readonly #maxWeight: number;
  readonly #weightOf: (value: Value) => number;
  readonly #entries = new Map<string, { readonly value: Value; readonly weight: number }>();
  readonly #pending = new Map<string, Promise<Value>>();
  #weight = 0;

  /** @param weightOf in bytes, roughly; keys are counted beside */
  constructor(maxWeight: number, weightOf: (value: Value) => number) {
    this.#maxWeight = maxWeight;
    this.#weightOf = weightOf;
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    // A map keeps the order of insertion: the first is the one that was not used for longest.
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** The value at hand, or a new one, made once however many ask for it meanwhile; failures are not kept. */
  async getOrMake(key: string, make: () => Promise<Value>): Promise<Value> {
    const value = this.get(key);
    if (value !== undefined) return value;
    const pending = this.#pending.get(key) ?? this.#make(key, make);
    this.#pending.set(key, pending);
    return pending;
  }

  async #make(key: string, make: () => Promise<Value>): Promise<Value> {
    try {
      const value = await make();
      this.#put(key, value);
      return value;
    } finally {
      this.#pending.delete(key);
    }
  }

  #put(key: string, value: Value): void {
    const weight = this.#weightOf(value) + key.length;
    if (weight > this.#maxWeight) return;
    this.#entries.set(key, { value, weight });
    this.#weight += weight;
    for (const [oldest, entry] of this.#entries) {
      if (this.#weight <= this.#maxWeight) break;
      this.#entries.delete(oldest);
      this.#weight -= entry.weight;
    }
  }
}
