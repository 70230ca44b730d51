import { hash as digestBy, randomBytes } from 'node:crypto';
import { lastHash, hashText } from '../shared/text-hash.js';

/** Initial number of slots in each part: a power of two, because the low bits of a hash select the slot. */
const INITIAL_SLOTS = 64;

/** Number of parts. They grow one at a time, because copying all keys at once would need half as much memory again. */
const SHARDS = 64;

/** The lower 32 bits of a hash select the slot, the upper bits the part. */
const LOW = 2 ** 32;

/**
 * Stores a number for each of a million keys in sixteen bytes per slot, without the keys themselves, which would take
 * too much memory. Two keys with the same 53-bit hash share one number. Among a million keys, the probability of that
 * is about 1 in 20,000; the random seed keeps anyone from causing it on purpose.
 */
export class DigestTable {
  readonly #shards = Array.from({ length: SHARDS }, () => new Shard());
  readonly #seed = randomBytes(4).readUInt32LE();

  /** Number of keys that were ever set. */
  get size(): number {
    return this.#shards.reduce((sum, { size }) => sum + size, 0);
  }

  /** @returns undefined for a key that was never set */
  get(key: string): number | undefined {
    const hashed = hash(key, this.#seed);
    return this.#shardOf(hashed).get(hashed);
  }

  /** @returns whether the key is new */
  set(key: string, value: number): boolean {
    const hashed = hash(key, this.#seed);
    return this.#shardOf(hashed).set(hashed, value);
  }

  /** Selects a part by bits that are not used to select the slot. */
  #shardOf(hashed: number): Shard {
    return this.#shards[Math.floor(hashed / LOW) & (SHARDS - 1)] as Shard;
  }
}

/** One part of the table: open addressing, with a number for each hash. */
class Shard {
  size = 0;
  #keys = new Float64Array(INITIAL_SLOTS);
  #values = new Float64Array(INITIAL_SLOTS);

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

/** Number of hexadecimal digits that fit exactly into a double: 52 bits. */
const DIGEST_DIGITS = 13;

/** Returns a number that is practically unique to a text; never 0. */
export function digestOf(text: string): number {
  // Native code, because texts are long, unlike keys. Converting to hex takes a third of the time of reading a buffer.
  return Number.parseInt(digestBy('sha256', text, 'hex').slice(0, DIGEST_DIGITS), 16) || 1;
}

/** Returns 53 bits of the hash of a text; never 0. */
function hash(text: string, seed: number): number {
  hashText(text, seed, seed);
  return (lastHash.high & 0x1fffff) * LOW + lastHash.low || 1;
}
