/** The syntax tree of the NGSI-LD query language (ETSI GS CIM 009 V1.9.1, clause 4.9). */

/** A linked-entity path, `attr{inner}.rest`: recognised, but never evaluated. */
export interface QLink {
  readonly inner: string;
  readonly rest: readonly string[];
}

/**
 * An attribute path. `names` are the dotted names: the first is an attribute of the entity, the others are its
 * sub-attributes. `valuePath` are the member names in the pair of brackets that may follow.
 */
export interface QPath {
  readonly names: readonly string[];
  readonly valuePath: readonly string[];
  readonly link: QLink | null;
}

/** A value. Dates and times are validated and kept as written. `text` is a bare word, which brokers interpret differently. */
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

/** The position of a node in the text of its query, in UTF-16 code units. */
export interface QSpan {
  readonly start: number;
  /** Just after its last character. */
  readonly end: number;
  /** For a condition with an operator: the start of the operator. */
  readonly operator?: number;
}

export type QNode =
  | { readonly kind: 'and' | 'or'; readonly operands: readonly QNode[]; readonly span: QSpan }
  /** Brackets, kept to tell whether `;` and `|` were mixed without them. */
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
