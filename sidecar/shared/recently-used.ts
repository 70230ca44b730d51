/** Values by key, of which the least recently used go when they weigh too much together. */
export class RecentlyUsed<Value> {
  readonly #maxWeight: number;
  readonly #weightOf: (value: Value) => number;
  readonly #values = new Map<string, Value>();
  #weight = 0;

  constructor(maxWeight: number, weightOf: (value: Value) => number) {
    this.#maxWeight = maxWeight;
    this.#weightOf = weightOf;
  }

  get(key: string): Value | undefined {
    const value = this.#values.get(key);
    if (value === undefined) return undefined;
    // A map keeps the order of insertion: the first is the one that was not used for longest.
    this.#values.delete(key);
    this.#values.set(key, value);
    return value;
  }

  set(key: string, value: Value): void {
    this.#delete(key);
    this.#values.set(key, value);
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
    this.#weight -= this.#weightOf(value);
  }
}
