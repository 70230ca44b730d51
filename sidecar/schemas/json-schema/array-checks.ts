import {
  compareNumbers,
  doubleOf,
  isArray,
  isMultiple,
  isNumber,
  isSchema,
  itemsOf,
  type JsonNumber,
  type JsonObject,
  type JsonValue,
  member,
  type Schema,
} from '../../shared/json/json.js';
import { intersection } from '../../shared/json/lossless-json.js';
import {
  type CheckContext,
  type Finding,
  type KeywordCheck,
  keywordFinding,
  type KeywordChecks,
  passes,
  withPosition,
  atMostNarrowing,
} from './checks.js';
import type { ValueConstraints, ConstraintType } from './value-constraints.js';
import { schemaIn, schemasIn } from './flatten.js';
import { hasFormat, typesRefusedBy } from './formats.js';

/** Checks of the keywords on arrays. */
export const ARRAY_CHECKS: KeywordChecks = {
  types: ['array'],
  checks: {
    minItems: passes((value, { constraints }) => constraints.limit('min', 'Items') >= Number(value)),
    maxItems: passes((value, { constraints }) => constraints.limit('max', 'Items') <= Number(value)),
    uniqueItems: passes(
      (value, { constraints }) =>
        value !== true ||
        constraints.hasKeywordValue('uniqueItems', true) ||
        constraints.limit('max', 'Items') <= 1,
    ),
    prefixItems: (_, context) =>
      schemasIn(context.schema, 'prefixItems').flatMap((item, index) =>
        withPosition(context, [String(index)], itemFindings(context, index, item)),
      ),
    items: (value, context) => {
      if (!isSchema(value)) return [];
      const { constraints, schema } = context;
      const first = schemasIn(schema, 'prefixItems').length;
      const length = Math.max(0, constraints.listedItems - first);
      const listed = Array.from({ length }, (_, index) => first + index);
      const each = [...listed, Infinity].flatMap((index) => itemFindings(context, index, value));
      return withPosition(context, [], distinct(each));
    },
    contains: (value, context) => {
      if (!isSchema(value)) return [];
      const unmet = unmetCount(value, context);
      if (unmet === undefined) return [];
      const additions = unmet === 'all' ? additionsIn(value, context) : [];
      if (additions.length > 0) return additions;
      return [{ ...keywordFinding(value, context), relatedKeyword: unmet === 'all' ? undefined : unmet }];
    },
  },
};

function itemFindings(
  { constraints, schema, prover, mode }: CheckContext,
  index: number,
  item: Schema,
): readonly Finding[] {
  const first =
    index === Infinity ? Math.max(constraints.listedItems, schemasIn(schema, 'prefixItems').length) : index;
  if (constraints.limit('max', 'Items') <= first) return [];
  const known = constraints.item(index);
  const findings = prover.findingsWithin(index, known, item, mode);
  const isThere = constraints.limit('min', 'Items') > first;
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
  { constraints, schema, prover }: CheckContext,
): Finding['relatedKeyword'] | 'all' | undefined {
  const [least, most] = [count(schema, 'minContains', 1), count(schema, 'maxContains', Infinity)];
  const containing = constraints.atoms.flatMap((atom) => {
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
      return { keyword: 'maxContains', value: most, known: known === Infinity ? undefined : known };
  }
  return undefined;
}

/** What the schema in `contains` adds to the known one, if that is the only change and it refuses nothing. */
function additionsIn(value: Schema, context: CheckContext): readonly Finding[] {
  const { constraints, schema, prover, mode } = context;
  const [known, ...others] = constraints.atoms.filter((atom) => schemaIn(atom, 'contains') !== undefined);
  const item = known && schemaIn(known, 'contains');
  if (mode === 'prove' || known === undefined || item === undefined || others.length > 0) return [];
  const isSameCount =
    count(known, 'minContains', 1) === count(schema, 'minContains', 1) &&
    count(known, 'maxContains', Infinity) === count(schema, 'maxContains', Infinity);
  if (!isSameCount || (schema['maxContains'] !== undefined && !prover.implies([value], item))) return [];
  const found = prover.findingsWithin(Infinity, [item], value, mode);
  return found.every(({ kind }) => kind === 'compatible') ? withPosition(context, [], found) : [];
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

const NUMBERS: readonly ConstraintType[] = ['integer', 'fraction'];

/** Checks of the keywords on single values. */
export const VALUE_CHECKS: readonly KeywordChecks[] = [
  {
    checks: {
      type: passes((value, { constraints }) => {
        const names = itemsOf(value);
        return [...constraints.types].every(
          (type) => names.includes(type) || (NUMBERS.includes(type) && names.includes('number')),
        );
      }),
      enum: passes((value, { constraints }) => isArray(value) && areAmong(constraints, value)),
      const: passes((value, { constraints }) => areAmong(constraints, [value])),
      format: passes(
        (value, { constraints }) =>
          typeof value !== 'string' ||
          !typesRefusedBy(value).some((type) => constraints.types.has(type)) ||
          constraints.hasKeywordValue('format', value) ||
          (value === 'int64' && constraints.hasKeywordValue('format', 'int32')) ||
          (constraints.values?.every((listed) => hasFormat(value, listed)) ?? false),
      ),
    },
  },
  {
    types: NUMBERS,
    checks: {
      minimum: bounded((constraints, to) => compareNumbers(constraints.lowerBound().value, to) >= 0),
      maximum: bounded((constraints, to) => compareNumbers(constraints.upperBound().value, to) <= 0),
      exclusiveMinimum: bounded((constraints, to) => {
        const { value, exclusive } = constraints.lowerBound();
        const order = compareNumbers(value, to);
        return order > 0 || (order === 0 && exclusive);
      }),
      exclusiveMaximum: bounded((constraints, to) => {
        const { value, exclusive } = constraints.upperBound();
        const order = compareNumbers(value, to);
        return order < 0 || (order === 0 && exclusive);
      }),
      multipleOf: passes(
        (value, { constraints }) =>
          constraints.hasKeywordValue('multipleOf', value) ||
          (value === 1 && !constraints.types.has('fraction')) ||
          constraints.atoms.some((atom) => isMultipleOf(member(atom, 'multipleOf'), value)),
      ),
    },
  },
  {
    types: ['string'],
    checks: {
      minLength: bounded((constraints, to) => constraints.limit('min', 'Length') >= doubleOf(to)),
      maxLength: bounded((constraints, to) => constraints.limit('max', 'Length') <= doubleOf(to)),
      pattern: passes((value, { constraints }) => constraints.hasKeywordValue('pattern', value)),
    },
  },
];

/** A check of a numeric bound: passes if the constraints imply the bound, or if all values that they allow satisfy it. */
function bounded(isWithin: (constraints: ValueConstraints, to: JsonNumber) => boolean): KeywordCheck {
  return passes((value, context) => {
    if (!isNumber(value) || isWithin(context.constraints, value)) return true;
    return context.constraints.values?.every((listed) => satisfies(listed, value, context)) ?? false;
  });
}

function satisfies(listed: JsonValue, value: JsonNumber, { keyword, prover }: CheckContext): boolean {
  return !prover.constraintsOf([{ const: listed }, { [keyword]: value }]).isEmpty;
}

function areAmong({ values }: ValueConstraints, allowed: readonly JsonValue[]): boolean {
  return values !== undefined && intersection(values, allowed).length === values.length;
}

function isMultipleOf(number: JsonValue | undefined, of: JsonValue): boolean {
  return isNumber(number) && isNumber(of) && isMultiple(number, of);
}
