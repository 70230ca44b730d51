/** Values by key, of which the least recently used go when they weigh too much together. */
export class RecentlyUsed<Value> {
  readonly #maxWeight: number;
  readonly #weightOf: (value: Value) => number;
  readonly #values = new Map<string, Value>();
  #weight = 0;
  /** The key that was used last: it is often used again, and then costs no hash of its text. */
  #last: { readonly key: string; readonly value: Value } | undefined;

  constructor(maxWeight: number, weightOf: (value: Value) => number) {
    this.#maxWeight = maxWeight;
    this.#weightOf = weightOf;
  }

  get(key: string): Value | undefined {
    if (this.#last?.key === key) return this.#last.value;
    const value = this.#values.get(key);
    if (value === undefined) return undefined;
    // A map keeps the order of insertion: the first is the one that was not used for longest.
    this.#values.delete(key);
    this.#values.set(key, value);
    this.#last = { key, value };
    return value;
  }

  set(key: string, value: Value): void {
    this.#delete(key);
    this.#values.set(key, value);
    this.#last = { key, value };
    this.#weight += this.#weightOf(value);
    for (const oldest of this.#values.keys()) {
      if (this.#weight <= this.#maxWeight) break;
      this.#delete(oldest);
    }
  }

  #delete(key: string): void {
    const value = this.#values.get(key);
    if (value === undefined) return;
    this.#values.delete(key);
    if (this.#last?.key === key) this.#last = undefined;
    this.#weight -= this.#weightOf(value);
  }
}
