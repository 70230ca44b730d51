import type { Facts, FactType } from './facts.js';
import type { Targets } from './flatten.js';
import { type JsonObject, type JsonValue, member, type Schema } from '../../shared/json/json.js';

/** How a difference weighs on documents that were valid: none is refused, some may be, or those it concerns are. */
export type ChangeKind = 'compatible' | 'narrowing' | 'breaking';

/** A condition that one schema has and another does not guarantee. */
export interface Finding {
  /** The schema with the condition; left out for a schema that is `false`, which has no position. */
  readonly schema: JsonObject | undefined;
  readonly tokens: readonly string[];
  readonly kind: ChangeKind;
  /** A keyword's value, a described property, a required or forbidden one by name, or a schema that is too much. */
  readonly subject: 'keyword' | 'property' | 'required' | 'forbidden' | 'unproven';
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

/** `report`: a property that nothing described before is a finding by itself. `prove`: nothing but proof counts. */
export type Mode = 'report' | 'prove';

/** Decides what follows from what; where it cannot tell, it does not follow. */
export interface Prover {
  readonly targets: Targets;
  /** What holds of every document without being said by a schema. */
  readonly assumed: Schema | undefined;
  facts(schemas: Iterable<Schema>): Facts;
  /** Whether every value that satisfies all of the known schemas satisfies the other. */
  implies(known: Iterable<Schema>, schema: Schema): boolean;
  /** Whether two schemas accept the same values. */
  equivalent(one: Schema, other: Schema): boolean;
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
  const known = facts.atoms.map((atom) => member(atom, keyword)).find((other) => other !== undefined);
  return {
    ...{ schema, tokens: [keyword], kind, subject: 'keyword', value },
    ...(known === undefined ? {} : { known }),
  };
}

/** Findings about a schema at this position if they have none themselves. */
export function placedAt(
  { schema, keyword }: CheckContext,
  key: readonly string[],
  findings: readonly Finding[],
): readonly Finding[] {
  return findings.map((finding) =>
    finding.schema === undefined ? { ...finding, schema, tokens: [keyword, ...key] } : finding,
  );
}
