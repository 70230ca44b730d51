import type { Schema } from '../../shared/json/json.js';
import { atMostNarrowing, type CheckContext, type Finding, findEach, placedAt } from './checks.js';
import { type Closure, closureOf, type ClosingKeyword, type Evaluation, isEvaluated } from './closures.js';
import type { Facts } from './facts.js';
import { schemaIn } from './flat-graph.js';

/**
 * Conditions of `additionalProperties` or `unevaluatedProperties`: on each property that the known schemas name and the new
 * one does not evaluate, and on all properties that nothing names.
 *
 * To be called in a worker: patterns are executed.
 */
export function closingFindings(keyword: ClosingKeyword, context: CheckContext): readonly Finding[] {
  const { facts, schema, prover, mode } = context;
  const closure = closureOf(schema, keyword, prover.targets) ?? {
    // Where it is too much to tell what is evaluated, nothing is known to be.
    ...{ rest: schemaIn(schema, keyword) ?? true, evaluations: [] },
  };
  const closing = new ClosingCheck(context, keyword, closure);
  const named = findEach(namesIn(facts), mode, (name) => closing.named(name));
  return mode === 'prove' && named.length > 0 ? named : [...named, ...closing.unnamed()];
}

/** The names that the known schemas have something to say of. */
export function namesIn({ described, closures }: Facts): readonly string[] {
  const evaluated = closures.flatMap(({ evaluations }) => evaluations.flatMap(({ names }) => [...names]));
  return [...new Set([...described, ...evaluated])];
}

class ClosingCheck {
  readonly #context: CheckContext;
  readonly #keyword: ClosingKeyword;
  readonly #rest: Schema;
  readonly #evaluations: readonly Evaluation[];
  /** The closures known of whose names and patterns the new schema evaluates all, but for those named. */
  readonly #kept: readonly Closure[];

  constructor(context: CheckContext, keyword: ClosingKeyword, { rest, evaluations }: Closure) {
    this.#context = context;
    this.#keyword = keyword;
    this.#rest = rest;
    this.#evaluations = evaluations;
    this.#kept = context.facts.closures.filter((closure) =>
      closure.evaluations.every((known) => this.#lostPatterns(known).length === 0 && this.#keepsAll(known)),
    );
  }

  named(name: string): readonly Finding[] {
    const { facts, prover } = this.#context;
    const covering = this.#evaluations.filter((one) => isEvaluated(name, one));
    if (covering.some(({ circumstances }) => circumstances.length === 0)) return [];
    const known = facts.propertyByPatterns(name);
    if (prover.implies(known, this.#rest)) return [];
    const isKept = facts.closures.some(
      (closure) =>
        closure.evaluations.every((one) => !isEvaluated(name, one) || this.#holdsWhere(one, covering)) &&
        prover.implies([...known, closure.rest], this.#rest),
    );
    if (isKept) return [];
    const isRefused = covering.length === 0 && prover.facts([...known, this.#rest]).isEmpty;
    return [this.#finding('other', name, isRefused ? 'breaking' : 'narrowing')];
  }

  unnamed(): readonly Finding[] {
    const { facts, prover, mode } = this.#context;
    if (this.#evaluations.some((one) => one.isOfAll && one.circumstances.length === 0)) return [];
    const rests = this.#kept.map(({ rest }) => rest);
    const found = prover.findingsWithin(null, rests, this.#rest, mode);
    if (found.length === 0) return [];
    for (const { rest, evaluations } of facts.closures) {
      const lost = new Set(evaluations.flatMap((known) => this.#lostPatterns(known)));
      if (lost.size > 0 && evaluations.every((known) => this.#keepsAll(known)))
        if (prover.implies([...rests, rest], this.#rest))
          return [...lost].map((pattern) => this.#finding('others', pattern, 'narrowing'));
    }
    return placedAt({ ...this.#context, keyword: this.#keyword }, [], found.map(atMostNarrowing));
  }

  /** The patterns of a known evaluation whose properties are among the others now, and held to more than they were. */
  #lostPatterns(known: Evaluation): readonly string[] {
    const { facts, prover } = this.#context;
    return [...known.patterns].filter((pattern) => {
      const covering = this.#evaluations.filter((one) => one.isOfAll || one.patterns.has(pattern));
      return (
        !this.#holdsWhere(known, covering) &&
        (known.circumstances.length > 0 || !prover.implies(facts.pattern(pattern), this.#rest))
      );
    });
  }

  #keepsAll(known: Evaluation): boolean {
    return (
      !known.isOfAll ||
      this.#holdsWhere(
        known,
        this.#evaluations.filter((one) => one.isOfAll),
      )
    );
  }

  /** Whether one of the evaluations applies wherever a known one does. */
  #holdsWhere({ circumstances }: Evaluation, evaluations: readonly Evaluation[]): boolean {
    const { facts, prover } = this.#context;
    const given = [...facts.schemas, { type: 'object' }, ...circumstances];
    return evaluations.some((one) => one.circumstances.every((schema) => prover.implies(given, schema)));
  }

  #finding(subject: Finding['subject'], value: string, kind: Finding['kind']): Finding {
    const { schema } = this.#context;
    return { schema, tokens: [this.#keyword], kind, subject, value, known: this.#rest };
  }
}
