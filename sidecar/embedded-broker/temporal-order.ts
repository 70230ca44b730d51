import type { TemporalInstance } from './temporal-instance.js';

const COMPACT_FROM = 64;

/** From `from` (inclusive) to `to` (exclusive). */
export interface KeyRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Instances in the order of a key, those with equal keys in the order of their numbers.
 *
 * Adding at the end costs nothing; what comes out of order is sorted in when somebody looks next. Deleting costs
 * nothing either: a dead instance is stepped over, and dropped when a quarter are dead, so that no splice of a long
 * array is ever needed and a deletion of all, page by page, stays linear.
 */
export class InstanceOrder {
  readonly #keyOf: (instance: TemporalInstance) => number;
  #instances: TemporalInstance[] = [];
  #keys: number[] = [];
  /** Added since somebody looked, and older than the last one then. */
  #late: TemporalInstance[] = [];
  #dead = 0;

  /** The key of an instance must not change while the instance is in the order. */
  constructor(keyOf: (instance: TemporalInstance) => number) {
    this.#keyOf = keyOf;
  }

  /** Adds instances with numbers above all that are here. */
  add(instances: readonly TemporalInstance[]): void {
    const keys = instances.map(this.#keyOf);
    if (this.#keys.length === 0 && keys.every((key, at) => at === 0 || key >= (keys[at - 1] ?? key))) {
      // Taken as they are: an array that grows by push has room to spare, which counts in many short histories.
      this.#instances = [...instances];
      this.#keys = keys;
      return;
    }
    for (const [at, instance] of instances.entries()) this.#append(instance, keys[at] ?? Number.NaN);
  }

  /** To be told for each instance of this order that is no longer live. */
  noteDeath(): void {
    this.#dead += 1;
    if (this.#dead < COMPACT_FROM || this.#dead * 4 < this.#instances.length + this.#late.length) return;
    this.#keys = this.#keys.filter((_, at) => this.#instances[at]?.live === true);
    this.#instances = this.#instances.filter(({ live }) => live);
    this.#late = this.#late.filter(({ live }) => live);
    this.#dead = 0;
  }

  /** The live instances whose keys are in the range. Nothing may be added or deleted while this is read. */
  *within({ from, to }: KeyRange, newestFirst = false): Generator<TemporalInstance, undefined> {
    this.#settle();
    const start = this.#firstFrom(from);
    const end = this.#firstFrom(to);
    for (let step = start; step < end; step += 1) {
      const instance = this.#instances[newestFirst ? start + end - 1 - step : step];
      if (instance?.live === true) yield instance;
    }
  }

  #append(instance: TemporalInstance, key: number): void {
    const last = this.#keys.at(-1);
    if (last !== undefined && key < last) {
      this.#late.push(instance);
    } else {
      this.#instances.push(instance);
      this.#keys.push(key);
    }
  }

  /** Sorts in what came late. */
  #settle(): void {
    if (this.#late.length === 0) return;
    const keyed = this.#instances.map((instance, at) => ({ instance, key: this.#keys[at] ?? Number.NaN }));
    for (const instance of this.#late) keyed.push({ instance, key: this.#keyOf(instance) });
    keyed.sort((a, b) => a.key - b.key || a.instance.number - b.instance.number);
    this.#instances = keyed.map(({ instance }) => instance);
    this.#keys = keyed.map(({ key }) => key);
    this.#late = [];
  }

  /** Where the first key of `key` or more is (binary search). */
  #firstFrom(key: number): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#keys[middle] ?? Number.NaN) < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
