import { isObject, type JsonObject, member, type Schema } from '../../shared/json/json.js';
import { ARRAY_CHECKS, VALUE_CHECKS } from './array-checks.js';
import {
  atMostNarrowing,
  type CheckContext,
  collectFindings,
  type Finding,
  type Mode,
  type Prover,
  type PathStep,
} from './checks.js';
import { ValueConstraints } from './value-constraints.js';
import { alwaysAppliedSchemas, schemasIn, type ReferenceTargets } from './flatten.js';
import { LOGIC_CHECKS } from './logic-checks.js';
import { OBJECT_CHECKS } from './object-checks.js';
import type { SchemaClasses } from './schema-classes.js';

/** The checks by keyword, with the types of values that the keyword applies to; cheap ones come first. */
const CHECKS = new Map(
  [...VALUE_CHECKS, ARRAY_CHECKS, OBJECT_CHECKS, ...LOGIC_CHECKS].flatMap(({ types, checks }) =>
    Object.entries(checks).map(([keyword, check]) => [keyword, { types, check }] as const),
  ),
);

/**
 * Maximum number of steps of a comparison. A proof search may take exponentially many; past the limit nothing more is
 * proven.
 */
const MAX_STEPS = 5000;

/** Maximum number of nested case distinctions for one value within a proof: their combinations are exponentially many. */
const MAX_CHOSEN = 2;

interface ComparisonOptions {
  /** A condition that every document satisfies although no schema states it. */
  readonly assumed?: Schema | undefined;
  /** Whether the known schemas are those of the new version. */
  readonly isReversed?: boolean;
}

/** A question being answered, and how deep in the document the value is that it is about. */
interface OpenQuestion {
  readonly key: string;
  readonly depth: number;
}

/** The answer to a question. */
interface Answer {
  /** How deep in the document the value was. The answer may be reused for values at least as deep. */
  readonly findings: readonly Finding[];
  readonly depth: number;
  /** The index of the outermost open question whose assumed answer this one relies on; Infinity if it relies on none. */
  readonly reliesOn: number;
  /**
   * The number of enclosing case distinctions, if {@link MAX_CHOSEN} prevented another one that might have proven
   * more; otherwise 0. The answer may be reused within at least as many.
   */
  readonly chosen: number;
}

/**
 * Decides which conditions of a schema follow from other schemas (the known ones), keyword by keyword.
 *
 * It is a proof search. A condition follows if a known schema states the same condition. Otherwise the check of its
 * keyword tries to prove it, which may raise the same kind of question about nested values. Failing that, the search
 * distinguishes cases: the condition follows if it follows from each alternative of a known `anyOf` or `oneOf`.
 *
 * With recursive schemas, answering a question may raise the same question again, about a nested value. It is then
 * assumed to hold. This is an induction on the nesting of values, which is finite. Answers that rely on such an
 * assumption are provisional until the assumed question is answered.
 *
 * The search is sound but not complete: what it cannot prove counts as not following.
 */
export class Comparison implements Prover {
  readonly targets: ReferenceTargets;
  readonly classes: SchemaClasses;
  readonly assumed: Schema | undefined;
  readonly #open: OpenQuestion[] = [];
  readonly #answers = new Map<string, Answer>();
  /** Answers that rely on open questions. */
  readonly #provisional = new Map<string, Answer>();
  readonly #keys = new Map<JsonObject, ReadonlySet<string>>();
  readonly #numbers = new Map<string | Schema, number>();
  readonly #path: PathStep[] = [];
  /** The index of the outermost open question that has been relied on since the innermost one was asked. */
  #reliesOn = Infinity;
  #isReversed: boolean;
  #steps = 0;
  /** The number of case distinctions made for the current value on the way to the current question. */
  #chosen = 0;
  /** How often {@link MAX_CHOSEN} prevented another case distinction for the current value. */
  #denials = 0;

  constructor(targets: ReferenceTargets, classes: SchemaClasses, options: ComparisonOptions = {}) {
    this.targets = targets;
    this.classes = classes;
    this.assumed = options.assumed;
    this.#isReversed = options.isReversed ?? false;
  }

  get depth(): number {
    return this.#path.length;
  }

  get isReversed(): boolean {
    return this.#isReversed;
  }

  constraintsOf(schemas: Iterable<Schema>): ValueConstraints {
    return new ValueConstraints(schemas, this.targets);
  }

  implies(known: Iterable<Schema>, schema: Schema): boolean {
    return this.findings(known, schema, 'prove').length === 0;
  }

  equivalent(one: Schema, other: Schema): boolean {
    return this.classes.areSame(one, other) || (this.implies([one], other) && this.implies([other], one));
  }

  findingsReversed(known: Schema, schema: Schema): readonly Finding[] {
    this.#isReversed = !this.#isReversed;
    const findings = this.findings([known], schema, 'report');
    this.#isReversed = !this.#isReversed;
    return findings;
  }

  findingsWithin(step: PathStep, known: Iterable<Schema>, schema: Schema, mode: Mode): readonly Finding[] {
    const given = [...known];
    const [chosen, denials] = [this.#chosen, this.#denials];
    this.#chosen = 0;
    this.#path.push(step);
    const findings = this.findings(given, schema, mode);
    this.#path.pop();
    this.#chosen = chosen;
    // A nested value has case distinctions of its own, so those that were prevented there do not count here.
    this.#denials = denials;
    // If nothing was known about the nested value, no valid document is known to be refused: at most narrowing.
    return given.length > 0 || schema === false ? findings : findings.map(atMostNarrowing);
  }

  findings(known: Iterable<Schema>, schema: Schema, mode: Mode): readonly Finding[] {
    const given = [...known];
    if (given.includes(schema)) return [];
    const constraints = this.constraintsOf(given);
    const asked = alwaysAppliedSchemas([schema], this.targets).filter(
      (conjunct) => !this.#isKnown(constraints, conjunct),
    );
    if (asked.length === 0 || constraints.isEmpty) return [];
    const key = this.#key(constraints, schema, mode);
    const { depth } = this;
    const answer = this.#answers.get(key) ?? this.#provisional.get(key);
    if (answer !== undefined && depth >= answer.depth && this.#chosen >= answer.chosen) {
      this.#reliesOn = Math.min(this.#reliesOn, answer.reliesOn);
      if (answer.chosen > 0) this.#denials += 1;
      return answer.findings.map(({ path = [], ...finding }) => ({
        ...finding,
        path: [...this.#path, ...path.slice(answer.depth)],
      }));
    }
    const open = this.#open.findIndex((question) => question.key === key);
    // The same question about a nested value is assumed to hold; about the same value, that would be circular.
    if (open >= 0 && depth > (this.#open[open]?.depth ?? depth)) {
      this.#reliesOn = Math.min(this.#reliesOn, open);
      return [];
    }
    this.#steps += 1;
    if (open >= 0 || this.#steps > MAX_STEPS) return [this.#placed(unproven(schema), constraints)];
    return this.#answered({ key, depth }, () =>
      collectFindings(asked, mode, (conjunct) => this.#conjunctFindings(constraints, conjunct, mode)),
    );
  }

  /** Finds the answer to a question. Stores it for good, or provisionally while a question that it relies on is open. */
  #answered(question: OpenQuestion, find: () => readonly Finding[]): readonly Finding[] {
    const number = this.#open.length;
    const [outer, denials] = [this.#reliesOn, this.#denials];
    this.#reliesOn = Infinity;
    this.#open.push(question);
    const findings = this.#distinct(find());
    this.#open.pop();
    const reliesOn = this.#reliesOn < number ? this.#reliesOn : Infinity;
    for (const [key, answer] of this.#provisional) {
      if (answer.reliesOn !== number) continue;
      this.#provisional.delete(key);
      if (findings.length === 0) this.#keep(key, { ...answer, reliesOn });
    }
    const chosen = this.#denials > denials && findings.length > 0 ? this.#chosen : 0;
    this.#keep(question.key, { findings, depth: question.depth, reliesOn, chosen });
    this.#reliesOn = Math.min(outer, reliesOn);
    if (chosen === 0) this.#denials = denials;
    return findings;
  }

  /** Keeps one finding for each condition: in recursive schemas very many paths lead to the same condition. */
  #distinct(findings: readonly Finding[]): readonly Finding[] {
    const found = new Map<string, Finding>();
    for (const finding of findings) {
      const { schema, tokens, kind, subject, value } = finding;
      const name = typeof value === 'string' ? value : '';
      const key = JSON.stringify([this.#numberOf(schema ?? false), tokens, kind, subject, name]);
      if (!found.has(key)) found.set(key, finding);
    }
    return [...found.values()];
  }

  #keep(key: string, answer: Answer): void {
    (answer.reliesOn === Infinity ? this.#answers : this.#provisional).set(key, answer);
  }

  #placed(finding: Finding, { schemas }: ValueConstraints): Finding {
    return finding.path === undefined
      ? { ...finding, path: [...this.#path], knownSchemas: schemas }
      : finding;
  }

  #conjunctFindings(constraints: ValueConstraints, conjunct: Schema, mode: Mode): readonly Finding[] {
    const found = this.#keywordFindings(constraints, conjunct, mode);
    if (found.some(({ kind }) => kind !== 'compatible') && this.#isImpliedByCases(constraints, conjunct))
      return [];
    return found.map((finding) => this.#placed(finding, constraints));
  }

  /** Whether the schema follows by a case distinction: from each alternative of a known `anyOf` or `oneOf`. */
  #isImpliedByCases(constraints: ValueConstraints, schema: Schema): boolean {
    const lists = constraints.atoms
      .flatMap((atom) => [schemasIn(atom, 'anyOf'), schemasIn(atom, 'oneOf')])
      .filter((list) => list.length > 0 && !list.some((one) => constraints.schemas.includes(one)));
    if (this.#chosen === MAX_CHOSEN) {
      if (lists.length > 0) this.#denials += 1;
      return false;
    }
    this.#chosen += 1;
    const isImplied = lists.some((list) =>
      list.every((one) => this.implies([...constraints.schemas, one], schema)),
    );
    this.#chosen -= 1;
    return isImplied;
  }

  #keywordFindings(constraints: ValueConstraints, schema: Schema, mode: Mode): readonly Finding[] {
    if (schema === true) return [];
    if (schema === false)
      return [{ schema: undefined, tokens: [], kind: 'breaking', subject: 'keyword', value: false }];
    const open = this.classes.conditionsOf(schema).filter(({ key }) => !this.#isAsked(constraints, key));
    const keywords = new Set(open.map(({ keyword }) => keyword));
    // A proof fails at its first finding, so try the cheap checks first: `CHECKS` lists them first.
    const inOrder =
      mode === 'report' ? keywords : [...CHECKS.keys()].filter((keyword) => keywords.has(keyword));
    return collectFindings(inOrder, mode, (keyword) => {
      const [entry, value] = [CHECKS.get(keyword), member(schema, keyword)];
      if (entry === undefined || value === undefined) return [];
      if (entry.types?.every((type) => !constraints.types.has(type)) === true) return [];
      const context: CheckContext = { constraints, schema, keyword, prover: this, mode };
      return entry.check(value, context);
    });
  }

  /** Whether the known schemas state all conditions of a schema's own keywords. */
  #isKnown(constraints: ValueConstraints, schema: Schema): boolean {
    if (!isObject(schema)) return schema || constraints.schemas.includes(false);
    return this.classes.conditionsOf(schema).every(({ key }) => this.#isAsked(constraints, key));
  }

  #isAsked({ atoms }: ValueConstraints, key: string): boolean {
    return atoms.some((atom) => this.#keysOf(atom).has(key));
  }

  #keysOf(atom: JsonObject): ReadonlySet<string> {
    const keys = this.#keys.get(atom) ?? new Set(this.classes.conditionsOf(atom).map(({ key }) => key));
    this.#keys.set(atom, keys);
    return keys;
  }

  /**
   * The key of a question. A proof holds for all schemas of a class; a report also depends on the position of each
   * condition.
   */
  #key({ schemas, atoms }: ValueConstraints, schema: Schema, mode: Mode): string {
    const known = mode === 'report' ? schemas : atoms.map((atom) => [...this.#keysOf(atom)].sort().join(' '));
    const numbers = [...new Set(known.map((one) => this.#numberOf(one)))].sort((one, other) => one - other);
    if (mode === 'prove') return `${numbers.join()} ${this.classes.of(schema)}`;
    return `report ${this.#isReversed} ${numbers.join()} ${this.#numberOf(schema)}`;
  }

  #numberOf(known: string | Schema): number {
    const number = this.#numbers.get(known) ?? this.#numbers.size;
    this.#numbers.set(known, number);
    return number;
  }
}

/** The finding that a schema as a whole is not proven to follow. */
function unproven(schema: Schema): Finding {
  return {
    schema: isObject(schema) ? schema : undefined,
    tokens: [],
    kind: 'narrowing',
    subject: 'unproven',
    value: null,
  };
}
