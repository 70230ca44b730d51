import type { ChangeKind } from './checks.js';
import type { JsonValue } from '../../shared/json/json.js';

export type { ChangeKind } from './checks.js';

/**
 * What a difference is about.
 *
 * - `meaning`: stored data would be read otherwise: kind, IRI, unit, type or format of a value, order of coordinates
 * - `required`: a property is required now, or not any more
 * - `property`: a property is described or allowed now, or not any more
 * - `type`: the JSON types of a value
 * - `values`: the values of an enumeration or constant
 * - `range`: bounds of numbers, lengths and counts
 * - `format`: formats and patterns of strings
 * - `structure`: items, further properties, and keywords that combine schemas
 * - `unproven`: the comparison ended before it could tell
 */
export type ChangeReason =
  | 'meaning'
  | 'required'
  | 'property'
  | 'type'
  | 'values'
  | 'range'
  | 'format'
  | 'structure'
  | 'unproven';

/** One difference between two versions of a model. */
export interface Difference {
  /** JSON pointer (RFC 6901) into the new schema, or into the old one for what is no longer there. */
  readonly pointer: string;
  readonly class: ChangeKind;
  readonly reason: ChangeReason;
  readonly detail: string;
  /** An entity in key-values form that was valid, and is refused because of this difference. */
  readonly witness?: JsonValue;
}

export interface ChangeReport {
  /** The worst of the differences; `compatible` when there is none. */
  readonly overall: ChangeKind;
  readonly differences: readonly Difference[];
}

/** From harmless to worst. */
const SEVERITY: readonly ChangeKind[] = ['compatible', 'narrowing', 'breaking'];

/** The report of these differences. */
export function reportOf(differences: readonly Difference[]): ChangeReport {
  return { overall: worst(differences.map((difference) => difference.class)), differences };
}

/** The worst of some; `compatible` when there is none. */
export function worst(kinds: readonly ChangeKind[]): ChangeKind {
  return SEVERITY[Math.max(0, ...kinds.map((kind) => SEVERITY.indexOf(kind)))] ?? 'breaking';
}

/** The one that weighs more, the first of two that weigh the same. */
export function worse(one: Difference, other: Difference): Difference {
  return SEVERITY.indexOf(other.class) > SEVERITY.indexOf(one.class) ? other : one;
}

const REASONS: Readonly<Record<string, ChangeReason>> = {
  type: 'type',
  enum: 'values',
  const: 'values',
  format: 'format',
  pattern: 'format',
  ...Object.fromEntries(
    [
      'minimum',
      'maximum',
      'exclusiveMinimum',
      'exclusiveMaximum',
      'multipleOf',
      'minLength',
      'maxLength',
      'minItems',
      'maxItems',
      'uniqueItems',
      'minProperties',
      'maxProperties',
      'minContains',
      'maxContains',
    ].map((keyword) => [keyword, 'range'] as const),
  ),
  dependentRequired: 'required',
};

/** What a keyword's difference is about. */
export function reasonOf(keyword: string): ChangeReason {
  return (Object.hasOwn(REASONS, keyword) ? REASONS[keyword] : undefined) ?? 'structure';
}

/** A difference of which it is not known whether it is one. @param detail why */
export function unproven(detail: string): Difference {
  return { pointer: '', class: 'narrowing', reason: 'unproven', detail };
}

/** What is reported of schemas whose comparison takes too much time, memory or depth. */
export const TOO_COMPLEX: ChangeReport = reportOf([unproven('the schemas are too complex to compare')]);
