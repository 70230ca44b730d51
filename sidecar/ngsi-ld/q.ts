/**
 * The NGSI-LD query language, parameter `q` (ETSI GS CIM 009 V1.9.1, clause 4.9): the parser, and functions to analyse
 * queries.
 */
import { NON_ATTRIBUTE_MEMBERS } from './members.js';
import type { QCondition, QNode, QOrderOperator, QValue } from './q-ast.js';
import { readPath, readOperand, readOrderedValue, readPattern } from './q-terms.js';
import { Scanner } from './scanner.js';

export type { QCondition, QNode, QOperand, QOrderOperator, QPath, QSpan, QValue } from './q-ast.js';

/** Maximum length of a query in UTF-16 code units. */
export const MAX_Q_CHARS = 65_536;
/** Maximum nesting depth of brackets. */
export const MAX_Q_DEPTH = 100;

const OPERATOR = /==|!=|!?~=|[<>]=?/y;

/**
 * Parses a query of the NGSI-LD query language (ETSI GS CIM 009 V1.9.1, clause 4.9) that is already URL-decoded: `q`,
 * or `csf`, which selects context sources.
 *
 * Accepted beyond the standard's grammar, because brokers accept it: IRIs as names (see q-terms.ts), `!path` for
 * non-existence, bare words as values, spaces around operators and commas, brackets nested up to MAX_Q_DEPTH. Refused
 * although some brokers accept it: a single `=`, `===`, an unclosed quote, a trailing `;`. `;` binds tighter than `|`.
 * Runs in linear time.
 *
 * @throws NgsiLdSyntaxError, and no other error
 */
export function parseQ(text: string, parameter: 'q' | 'csf' = 'q'): QNode {
  const scanner = new Scanner(parameter, text);
  if (text.length > MAX_Q_CHARS) scanner.fail(`at most ${MAX_Q_CHARS} characters`, MAX_Q_CHARS);
  const node = readAlternatives(scanner, 0);
  if (!scanner.atEnd) scanner.fail('";", "|" or the end');
  return node;
}

function readAlternatives(scanner: Scanner, depth: number): QNode {
  const operands = [readConjunction(scanner, depth)];
  while (scanner.take('|')) operands.push(readConjunction(scanner, depth));
  return combine('or', operands);
}

function readConjunction(scanner: Scanner, depth: number): QNode {
  const operands = [readTerm(scanner, depth)];
  while (scanner.take(';')) operands.push(readTerm(scanner, depth));
  return combine('and', operands);
}

function combine(kind: 'and' | 'or', operands: readonly QNode[]): QNode {
  const [first, last] = [operands[0], operands.at(-1)] as [QNode, QNode];
  return first === last ? first : { kind, operands, span: { start: first.span.start, end: last.span.end } };
}

function readTerm(scanner: Scanner, depth: number): QNode {
  scanner.skipSpaces();
  const span: { start: number; operator?: number } = { start: scanner.position };
  const term = scanner.peek() === '(' ? readGroup(scanner, depth + 1) : readCondition(scanner, span);
  const end = scanner.position;
  scanner.skipSpaces();
  return { ...term, span: { ...span, end } };
}

/** A node whose end is not known yet. */
type WithoutSpan<Node> = Node extends unknown ? Omit<Node, 'span'> : never;

function readGroup(scanner: Scanner, depth: number): WithoutSpan<Extract<QNode, { kind: 'group' }>> {
  if (depth > MAX_Q_DEPTH) scanner.fail(`at most ${MAX_Q_DEPTH} nested brackets`);
  scanner.take('(');
  const inner = readAlternatives(scanner, depth);
  if (!scanner.take(')')) scanner.fail('";", "|" or ")"');
  return { kind: 'group', inner };
}

/** @param span receives the start of the operator */
function readCondition(scanner: Scanner, span: { operator?: number }): WithoutSpan<QCondition> {
  if (scanner.take('!')) return { kind: 'exists', path: readPath(scanner), negated: true };
  const path = readPath(scanner);
  scanner.skipSpaces();
  if (scanner.atEnd || ';|)'.includes(scanner.peek())) return { kind: 'exists', path, negated: false };
  span.operator = scanner.position;
  const operator = scanner.match(OPERATOR) as QOperator | undefined;
  scanner.skipSpaces();
  switch (operator) {
    case '==':
    case '!=':
      return { kind: 'equality', path, operator, operand: readOperand(scanner) };
    case '~=':
    case '!~=':
      return { kind: 'pattern', path, negated: operator === '!~=', ...readPattern(scanner) };
    case undefined:
      return scanner.fail('one of the operators == != > >= < <= ~= !~=, or ";", "|" or the end');
    default:
      return { kind: 'order', path, operator, value: readOrderedValue(scanner) };
  }
}

type QOperator = QOrderOperator | '==' | '!=' | '~=' | '!~=';

/** Returns the conditions of a query, in the order in which they are written. */
export function conditionsOf(node: QNode): readonly QCondition[] {
  if ('path' in node) return [node];
  return node.kind === 'group' ? conditionsOf(node.inner) : node.operands.flatMap(conditionsOf);
}

/** Returns the values that a condition compares with; none if it does not compare, or compares with a pattern. */
export function valuesOf(condition: QCondition): readonly QValue[] {
  if (condition.kind === 'order') return [condition.value];
  if (condition.kind !== 'equality') return [];
  const { operand } = condition;
  switch (operand.kind) {
    case 'value':
      return [operand.value];
    case 'list':
      return operand.values;
    case 'range':
      return [operand.from, operand.to];
  }
}

/** Whether any path follows a Relationship, `attr{…}`; such a query is not allowed in a purge (clause 5.6.21.4). */
export function hasLinkedEntityPath(node: QNode): boolean {
  return conditionsOf(node).some(({ path }) => path.link !== null);
}

/**
 * Whether `;` and `|` are mixed without brackets. In the standard, `;` binds tighter; some brokers refuse the mixture,
 * so brackets make a query work with more brokers.
 */
export function mixesLogicalOperators(node: QNode): boolean {
  if ('path' in node) return false;
  if (node.kind === 'group') return mixesLogicalOperators(node.inner);
  const mixes = node.kind === 'or' && node.operands.some(({ kind }) => kind === 'and');
  return mixes || node.operands.some(mixesLogicalOperators);
}

/** Whether every match must have at least one own attribute that the query requires, whichever alternative it satisfies. */
export function requiresAttribute(node: QNode): boolean {
  if ('path' in node) return requiresItsAttribute(node);
  if (node.kind === 'group') return requiresAttribute(node.inner);
  return node.kind === 'and' ? node.operands.some(requiresAttribute) : node.operands.every(requiresAttribute);
}

/** Returns the own attributes that some alternative requires, each once. */
export function requiredAttributesOf(node: QNode): readonly string[] {
  return [...new Set(conditionsOf(node).filter(requiresItsAttribute).map(attributeOf))];
}

/**
 * Whether a condition only holds if the attribute exists. `!attr` is the opposite. `!=` and `!~=` should not hold
 * without the attribute either (clause 4.9), but in some brokers they do. Attributes that the broker itself sets always
 * exist.
 */
function requiresItsAttribute(condition: QCondition): boolean {
  if (NON_ATTRIBUTE_MEMBERS.has(attributeOf(condition))) return false;
  switch (condition.kind) {
    case 'exists':
    case 'pattern':
      return !condition.negated;
    case 'equality':
      return condition.operator === '==';
    case 'order':
      return true;
  }
}

function attributeOf({ path }: QCondition): string {
  return path.names[0] ?? '';
}
