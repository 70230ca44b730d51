import { isMatch } from './closures.js';
import type { ValueConstraints } from './value-constraints.js';
import { multiplyExact } from '../../shared/json/decimal.js';
import {
  compareNumbers,
  doubleOf,
  isInteger,
  isMultiple,
  isNumber,
  type JsonNumber,
  member,
} from '../../shared/json/json.js';
import { patternExample } from './pattern-example.js';

/** Maximum length of a string made to satisfy `minLength`. */
const LONGEST = 1000;

/** How many multiples are tried near each bound. */
const NEARBY = 16;

/**
 * A string for each format that is asserted, and for some others; the last `#` becomes a digit that differs between
 * examples.
 */
const FORMATS: Readonly<Record<string, string>> = {
  'date-time': '2025-01-01T12:00:0#Z',
  date: '2025-01-0#',
  time: '12:00:0#Z',
  'iso-date-time': '2025-01-01T12:00:0#Z',
  'iso-time': '12:00:0#Z',
  duration: 'PT#H',
  email: 'someone#@example.com',
  'idn-email': 'someone#@example.com',
  hostname: 'host#.example.com',
  'idn-hostname': 'host#.example.com',
  ipv4: '192.0.2.#',
  ipv6: '2001:db8::#',
  uri: 'https://example.com/#',
  'uri-reference': 'https://example.com/#',
  iri: 'https://example.com/#',
  'iri-reference': 'https://example.com/#',
  'uri-template': 'https://example.com/{id}/#',
  url: 'https://example.com/#',
  uuid: '123e4567-e89b-42d3-a456-42661417400#',
  'json-pointer': '/#',
  'json-pointer-uri-fragment': '#/#',
  'relative-json-pointer': '#',
  regex: '^[a-z]#$',
  byte: 'dGV4dA==',
};

/** A string of each format. */
export const FORMATTED: readonly string[] = [
  ...new Set(Object.keys(FORMATS).map((format) => formatted(format, 0))),
];

/**
 * Returns a string that satisfies the constraints: of the format, matching the patterns, of an allowed length.
 *
 * Must run in a worker: patterns are executed.
 *
 * @param variant different variants give different examples if possible
 */
export function exampleString(constraints: ValueConstraints, variant: number): string | undefined {
  const [formats, patterns] = [stringsIn(constraints, 'format'), stringsIn(constraints, 'pattern')];
  const [least, most] = [constraints.limit('min', 'Length'), constraints.limit('max', 'Length')];
  const isGood = (text: string): boolean => {
    const length = Array.from(text).length;
    return length >= least && length <= most && patterns.every((pattern) => isMatch(pattern, text));
  };
  const plain = (variant === 0 ? 'text' : `text ${variant}`).padEnd(Math.min(least, LONGEST), '.');
  const known = [
    ...formats.map((format) => formatted(format, variant)),
    plain.slice(0, Math.min(most, LONGEST)),
  ];
  return known.find(isGood) ?? patterns.map((pattern) => unlikeOthers(pattern, isGood, variant)).find(isGood);
}

/**
 * Returns a number that satisfies the constraints, small and whole if possible.
 *
 * @param variant different variants give different examples if possible
 */
export function exampleNumber(constraints: ValueConstraints, variant: number): JsonNumber | undefined {
  const [low, high] = [constraints.lowerBound(), constraints.upperBound()];
  const steps = constraints.atoms.map((atom) => member(atom, 'multipleOf')).filter(isNumber);
  const isGood = (value: JsonNumber): boolean =>
    Number.isFinite(doubleOf(value)) &&
    compareNumbers(value, low.value) >= (low.exclusive ? 1 : 0) &&
    compareNumbers(value, high.value) <= (high.exclusive ? -1 : 0) &&
    steps.every((step) => isMultiple(value, step)) &&
    constraints.types.has(isInteger(value) ? 'integer' : 'fraction');
  const step = Math.max(...steps.map(doubleOf), 0) || 1;
  const [least, most] = [doubleOf(low.value), doubleOf(high.value)];
  const candidates = function* (): Iterable<JsonNumber> {
    for (const first of [1, Math.ceil(least / step), Math.floor(most / step) - NEARBY].filter(
      Number.isFinite,
    ))
      for (let index = 0; index <= NEARBY; index += 1) yield multiplyExact(step, first + index);
    yield* [0, (least + most) / 2, least + 0.5, most - 0.5, low.value, high.value];
  };
  const found = new Set<JsonNumber>();
  for (const candidate of candidates()) {
    if (isGood(candidate)) found.add(candidate);
    if (found.size > variant) return candidate;
  }
  return [...found][0];
}

function formatted(format: string, variant: number): string {
  const template = Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
  return (template ?? '').replace(/#(?!.*#)/, String((variant % 9) + 1));
}

/** A string for the pattern that differs from those for lower variants. */
function unlikeOthers(pattern: string, isGood: (text: string) => boolean, variant: number): string {
  const others = new Set<string>();
  for (let count = 0; count < variant; count += 1) {
    const other = patternExample(pattern, (text) => isGood(text) && !others.has(text));
    if (other === undefined) break;
    others.add(other);
  }
  return patternExample(pattern, (text) => isGood(text) && !others.has(text)) ?? [...others][0] ?? '';
}

function stringsIn(constraints: ValueConstraints, keyword: string): readonly string[] {
  return constraints.atoms.map((atom) => member(atom, keyword)).filter((value) => typeof value === 'string');
}
