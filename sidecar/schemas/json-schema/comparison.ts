import { isObject, type JsonObject, member, type Schema } from '../../shared/json/json.js';
import { ARRAY_CHECKS, VALUE_CHECKS } from './array-checks.js';
import {
  atMostNarrowing,
  type CheckContext,
  findEach,
  type Finding,
  type KeywordCheck,
  type Mode,
  type Prover,
  type Step,
} from './checks.js';
import { Facts } from './facts.js';
import { conjunctsOf, schemasIn, type Targets } from './flatten.js';
import { LOGIC_CHECKS } from './logic-checks.js';
import { OBJECT_CHECKS } from './object-checks.js';
import type { SchemaClasses } from './schema-classes.js';

const CHECKS: ReadonlyMap<string, KeywordCheck> = new Map(
  [VALUE_CHECKS, ARRAY_CHECKS, OBJECT_CHECKS, LOGIC_CHECKS].flatMap((checks) => Object.entries(checks)),
);

/** Proofs may branch without end in practice; past this many steps nothing more is proven. */
const MAX_STEPS = 5000;

/** Lists of which an alternative is chosen for one value within a proof; many lists have exponentially many choices. */
const MAX_CHOSEN = 2;

interface ComparisonOptions {
  /** What holds of every document without being said by a schema. */
  readonly assumed?: Schema | undefined;
  /** Whether the known schemas are those of the new version. */
  readonly isReversed?: boolean;
}

/** A question under way, and how far into the value it was asked. */
interface OpenQuestion {
  readonly key: string;
  readonly depth: number;
}

/** What was found, how far into the value, and the number of the outermost open question that it takes to be answered well. */
interface Answer {
  readonly findings: readonly Finding[];
  readonly depth: number;
  readonly reliesOn: number;
  /** How many choices had been made when it was found, if one more might have proven it; otherwise 0. */
  readonly chosen: number;
}

/**
 * Decides which conditions of a schema follow from other schemas, keyword by keyword. What the known schemas ask as well
 * follows; every other "follows" is proven; what cannot be proven does not follow.
 */
export class Comparison implements Prover {
  readonly targets: Targets;
  readonly classes: SchemaClasses;
  readonly assumed: Schema | undefined;
  readonly #open: OpenQuestion[] = [];
  readonly #answers = new Map<string, Answer>();
  /** Those that rely on open questions. */
  readonly #provisional = new Map<string, Answer>();
  readonly #keys = new Map<JsonObject, ReadonlySet<string>>();
  readonly #numbers = new Map<string | Schema, number>();
  readonly #way: Step[] = [];
  /** The number of the outermost open question that has been relied on since the innermost one was asked. */
  #reliesOn = Infinity;
  #isReversed: boolean;
  #steps = 0;
  /** From how many lists of the current value an alternative was chosen for the current question. */
  #chosen = 0;
  /** How often the limit denied another choice for the current value. */
  #denials = 0;

  constructor(targets: Targets, classes: SchemaClasses, options: ComparisonOptions = {}) {
    this.targets = targets;
    this.classes = classes;
    this.assumed = options.assumed;
    this.#isReversed = options.isReversed ?? false;
  }

  get depth(): number {
    return this.#way.length;
  }

  get isReversed(): boolean {
    return this.#isReversed;
  }

  facts(schemas: Iterable<Schema>): Facts {
    return new Facts(schemas, this.targets);
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

  findingsWithin(step: Step, known: Iterable<Schema>, schema: Schema, mode: Mode): readonly Finding[] {
    const given = [...known];
    const [chosen, denials] = [this.#chosen, this.#denials];
    this.#chosen = 0;
    this.#way.push(step);
    const findings = this.findings(given, schema, mode);
    this.#way.pop();
    this.#chosen = chosen;
    // What is found of a value further in does not depend on the choices for this one.
    this.#denials = denials;
    // Of a value of which nothing was said, none is known that a condition refuses.
    return given.length > 0 || schema === false ? findings : findings.map(atMostNarrowing);
  }

  findings(known: Iterable<Schema>, schema: Schema, mode: Mode): readonly Finding[] {
    const given = [...known];
    if (given.includes(schema)) return [];
    const facts = this.facts(given);
    const asked = conjunctsOf([schema], this.targets).filter((conjunct) => !this.#isKnown(facts, conjunct));
    if (asked.length === 0 || facts.isEmpty) return [];
    const key = this.#key(facts, schema, mode);
    const { depth } = this;
    const answer = this.#answers.get(key) ?? this.#provisional.get(key);
    if (answer !== undefined && depth >= answer.depth && this.#chosen >= answer.chosen) {
      this.#reliesOn = Math.min(this.#reliesOn, answer.reliesOn);
      if (answer.chosen > 0) this.#denials += 1;
      return answer.findings.map(({ way = [], ...finding }) => ({
        ...finding,
        way: [...this.#way, ...way.slice(answer.depth)],
      }));
    }
    const open = this.#open.findIndex((question) => question.key === key);
    // Asked again further in: values are finite, so that an answer that holds there on its own terms holds.
    if (open >= 0 && depth > (this.#open[open]?.depth ?? depth)) {
      this.#reliesOn = Math.min(this.#reliesOn, open);
      return [];
    }
    this.#steps += 1;
    if (open >= 0 || this.#steps > MAX_STEPS) return [this.#placed(unproven(schema), facts)];
    return this.#answered({ key, depth }, () =>
      findEach(asked, mode, (conjunct) => this.#conjunctFindings(facts, conjunct, mode)),
    );
  }

  /** Finds the answer to a question, and keeps it for as long as all that it relies on is open, or for ever. */
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

  /** What is found in the same place on several ways is the same: recursive schemas have very many ways. */
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

  #placed(finding: Finding, { schemas }: Facts): Finding {
    return finding.way === undefined ? { ...finding, way: [...this.#way], given: schemas } : finding;
  }

  #conjunctFindings(facts: Facts, conjunct: Schema, mode: Mode): readonly Finding[] {
    const found = this.#keywordFindings(facts, conjunct, mode);
    if (found.some(({ kind }) => kind !== 'compatible') && this.#isImpliedByCases(facts, conjunct)) return [];
    return found.map((finding) => this.#placed(finding, facts));
  }

  /** Whether the schema follows from each of some alternatives, one of which is known to hold. */
  #isImpliedByCases(facts: Facts, schema: Schema): boolean {
    const lists = facts.atoms
      .flatMap((atom) => [schemasIn(atom, 'anyOf'), schemasIn(atom, 'oneOf')])
      .filter((list) => list.length > 0 && !list.some((one) => facts.schemas.includes(one)));
    if (this.#chosen === MAX_CHOSEN) {
      if (lists.length > 0) this.#denials += 1;
      return false;
    }
    this.#chosen += 1;
    const isImplied = lists.some((list) =>
      list.every((one) => this.implies([...facts.schemas, one], schema)),
    );
    this.#chosen -= 1;
    return isImplied;
  }

  #keywordFindings(facts: Facts, schema: Schema, mode: Mode): readonly Finding[] {
    if (schema === true) return [];
    if (schema === false)
      return [{ schema: undefined, tokens: [], kind: 'breaking', subject: 'keyword', value: false }];
    const open = this.classes.conditionsOf(schema).filter(({ key }) => !this.#isAsked(facts, key));
    const keywords = new Set(open.map(({ keyword }) => keyword));
    // What is decided at once comes first in `CHECKS`.
    const inOrder =
      mode === 'report' ? keywords : [...CHECKS.keys()].filter((keyword) => keywords.has(keyword));
    return findEach(inOrder, mode, (keyword) => {
      const [entry, value] = [CHECKS.get(keyword), member(schema, keyword)];
      if (entry === undefined || value === undefined) return [];
      if (entry.types?.every((type) => !facts.types.has(type)) === true) return [];
      const context: CheckContext = { facts, schema, keyword, prover: this, mode };
      return entry.check(value, context);
    });
  }

  /** Whether the known schemas ask all that a schema's own keywords ask. */
  #isKnown(facts: Facts, schema: Schema): boolean {
    if (!isObject(schema)) return schema || facts.schemas.includes(false);
    return this.classes.conditionsOf(schema).every(({ key }) => this.#isAsked(facts, key));
  }

  #isAsked({ atoms }: Facts, key: string): boolean {
    return atoms.some((atom) => this.#keysOf(atom).has(key));
  }

  #keysOf(atom: JsonObject): ReadonlySet<string> {
    const keys = this.#keys.get(atom) ?? new Set(this.classes.conditionsOf(atom).map(({ key }) => key));
    this.#keys.set(atom, keys);
    return keys;
  }

  /** What is proven of a schema is of all of its class; what is reported is of its place as well. */
  #key({ schemas, atoms }: Facts, schema: Schema, mode: Mode): string {
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
