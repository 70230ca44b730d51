import { passes, type CheckContext, type Finding, type KeywordChecks, type Prover } from './checks.js';
import { eachSchemaIn, schemaIn, schemasIn } from './flat-graph.js';
import { isSchema, type JsonValue, type Schema } from '../../shared/json/json.js';
import { isSameSchema } from './same-schema.js';

/** Alternatives that are compared pair by pair. */
const MOST_ALTERNATIVES = 32;

/** Checks of the keywords that combine schemas. `allOf` and `$ref` are followed before any check. */
export const LOGIC_CHECKS: KeywordChecks = {
  anyOf: passes((_, context) => isOneImplied(schemasIn(context.schema, 'anyOf'), context)),
  oneOf: passes((_, context) => {
    const schemas = schemasIn(context.schema, 'oneOf');
    const { facts, prover } = context;
    if (facts.atoms.some((atom) => arePaired(schemasIn(atom, 'oneOf'), schemas, prover))) return true;
    return areDisjoint(schemas, prover) && isOneImplied(schemas, context);
  }),
  not: passes((value, { facts, prover }) => {
    if (!isSchema(value)) return true;
    if (prover.facts([...facts.schemas, value]).isEmpty) return true;
    return facts.atoms.some((atom) => {
      const known = schemaIn(atom, 'not');
      return known !== undefined && prover.implies([value], known);
    });
  }),
  if: { check: (value, context) => (isSchema(value) ? branchFindings(value, context) : []) },
  unevaluatedProperties: passes(isUnchanged, ['object']),
  unevaluatedItems: passes(isUnchanged, ['array']),
};

/** Whether each case that the facts leave is within one of the schemas. */
function isOneImplied(schemas: readonly Schema[], { facts, prover }: CheckContext): boolean {
  const isCovered = (known: readonly Schema[]): boolean =>
    prover.facts(known).isEmpty || schemas.some((schema) => prover.implies(known, schema));
  if (isCovered(facts.schemas)) return true;
  const values = facts.values?.map((value) => ({ const: value }));
  const types = [...facts.types].map((type) => ({ type: type === 'fraction' ? 'number' : type }));
  const cases = values ?? types;
  return cases.length > 1 && cases.every((one) => isCovered([...facts.schemas, one]));
}

/** Whether two lists hold equivalent schemas, one for one. */
function arePaired(known: readonly Schema[], schemas: readonly Schema[], prover: Prover): boolean {
  if (known.length !== schemas.length) return false;
  const left = new Set(known);
  return schemas.every((schema) => {
    const match = [...left].find((one) => prover.equivalent(one, schema));
    return match !== undefined && left.delete(match);
  });
}

/** Whether no value can satisfy two of the schemas. */
function areDisjoint(schemas: readonly Schema[], prover: Prover): boolean {
  return (
    schemas.length <= MOST_ALTERNATIVES &&
    schemas.every((one, index) =>
      schemas.slice(index + 1).every((other) => prover.facts([one, other]).isEmpty),
    )
  );
}

/** The branches that do not follow, each from what is known where it applies. */
function branchFindings(condition: Schema, { facts, schema, prover }: CheckContext): readonly Finding[] {
  const known = facts.atoms.filter((atom) => {
    const other = schemaIn(atom, 'if');
    return other !== undefined && prover.equivalent(other, condition);
  });
  return (['then', 'else'] as const).flatMap((keyword): readonly Finding[] => {
    const branch = schemaIn(schema, keyword);
    const others = eachSchemaIn(known, keyword);
    const given = keyword === 'then' ? [condition] : [];
    if (branch === undefined || prover.implies([...facts.schemas, ...given, ...others], branch)) return [];
    return [
      {
        ...{ schema, tokens: [keyword], kind: 'narrowing', subject: 'keyword', value: branch },
        ...(others[0] === undefined ? {} : { known: others[0] }),
      },
    ];
  });
}

/** What is unevaluated depends on all that stands beside it: only the same schema says the same. */
function isUnchanged(value: JsonValue, { facts, schema, prover }: CheckContext): boolean {
  return value === true || facts.atoms.some((atom) => isSameSchema(atom, schema, prover.targets));
}
