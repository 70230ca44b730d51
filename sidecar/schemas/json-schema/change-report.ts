import { isArray, isObject, type JsonObject, type JsonValue, type Schema } from '../../shared/json/json.js';
import { pointerOf } from '../../shared/json/pointer.js';
import { ARRAY_CHECKS, VALUE_CHECKS } from './array-checks.js';
import type { CheckContext, Finding, KeywordCheck, Mode, Prover } from './checks.js';
import { type ChangeReason, type ChangeReport, type Difference, reasonOf, reportOf } from './differences.js';
import { Facts } from './facts.js';
import { conjunctsOf, schemasIn } from './flat-graph.js';
import { type FlatSchema, flatten, type Targets } from './flatten.js';
import { isSameSchema, LOGIC_CHECKS } from './logic-checks.js';
import { OBJECT_CHECKS } from './object-checks.js';
import { resolveWith } from './references.js';
import { cut } from '../../shared/shown.js';

const MAX_SHOWN_LENGTH = 100;

/**
 * What becomes of valid documents when a schema replaces another: the differences that matter to validation.
 *
 * - `compatible`: what was valid stays valid. A new optional property of which nothing was said before counts as such,
 *   although an open schema let documents use its name for something else.
 * - `narrowing`: some documents that were valid may no longer be, or it cannot be proven that they are.
 * - `breaking`: what documents were to hold is refused now: disjoint types or values, a property that is forbidden, or
 *   required without having been described.
 *
 * References and `allOf` are followed, so that where a condition stands does not matter; annotations do not either.
 *
 * @param before the old schema, bundled
 * @param after the new schema, bundled
 * @throws {SchemaRefusedError} when one of them is not self-contained
 */
export function compareSchemas(before: JsonObject, after: JsonObject): ChangeReport {
  const [old, fresh] = [labelled(before, 'old'), labelled(after, 'new')];
  const targets = new Map([...old.targets, ...fresh.targets]);
  if (isSameSchema(old.root, fresh.root, targets)) return { overall: 'compatible', differences: [] };
  const stricter = new Comparison(targets).findings([old.root], fresh.root, 'report');
  const laxer = new Comparison(targets).findings([fresh.root], old.root, 'report');
  const told = stricter.map((finding) => differenceOf(finding, fresh.sources, IS_NEW));
  const changed = new Set(told.map(({ pointer }) => pointer));
  const others = laxer
    .map((finding) => ({ finding, ...differenceOf(finding, old.sources, WAS_OLD) }))
    .filter(({ finding, pointer }) => finding.subject !== 'keyword' || !changed.has(pointer))
    .map(({ pointer, reason, detail }): Difference => ({ pointer, class: 'compatible', reason, detail }));
  return reportOf(distinct([...told, ...others]));
}

/** The references of the two schemas must not be taken for each other. */
function labelled(schema: JsonObject, label: string): FlatSchema {
  return flatten(resolveWith(schema), {
    reference: (name) => `${label}${name === undefined ? '' : ` ${name}`}`,
  });
}

/** How a finding reads when the condition is the new schema's, or was the old one's. */
type Wording = Readonly<Record<Finding['subject'], (what: string, value: string, known?: string) => string>>;

const IS_NEW: Wording = {
  keyword: (what, value, known) =>
    known === undefined ? `${what} ${value} is new` : `${what} is ${value}, was ${known}`,
  property: (_, name) => `property ${name} is new`,
  required: (_, name) => `property ${name} is required now`,
  forbidden: (_, name) => `property ${name} is not allowed any more`,
  unproven: () => 'it is unclear whether everything that was valid still is',
};

const WAS_OLD: Wording = {
  keyword: (what, value, known) =>
    known === undefined ? `${what} ${value} is gone` : `${what} is ${known}, was ${value}`,
  property: (_, name) => `property ${name} is not described any more`,
  required: (_, name) => `property ${name} is not required any more`,
  forbidden: (_, name) => `property ${name} is allowed now`,
  unproven: () => 'it is unclear whether more is valid now',
};

const SUBJECTS: Readonly<Record<Finding['subject'], ChangeReason | undefined>> = {
  keyword: undefined,
  property: 'property',
  required: 'required',
  forbidden: 'property',
  unproven: 'unproven',
};

function differenceOf(
  { schema, tokens, kind, subject, value, known }: Finding,
  sources: FlatSchema['sources'],
  wording: Wording,
): Difference {
  const place = schema === undefined ? undefined : sources.get(schema);
  const what = tokens.at(-1) ?? 'the schema';
  const other = known === undefined ? undefined : show(known);
  return {
    pointer: pointerOf([...(place?.tokens ?? []), ...tokens]),
    class: kind,
    reason: SUBJECTS[subject] ?? reasonOf(tokens[0] ?? ''),
    detail: wording[subject](what, show(value), other),
  };
}

/** The value itself where it is short. */
function show(value: JsonValue): string {
  const text = JSON.stringify(value);
  const isLong = text.length > MAX_SHOWN_LENGTH;
  return isLong && isArray(value) ? `a list of ${value.length}` : cut(text, MAX_SHOWN_LENGTH);
}

function distinct(differences: readonly Difference[]): readonly Difference[] {
  return [...new Map(differences.map((one) => [`${one.pointer} ${one.detail}`, one])).values()];
}

const CHECKS: ReadonlyMap<string, KeywordCheck> = new Map(
  [VALUE_CHECKS, ARRAY_CHECKS, OBJECT_CHECKS, LOGIC_CHECKS].flatMap((checks) => Object.entries(checks)),
);

/** Proofs may branch without end in practice; past this many steps nothing more is proven. */
const MAX_STEPS = 5000;

/**
 * Decides which conditions of a schema follow from other schemas, keyword by keyword. Every "follows" is proven; what
 * cannot be proven does not follow.
 */
export class Comparison implements Prover {
  readonly targets: Targets;
  readonly #ids = new Map<Schema, number>();
  /** Questions under way, and how far into the value each was asked. */
  readonly #open = new Map<string, number>();
  #depth = 0;
  #steps = 0;

  constructor(targets: Targets) {
    this.targets = targets;
  }

  facts(schemas: Iterable<Schema>): Facts {
    return new Facts(schemas, this.targets);
  }

  implies(known: Iterable<Schema>, schema: Schema): boolean {
    return this.findings(known, schema, 'prove').length === 0;
  }

  equivalent(one: Schema, other: Schema): boolean {
    return one === other || (this.implies([one], other) && this.implies([other], one));
  }

  findingsWithin(known: Iterable<Schema>, schema: Schema, mode: Mode): readonly Finding[] {
    this.#depth += 1;
    const findings = this.findings(known, schema, mode);
    this.#depth -= 1;
    return findings;
  }

  /** The conditions of a schema that do not follow from the known ones, all on the same value. */
  findings(known: Iterable<Schema>, schema: Schema, mode: Mode): readonly Finding[] {
    const facts = this.facts(known);
    if (facts.isEmpty) return [];
    const key = this.#key(facts, schema, mode);
    const asked = this.#open.get(key);
    // Asked again further in: values are finite, so that an answer that holds there on its own terms holds.
    if (asked !== undefined && this.#depth > asked) return [];
    this.#steps += 1;
    if (asked !== undefined || this.#steps > MAX_STEPS) return [unproven(schema)];
    this.#open.set(key, this.#depth);
    const findings = conjunctsOf([schema], this.targets)
      .filter((conjunct) => !facts.schemas.includes(conjunct))
      .flatMap((conjunct) => {
        const found = this.#conjunctFindings(facts, conjunct, mode);
        return found.length > 0 && this.#isImpliedByCases(facts, conjunct) ? [] : found;
      });
    this.#open.delete(key);
    return findings;
  }

  /** Whether the schema follows from each of some alternatives, one of which is known to hold. */
  #isImpliedByCases(facts: Facts, schema: Schema): boolean {
    return facts.atoms
      .flatMap((atom) => [schemasIn(atom, 'anyOf'), schemasIn(atom, 'oneOf')])
      .filter((list) => list.length > 0 && !list.some((one) => facts.schemas.includes(one)))
      .some((list) => list.every((one) => this.implies([...facts.schemas, one], schema)));
  }

  #conjunctFindings(facts: Facts, schema: Schema, mode: Mode): readonly Finding[] {
    if (schema === true) return [];
    if (schema === false)
      return [{ schema: undefined, tokens: [], kind: 'breaking', subject: 'keyword', value: false }];
    return Object.entries(schema).flatMap(([keyword, value]) => {
      const entry = CHECKS.get(keyword);
      if (entry === undefined || entry.types?.every((type) => !facts.types.has(type)) === true) return [];
      const context: CheckContext = { facts, schema, keyword, prover: this, mode };
      return entry.check(value, context);
    });
  }

  #key(facts: Facts, schema: Schema, mode: Mode): string {
    const known = facts.schemas.map((one) => this.#id(one)).sort((one, other) => one - other);
    return `${mode} ${known.join(',')} ${this.#id(schema)}`;
  }

  #id(schema: Schema): number {
    const id = this.#ids.get(schema) ?? this.#ids.size;
    this.#ids.set(schema, id);
    return id;
  }
}

/** The schema as a whole, for want of a proof. */
function unproven(schema: Schema): Finding {
  return {
    schema: isObject(schema) ? schema : undefined,
    tokens: [],
    kind: 'narrowing',
    subject: 'unproven',
    value: null,
  };
}
