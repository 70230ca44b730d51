import {
  compareNumbers,
  doubleOf,
  isArray,
  isMultiple,
  isNumber,
  isSchema,
  type JsonNumber,
  type JsonObject,
  type JsonValue,
  member,
  type Schema,
} from '../../shared/json/json.js';
import { valuesAmong } from '../../shared/json/lossless-json.js';
import {
  type CheckContext,
  type Finding,
  type KeywordCheck,
  keywordFinding,
  type KeywordChecks,
  passes,
  placedAt,
  atMostNarrowing,
} from './checks.js';
import type { Facts, FactType } from './facts.js';
import { schemaIn, schemasIn } from './flatten.js';
import { hasFormat, typesRefusedBy } from './formats.js';

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
  contains: {
    types: ARRAYS,
    check(value, context) {
      if (!isSchema(value)) return [];
      const unmet = unmetCount(value, context);
      if (unmet === undefined) return [];
      const additions = unmet === 'all' ? additionsIn(value, context) : [];
      if (additions.length > 0) return additions;
      return [{ ...keywordFinding(value, context), ...(unmet === 'all' ? {} : { beside: unmet }) }];
    },
  },
};

function itemFindings(
  { facts, schema, prover, mode }: CheckContext,
  index: number,
  item: Schema,
): readonly Finding[] {
  const first =
    index === Infinity ? Math.max(facts.listedItems, schemasIn(schema, 'prefixItems').length) : index;
  if (facts.limit('max', 'Items') <= first) return [];
  const known = facts.item(index);
  const findings = prover.findingsWithin(index, known, item, mode);
  const isThere = facts.limit('min', 'Items') > first;
  if (known.length > 0 || isThere) return findings;
  // Arrays without such an item are not refused.
  return findings.map(atMostNarrowing);
}

/**
 * The count of `contains` (`minContains` or `maxContains`) that does not follow from the known schemas; `all` if no
 * known `contains` is about items of this kind.
 *
 * @returns undefined if both counts follow
 */
function unmetCount(
  value: Schema,
  { facts, schema, prover }: CheckContext,
): Finding['beside'] | 'all' | undefined {
  const [least, most] = [count(schema, 'minContains', 1), count(schema, 'maxContains', Infinity)];
  const containing = facts.atoms.flatMap((atom) => {
    const known = schemaIn(atom, 'contains');
    return known === undefined ? [] : [{ atom, known }];
  });
  if (least > 0) {
    const counts = containing
      .filter(({ known }) => prover.implies([known], value))
      .map(({ atom }) => count(atom, 'minContains', 1));
    if (counts.length === 0) return 'all';
    const known = Math.max(...counts);
    if (known < least) return { keyword: 'minContains', value: least, known };
  }
  if (most < Infinity) {
    const counts = containing
      .filter(({ known }) => prover.implies([value], known))
      .map(({ atom }) => count(atom, 'maxContains', Infinity));
    if (counts.length === 0) return 'all';
    const known = Math.min(...counts);
    if (known > most)
      return { keyword: 'maxContains', value: most, ...(known === Infinity ? {} : { known }) };
  }
  return undefined;
}

/** What the schema in `contains` adds to the known one, if that is the only change and it refuses nothing. */
function additionsIn(value: Schema, context: CheckContext): readonly Finding[] {
  const { facts, schema, prover, mode } = context;
  const [known, ...others] = facts.atoms.filter((atom) => schemaIn(atom, 'contains') !== undefined);
  const item = known && schemaIn(known, 'contains');
  if (mode === 'prove' || known === undefined || item === undefined || others.length > 0) return [];
  const isSameCount =
    count(known, 'minContains', 1) === count(schema, 'minContains', 1) &&
    count(known, 'maxContains', Infinity) === count(schema, 'maxContains', Infinity);
  if (!isSameCount || (schema['maxContains'] !== undefined && !prover.implies([value], item))) return [];
  const found = prover.findingsWithin(Infinity, [item], value, mode);
  return found.every(({ kind }) => kind === 'compatible') ? placedAt(context, [], found) : [];
}

function count(schema: JsonObject, keyword: string, absent: number): number {
  const value: JsonValue | undefined = member(schema, keyword);
  return isNumber(value) ? doubleOf(value) : absent;
}

/** Keeps one finding for each condition, which may fail for several items in the same way. */
function distinct(findings: readonly Finding[]): readonly Finding[] {
  return findings.filter(
    (finding, index) =>
      findings.findIndex(
        (other) => other.schema === finding.schema && other.tokens.join('/') === finding.tokens.join('/'),
      ) === index,
  );
}

const NUMBERS: readonly FactType[] = ['integer', 'fraction'];
const STRINGS: readonly FactType[] = ['string'];

/** Checks of the keywords on single values. */
export const VALUE_CHECKS: KeywordChecks = {
  type: passes((value, { facts }) => {
    const names = isArray(value) ? value : [value];
    return [...facts.types].every(
      (type) => names.includes(type) || (NUMBERS.includes(type) && names.includes('number')),
    );
  }),
  enum: passes((value, { facts }) => isArray(value) && areAmong(facts, value)),
  const: passes((value, { facts }) => areAmong(facts, [value])),
  minimum: bounded(NUMBERS, (facts, to) => compareNumbers(facts.lowerBound().value, to) >= 0),
  maximum: bounded(NUMBERS, (facts, to) => compareNumbers(facts.upperBound().value, to) <= 0),
  exclusiveMinimum: bounded(NUMBERS, (facts, to) => {
    const { value, exclusive } = facts.lowerBound();
    const order = compareNumbers(value, to);
    return order > 0 || (order === 0 && exclusive);
  }),
  exclusiveMaximum: bounded(NUMBERS, (facts, to) => {
    const { value, exclusive } = facts.upperBound();
    const order = compareNumbers(value, to);
    return order < 0 || (order === 0 && exclusive);
  }),
  multipleOf: passes(
    (value, { facts }) =>
      facts.says('multipleOf', value) ||
      (value === 1 && !facts.types.has('fraction')) ||
      facts.atoms.some((atom) => isMultipleOf(member(atom, 'multipleOf'), value)),
    NUMBERS,
  ),
  minLength: bounded(STRINGS, (facts, to) => facts.limit('min', 'Length') >= doubleOf(to)),
  maxLength: bounded(STRINGS, (facts, to) => facts.limit('max', 'Length') <= doubleOf(to)),
  pattern: passes((value, { facts }) => facts.says('pattern', value), STRINGS),
  format: passes(
    (value, { facts }) =>
      typeof value !== 'string' ||
      !typesRefusedBy(value).some((type) => facts.types.has(type)) ||
      facts.says('format', value) ||
      (value === 'int64' && facts.says('format', 'int32')) ||
      (facts.values?.every((listed) => hasFormat(value, listed)) ?? false),
  ),
};

/** A check of a numeric bound: passes if the facts imply the bound, or if all values that they allow satisfy it. */
function bounded(
  types: readonly FactType[],
  isWithin: (facts: Facts, to: JsonNumber) => boolean,
): KeywordCheck {
  return passes((value, context) => {
    if (!isNumber(value) || isWithin(context.facts, value)) return true;
    return context.facts.values?.every((listed) => satisfies(listed, value, context)) ?? false;
  }, types);
}

function satisfies(listed: JsonValue, value: JsonNumber, { keyword, prover }: CheckContext): boolean {
  return !prover.facts([{ const: listed }, { [keyword]: value }]).isEmpty;
}

function areAmong({ values }: Facts, allowed: readonly JsonValue[]): boolean {
  return values !== undefined && valuesAmong(values, allowed).length === values.length;
}

function isMultipleOf(number: JsonValue | undefined, of: JsonValue): boolean {
  return isNumber(number) && isNumber(of) && isMultiple(number, of);
}
