import { createHmac, randomBytes } from 'node:crypto';
import type { AppliedPlan } from '../purge/index.js';

export const MAX_ITEMS = 1_000_000;

/** Initial number of slots, a power of two. */
const FIRST_SLOTS = 1024;

const WORDS = 4;
const HASH_BYTES = WORDS * 4;

const PART_HASHES = 4096;

/**
 * The items of a plan, as 128-bit hashes: HMAC-SHA-256 under a key of the plan, truncated. An item that is not in the
 * plan is taken for one of a million items with a probability of 10^-32, and such an item cannot be crafted without the
 * key. Takes 32 bytes per item.
 */
export class PlanKeys implements AppliedPlan {
  /** The key in hex. */
  readonly key: string;
  readonly #keyBytes: Buffer;
  #slots = new Uint32Array(FIRST_SLOTS * WORDS);
  #size = 0;
  /** Whether an item was left out, because the plan was full. */
  isIncomplete = false;

  /** @param key in hex; random by default */
  constructor(key = randomBytes(32).toString('hex')) {
    this.key = key;
    this.#keyBytes = Buffer.from(key, 'hex');
  }

  get size(): number {
    return this.#size;
  }

  has(item: string): boolean {
    return !this.#isEmpty(this.#slotOf(this.#hash(item)));
  }

  add(item: string): void {
    if (this.#size < MAX_ITEMS) this.#addHash(this.#hash(item));
    else this.isIncomplete ||= !this.has(item);
  }

  /** Adds a part returned by toParts(). */
  addPart(part: string): void {
    const bytes = Buffer.from(part, 'base64');
    for (let at = 0; at + HASH_BYTES <= bytes.length; at += HASH_BYTES)
      this.#addHash(wordsOf(bytes.subarray(at, at + HASH_BYTES)));
  }

  /** Returns all hashes, in parts encoded as base64. */
  toParts(): readonly string[] {
    const parts: string[] = [];
    let bytes = Buffer.alloc(PART_HASHES * HASH_BYTES);
    let filled = 0;
    for (let slot = 0; slot < this.#slots.length / WORDS; slot += 1) {
      if (this.#isEmpty(slot)) continue;
      for (let word = 0; word < WORDS; word += 1)
        bytes.writeUInt32BE(this.#slots[slot * WORDS + word] ?? 0, filled * HASH_BYTES + word * 4);
      filled += 1;
      if (filled < PART_HASHES) continue;
      parts.push(bytes.toString('base64'));
      [bytes, filled] = [Buffer.alloc(PART_HASHES * HASH_BYTES), 0];
    }
    if (filled > 0) parts.push(bytes.subarray(0, filled * HASH_BYTES).toString('base64'));
    return parts;
  }

  #hash(item: string): Uint32Array {
    return wordsOf(createHmac('sha256', this.#keyBytes).update(item).digest());
  }

  #addHash(words: Uint32Array): void {
    if ((this.#size + 1) * 2 * WORDS > this.#slots.length) this.#grow();
    const slot = this.#slotOf(words);
    if (this.#isEmpty(slot)) this.#size += 1;
    this.#slots.set(words, slot * WORDS);
  }

  /** Returns the slot of a hash, or the empty slot where it belongs. */
  #slotOf(words: Uint32Array): number {
    const mask = this.#slots.length / WORDS - 1;
    let slot = (words[0] ?? 0) & mask;
    while (!this.#isEmpty(slot) && !words.every((word, at) => this.#slots[slot * WORDS + at] === word))
      slot = (slot + 1) & mask;
    return slot;
  }

  #isEmpty(slot: number): boolean {
    for (let word = 0; word < WORDS; word += 1) if (this.#slots[slot * WORDS + word] !== 0) return false;
    return true;
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = new Uint32Array(before.length * 2);
    for (let at = 0; at < before.length; at += WORDS) {
      const words = before.subarray(at, at + WORDS);
      if (words.some((word) => word !== 0)) this.#slots.set(words, this.#slotOf(words) * WORDS);
    }
  }
}

function wordsOf(bytes: Buffer): Uint32Array {
  return Uint32Array.from({ length: WORDS }, (_, word) => bytes.readUInt32BE(word * 4));
}
