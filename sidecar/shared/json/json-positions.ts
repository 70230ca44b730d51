import { closingQuote } from './lossless-json.js';

/** A position in a text. */
export interface Position {
  /** Starting at 1. */
  readonly line: number;
  /** Starting at 1, in UTF-16 code units. */
  readonly column: number;
}

/** A value that a pointer leads to, or passes through. Together they form a tree, so that one scan finds all of them. */
interface PointerNode {
  readonly parent: PointerNode | undefined;
  readonly children: Map<string, PointerNode>;
  position: Position | undefined;
}

/** An array or object on the way to a wanted value; for an array, `index` is that of the next item. */
interface OpenContainer {
  readonly node: PointerNode;
  index: number | undefined;
}

/**
 * Finds the positions of the values that pointers lead to; for a pointer that leads nowhere, the position of the last
 * existing value on its path. Scans the text once for all pointers, without recursion.
 *
 * @param text JSON that `checkJson` has accepted
 * @param pointers the reference tokens of JSON pointers (RFC 6901), unescaped
 * @returns one position for each pointer
 */
export function positionsOf(text: string, pointers: readonly (readonly string[])[]): readonly Position[] {
  const root: PointerNode = { parent: undefined, children: new Map(), position: undefined };
  const ends = pointers.map((tokens) => tokens.reduce(childOf, root));
  locate(text, root);
  return ends.map((end) => {
    let nearest: PointerNode | undefined = end;
    while (nearest !== undefined && nearest.position === undefined) nearest = nearest.parent;
    return nearest?.position ?? { line: 1, column: 1 };
  });
}

function childOf(parent: PointerNode, token: string): PointerNode {
  const known = parent.children.get(token);
  if (known !== undefined) return known;
  const child: PointerNode = { parent, children: new Map(), position: undefined };
  parent.children.set(token, child);
  return child;
}

function locate(text: string, root: PointerNode): void {
  const positionAt = lineCounter(text);
  const open: OpenContainer[] = [];
  let at = end(BLANK, text, 0);
  let node: PointerNode | undefined = root;
  while (node !== undefined) {
    node.position = positionAt(at);
    const first = text[at];
    if (node.children.size > 0 && (first === '{' || first === '[')) {
      open.push({ node, index: first === '[' ? 0 : undefined });
      at += 1;
    } else at = valueEnd(text, at);
    [node, at] = nextNode(text, at, open);
  }
}

/** Continues after a value, or inside the innermost open one. @returns the next value to locate, and its start */
function nextNode(text: string, start: number, open: OpenContainer[]): [PointerNode | undefined, number] {
  let at = start;
  for (let around = open.at(-1); around !== undefined; around = open.at(-1)) {
    at = end(BETWEEN, text, at);
    if (at >= text.length) break;
    if (text[at] === ']' || text[at] === '}') {
      open.pop();
      at += 1;
      continue;
    }
    let token: string;
    if (around.index === undefined) {
      const colon = stringEnd(text, at);
      token = nameOf(text.slice(at, colon));
      at = end(BETWEEN, text, colon);
    } else {
      token = String(around.index);
      around.index += 1;
    }
    const node = around.node.children.get(token);
    if (node !== undefined) return [node, at];
    at = valueEnd(text, at);
  }
  return [undefined, at];
}

const BLANK = /[ \t\n\r]*/y;
/** Everything between names and values, in a text known to be JSON. */
const BETWEEN = /[ \t\n\r,:]*/y;
const SCALAR = /[^ \t\n\r,\]}]*/y;

function end(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start;
  pattern.test(text);
  return pattern.lastIndex;
}

function nameOf(literal: string): string {
  return literal.includes('\\') ? (JSON.parse(literal) as string) : literal.slice(1, -1);
}

function valueEnd(text: string, start: number): number {
  if (text[start] === '"') return stringEnd(text, start);
  if (text[start] !== '{' && text[start] !== '[') return end(SCALAR, text, start);
  let depth = 0;
  let at = start;
  do {
    const code = text.charCodeAt(at);
    if (code === 0x22) {
      at = stringEnd(text, at);
      continue;
    }
    // The opening signs { and [, like the closing signs } and ], differ only in the bit that is masked here.
    if ((code | 0x20) === 0x7b) depth += 1;
    else if ((code | 0x20) === 0x7d) depth -= 1;
    at += 1;
  } while (depth > 0 && at < text.length);
  return at;
}

function stringEnd(text: string, start: number): number {
  return Math.min(closingQuote(text, start) + 1, text.length);
}

/**
 * Finds the items of an array in its text.
 *
 * @param text JSON of an array
 * @returns the start and end of each item, without surrounding whitespace
 */
export function itemSpans(text: string): readonly (readonly [start: number, end: number])[] {
  const spans: (readonly [number, number])[] = [];
  let at = end(BLANK, text, 0) + 1;
  for (;;) {
    const start = end(BETWEEN, text, at);
    if (start >= text.length || text[start] === ']') return spans;
    // If the text is not JSON, advances by at least one character, so that this ends.
    at = Math.max(start + 1, valueEnd(text, start));
    spans.push([start, at]);
  }
}

/** Makes a function that converts offsets to lines and columns; offsets must be ascending. */
function lineCounter(text: string): (at: number) => Position {
  let line = 1;
  let lineStart = 0;
  let lineEnd = text.indexOf('\n');
  return (at) => {
    while (lineEnd !== -1 && lineEnd < at) {
      line += 1;
      lineStart = lineEnd + 1;
      lineEnd = text.indexOf('\n', lineStart);
    }
    return { line, column: at - lineStart + 1 };
  };
}
