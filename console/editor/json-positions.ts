import { jsonLanguage } from '@codemirror/lang-json';
import type { Text } from '@codemirror/state';
import type { SyntaxNode } from '@lezer/common';
import { tokensOf } from '../../sidecar/shared/json/json.js';
import type { Position } from './errors.js';

/** A part of a text, in UTF-16 units. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/**
 * Returns the range to mark for a position. A line and a column beyond the text are moved into it.
 *
 * @param text JSON, even while it is being typed
 */
export function rangeOf(text: Text, { pointer = '', line, column = 1 }: Position): Range {
  if (line === undefined) return rangeOfPointer(text.toString(), pointer);
  const { from, to, length } = text.line(Math.min(Math.max(line, 1), text.lines));
  return { from: from + Math.min(Math.max(column, 1), Math.max(length, 1)) - 1, to };
}

/** Returns the range of the value at a JSON pointer (RFC 6901); if there is none, of the closest enclosing value. */
function rangeOfPointer(text: string, pointer: string): Range {
  const { node, name } = nearest(text, pointer);
  // For a value with members, its name is enough; without a name, its first character.
  if (node === undefined) return { from: 0, to: Math.min(1, text.length) };
  const isLarge = node.name === 'Object' || node.name === 'Array';
  if (isLarge && name !== undefined) return { from: name.from, to: name.to };
  return { from: node.from, to: isLarge ? node.from + 1 : node.to };
}

/** Returns the value at a pointer and its name in the object around it; if there is none, the closest enclosing value. */
function nearest(text: string, pointer: string) {
  let node = valueIn(jsonLanguage.parser.parse(text).topNode);
  let name: SyntaxNode | undefined;
  for (const step of tokensOf(pointer) ?? []) {
    const next = node === undefined ? undefined : memberOf(text, node, step);
    if (next === undefined) return { node, name, isThere: false };
    ({ value: node, name } = next);
  }
  return { node, name, isThere: true };
}

/** An edit of a text that replaces the value at a pointer, or the name of the member there. */
export interface Edit extends Range {
  readonly insert: string;
}

/**
 * Returns the edit for a suggestion; it leaves the formatting of all other text unchanged.
 *
 * @returns undefined if the text no longer has anything at that position
 */
export function editOf(
  text: string,
  pointer: string,
  suggestion: { readonly value: unknown } | { readonly name: string },
): Edit | undefined {
  const { node, name, isThere } = nearest(text, pointer);
  const place = 'name' in suggestion ? name : node;
  if (!isThere || place === undefined) return undefined;
  const insert = JSON.stringify('name' in suggestion ? suggestion.name : suggestion.value);
  return { from: place.from, to: place.to, insert };
}

const VALUES: ReadonlySet<string> = new Set(['Object', 'Array', 'String', 'Number', 'True', 'False', 'Null']);

/** Returns the first value in a node; text that is being typed may have other nodes beside it. */
function valueIn(parent: SyntaxNode): SyntaxNode | undefined {
  for (let one = parent.firstChild; one !== null; one = one.nextSibling) if (VALUES.has(one.name)) return one;
  return undefined;
}

function memberOf(
  text: string,
  node: SyntaxNode,
  step: string,
): { readonly value: SyntaxNode; readonly name?: SyntaxNode } | undefined {
  if (node.name === 'Object')
    for (const property of node.getChildren('Property')) {
      const [name, value] = [property.firstChild, valueIn(property)];
      if (name === null || value === undefined) continue;
      if (stringAt(text, name) === step) return { value, name };
    }
  if (node.name !== 'Array' || !/^\d+$/.test(step)) return undefined;
  const values: SyntaxNode[] = [];
  for (let one = node.firstChild; one !== null; one = one.nextSibling)
    if (VALUES.has(one.name)) values.push(one);
  const value = values[Number(step)];
  return value === undefined ? undefined : { value };
}

/** Returns the content of a JSON string; undefined if it is not a complete string yet. */
export function stringAt(text: string, { from, to }: Range): string | undefined {
  try {
    const value: unknown = JSON.parse(text.slice(from, to));
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
