/** Limits of a JSON text. */
export interface WeightLimits {
  /** Arrays, objects and commas: some values take fifty times the memory of their text. */
  readonly marks: number;
  /** Arrays and objects within each other. */
  readonly depth: number;
}

/**
 * Weighs JSON before it is parsed, piece by piece as it arrives: the time to parse it depends on its content, not on its
 * bytes alone. The weight of a text that is not JSON means nothing.
 */
export class JsonWeight {
  readonly #limits: WeightLimits;
  #marks = 0;
  #depth = 0;
  #deepest = 0;
  #inString = false;
  #isEscaped = false;

  constructor(limits: WeightLimits) {
    this.#limits = limits;
  }

  /** Looks through the next bytes, which may end anywhere. */
  add(bytes: Uint8Array): void {
    // In variables of its own, and with small loops, it takes a fifth of the time.
    let [marks, depth, deepest, inString] = [this.#marks, this.#depth, this.#deepest, this.#inString];
    const end = bytes.length;
    let at = this.#isEscaped ? 1 : 0;
    /** The next backslash, as far as it is known: none before it. */
    let backslash = 0;
    while (at < end) {
      if (inString) {
        const near = Math.min(end, at + LONG);
        while (at < near && bytes[at] !== QUOTE && bytes[at] !== BACKSLASH) at += 1;
        if (at === near && at < end) {
          // Of a long text, native code finds what ends it.
          if (backslash < at) backslash = indexIn(bytes, BACKSLASH, at);
          at = Math.min(backslash, indexIn(bytes, QUOTE, at));
        }
        if (at >= end) break;
        inString = bytes[at] === BACKSLASH;
        // What follows a backslash belongs to it.
        at += inString ? 2 : 1;
        continue;
      }
      let mark: number | undefined = 0;
      while (at < end && (mark = MARKS[bytes[at] ?? 0]) === 0) at += 1;
      if (at === end) break;
      at += 1;
      if (mark === QUOTE) inString = true;
      else if (mark === CLOSE) depth -= 1;
      else {
        marks += 1;
        if (mark === OPEN) deepest = Math.max(deepest, (depth += 1));
      }
    }
    [this.#marks, this.#depth, this.#deepest, this.#inString] = [marks, depth, deepest, inString];
    this.#isEscaped = at > end;
  }

  /** Completes "The text …" when it is too much; undefined while it is not. */
  get excess(): string | undefined {
    const { marks, depth } = this.#limits;
    if (this.#deepest > depth) return `is nested deeper than ${depth} levels`;
    return this.#marks > marks ? `holds more than ${marks} arrays, objects and items` : undefined;
  }
}

/** Bytes of a text that are looked at one by one, before the rest is searched. */
const LONG = 24;

/** @returns the end of the bytes where there is none */
function indexIn(bytes: Uint8Array, byte: number, from: number): number {
  const at = bytes.indexOf(byte, from);
  return at === -1 ? bytes.length : at;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN = 0x5b;
const CLOSE = 0x5d;

/** What a byte outside of strings stands for; 0 for nothing that weighs. */
const MARKS = new Uint8Array(256);
for (const [text, mark] of [
  ['"', QUOTE],
  [',', COMMA],
  ['[{', OPEN],
  [']}', CLOSE],
] as const)
  for (const byte of Buffer.from(text)) MARKS[byte] = mark;
