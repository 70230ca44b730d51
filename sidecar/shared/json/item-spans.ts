import { closingQuote } from './lossless-json.js';

/**
 * Where the items of an array stand in its text.
 *
 * @param text JSON of an array
 * @returns where each begins and ends, spaces left out
 */
export function itemSpans(text: string): readonly (readonly [start: number, end: number])[] {
  const spans: (readonly [number, number])[] = [];
  let depth = 0;
  let start = -1;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (depth === 1 && start === -1 && !IGNORED.has(code)) start = at;
    if (code === QUOTE) at = closingQuote(text, at);
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth += 1;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth -= 1;
    const isEnd = (depth === 1 && code === COMMA) || depth === 0;
    if (!isEnd || start === -1) continue;
    spans.push([start, start + text.slice(start, at).trimEnd().length]);
    start = -1;
  }
  return spans;
}

const [QUOTE, COMMA] = [0x22, 0x2c];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];
/** What stands between items, and the end of their array. */
const IGNORED: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d, COMMA, CLOSE_BRACKET]);
