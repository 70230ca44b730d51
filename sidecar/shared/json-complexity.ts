/** Limits of a JSON text. */
export interface JsonLimits {
  /** Maximum number of arrays, objects and commas, because some values take fifty times the memory of their text. */
  readonly elements: number;
  /** Maximum nesting depth of arrays and objects. */
  readonly depth: number;
}

/**
 * Measures JSON before it is parsed, in chunks as it arrives, because the time to parse it depends on its content, not
 * only on its size. The result is meaningless for a text that is not JSON.
 */
export class JsonComplexity {
  readonly #limits: JsonLimits;
  #elements = 0;
  #depth = 0;
  #deepest = 0;
  #inString = false;
  #isEscaped = false;

  constructor(limits: JsonLimits) {
    this.#limits = limits;
  }

  /** Scans the next chunk, which may end anywhere. */
  add(bytes: Uint8Array): void {
    // Local variables and small loops make this five times as fast.
    let [marks, depth, deepest, inString] = [this.#elements, this.#depth, this.#deepest, this.#inString];
    const end = bytes.length;
    let at = this.#isEscaped ? 1 : 0;
    /** Position of the next known backslash: there is none before it. */
    let backslash = 0;
    while (at < end) {
      if (inString) {
        const near = Math.min(end, at + LONG_STRING_BYTES);
        while (at < near && bytes[at] !== QUOTE && bytes[at] !== BACKSLASH) at += 1;
        if (at === near && at < end) {
          // In a long string, native code finds its end faster.
          if (backslash < at) backslash = indexOfByte(bytes, BACKSLASH, at);
          at = Math.min(backslash, indexOfByte(bytes, QUOTE, at));
        }
        if (at >= end) break;
        inString = bytes[at] === BACKSLASH;
        // The character after a backslash belongs to the escape.
        at += inString ? 2 : 1;
        continue;
      }
      let mark: number | undefined = 0;
      while (at < end && (mark = DELIMITERS[bytes[at] ?? 0]) === 0) at += 1;
      if (at === end) break;
      at += 1;
      if (mark === QUOTE) inString = true;
      else if (mark === CLOSE) depth -= 1;
      else {
        marks += 1;
        if (mark === OPEN) deepest = Math.max(deepest, (depth += 1));
      }
    }
    [this.#elements, this.#depth, this.#deepest, this.#inString] = [marks, depth, deepest, inString];
    this.#isEscaped = at > end;
  }

  /** Completes "The text …" if a limit is exceeded; otherwise undefined. */
  get exceededLimit(): string | undefined {
    const { elements: marks, depth } = this.#limits;
    if (this.#deepest > depth) return `is nested deeper than ${depth} levels`;
    return this.#elements > marks ? `contains more than ${marks} arrays, objects and items` : undefined;
  }
}

/** Number of bytes of a string that are inspected one by one before the rest is searched. */
const LONG_STRING_BYTES = 24;

/** @returns the length of the bytes if not found */
function indexOfByte(bytes: Uint8Array, byte: number, from: number): number {
  const at = bytes.indexOf(byte, from);
  return at === -1 ? bytes.length : at;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN = 0x5b;
const CLOSE = 0x5d;

/** The meaning of each byte outside of strings; 0 for bytes that do not count. */
const DELIMITERS = new Uint8Array(256);
for (const [text, mark] of [
  ['"', QUOTE],
  [',', COMMA],
  ['[{', OPEN],
  [']}', CLOSE],
] as const)
  for (const byte of Buffer.from(text)) DELIMITERS[byte] = mark;
