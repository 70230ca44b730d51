/** The halves of the last hash. Returning a pair instead would allocate an object for each of a million texts. */
export const lastHash = { low: 0, high: 0 };

/**
 * Stores a 64-bit hash of a text in {@link lastHash}, computed by two interleaved multiply-and-mix lanes over UTF-16 code
 * units. Random seeds keep anyone from constructing texts with the same hash.
 */
export function hashText(text: string, seed1: number, seed2: number): void {
  let a = seed1 ^ 0xdeadbeef;
  let b = seed2 ^ 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    a = Math.imul(a ^ unit, 0x9e3779b1);
    b = Math.imul(b ^ unit, 0x5f356495);
    // Without mixing between the lanes, each would be a plain 32-bit hash with its collisions.
    a ^= b >>> 15;
    b ^= a >>> 13;
  }
  a = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35);
  b = Math.imul(b ^ (b >>> 16), 0x85ebca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2ae35);
  lastHash.low = a >>> 0;
  lastHash.high = b >>> 0;
}
