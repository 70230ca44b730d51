import type { ValueConstraints, ConstraintType } from './value-constraints.js';
import type { ReferenceTargets } from './flatten.js';
import type { SchemaClasses } from './schema-classes.js';
import { type JsonObject, type JsonValue, member, type Schema } from '../../shared/json/json.js';

/** The effect of a difference on documents that were valid: none is refused, some may be, or all that it concerns are. */
export type ChangeKind = 'compatible' | 'narrowing' | 'breaking';

/** A condition of one schema that does not follow from the known schemas. */
export interface Finding {
  /** The schema that states the condition; undefined for the schema `false`, which has no position. */
  readonly schema: JsonObject | undefined;
  readonly tokens: readonly string[];
  readonly kind: ChangeKind;
  /**
   * What the finding is about, which also tells what `value` holds:
   * - `keyword`: the value of a keyword
   * - `property`: the name of a property that is described
   * - `required`: the name of a property that is required
   * - `other`: the name of a property to which the condition on all other properties applies
   * - `others`: a pattern; the condition on all other properties applies to those that match it
   * - `unproven`: null; a schema is too complex to compare
   */
  readonly subject: 'keyword' | 'property' | 'required' | 'other' | 'others' | 'unproven';
  readonly value: JsonValue;
  /** The value of the same keyword in the known schemas. */
  readonly known?: JsonValue | undefined;
  /**
   * The keyword that the difference is about, if it is another one next to that of the tokens; its value here and in
   * the known schemas.
   */
  readonly relatedKeyword?:
    | { readonly keyword: string; readonly value: JsonValue; readonly known?: JsonValue | undefined }
    | undefined;
  /** The path to the value in a document, and the schemas that it was known to satisfy. The comparison adds both. */
  readonly path?: readonly PathStep[];
  readonly knownSchemas?: readonly Schema[];
}

/**
 * A step from a value to one within it: to the property of that name, a property whose name matches a pattern, or any
 * other property (null); to the item at that index, or to any item after the listed ones (Infinity).
 */
export type PathStep = string | number | { readonly pattern: string } | null;

/**
 * `report`: all differences are wanted, each at its own place, and a newly described property is a finding by itself.
 * `prove`: the only question is whether everything follows, so any finding means that there is no proof.
 */
export type Mode = 'report' | 'prove';

/** Decides which conditions follow from which schemas. What it cannot prove does not follow. */
export interface Prover {
  readonly targets: ReferenceTargets;
  readonly classes: SchemaClasses;
  /** A condition that every document satisfies although no schema states it. */
  readonly assumed: Schema | undefined;
  /** Whether the known schemas are those of the new version; {@link findingsReversed} switches it. */
  readonly isReversed: boolean;
  /** How deep in the document the current value is. */
  readonly depth: number;
  constraintsOf(schemas: Iterable<Schema>): ValueConstraints;
  /** Whether every value that satisfies all known schemas is proven to satisfy `schema`. */
  implies(known: Iterable<Schema>, schema: Schema): boolean;
  /** Whether two schemas are proven to accept the same values. */
  equivalent(one: Schema, other: Schema): boolean;
  /** The conditions of a schema that do not follow from the known ones, all of which apply to the same value. */
  findings(known: Iterable<Schema>, schema: Schema, mode: Mode): readonly Finding[];
  /** As `findings` in mode `report`, with the versions exchanged: `known` is of the version that `schema` usually has. */
  findingsReversed(known: Schema, schema: Schema): readonly Finding[];
  /**
   * As `findings`, for a value nested in the current one: the one that the step leads to. The known schemas are those
   * of the nested value.
   */
  findingsWithin(step: PathStep, known: Iterable<Schema>, schema: Schema, mode: Mode): readonly Finding[];
}

/** The input for the check of one keyword. */
export interface CheckContext {
  /** What is known about the value. */
  readonly constraints: ValueConstraints;
  /** The schema that has the keyword. */
  readonly schema: JsonObject;
  readonly keyword: string;
  readonly prover: Prover;
  readonly mode: Mode;
}

/** The check of a keyword: returns its conditions that do not follow from the constraints. */
export type KeywordCheck = (value: JsonValue, context: CheckContext) => readonly Finding[];

/** The checks of keywords that apply to the same types of values. */
export interface KeywordChecks {
  /** All types if left out. */
  readonly types?: readonly ConstraintType[];
  readonly checks: Readonly<Record<string, KeywordCheck>>;
}

/** A check that a keyword passes or fails as a whole. */
export function passes(test: (value: JsonValue, context: CheckContext) => boolean): KeywordCheck {
  return (value, context) => (test(value, context) ? [] : [keywordFinding(value, context)]);
}

/** The finding that a keyword's condition as a whole does not follow; breaking if it even contradicts the constraints. */
export function keywordFinding(value: JsonValue, context: CheckContext): Finding {
  const { constraints, schema, keyword, prover } = context;
  const contradicts = prover.constraintsOf([...constraints.schemas, { [keyword]: value }]).isEmpty;
  const kind = contradicts ? 'breaking' : 'narrowing';
  const same = constraints.atoms.map((atom) => member(atom, keyword)).find((other) => other !== undefined);
  const known = same ?? (keyword === 'enum' || keyword === 'const' ? constraints.values : undefined);
  return { schema, tokens: [keyword], kind, subject: 'keyword', value, known };
}

/** Weakens a breaking finding: the value it is about may be missing, or is only one of several possible values. */
export function atMostNarrowing(finding: Finding): Finding {
  return finding.kind === 'breaking' ? { ...finding, kind: 'narrowing' } : finding;
}

/** Collects the findings for each thing; in mode `prove`, stops at the first finding. */
export function collectFindings<Thing>(
  things: Iterable<Thing>,
  mode: Mode,
  find: (thing: Thing) => readonly Finding[],
): readonly Finding[] {
  const all: Finding[] = [];
  for (const thing of things) {
    all.push(...find(thing));
    if (mode === 'prove' && all.length > 0) break;
  }
  return all;
}

/** Gives a position to the findings that have none: that of a keyword in a schema, or of an entry in that keyword. */
export function withPosition(
  { constraints, schema, keyword }: CheckContext,
  key: readonly string[],
  findings: readonly Finding[],
): readonly Finding[] {
  // The keyword may have been `false` before as well, but for fewer properties.
  const isSaid = key.length === 0 && constraints.hasKeywordValue(keyword, false);
  return findings.map((finding) =>
    finding.schema === undefined
      ? { ...finding, schema, tokens: [keyword, ...key], ...(isSaid && { known: false }) }
      : finding,
  );
}
