import { passes, type CheckContext, type KeywordCheck, type KeywordChecks } from './checks.js';
import type { Facts, FactType } from './facts.js';
import { hasFormat, typesRefusedBy } from './formats.js';
import { isArray, member, sameJson, type JsonValue } from '../../shared/json/json.js';

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
  minimum: bounded(NUMBERS, (facts, to) => facts.lowerBound().value >= to),
  maximum: bounded(NUMBERS, (facts, to) => facts.upperBound().value <= to),
  exclusiveMinimum: bounded(NUMBERS, (facts, to) => {
    const { value, exclusive } = facts.lowerBound();
    return value > to || (value === to && exclusive);
  }),
  exclusiveMaximum: bounded(NUMBERS, (facts, to) => {
    const { value, exclusive } = facts.upperBound();
    return value < to || (value === to && exclusive);
  }),
  multipleOf: passes(
    (value, { facts }) =>
      facts.says('multipleOf', value) ||
      (value === 1 && !facts.types.has('fraction')) ||
      facts.atoms.some((atom) => isMultiple(member(atom, 'multipleOf'), value)),
    NUMBERS,
  ),
  minLength: bounded(STRINGS, (facts, to) => facts.limit('min', 'Length') >= to),
  maxLength: bounded(STRINGS, (facts, to) => facts.limit('max', 'Length') <= to),
  pattern: passes((value, { facts }) => facts.says('pattern', value), STRINGS),
  format: passes(
    (value, { facts }) =>
      typeof value !== 'string' ||
      !typesRefusedBy(value).some((type) => facts.types.has(type)) ||
      facts.says('format', value) ||
      (facts.values?.every((listed) => hasFormat(value, listed)) ?? false),
  ),
};

/** A check against a number: by what the facts say of the bound, or of each value that they leave. */
function bounded(types: readonly FactType[], isWithin: (facts: Facts, to: number) => boolean): KeywordCheck {
  return passes((value, context) => {
    if (typeof value !== 'number' || isWithin(context.facts, value)) return true;
    return context.facts.values?.every((listed) => satisfies(listed, value, context)) ?? false;
  }, types);
}

function satisfies(listed: JsonValue, value: number, { keyword, prover }: CheckContext): boolean {
  return !prover.facts([{ const: listed }, { [keyword]: value }]).isEmpty;
}

function areAmong({ values }: Facts, allowed: readonly JsonValue[]): boolean {
  return values?.every((value) => allowed.some((item) => sameJson(item, value))) ?? false;
}

/** Only for integers: division of fractions is not exact. */
function isMultiple(number: JsonValue | undefined, of: JsonValue): boolean {
  return (
    typeof number === 'number' &&
    typeof of === 'number' &&
    Number.isSafeInteger(number) &&
    Number.isSafeInteger(of) &&
    number % of === 0
  );
}
