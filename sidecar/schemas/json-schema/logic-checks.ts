import {
  isArray,
  isObject,
  isSchema,
  type JsonObject,
  type JsonValue,
  member,
  sameJson,
  type Schema,
} from '../../shared/json/json.js';
import { type CheckContext, type Finding, type KeywordChecks, passes, type Prover } from './checks.js';
import { eachSchemaIn, schemaIn, schemasIn } from './flat-graph.js';
import type { Targets } from './flatten.js';
import { ASSERTIONS, holdsNamedSchemas } from './keywords.js';

/** Alternatives that are compared pair by pair. */
const MAX_ALTERNATIVES = 32;

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
    schemas.length <= MAX_ALTERNATIVES &&
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

/** Lists whose order and repetitions mean nothing. */
const SETS: ReadonlySet<string> = new Set(['enum', 'required', 'type']);

/** Whether two schemas say the same in the same way: annotations, order and the names of definitions do not count. */
export function isSameSchema(one: Schema, other: Schema, targets: Targets): boolean {
  const assumed = new Map<JsonObject, Set<JsonObject>>();

  const schemas = (first: Schema, second: Schema): boolean => {
    if (first === second) return true;
    if (!isObject(first) || !isObject(second)) return false;
    const partners = assumed.get(first) ?? new Set();
    if (partners.has(second)) return true;
    assumed.set(first, partners.add(second));
    const [ownFirst, ownSecond] = [keywordsOf(first), keywordsOf(second)];
    return (
      ownFirst.length === ownSecond.length &&
      ownFirst.every((keyword) => values(keyword, member(first, keyword), member(second, keyword)))
    );
  };

  const values = (keyword: string, first: JsonValue | undefined, second: JsonValue | undefined): boolean => {
    if (first === undefined || second === undefined) return false;
    if (keyword === '$ref')
      return typeof first === 'string' && typeof second === 'string' && refs(first, second);
    if (SETS.has(keyword)) return sets(first, second);
    if (keyword === 'const') return sameJson(first, second);
    if (isArray(first))
      return (
        isArray(second) &&
        first.length === second.length &&
        first.every((item, index) => held(item, second[index]))
      );
    if (
      isObject(first) &&
      isObject(second) &&
      (holdsNamedSchemas(keyword) || keyword === 'dependentRequired')
    ) {
      const names = Object.keys(first);
      return (
        names.length === Object.keys(second).length &&
        names.every((name) => held(member(first, name), member(second, name)))
      );
    }
    return held(first, second);
  };

  const held = (first: JsonValue | undefined, second: JsonValue | undefined): boolean => {
    if (isSchema(first) && isSchema(second)) return schemas(first, second);
    if (isArray(first) && isArray(second)) return sets(first, second);
    return sameJson(first, second);
  };

  const refs = (first: string, second: string): boolean => {
    const [target, otherTarget] = [targets.get(first), targets.get(second)];
    return target !== undefined && otherTarget !== undefined && schemas(target, otherTarget);
  };

  return schemas(one, other);
}

function keywordsOf(schema: JsonObject): readonly string[] {
  return Object.keys(schema).filter((keyword) => keyword === '$ref' || ASSERTIONS.has(keyword));
}

function sets(one: JsonValue, other: JsonValue): boolean {
  if (!isArray(one) || !isArray(other)) return sameJson(one, other);
  const within = (items: readonly JsonValue[], all: readonly JsonValue[]): boolean =>
    items.every((item) => all.some((candidate) => sameJson(item, candidate)));
  return within(one, other) && within(other, one);
}
