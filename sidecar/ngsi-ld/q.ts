/** The NGSI-LD query language, parameter `q` (ETSI GS CIM 009 V1.9.1, clause 4.9). */
export { attributePathsOf, conditionsOf, hasLinkedEntityPath, mixesLogicalOperators } from './q-ast.js';
export type { QCondition, QLink, QNode, QOperand, QOrderOperator, QPath, QValue } from './q-ast.js';
export { demandedAttributesOf, demandsAttribute } from './q-demands.js';
export { parseQ, MAX_Q_DEPTH, MAX_Q_CHARS } from './q-parser.js';
export type { QSpan } from './q-parser.js';
