import { NO_OWN_ATTRIBUTES } from './entity-members.js';
import { conditionsOf, type QCondition, type QNode } from './q-ast.js';

/** Whether every match has an attribute of its own that the query demands, whichever alternative it meets. */
export function demandsAttribute(node: QNode): boolean {
  switch (node.kind) {
    case 'and':
      return node.operands.some(demandsAttribute);
    case 'or':
      return node.operands.every(demandsAttribute);
    case 'group':
      return demandsAttribute(node.inner);
    case 'exists':
    case 'equality':
    case 'order':
    case 'pattern':
      return demands(node);
  }
}

/** The own attributes that some alternative demands, each once. */
export function demandedAttributesOf(node: QNode): readonly string[] {
  return [...new Set(conditionsOf(node).filter(demands).map(attributeOf))];
}

/**
 * Whether a condition is met only where the attribute is there. `!attr` is the contrary; `!=` and `!~=` should not be met
 * without it either (clause 4.9), but some brokers find them met. What the broker itself writes is always there.
 */
function demands(condition: QCondition): boolean {
  if (NO_OWN_ATTRIBUTES.has(attributeOf(condition))) return false;
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
