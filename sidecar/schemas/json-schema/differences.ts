import type { ChangeKind } from './checks.js';
import type { JsonValue } from '../../shared/json/json.js';
import { BOUNDS, COUNTS } from './keywords.js';

export type { ChangeKind } from './checks.js';

/**
 * What a difference is about.
 *
 * - `meaning`: stored data would be read differently: kind, IRI, unit, type or format of a value
 * - `required`: a property is now required, or no longer required
 * - `property`: a property is now described or allowed, or no longer
 * - `type`: the JSON types of a value
 * - `values`: the values of an enumeration or constant
 * - `range`: bounds of numbers, lengths and counts
 * - `format`: formats and patterns of strings
 * - `structure`: items, additional properties, and keywords that combine schemas
 * - `unproven`: the comparison could not tell
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
  /** JSON pointer (RFC 6901) into the new schema, or into the old one for what no longer exists. */
  readonly pointer: string;
  readonly class: ChangeKind;
  readonly reason: ChangeReason;
  readonly detail: string;
  /** An entity in key-values form that was valid and is now refused because of this difference. */
  readonly witness?: JsonValue;
}

/** The result of comparing two versions of a model. */
export interface ChangeReport {
  /** The worst class among the differences; `compatible` if there are none. */
  readonly overall: ChangeKind;
  readonly differences: readonly Difference[];
}

/** The kinds of changes, from harmless to worst. */
const SEVERITY: readonly ChangeKind[] = ['compatible', 'narrowing', 'breaking'];

/** Makes the report of these differences. */
export function reportOf(differences: readonly Difference[]): ChangeReport {
  return { overall: worst(differences.map((difference) => difference.class)), differences };
}

/** Returns the worst of the kinds; `compatible` if there are none. */
export function worst(kinds: readonly ChangeKind[]): ChangeKind {
  return SEVERITY[Math.max(0, ...kinds.map((kind) => SEVERITY.indexOf(kind)))] ?? 'breaking';
}

/** Returns the more severe of two differences; the first one if they are equally severe. */
export function worse(one: Difference, other: Difference): Difference {
  return SEVERITY.indexOf(other.class) > SEVERITY.indexOf(one.class) ? other : one;
}

const REASONS: Readonly<Record<string, ChangeReason>> = {
  type: 'type',
  enum: 'values',
  const: 'values',
  format: 'format',
  pattern: 'format',
  ...Object.fromEntries([...BOUNDS, ...COUNTS, 'uniqueItems'].map((keyword) => [keyword, 'range'] as const)),
  dependentRequired: 'required',
};

/** Returns what a difference in a keyword is about. */
export function reasonOf(keyword: string): ChangeReason {
  return (Object.hasOwn(REASONS, keyword) ? REASONS[keyword] : undefined) ?? 'structure';
}

/** A difference that stands for an incomplete comparison. @param detail why it is incomplete */
export function unproven(detail: string): Difference {
  return { pointer: '', class: 'narrowing', reason: 'unproven', detail };
}

/** The report for schemas whose comparison takes too much time, memory or stack depth. */
export const TOO_COMPLEX: ChangeReport = reportOf([unproven('the schemas are too complex to compare')]);
