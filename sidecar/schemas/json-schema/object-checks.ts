import { isObject, isSchema, type Schema, stringsOf } from '../../shared/json/json.js';
import {
  atMostNarrowing,
  type CheckContext,
  collectFindings,
  type Finding,
  type KeywordChecks,
  keywordFinding,
  passes,
  withPosition,
} from './checks.js';
import {
  type ClosingKeyword,
  type Closure,
  closureOf,
  type Evaluation,
  isEvaluated,
  isMatch,
} from './closures.js';
import type { ValueConstraints } from './value-constraints.js';
import { eachSchemaIn, namedSchemaIn, namedSchemasIn, namesByName, schemaIn } from './flatten.js';
import { isMentioned } from './mentions.js';

/** Validators still honour `dependencies`, the older form. */
const DEPENDENT_SCHEMAS = ['dependentSchemas', 'dependencies'];
const DEPENDENT_NAMES = ['dependentRequired', 'dependencies'];

/** Checks of the keywords on objects. */
export const OBJECT_CHECKS: KeywordChecks = {
  types: ['object'],
  checks: {
    minProperties: passes(
      (value, { constraints }) =>
        Math.max(constraints.limit('min', 'Properties'), constraints.required.size) >= Number(value),
    ),
    maxProperties: passes(
      (value, { constraints }) => constraints.limit('max', 'Properties') <= Number(value),
    ),
    required: (value, context) =>
      stringsOf(value)
        .filter((name) => !context.constraints.required.has(name))
        .map((name) => requiredFinding(name, context)),
    properties: (_, context) => namedFindings(context, propertyFindings),
    patternProperties: (_, context) => namedFindings(context, patternFindings),
    additionalProperties: (_, context) => closingFindings('additionalProperties', context),
    unevaluatedProperties: (_, context) => closingFindings('unevaluatedProperties', context),
    propertyNames: passes(
      (value, { constraints, prover }) =>
        !isSchema(value) ||
        prover.implies([{ type: 'string' }, ...eachSchemaIn(constraints.atoms, 'propertyNames')], value),
    ),
    dependentRequired: passes((_, context) => areNamesImplied(context)),
    dependentSchemas: (_, context) => namedFindings(context, dependentFindings),
    dependencies: (value, context) => [
      ...(areNamesImplied(context) ? [] : [keywordFinding(value, context)]),
      ...namedFindings(context, dependentFindings),
    ],
  },
};

/** The findings for each schema that the keyword holds by name, each at its place. */
function namedFindings(
  context: CheckContext,
  find: (name: string, schema: Schema, context: CheckContext) => readonly Finding[],
): readonly Finding[] {
  const { schema, keyword, mode } = context;
  return collectFindings(namedSchemasIn(schema, keyword), mode, ([name, held]) =>
    withPosition(context, [name], find(name, held, context)),
  );
}

/**
 * A property is required now, and objects without it were valid. Breaking if no valid object is known to have the
 * property: no schema described it, or it was forbidden.
 */
function requiredFinding(name: string, { constraints, schema, keyword, prover }: CheckContext): Finding {
  const isUnheardOf =
    !isMentioned(name, constraints.schemas, prover) ||
    prover.constraintsOf(constraints.propertyByPatterns(name)).isEmpty;
  const kind = isUnheardOf ? 'breaking' : 'narrowing';
  return { schema, tokens: [keyword], kind, subject: 'required', value: name };
}

function propertyFindings(name: string, schema: Schema, context: CheckContext): readonly Finding[] {
  const { constraints, prover, mode } = context;
  // Most properties have the same schema as before. The other schemas that apply to them need not be found.
  if (constraints.atoms.some((atom) => namedSchemaIn(atom, 'properties', name) === schema)) return [];
  const known = constraints.propertyByPatterns(name);
  if (known.includes(schema)) return [];
  if (mode === 'report' && !isMentioned(name, constraints.schemas, prover)) {
    // Every entity has the assumed properties: describing them for the first time must not refuse any.
    const isHarmless = isAssumed(name, context)
      ? prover.implies(known, schema)
      : !prover.constraintsOf([...known, schema]).isEmpty;
    if (isHarmless)
      return [{ schema: undefined, tokens: [], kind: 'compatible', subject: 'property', value: name }];
  }
  return prover.findingsWithin(name, known, schema, mode);
}

function isAssumed(name: string, { constraints, prover: { assumed } }: CheckContext): boolean {
  if (!isObject(assumed) || !constraints.schemas.includes(assumed)) return false;
  return namedSchemaIn(assumed, 'properties', name) !== undefined;
}

/** Conditions on properties whose names match a pattern: on those that the known schemas name, and on all others. */
function patternFindings(pattern: string, schema: Schema, context: CheckContext): readonly Finding[] {
  const { constraints, prover, mode } = context;
  const names = namesIn(constraints).filter((name) => isMatch(pattern, name));
  const named = collectFindings(names, mode, (name) =>
    prover.findingsWithin(name, constraints.propertyByPatterns(name), schema, mode),
  );
  if (mode === 'prove' && named.length > 0) return named;
  const rests = constraints.closures
    .filter(({ evaluations }) => evaluations.every((one) => one.patterns.size === 0 && !one.isOfAll))
    .map(({ rest }) => rest);
  const known = constraints.pattern(pattern);
  const others = prover.findingsWithin({ pattern }, [...known, ...rests], schema, mode);
  // If no known schema has the pattern, such names may never have been allowed: `propertyNames` may refuse them all.
  return [...named, ...(known.length === 0 ? others.map(atMostNarrowing) : others)];
}

/** Conditions on objects that have a certain property. */
function dependentFindings(name: string, needed: Schema, context: CheckContext): readonly Finding[] {
  const { constraints, prover, mode } = context;
  const known = constraints.atoms
    .flatMap((atom) => DEPENDENT_SCHEMAS.map((other) => namedSchemaIn(atom, other, name)))
    .filter((other) => other !== undefined);
  const given = [...constraints.schemas, ...known, { required: [name] }];
  return prover.findings(given, needed, mode).map(atMostNarrowing);
}

function areNamesImplied({ constraints, schema, keyword, prover }: CheckContext): boolean {
  return [...namesByName(schema, keyword)].every(([name, needed]) => {
    const known = constraints.atoms.flatMap((atom) =>
      DEPENDENT_NAMES.flatMap((other) => namesByName(atom, other).get(name) ?? []),
    );
    const isPresent = (other: string) =>
      constraints.required.has(other) || known.includes(other) || other === name;
    return needed.every(isPresent) || prover.constraintsOf(constraints.propertyByPatterns(name)).isEmpty;
  });
}

/**
 * Conditions of `additionalProperties` or `unevaluatedProperties`: on each property that the known schemas name and
 * the new one does not evaluate, and on all properties that neither names.
 *
 * Must run in a worker: patterns are executed.
 */
function closingFindings(keyword: ClosingKeyword, context: CheckContext): readonly Finding[] {
  const { constraints, schema, prover, mode } = context;
  const closure = closureOf(schema, keyword, prover.targets) ?? {
    // If it is too much to find out what is evaluated, assume that nothing is.
    rest: schemaIn(schema, keyword) ?? true,
    evaluations: [],
  };
  const closing = new ClosingCheck(context, closure);
  const named = collectFindings(namesIn(constraints), mode, (name) => closing.named(name));
  return mode === 'prove' && named.length > 0 ? named : [...named, ...closing.unnamed()];
}

/** The property names that the known schemas mention. */
function namesIn({ describedNames, closures }: ValueConstraints): readonly string[] {
  const evaluated = closures.flatMap(({ evaluations }) => evaluations.flatMap(({ names }) => [...names]));
  return [...new Set([...describedNames, ...evaluated])];
}

class ClosingCheck {
  readonly #context: CheckContext;
  readonly #rest: Schema;
  readonly #evaluations: readonly Evaluation[];
  /** The known closures that have lost no pattern and no evaluation of all properties; `named` checks single names. */
  readonly #kept: readonly Closure[];

  constructor(context: CheckContext, { rest, evaluations }: Closure) {
    this.#context = context;
    this.#rest = rest;
    this.#evaluations = evaluations;
    this.#kept = context.constraints.closures.filter((closure) =>
      closure.evaluations.every((known) => this.#lostPatterns(known).length === 0 && this.#keepsAll(known)),
    );
  }

  named(name: string): readonly Finding[] {
    const { constraints, prover } = this.#context;
    const covering = this.#evaluations.filter((one) => isEvaluated(name, one));
    if (covering.some(({ circumstances }) => circumstances.length === 0)) return [];
    const known = constraints.propertyByPatterns(name);
    if (prover.implies(known, this.#rest)) return [];
    const isKept = constraints.closures.some(
      (closure) =>
        closure.evaluations.every((one) => !isEvaluated(name, one) || this.#holdsWhere(one, covering)) &&
        prover.implies([...known, closure.rest], this.#rest),
    );
    if (isKept) return [];
    const isRefused = covering.length === 0 && prover.constraintsOf([...known, this.#rest]).isEmpty;
    return [this.#finding('other', name, isRefused ? 'breaking' : 'narrowing')];
  }

  unnamed(): readonly Finding[] {
    const { constraints, prover, mode } = this.#context;
    if (this.#evaluations.some((one) => one.isOfAll && one.circumstances.length === 0)) return [];
    const rests = this.#kept.map(({ rest }) => rest);
    const found = prover.findingsWithin(null, rests, this.#rest, mode);
    if (found.length === 0) return [];
    for (const { rest, evaluations } of constraints.closures) {
      const lost = new Set(evaluations.flatMap((known) => this.#lostPatterns(known)));
      if (lost.size > 0 && evaluations.every((known) => this.#keepsAll(known)))
        if (prover.implies([...rests, rest], this.#rest))
          return [...lost].map((pattern) => this.#finding('others', pattern, 'narrowing'));
    }
    return withPosition(this.#context, [], found.map(atMostNarrowing));
  }

  /** The patterns whose properties are now among the others and have to satisfy more than before. */
  #lostPatterns(known: Evaluation): readonly string[] {
    const { constraints, prover } = this.#context;
    return [...known.patterns].filter((pattern) => {
      const covering = this.#evaluations.filter((one) => one.isOfAll || one.patterns.has(pattern));
      return (
        !this.#holdsWhere(known, covering) &&
        (known.circumstances.length > 0 || !prover.implies(constraints.pattern(pattern), this.#rest))
      );
    });
  }

  #keepsAll(known: Evaluation): boolean {
    const ofAll = this.#evaluations.filter((one) => one.isOfAll);
    return !known.isOfAll || this.#holdsWhere(known, ofAll);
  }

  /** Whether one of the evaluations applies whenever the known one does. */
  #holdsWhere({ circumstances }: Evaluation, evaluations: readonly Evaluation[]): boolean {
    const { constraints, prover } = this.#context;
    const given = [...constraints.schemas, { type: 'object' }, ...circumstances];
    return evaluations.some((one) => one.circumstances.every((schema) => prover.implies(given, schema)));
  }

  #finding(subject: Finding['subject'], value: string, kind: Finding['kind']): Finding {
    const { schema, keyword } = this.#context;
    return { schema, tokens: [keyword], kind, subject, value, known: this.#rest };
  }
}
