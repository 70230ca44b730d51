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
    // In variables of its own, the loop takes a third of the time.
    let [marks, depth, deepest] = [this.#marks, this.#depth, this.#deepest];
    let [inString, isEscaped] = [this.#inString, this.#isEscaped];
    let untilLong = LONG;
    /** The next backslash, as far as it is known: none before it. */
    let backslash = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at];
      if (inString) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) inString = false;
        else if ((untilLong -= 1) === 0) {
          // Of a long text, native code finds what ends it.
          untilLong = LONG;
          if (backslash < at) backslash = indexIn(bytes, BACKSLASH, at);
          at = Math.min(backslash, indexIn(bytes, QUOTE, at)) - 1;
        }
      } else if (byte === QUOTE) [inString, untilLong] = [true, LONG];
      else if (byte === COMMA) marks += 1;
      else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) {
        marks += 1;
        depth += 1;
        if (depth > deepest) deepest = depth;
      } else if (byte === CLOSE_BRACKET || byte === CLOSE_BRACE) depth -= 1;
    }
    [this.#marks, this.#depth, this.#deepest] = [marks, depth, deepest];
    [this.#inString, this.#isEscaped] = [inString, isEscaped];
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
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
