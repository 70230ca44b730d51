import { hash as digestBy, randomBytes } from 'node:crypto';
import { hashed, hashText } from '../shared/text-hash.js';

/** Slots of each part at first: a power of two, as the place of a key is found by its low bits. */
const FIRST_SLOTS = 64;

/** Parts that grow one after the other: to copy all keys at once would take half as much memory again. */
const PARTS = 64;

/** Of the numbers that hash() gives, the largest. */
const LOW = 2 ** 32;

/**
 * A number for each of a million keys, in sixteen bytes a slot: the keys themselves would take too much memory. Two keys that
 * share a hash of 53 bits (about 1 in 20,000 for any two of a million) share their number; the random seed keeps anyone from
 * preparing that.
 */
export class DigestTable {
  readonly #parts = Array.from({ length: PARTS }, () => new Part());
  readonly #seed = randomBytes(4).readUInt32LE();

  /** Keys that were ever set. */
  get size(): number {
    return this.#parts.reduce((sum, { size }) => sum + size, 0);
  }

  /** @returns undefined for a key that was never set */
  get(key: string): number | undefined {
    const hashed = hash(key, this.#seed);
    return this.#partOf(hashed).get(hashed);
  }

  /** @returns whether the key is new */
  set(key: string, value: number): boolean {
    const hashed = hash(key, this.#seed);
    return this.#partOf(hashed).set(hashed, value);
  }

  /** By bits that do not find the slot. */
  #partOf(hashed: number): Part {
    return this.#parts[Math.floor(hashed / LOW) & (PARTS - 1)] as Part;
  }
}

/** A part of the keys: an open table of their hashes, each with its number. */
class Part {
  size = 0;
  #keys = new Float64Array(FIRST_SLOTS);
  #values = new Float64Array(FIRST_SLOTS);

  get(hashed: number): number | undefined {
    const slot = this.#slotOf(hashed);
    return this.#keys[slot] === 0 ? undefined : this.#values[slot];
  }

  set(hashed: number, value: number): boolean {
    if ((this.size + 1) * 4 > this.#keys.length * 3) this.#grow();
    const slot = this.#slotOf(hashed);
    const isNew = this.#keys[slot] === 0;
    if (isNew) this.size += 1;
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

/** Hexadecimal digits that a double holds exactly: 52 bits. */
const DIGEST_DIGITS = 13;

/** A number for a text that another text hardly ever has; never 0. */
export function digestOf(text: string): number {
  // Native code: texts are long, unlike keys. Hex takes a third of the time that a buffer does.
  return Number.parseInt(digestBy('sha256', text, 'hex').slice(0, DIGEST_DIGITS), 16) || 1;
}

/** 53 bits of the hash of a text; never 0. */
function hash(text: string, seed: number): number {
  hashText(text, seed, seed);
  return (hashed.high & 0x1fffff) * LOW + hashed.low || 1;
}
