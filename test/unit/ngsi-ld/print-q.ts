import type { QNode, QOperand, QPath, QSpan, QValue } from '../../../sidecar/ngsi-ld/q.js';

/** The position in a tree that was not read from a text. */
export const NOWHERE: QSpan = { start: 0, end: 0 };

/** A syntax tree without the positions of its nodes in a text. */
export function withoutSpans(node: QNode): unknown {
  return JSON.parse(JSON.stringify(node, (key, value: unknown) => (key === 'span' ? undefined : value)));
}

/** Writes a syntax tree back as a query, so that properties can parse the printed text. */
export function printQ(node: QNode): string {
  switch (node.kind) {
    case 'and':
      return node.operands.map(printQ).join(';');
    case 'or':
      return node.operands.map(printQ).join('|');
    case 'group':
      return `(${printQ(node.inner)})`;
    case 'exists':
      return (node.negated ? '!' : '') + printPath(node.path);
    case 'equality':
      return printPath(node.path) + node.operator + printOperand(node.operand);
    case 'order':
      return printPath(node.path) + node.operator + printValue(node.value);
    case 'pattern': {
      const pattern = node.quoted ? `"${node.pattern.replaceAll('"', '\\"')}"` : node.pattern;
      return printPath(node.path) + (node.negated ? '!~=' : '~=') + pattern;
    }
  }
}

function printPath(path: QPath): string {
  const members = path.valuePath.length === 0 ? '' : `[${path.valuePath.join('.')}]`;
  const link = path.link === null ? '' : [`{${path.link.inner}}`, ...path.link.rest].join('.');
  return path.names.join('.') + members + link;
}

function printOperand(operand: QOperand): string {
  if (operand.kind === 'value') return printValue(operand.value);
  if (operand.kind === 'list') return operand.values.map(printValue).join(',');
  return `${printValue(operand.from)}..${printValue(operand.to)}`;
}

function printValue(value: QValue): string {
  if (value.kind === 'string') return JSON.stringify(value.value);
  return value.kind === 'number' ? value.source : String(value.value);
}
