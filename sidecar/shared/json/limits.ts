/** Limits of a JSON text. */
export interface JsonLimits {
  /** Maximum number of arrays, objects and commas, because some values take fifty times the memory of their text. */
  readonly elements: number;
  /** Maximum nesting depth of arrays and objects. */
  readonly depth: number;
}

/**
 * Compares a JSON text with limits before it is parsed, because the time to parse it depends on its content, not only on its size.
 *
 * @param bytes JSON; the result is meaningless for another text
 * @returns completes "The text …" if a limit is exceeded; otherwise undefined
 */
export function exceededJsonLimit(bytes: Uint8Array, { elements, depth }: JsonLimits): string | undefined {
  // Each array, object and comma has a character of its own.
  if (bytes.length <= Math.min(elements, depth)) return undefined;
  const measured = measure(bytes);
  if (measured.depth > depth) return `is nested deeper than ${depth} levels`;
  return measured.elements > elements
    ? `contains more than ${elements} arrays, objects and items`
    : undefined;
}

function measure(bytes: Uint8Array): JsonLimits {
  let [elements, depth, deepest] = [0, 0, 0];
  /** Position of the next known backslash: there is none before it. */
  let backslash = 0;
  // Small loops make this five times as fast.
  for (let at = 0; at < bytes.length; at += 1) {
    let mark: number | undefined = 0;
    while (at < bytes.length && (mark = DELIMITERS[bytes[at] ?? 0]) === 0) at += 1;
    if (mark === CLOSE) depth -= 1;
    else if (mark === COMMA || mark === OPEN) {
      elements += 1;
      if (mark === OPEN) deepest = Math.max(deepest, (depth += 1));
    } else if (mark === QUOTE) {
      at += 1;
      for (;;) {
        const near = Math.min(bytes.length, at + LONG_STRING_BYTES);
        while (at < near && bytes[at] !== QUOTE && bytes[at] !== BACKSLASH) at += 1;
        if (at === near && at < bytes.length) {
          // In a long string, native code finds its end faster.
          if (backslash < at) backslash = indexOfByte(bytes, BACKSLASH, at);
          at = Math.min(backslash, indexOfByte(bytes, QUOTE, at));
        }
        if (bytes[at] !== BACKSLASH) break;
        // The character after a backslash belongs to the escape.
        at += 2;
      }
    }
  }
  return { elements, depth: deepest };
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
