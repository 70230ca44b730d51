import { isObject, type JsonObject, pointerTo } from '../../shared/json/json.js';
import { type JsonLdWarning, shortJson } from './outcomes.js';

/** Stands for a value that is left out of the comparison. JSON has no NaN, so it cannot be confused with a value. */
export const LEFT_OUT = Number.NaN;

/**
 * Finds what a document loses when it is expanded and compacted again: nulls, arrays of one, arrays in arrays,
 * changed values. Names and IRIs that are merely spelled differently do not count.
 *
 * @param back the document after the round trip; undefined if nothing came back
 * @param skip pointers to what is known to be dropped
 */
export function lossesOf(
  document: unknown,
  back: unknown,
  pointer: string,
  skip: ReadonlySet<string>,
): readonly JsonLdWarning[] {
  const findings = new Findings(pointer, skip);
  compare(document, back, findings);
  return findings.losses;
}

/** All nulls in a value, except in contexts. */
export function nullsIn(
  value: unknown,
  pointer: string,
  skip: ReadonlySet<string>,
): readonly JsonLdWarning[] {
  const findings = new Findings(pointer, skip);
  findNulls(value, findings);
  return findings.losses;
}

/** The current place of a comparison, and what it found. Pointers are made on demand, because most places lose nothing. */
class Findings {
  readonly losses: JsonLdWarning[] = [];
  readonly #skip: ReadonlySet<string>;
  readonly #path: (string | number)[] = [];
  /** Pointers of the prefixes of the path, computed as far as they were needed. */
  readonly #pointers: string[];

  constructor(base: string, skip: ReadonlySet<string>) {
    this.#pointers = [base];
    this.#skip = skip;
  }

  /** Each call needs a matching `leave`. */
  enter(token: string | number): void {
    this.#path.push(token);
  }

  leave(): void {
    this.#path.pop();
    if (this.#pointers.length > this.#path.length + 1) this.#pointers.pop();
  }

  /** Whether the current place, or its member with that name, is known to be dropped. */
  isSkipped(...name: readonly string[]): boolean {
    return this.#skip.size > 0 && this.#skip.has(pointerTo(this.#pointer, ...name));
  }

  add(loss: Omit<JsonLdWarning, 'pointer'>, ...tokens: readonly number[]): void {
    this.losses.push({ ...loss, pointer: pointerTo(this.#pointer, ...tokens) });
  }

  get #pointer(): string {
    for (const token of this.#path.slice(this.#pointers.length - 1))
      this.#pointers.push(pointerTo(this.#pointers.at(-1) ?? '', token));
    return this.#pointers.at(-1) ?? '';
  }
}

const NULL_LOST = { code: 'null-lost', detail: 'JSON-LD drops null.' };
const ARRAY_OF_ONE = { code: 'array-of-one', detail: 'An array of one item comes back as the item alone.' };
const FLATTENED = { code: 'array-flattened', detail: 'Arrays in an array come back as one array.' };
const EMPTY_LOST = { code: 'empty-array-lost', detail: 'The empty array is lost.' };
const MEMBER_LOST = { code: 'member-lost', detail: 'The member is lost.' };

function compare(value: unknown, back: unknown, findings: Findings): void {
  if (findings.isSkipped() || Object.is(value, LEFT_OUT)) return;
  if (value === null) {
    if (back !== null) findings.add(NULL_LOST);
  } else if (Array.isArray(value)) compareArray(value, back, findings);
  else if (isObject(value)) compareMap(value, back, findings);
  else if (back === undefined) findings.add(MEMBER_LOST);
  // A string may be an IRI that is spelled differently.
  else if (value !== back && !(typeof value === 'string' && typeof back === 'string'))
    findings.add(changed(back));
}

function compareWithin(token: string | number, value: unknown, back: unknown, findings: Findings): void {
  findings.enter(token);
  compare(value, back, findings);
  findings.leave();
}

function changed(back: unknown) {
  return { code: 'value-changed', detail: `The value comes back as ${shortJson(back)}.` };
}

function compareArray(items: readonly unknown[], back: unknown, findings: Findings): void {
  if (Array.isArray(back) && back.length === items.length) {
    const others: readonly unknown[] = back;
    if (items.every((item, index) => Array.isArray(item) === Array.isArray(others[index]))) {
      for (const [index, item] of items.entries()) compareWithin(index, item, others[index], findings);
      return;
    }
  }
  const kept = [...items.entries()].filter(([, item]) => item !== null);
  if (kept.some(([, item]) => Array.isArray(item))) {
    findings.add(FLATTENED);
    // JSON literals keep their nulls.
    if (!Array.isArray(back) || !back.includes(null)) findNulls(items, findings);
    return;
  }
  for (const [index, item] of items.entries()) if (item === null) findings.add(NULL_LOST, index);
  const rest: readonly unknown[] | undefined = Array.isArray(back) ? back : undefined;
  const [only] = kept;
  if (rest?.length === kept.length) {
    for (const [at, [index, item]] of kept.entries()) compareWithin(index, item, rest[at], findings);
  } else if (kept.length === 1 && only !== undefined && rest === undefined && back !== undefined) {
    findings.add(ARRAY_OF_ONE);
    compareWithin(only[0], only[1], back, findings);
  } else if (items.length === 0 && back === undefined) findings.add(EMPTY_LOST);
  else if (kept.length > 0) findings.add(back === undefined ? MEMBER_LOST : changed(back));
}

function compareMap(map: JsonObject, back: unknown, findings: Findings): void {
  if (!isObject(back)) {
    // The map is a value, list or reference that was written in full; nulls in it may still be lost.
    findNulls(map, findings);
    return;
  }
  const names = Object.keys(map).filter((name) => name !== '@context');
  const renamed = names.filter((name) => !Object.hasOwn(back, name));
  const pairs = renamed.length === 0 ? NO_PAIRS : renamedPairs(renamed, map, back, findings);
  for (const name of names) {
    const other = Object.hasOwn(back, name) ? name : pairs.get(name);
    compareWithin(name, map[name], other === undefined ? undefined : back[other], findings);
  }
}

const NO_PAIRS: ReadonlyMap<string, string> = new Map();

function renamedPairs(
  renamed: readonly string[],
  map: JsonObject,
  back: JsonObject,
  findings: Findings,
): ReadonlyMap<string, string> {
  const left = new Set(Object.keys(back).filter((name) => name !== '@context' && !Object.hasOwn(map, name)));
  return pairsOf(
    renamed.filter((name) => map[name] !== null && !findings.isSkipped(name)),
    left,
  );
}

/** Matches names with the names they came back as: keywords with their aliases, IRIs with terms, and the reverse. */
function pairsOf(names: readonly string[], others: Set<string>): ReadonlyMap<string, string> {
  const pairs = new Map<string, string>();
  // Few names change. The bound keeps hostile documents from being slow.
  if (names.length * others.size <= 10_000)
    for (const name of names) {
      const other = [...others].find((one) => one !== '' && (name.endsWith(one) || one.endsWith(name)));
      if (other === undefined) continue;
      pairs.set(name, other);
      others.delete(other);
    }
  const rest = names.filter((name) => !pairs.has(name));
  const [name] = rest;
  const [other] = others;
  if (rest.length === 1 && others.size === 1 && name !== undefined && other !== undefined)
    pairs.set(name, other);
  return pairs;
}

function findNulls(value: unknown, findings: Findings): void {
  if (findings.isSkipped()) return;
  if (value === null) findings.add(NULL_LOST);
  else if (typeof value === 'object')
    for (const [name, item] of Object.entries(value) as [string, unknown][])
      if (name !== '@context' && typeof item === 'object') {
        findings.enter(name);
        findNulls(item, findings);
        findings.leave();
      }
}
