import { isObject, type Schema } from '../../shared/json/json.js';
import { ARRAY_CHECKS, VALUE_CHECKS } from './array-checks.js';
import type { CheckContext, Finding, KeywordCheck, Mode, Prover, Step } from './checks.js';
import { Facts } from './facts.js';
import { conjunctsOf, schemasIn } from './flat-graph.js';
import type { Targets } from './flatten.js';
import { LOGIC_CHECKS } from './logic-checks.js';
import { OBJECT_CHECKS } from './object-checks.js';

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
  readonly assumed: Schema | undefined;
  readonly #ids = new Map<Schema, number>();
  /** Questions under way, and how far into the value each was asked. */
  readonly #open = new Map<string, number>();
  readonly #way: Step[] = [];
  #steps = 0;

  /** @param assumed what holds of every document without being said by a schema */
  constructor(targets: Targets, assumed?: Schema) {
    this.targets = targets;
    this.assumed = assumed;
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

  findingsWithin(step: Step, known: Iterable<Schema>, schema: Schema, mode: Mode): readonly Finding[] {
    this.#way.push(step);
    const given = [...known];
    const findings = this.findings(given, schema, mode);
    this.#way.pop();
    if (given.length > 0 || schema === false) return findings;
    // Of a value of which nothing was said, none is known that a condition refuses.
    return findings.map((finding) =>
      finding.kind === 'breaking' ? { ...finding, kind: 'narrowing' } : finding,
    );
  }

  /** The conditions of a schema that do not follow from the known ones, all on the same value. */
  findings(known: Iterable<Schema>, schema: Schema, mode: Mode): readonly Finding[] {
    const facts = this.facts(known);
    if (facts.isEmpty) return [];
    const key = this.#key(facts, schema, mode);
    const depth = this.#way.length;
    const asked = this.#open.get(key);
    // Asked again further in: values are finite, so that an answer that holds there on its own terms holds.
    if (asked !== undefined && depth > asked) return [];
    this.#steps += 1;
    if (asked !== undefined || this.#steps > MAX_STEPS) return [this.#placed(unproven(schema), facts)];
    this.#open.set(key, depth);
    const findings = conjunctsOf([schema], this.targets)
      .filter((conjunct) => !facts.schemas.includes(conjunct))
      .flatMap((conjunct) => {
        const found = this.#conjunctFindings(facts, conjunct, mode);
        if (found.length > 0 && this.#isImpliedByCases(facts, conjunct)) return [];
        return found.map((finding) => this.#placed(finding, facts));
      });
    this.#open.delete(key);
    return findings;
  }

  #placed(finding: Finding, { schemas }: Facts): Finding {
    return finding.way === undefined ? { ...finding, way: [...this.#way], given: schemas } : finding;
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
