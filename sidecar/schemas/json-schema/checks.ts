import type { Facts, FactType } from './facts.js';
import type { Targets } from './flatten.js';
import type { SchemaClasses } from './schema-classes.js';
import { type JsonObject, type JsonValue, member, type Schema } from '../../shared/json/json.js';

/** How a difference weighs on documents that were valid: none is refused, some may be, or those it concerns are. */
export type ChangeKind = 'compatible' | 'narrowing' | 'breaking';

/** A condition that one schema has and another does not guarantee. */
export interface Finding {
  /** The schema with the condition; left out for a schema that is `false`, which has no position. */
  readonly schema: JsonObject | undefined;
  readonly tokens: readonly string[];
  readonly kind: ChangeKind;
  /**
   * A keyword's value; a described property, or a required one, by name; the properties of a name, or of names that a
   * pattern matches, which are among the others; or a schema that is too much.
   */
  readonly subject: 'keyword' | 'property' | 'required' | 'other' | 'others' | 'unproven';
  readonly value: JsonValue;
  /** What the known schemas have in the same keyword. */
  readonly known?: JsonValue;
  /** The keyword beside that of the tokens which the difference is about, with its value here and in the known schemas. */
  readonly beside?: { readonly keyword: string; readonly value: JsonValue; readonly known?: JsonValue };
  /** The way to the value in a document, and the schemas that it was known to satisfy; the comparison adds them. */
  readonly way?: readonly Step[];
  readonly given?: readonly Schema[];
}

/**
 * From a value to one within it: a property of that name, one whose name matches a pattern, or any other (null); an item at
 * that index, where Infinity is one after those that are listed.
 */
export type Step = string | number | { readonly pattern: string } | null;

/**
 * `report`: a property that nothing described before is a finding by itself, and what has changed is looked for where it
 * stands. `prove`: nothing but proof counts, and any finding means that there is none.
 */
export type Mode = 'report' | 'prove';

/** Decides what follows from what; where it cannot tell, it does not follow. */
export interface Prover {
  readonly targets: Targets;
  readonly classes: SchemaClasses;
  /** What holds of every document without being said by a schema. */
  readonly assumed: Schema | undefined;
  /** Whether the known schemas are those of the new version, as they are in {@link findingsReversed} of a report. */
  readonly isReversed: boolean;
  /** How far into a document the value is that is looked at. */
  readonly depth: number;
  facts(schemas: Iterable<Schema>): Facts;
  /** Whether every value that satisfies all of the known schemas satisfies the other. */
  implies(known: Iterable<Schema>, schema: Schema): boolean;
  /** Whether two schemas accept the same values. */
  equivalent(one: Schema, other: Schema): boolean;
  /** The conditions of a schema that do not follow from the known ones, all on the same value. */
  findings(known: Iterable<Schema>, schema: Schema, mode: Mode): readonly Finding[];
  /** As `findings` in a report, where the known schema is of the version that `schema` is of everywhere else. */
  findingsReversed(known: Schema, schema: Schema): readonly Finding[];
  /** The conditions of a schema on values further in that do not follow from the known ones. */
  findingsWithin(step: Step, known: Iterable<Schema>, schema: Schema, mode: Mode): readonly Finding[];
}

/** What a check of one keyword sees. */
export interface CheckContext {
  /** What is known of the value: it satisfies these facts. */
  readonly facts: Facts;
  /** The schema with the keyword. */
  readonly schema: JsonObject;
  readonly keyword: string;
  readonly prover: Prover;
  readonly mode: Mode;
}

/** The check of a keyword: which of its conditions do not follow from the facts. */
export interface KeywordCheck {
  /** The types of values that the keyword concerns; all when left out. */
  readonly types?: readonly FactType[];
  readonly check: (value: JsonValue, context: CheckContext) => readonly Finding[];
}

export type KeywordChecks = Readonly<Record<string, KeywordCheck>>;

/** A check that a keyword passes or does not, as a whole. */
export function passes(
  test: (value: JsonValue, context: CheckContext) => boolean,
  types?: readonly FactType[],
): KeywordCheck {
  return {
    ...(types && { types }),
    check: (value, context) => (test(value, context) ? [] : [keywordFinding(value, context)]),
  };
}

/** The keyword's condition as a whole does not follow; breaking when it even contradicts the facts. */
export function keywordFinding(value: JsonValue, context: CheckContext): Finding {
  const { facts, schema, keyword, prover } = context;
  const contradicts = prover.facts([...facts.schemas, { [keyword]: value }]).isEmpty;
  const kind = contradicts ? 'breaking' : 'narrowing';
  const same = facts.atoms.map((atom) => member(atom, keyword)).find((other) => other !== undefined);
  const known = same ?? (keyword === 'enum' || keyword === 'const' ? facts.values : undefined);
  return {
    schema,
    tokens: [keyword],
    kind,
    subject: 'keyword',
    value,
    ...(known === undefined ? {} : { known }),
  };
}

/** A finding about a value that may be missing, or is one of several. */
export function atMostNarrowing(finding: Finding): Finding {
  return finding.kind === 'breaking' ? { ...finding, kind: 'narrowing' } : finding;
}

/** What is found in all of some things; where it has to be proven that nothing is, up to the first that is found. */
export function findEach<Thing>(
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

/** Findings about a schema at this position if they have none themselves. */
export function placedAt(
  { facts, schema, keyword }: CheckContext,
  key: readonly string[],
  findings: readonly Finding[],
): readonly Finding[] {
  // The same keyword may have been `false` before, for fewer values.
  const isSaid = key.length === 0 && facts.says(keyword, false);
  return findings.map((finding) =>
    finding.schema === undefined
      ? { ...finding, schema, tokens: [keyword, ...key], ...(isSaid && { known: false }) }
      : finding,
  );
}
