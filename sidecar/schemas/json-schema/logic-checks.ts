import { isSchema, type JsonObject, type JsonValue, type Schema } from '../../shared/json/json.js';
import {
  atMostNarrowing,
  type CheckContext,
  type Finding,
  collectFindings,
  keywordFinding,
  type KeywordChecks,
  passes,
  withPosition,
  type Prover,
} from './checks.js';
import { eachSchemaIn, schemaIn, schemasIn } from './flatten.js';
import { isMentionedAt } from './mentions.js';

/** Maximum number of alternatives that are compared pair by pair. */
const MAX_ALTERNATIVES = 32;

/** Checks of the keywords that combine schemas. `allOf` and `$ref` are resolved before any check. */
export const LOGIC_CHECKS: readonly KeywordChecks[] = [
  {
    checks: {
      anyOf: (value, context) => alternativeFindings('anyOf', value, context),
      oneOf: (value, context) => alternativeFindings('oneOf', value, context),
      not: passes((value, { constraints, prover }) => {
        if (!isSchema(value)) return true;
        if (prover.constraintsOf([...constraints.schemas, value]).isEmpty) return true;
        return constraints.atoms.some((atom) => {
          const known = schemaIn(atom, 'not');
          return known !== undefined && prover.implies([value], known);
        });
      }),
      if: (value, context) => (isSchema(value) ? branchFindings(value, context) : []),
    },
  },
  // What is evaluated depends on all keywords next to this one, so only an identical schema would imply it.
  { types: ['array'], checks: { unevaluatedItems: passes((value) => value === true) } },
];

/** A known alternative, and the alternative that replaced it. */
type Pair = readonly [known: Schema, next: Schema];

/**
 * Conditions of `anyOf` or `oneOf`. If the known schemas have as many alternatives, each changed one is compared with
 * the one that replaced it.
 */
function alternativeFindings(
  keyword: 'anyOf' | 'oneOf',
  value: JsonValue,
  context: CheckContext,
): readonly Finding[] {
  const { constraints, schema, prover } = context;
  const schemas = schemasIn(schema, keyword);
  const comparable = constraints.atoms.flatMap((atom) => {
    const known = schemasIn(atom, keyword);
    const pairs = changedPairs(known, schemas, prover);
    const isComparable =
      pairs !== undefined && (keyword === 'anyOf' || staysOneAtMost(pairs, known, context));
    return isComparable ? [pairs] : [];
  });
  // The known schemas may have several lists of alternatives: the list with the fewest changes comes first.
  const compared = comparable
    .toSorted((one, other) => one.length - other.length)
    .map((pairs) => pairFindings(pairs, schemas, context));
  const harmless = compared.find((found) => found.every(({ kind }) => kind === 'compatible'));
  if (harmless !== undefined) return harmless;
  if ((keyword === 'anyOf' || areDisjoint(schemas, context)) && isOneImplied(schemas, context)) return [];
  const [closest] = [...compared].sort((one, other) => one.length - other.length);
  return closest ?? [keywordFinding(value, context)];
}

/** What changed in each pair: the two are compared by themselves first, then with everything known about the value. */
function pairFindings(
  pairs: readonly Pair[],
  schemas: readonly Schema[],
  context: CheckContext,
): readonly Finding[] {
  const { constraints, prover, mode } = context;
  return collectFindings(pairs, mode, ([known, next]) => {
    const alone = prover.findings([known], next, mode);
    const isHarmless = alone.every(({ kind }) => kind === 'compatible');
    const found = isHarmless ? alone : prover.findings([...constraints.schemas, known], next, mode);
    return withPosition(context, [String(schemas.indexOf(next))], found.map(atMostNarrowing));
  });
}

/** The alternatives that differ, paired in the order of each list; undefined if the lists differ in length. */
function changedPairs(
  known: readonly Schema[],
  schemas: readonly Schema[],
  { classes }: Prover,
): readonly Pair[] | undefined {
  if (known.length === 0 || known.length !== schemas.length) return undefined;
  const others = [...schemas];
  const left = known.filter((one) => {
    const index = others.findIndex((other) => classes.areSame(one, other));
    if (index >= 0) others.splice(index, 1);
    return index < 0;
  });
  return left.flatMap((one, index) => {
    const other = others[index];
    return other === undefined ? [] : [[one, other] as const];
  });
}

/**
 * Whether a value that satisfied exactly one alternative of `oneOf` still satisfies no other one. What a changed
 * alternative newly accepts must not overlap with the other known alternatives. It may overlap in objects with a
 * property that the new version has begun to describe, if the other alternatives do not mention that property there.
 */
function staysOneAtMost(
  pairs: readonly Pair[],
  all: readonly Schema[],
  { constraints, prover, mode }: CheckContext,
): boolean {
  return pairs.every(([known, next]) => {
    const others = all.filter((other) => other !== known);
    if (others.every((other) => prover.constraintsOf([...constraints.schemas, next, other]).isEmpty))
      return true;
    if (mode === 'prove') return prover.implies([next], known);
    const { depth, isReversed } = prover;
    return prover.findingsReversed(next, known).every(({ subject, value, path = [] }) => {
      if (isReversed) return subject === 'property';
      const isAdded = subject === 'other' && typeof value === 'string';
      return isAdded && !isMentionedAt(path.slice(depth), value, others, prover);
    });
  });
}

/** Whether each case that the constraints allow, by value or by type, implies one of the schemas. */
function isOneImplied(schemas: readonly Schema[], { constraints, prover }: CheckContext): boolean {
  const isCovered = (known: readonly Schema[]): boolean =>
    prover.constraintsOf(known).isEmpty || schemas.some((schema) => prover.implies(known, schema));
  if (isCovered(constraints.schemas)) return true;
  const values = constraints.values?.map((value) => ({ const: value }));
  const types = [...constraints.types].map((type) => ({ type: type === 'fraction' ? 'number' : type }));
  const cases = values ?? types;
  return cases.length > 1 && cases.every((one) => isCovered([...constraints.schemas, one]));
}

/** Whether no value that the constraints allow can satisfy two of the schemas. */
function areDisjoint(schemas: readonly Schema[], { constraints, prover }: CheckContext): boolean {
  return (
    schemas.length <= MAX_ALTERNATIVES &&
    schemas.every((one, index) =>
      schemas
        .slice(index + 1)
        .every((other) => prover.constraintsOf([...constraints.schemas, one, other]).isEmpty),
    )
  );
}

/** The conditions of `then` and `else` that do not follow from what is known when they apply. */
function branchFindings(condition: Schema, context: CheckContext): readonly Finding[] {
  const { constraints, schema, prover, mode } = context;
  const conditional = constraints.atoms.filter((atom) => schemaIn(atom, 'if') !== undefined);
  const known = conditional.filter((atom) => prover.equivalent(schemaIn(atom, 'if') ?? true, condition));
  const findingsIn = (keyword: Branch, atoms: readonly JsonObject[]): readonly Finding[] => {
    const circumstance = keyword === 'then' ? condition : { not: condition };
    const given = [...constraints.schemas, circumstance, ...eachSchemaIn(atoms, keyword)];
    const branch = schemaIn(schema, keyword) ?? true;
    return withPosition(
      { ...context, keyword },
      [],
      prover.findings(given, branch, mode).map(atMostNarrowing),
    );
  };
  const found = collectFindings(BRANCHES, mode, (keyword) => findingsIn(keyword, known));
  if (found.length === 0 || known.length > 0 || mode === 'prove') return found;
  const isSameBranch = (atom: JsonObject, keyword: string) =>
    prover.classes.areSame(schemaIn(atom, keyword) ?? true, schemaIn(schema, keyword) ?? true);
  const withSame = conditional.find((atom) => BRANCHES.every((keyword) => isSameBranch(atom, keyword)));
  const only = withSame ?? (conditional.length === 1 ? conditional[0] : undefined);
  if (only === undefined)
    return BRANCHES.filter((keyword) => findingsIn(keyword, []).length > 0).map((keyword) => ({
      schema,
      tokens: [keyword],
      kind: 'narrowing',
      subject: 'keyword',
      value: schemaIn(schema, keyword) ?? true,
    }));
  // The condition has changed, but the branches may have stayed the same: compare each with the known one.
  const changed = keywordFinding(condition, { ...context, keyword: 'if' });
  const within = collectFindings(BRANCHES, mode, (keyword) => findingsIn(keyword, [only]));
  return [{ ...changed, kind: 'narrowing' }, ...within];
}

const BRANCHES = ['then', 'else'] as const;
type Branch = (typeof BRANCHES)[number];
