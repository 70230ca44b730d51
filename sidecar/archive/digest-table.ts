import { randomBytes } from 'node:crypto';

/** Slots at first: a power of two, as the place of a key is found by its low bits. */
const FIRST_SLOTS = 1024;

/** Of the numbers that hash() gives, the largest. */
const LOW = 2 ** 32;

/**
 * A number for each of a million keys, in sixteen bytes a slot: the keys themselves would take too much memory. Two keys that
 * share a hash of 53 bits (about 1 in 20,000 for any two of a million) share their number; the random seed keeps anyone from
 * preparing that.
 */
export class DigestTable {
  #keys = new Float64Array(FIRST_SLOTS);
  #values = new Float64Array(FIRST_SLOTS);
  #size = 0;
  readonly #seed = randomBytes(4).readUInt32LE();

  /** Keys that were ever set. */
  get size(): number {
    return this.#size;
  }

  /** @returns undefined for a key that was never set */
  get(key: string): number | undefined {
    const slot = this.#slotOf(hash(key, this.#seed));
    return this.#keys[slot] === 0 ? undefined : this.#values[slot];
  }

  /** @returns whether the key is new */
  set(key: string, value: number): boolean {
    if ((this.#size + 1) * 4 > this.#keys.length * 3) this.#grow();
    const hashed = hash(key, this.#seed);
    const slot = this.#slotOf(hashed);
    const isNew = this.#keys[slot] === 0;
    if (isNew) this.#size += 1;
    this.#keys[slot] = hashed;
    this.#values[slot] = value;
    return isNew;
  }

  #slotOf(hashed: number): number {
    const mask = this.#keys.length - 1;
    let slot = (hashed % LOW) & mask;
    while (this.#keys[slot] !== 0 && this.#keys[slot] !== hashed) slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const [keys, values] = [this.#keys, this.#values];
    this.#keys = new Float64Array(keys.length * 2);
    this.#values = new Float64Array(keys.length * 2);
    for (let from = 0; from < keys.length; from += 1) {
      const hashed = keys[from] ?? 0;
      if (hashed === 0) continue;
      const to = this.#slotOf(hashed);
      this.#keys[to] = hashed;
      this.#values[to] = values[from] ?? 0;
    }
  }
}

const CONTENT_SEED = 0x5bd1e995;

/** A number for a text that another text hardly ever has; never 0. */
export function digestOf(text: string): number {
  return hash(text, CONTENT_SEED);
}

/** 53 bits of two interleaved multiply-and-mix lanes over UTF-16 code units; never 0. */
function hash(text: string, seed: number): number {
  let a = seed ^ 0xdeadbeef;
  let b = seed ^ 0x41c6ce57;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    a = Math.imul(a ^ unit, 0x9e3779b1);
    b = Math.imul(b ^ unit, 0x5f356495);
    a ^= b >>> 15;
    b ^= a >>> 13;
  }
  a = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35);
  b = Math.imul(b ^ (b >>> 16), 0x85ebca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2ae35);
  return (b & 0x1fffff) * LOW + (a >>> 0) || 1;
}
