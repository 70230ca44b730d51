/** The syntax tree of the NGSI-LD query language (ETSI GS CIM 009 V1.9.1, clause 4.9). */

/** What the braces of a linked-entity path hold, `attr{inner}.rest`: recognised, never evaluated. */
export interface QLink {
  readonly inner: string;
  readonly rest: readonly string[];
}

/**
 * An attribute path: `names` are the dotted names (the first is the attribute of the entity, the others its
 * sub-attributes), `valuePath` the member names in the one pair of brackets that may follow.
 */
export interface QPath {
  readonly names: readonly string[];
  readonly valuePath: readonly string[];
  readonly link: QLink | null;
}

/** Date and time texts are checked, and kept as written. `text` is a bare word, which brokers take differently. */
export type QValue =
  | { readonly kind: 'number'; readonly value: number; readonly source: string }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'string' | 'date' | 'time' | 'dateTime' | 'uri' | 'text'; readonly value: string };

export type QOrderOperator = '>' | '>=' | '<' | '<=';
type QEqualityOperator = '==' | '!=';

export type QOperand =
  | { readonly kind: 'value'; readonly value: QValue }
  | { readonly kind: 'list'; readonly values: readonly QValue[] }
  | { readonly kind: 'range'; readonly from: QValue; readonly to: QValue };

/** Where a node stands in the text of its query, in UTF-16 code units. */
export interface QSpan {
  readonly start: number;
  /** Behind its last character. */
  readonly end: number;
  /** Of a condition with an operator: where the operator begins. */
  readonly operator?: number;
}

export type QNode =
  | { readonly kind: 'and' | 'or'; readonly operands: readonly QNode[]; readonly span: QSpan }
  /** Brackets, kept so that it shows whether `;` and `|` were mixed without them. */
  | { readonly kind: 'group'; readonly inner: QNode; readonly span: QSpan }
  | QCondition;

/** One condition on one attribute. */
export type QCondition = { readonly path: QPath; readonly span: QSpan } & (
  | { readonly kind: 'exists'; readonly negated: boolean }
  | { readonly kind: 'equality'; readonly operator: QEqualityOperator; readonly operand: QOperand }
  | { readonly kind: 'order'; readonly operator: QOrderOperator; readonly value: QValue }
  | {
      readonly kind: 'pattern';
      readonly negated: boolean;
      readonly pattern: string;
      readonly quoted: boolean;
    }
);
