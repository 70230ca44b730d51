import { passes, placedAt, type CheckContext, type Finding, type KeywordChecks } from './checks.js';
import { schemaIn, schemasIn } from './flat-graph.js';
import {
  isArray,
  isSchema,
  member,
  type JsonObject,
  type JsonValue,
  type Schema,
} from '../../shared/json/json.js';

const ARRAYS = ['array'] as const;

/** Checks of the keywords on arrays. */
export const ARRAY_CHECKS: KeywordChecks = {
  minItems: passes((value, { facts }) => facts.limit('min', 'Items') >= Number(value), ARRAYS),
  maxItems: passes((value, { facts }) => facts.limit('max', 'Items') <= Number(value), ARRAYS),
  uniqueItems: passes(
    (value, { facts }) =>
      value !== true || facts.says('uniqueItems', true) || facts.limit('max', 'Items') <= 1,
    ARRAYS,
  ),
  prefixItems: {
    types: ARRAYS,
    check: (value, context) =>
      isArray(value)
        ? value.flatMap((item, index) =>
            isSchema(item) ? placedAt(context, [String(index)], itemFindings(context, index, item)) : [],
          )
        : [],
  },
  items: {
    types: ARRAYS,
    check(value, context) {
      if (!isSchema(value)) return [];
      const { facts, schema } = context;
      const first = schemasIn(schema, 'prefixItems').length;
      const listed = Array.from(
        { length: Math.max(0, facts.listedItems - first) },
        (_, index) => first + index,
      );
      const each = [...listed, Infinity].flatMap((index) => itemFindings(context, index, value));
      return placedAt(context, [], distinct(each));
    },
  },
  contains: passes((value, context) => !isSchema(value) || isContained(value, context), ARRAYS),
};

function itemFindings(
  { facts, prover, mode }: CheckContext,
  index: number,
  item: Schema,
): readonly Finding[] {
  if (facts.limit('max', 'Items') <= index && index !== Infinity) return [];
  return prover.findingsWithin(facts.item(index), item, mode);
}

/** Some of the known schemas asks for as many items, of a kind that the other takes. */
function isContained(value: Schema, { facts, schema, prover }: CheckContext): boolean {
  const [least, most] = [count(schema, 'minContains', 1), count(schema, 'maxContains', Infinity)];
  const hasEnough =
    least === 0 ||
    facts.atoms.some((atom) => {
      const known = schemaIn(atom, 'contains');
      return known !== undefined && count(atom, 'minContains', 1) >= least && prover.implies([known], value);
    });
  const hasNotTooMany =
    most === Infinity ||
    facts.atoms.some((atom) => {
      const known = schemaIn(atom, 'contains');
      return (
        known !== undefined && count(atom, 'maxContains', Infinity) <= most && prover.implies([value], known)
      );
    });
  return hasEnough && hasNotTooMany;
}

function count(schema: JsonObject, keyword: string, absent: number): number {
  const value: JsonValue | undefined = member(schema, keyword);
  return typeof value === 'number' ? value : absent;
}

/** The same condition fails for several items in the same way. */
function distinct(findings: readonly Finding[]): readonly Finding[] {
  return findings.filter(
    (finding, index) =>
      findings.findIndex(
        (other) => other.schema === finding.schema && other.tokens.join('/') === finding.tokens.join('/'),
      ) === index,
  );
}
