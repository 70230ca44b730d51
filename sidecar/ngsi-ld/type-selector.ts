import { Scanner } from './scanner.js';

/** A selection of entity types (ETSI GS CIM 009 V1.9.1, clause 4.17). */
export type TypeSelector = { readonly kind: 'any' } | TypeNode;

/** A type, or several types. `start` is the position of a name in the text, in UTF-16 code units. */
export type TypeNode =
  | { readonly kind: 'type'; readonly name: string; readonly start: number }
  | { readonly kind: 'and' | 'or'; readonly operands: readonly TypeNode[] };

const TYPE_NAME = /[^,|;()*"<>\s\u0000-\u001f\u007f]+/uy;
const OR = /[,|]/y;
const MAX_BRACKETS_DEPTH = 100;

/**
 * Parses `A`, `A,B` or `A|B` (or), `A;B` (and, which binds tighter), brackets, and `*` (any type, only on its own).
 * Names are short names or IRIs without `, | ; ( )`, as the note of the clause recommends.
 *
 * Accepted beyond the grammar: `;` without brackets around it, nested brackets.
 *
 * @throws NgsiLdSyntaxError
 */
export function parseTypeSelector(text: string): TypeSelector {
  const scanner = new Scanner('type', text);
  if (text === '*') return { kind: 'any' };
  const selector = readAlternatives(scanner, 0);
  if (!scanner.atEnd) scanner.fail('",", "|", ";" or the end');
  return selector;
}

function readAlternatives(scanner: Scanner, depth: number): TypeNode {
  const operands = [readConjunction(scanner, depth)];
  while (scanner.match(OR) !== undefined) operands.push(readConjunction(scanner, depth));
  return combine('or', operands);
}

function readConjunction(scanner: Scanner, depth: number): TypeNode {
  const operands = [readOne(scanner, depth)];
  while (scanner.take(';')) operands.push(readOne(scanner, depth));
  return combine('and', operands);
}

function combine(kind: 'and' | 'or', operands: readonly TypeNode[]): TypeNode {
  const [only, another] = operands;
  return only !== undefined && another === undefined ? only : { kind, operands };
}

function readOne(scanner: Scanner, depth: number): TypeNode {
  scanner.skipSpaces();
  let selector: TypeNode;
  const start = scanner.position;
  if (scanner.take('(')) {
    if (depth >= MAX_BRACKETS_DEPTH) scanner.fail(`at most ${MAX_BRACKETS_DEPTH} nested brackets`);
    selector = readAlternatives(scanner, depth + 1);
    if (!scanner.take(')')) scanner.fail('")"');
  } else {
    selector = { kind: 'type', name: scanner.match(TYPE_NAME) ?? scanner.fail('a type name'), start };
  }
  scanner.skipSpaces();
  return selector;
}

/** Returns the type names in a selection, each once. */
export function typeNamesOf(selector: TypeSelector): readonly string[] {
  switch (selector.kind) {
    case 'any':
      return [];
    case 'type':
      return [selector.name];
    case 'and':
    case 'or':
      return [...new Set(selector.operands.flatMap(typeNamesOf))];
  }
}

/** Whether an entity with these types is selected. */
export function matchesType(selector: TypeSelector, types: readonly string[]): boolean {
  switch (selector.kind) {
    case 'any':
      return true;
    case 'type':
      return types.includes(selector.name);
    case 'and':
      return selector.operands.every((operand) => matchesType(operand, types));
    case 'or':
      return selector.operands.some((operand) => matchesType(operand, types));
  }
}
