import { RecentlyUsed } from '../../shared/recently-used.js';

/** Values by key, of which the least recently used go when they weigh too much together. */
export class BoundedCache<Value> {
  readonly #values: RecentlyUsed<{ readonly value: Value; readonly weight: number }>;
  readonly #maxWeight: number;
  readonly #weightOf: (value: Value) => number;
  readonly #pending = new Map<string, Promise<Value>>();

  /** @param weightOf in bytes, roughly; keys are counted beside */
  constructor(maxWeight: number, weightOf: (value: Value) => number) {
    this.#values = new RecentlyUsed(maxWeight, ({ weight }) => weight);
    this.#maxWeight = maxWeight;
    this.#weightOf = weightOf;
  }

  get(key: string): Value | undefined {
    return this.#values.get(key)?.value;
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

  /** What is too heavy alone is not kept, and drives nothing else out. */
  #put(key: string, value: Value): void {
    const weight = this.#weightOf(value) + key.length;
    if (weight <= this.#maxWeight) this.#values.set(key, { value, weight });
  }
}
