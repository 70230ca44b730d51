import { isUri } from '../../ngsi-ld/names.js';
import { isArray, isObject, type JsonObject, type JsonValue, objectOf } from '../../shared/json/json.js';
import { hasLosslessNumber } from '../../shared/json/lossless-json.js';
import { entityTypes, listedTypes, cachedAttributesOf } from './attributes.js';
import { type TracedChange, type TracedChanges, compareWithFindings } from './change-report.js';
import type { Finding, PathStep } from './checks.js';
import type { Difference } from './differences.js';
import { generateExample } from './example.js';
import { type Fault, faultsOf } from './explain.js';
import { type Preferred, preferredValues } from './example-generator.js';
import { VALIDATION } from './keywords.js';
import { patternExample } from './pattern-example.js';
import { likelyValues, variantsOf } from './witness-values.js';

/** Maximum number of documents tried for one difference, and for all differences together. */
const MAX_TRIES = 800;
const MAX_ALL_TRIES = 8000;

/** Maximum number of differences for which a witness is searched. */
const MAX_DIFFERENCES = 50;

/** Maximum number of places within a value at which variants are tried. */
const MAX_PLACES = 60;

/** Maximum length of a witness, in characters of JSON. */
const MAX_WITNESS_LENGTH = 2000;

/**
 * Returns the differences of two schemas, as `compareSchemas` finds them. A difference that refuses something has a
 * witness if one was found: a document that the old schema accepts and the new one refuses at the place of the
 * difference.
 *
 * The search makes candidates and validates them with both schemas. It starts from documents that the old schema
 * accepts, and changes them at the place of the difference: first to values that are likely to be refused, then to
 * variants of what is there. A witness is then reduced to what it needs.
 *
 * Must run in a worker: schemas are compiled, patterns executed, and up to 8,000 documents validated. The same
 * schemas always have the same witnesses.
 *
 * @param before the old schema, bundled
 * @param after the new schema, bundled
 * @param entityType the name of the model, if the documents are its entities
 * @throws {SchemaRefusedError} when one of the schemas is not self-contained
 * @throws {RangeError} when one of them nests too deeply
 */
export function differencesWithWitnesses(
  before: JsonObject,
  after: JsonObject,
  entityType?: string,
): readonly Difference[] {
  const traced = compareWithFindings(before, after, entityType);
  if (traced.changes.every(({ findings }) => findings.every(isHarmless)))
    return traced.changes.map(({ difference }) => difference);
  const search = new WitnessSearch(before, after, traced, entityType);
  let left = MAX_DIFFERENCES;
  return traced.changes.map((change) => {
    if (change.findings.every(isHarmless) || (left -= 1) < 0) return change.difference;
    const witness = search.witnessFor(change);
    return witness === undefined ? change.difference : { ...change.difference, witness };
  });
}

function isHarmless({ kind }: Finding): boolean {
  return kind === 'compatible';
}

/** Returns the faults of a document. */
type Check = (document: JsonValue) => readonly Fault[];

class WitnessSearch {
  readonly #traced: TracedChanges;
  readonly #old: Check;
  readonly #fresh: Check;
  /** Documents that the old schema accepts. If the new schema accepts one of them too, it comes first. */
  readonly #bases: readonly JsonValue[];
  #left = MAX_ALL_TRIES;

  constructor(before: JsonObject, after: JsonObject, traced: TracedChanges, entityType: string | undefined) {
    this.#traced = traced;
    const [old, fresh] = [cachedAttributesOf(before), cachedAttributesOf(after)];
    // Few documents are checked, so compiling the schemas would take longer.
    this.#old = (document) => faultsOf(old, document);
    this.#fresh = (document) => faultsOf(fresh, document);
    this.#bases = this.#findBases(preferredIn(before, entityType));
  }

  witnessFor({ findings }: TracedChange): JsonValue | undefined {
    for (const finding of findings.filter((one) => !isHarmless(one))) {
      const found = this.#search(finding);
      if (found === undefined) continue;
      const small = this.#reduced(found, (rest) => this.#isWitness(rest, finding));
      // Exact numbers cannot be passed between threads.
      if (hasLosslessNumber(small)) continue;
      if (JSON.stringify(small).length <= MAX_WITNESS_LENGTH) return small;
    }
    return undefined;
  }

  #findBases(preferred: Preferred): readonly JsonValue[] {
    const { known, fresh, targets } = this.#traced;
    const both = generateExample({ allOf: [...known, fresh] }, targets, {
      preferred,
      check: (example) => [...this.#old(example), ...this.#fresh(example)],
    });
    const old = generateExample({ allOf: [...known] }, targets, { preferred, check: this.#old });
    const bases = [both.example, old.example].filter((example) => this.#wasValid(example));
    const [first] = bases;
    // The last one is reduced to what the old schema requires.
    return first === undefined ? [] : [...bases, this.#reduced(first, (rest) => this.#wasValid(rest))];
  }

  #search(finding: Finding): JsonValue | undefined {
    let left = Math.min(MAX_TRIES, this.#left);
    const seen = new Set<string>();
    for (const candidate of this.#candidates(finding)) {
      const text = JSON.stringify(candidate);
      if (seen.has(text)) continue;
      seen.add(text);
      this.#left -= 1;
      if ((left -= 1) < 0) return undefined;
      if (this.#isWitness(candidate, finding)) return candidate;
    }
    return undefined;
  }

  *#candidates(finding: Finding): Iterable<JsonValue> {
    const path = (finding.path ?? []).map(nameOf);
    const name = typeof finding.value === 'string' ? finding.value : '';
    yield* this.#bases;
    const { targets } = this.#traced;
    for (const base of this.#bases) {
      if (finding.subject === 'required') yield changedAt(base, [...path, name], undefined);
      const below = [...path, ...otherNameOf(finding)];
      if (below.length > path.length) yield changedAt(base, below, 'text');
      for (const value of likelyValues(finding, targets)) yield changedAt(base, below, value);
    }
    for (const base of this.#bases)
      for (const place of placesIn(valueAt(base, path), path))
        for (const value of variantsOf(valueAt(base, place) ?? null)) yield changedAt(base, place, value);
  }

  #isWitness(document: JsonValue, finding: Finding): boolean {
    if (!this.#wasValid(document)) return false;
    const place = [...(finding.path ?? []).map(nameOf), ...otherNameOf(finding)];
    if (!this.#fresh(document).some((error) => isAbout(error, finding, place))) return false;
    const alone = keywordAlone(finding);
    if (alone === undefined) return true;
    // The error may have another cause at that place, so check the keyword by itself.
    const value = valueAt(document, place);
    return value !== undefined && faultsOf({ root: alone, targets: this.#traced.targets }, value).length > 0;
  }

  #wasValid(document: JsonValue): boolean {
    const { types } = this.#traced;
    const isEntity =
      types === undefined ||
      (isObject(document) && isUri(document['id']) && types.some((type) => type === document['type']));
    return isEntity && this.#old(document).length === 0;
  }

  /** Removes every value without which the document is still good: all at once, or else each half of them by itself. */
  #reduced(document: JsonValue, isGood: (rest: JsonValue) => boolean): JsonValue {
    let small = document;
    const remove = (places: readonly (readonly string[])[]): void => {
      const left = places.filter((place) => valueAt(small, place) !== undefined);
      if (left.length === 0) return;
      const rest = without(small, left);
      if (isGood(rest)) small = rest;
      else if (left.length > 1) {
        const middle = Math.ceil(left.length / 2);
        remove(left.slice(0, middle));
        remove(left.slice(middle));
      }
    };
    const [, ...inner] = placesIn(document, [], MAX_PLACES * 4);
    remove(inner);
    return small;
  }
}

/**
 * Whether an error of the new schema may be the one that a finding predicts: it is at the place of the finding or
 * deeper.
 */
function isAbout(
  { tokens: at, keyword, missing }: Fault,
  finding: Finding,
  place: readonly string[],
): boolean {
  if (!place.every((token, index) => at[index] === token || (token === '-' && index < at.length)))
    return false;
  if (finding.subject !== 'required') return true;
  return keyword === 'required' && at.length === place.length && missing === finding.value;
}

/** Keywords whose result does not depend on other keywords in the schema, except for the counts of `contains`. */
const INDEPENDENT: ReadonlySet<string> = new Set([
  ...VALIDATION.filter((keyword) => !['required', 'minContains', 'maxContains'].includes(keyword)),
  'format',
  'contains',
  'propertyNames',
  'anyOf',
  'oneOf',
  'not',
]);

/** The keyword of a finding as a schema of its own; undefined if its result depends on other keywords. */
function keywordAlone({ schema, subject, tokens: [asked = ''] }: Finding): JsonObject | undefined {
  if (schema === undefined || subject !== 'keyword' || !INDEPENDENT.has(asked)) return undefined;
  const kept = asked === 'contains' ? ['contains', 'minContains', 'maxContains'] : [asked];
  return objectOf(Object.entries(schema).filter(([keyword]) => kept.includes(keyword)));
}

/** For a finding about the other properties: the name of such a property, as the rest of a path. */
function otherNameOf({ subject, value }: Finding): readonly string[] {
  if (typeof value !== 'string') return [];
  if (subject === 'other') return [value];
  return subject === 'others' ? [patternExample(value) ?? 'property1'] : [];
}

/** An example of a property name or an index for a step. */
function nameOf(step: PathStep): string {
  if (step === null) return 'property1';
  if (typeof step === 'string') return step;
  if (typeof step === 'number') return step === Infinity ? '-' : String(step);
  return patternExample(step.pattern) ?? 'property1';
}

/** The paths to the values within a value, breadth-first, starting with the value itself. */
function* placesIn(
  value: JsonValue | undefined,
  path: readonly string[],
  most = MAX_PLACES,
): Iterable<readonly string[]> {
  const open: (readonly [JsonValue, readonly string[]])[] = value === undefined ? [] : [[value, path]];
  // `open` grows during the iteration.
  for (const [index, [one, place]] of open.entries()) {
    if (index >= most) return;
    yield place;
    const entries = isArray(one) || isObject(one) ? Object.entries(one) : [];
    for (const [name, held] of entries) open.push([held, [...place, name]]);
  }
}

function valueAt(value: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  let at = value;
  for (const token of path) {
    if (isArray(at)) at = at[token === '-' ? at.length - 1 : Number(token)];
    else at = isObject(at) && Object.hasOwn(at, token) ? at[token] : undefined;
  }
  return at;
}

/** The document with another value at a path, or without it if `value` is undefined. Missing parents are created. */
function changedAt(
  document: JsonValue | undefined,
  path: readonly string[],
  value: JsonValue | undefined,
): JsonValue {
  const [token, ...rest] = path;
  if (token === undefined) return value ?? null;
  if (isArray(document) || (document === undefined && /^(?:-|\d+)$/.test(token))) {
    const items = [...(document ?? [])];
    const index = token === '-' ? Math.max(0, items.length - (rest.length > 0 ? 1 : 0)) : Number(token);
    if (rest.length === 0 && value === undefined) return items.filter((_, other) => other !== index);
    items[index] = changedAt(items[index], rest, value);
    return Array.from(items, (item) => item ?? null);
  }
  const entries = isObject(document) ? Object.entries(document) : [];
  const others = entries.filter(([name]) => name !== token);
  if (rest.length === 0 && value === undefined) return objectOf(others);
  const held = entries.find(([name]) => name === token)?.[1];
  return objectOf([...others, [token, changedAt(held, rest, value)]]);
}

/** The document without the values at some paths, none of which is empty. */
function without(document: JsonValue, paths: readonly (readonly string[])[]): JsonValue {
  const byToken = new Map<string, (readonly string[])[]>();
  for (const [token = '', ...rest] of paths) byToken.set(token, [...(byToken.get(token) ?? []), rest]);
  const entries = isArray(document) || isObject(document) ? Object.entries(document) : [];
  const kept = entries.flatMap(([name, held]): (readonly [string, JsonValue])[] => {
    const inner = byToken.get(name) ?? [];
    if (inner.some(({ length }) => length === 0)) return [];
    return [[name, inner.length === 0 ? held : without(held, inner)]];
  });
  return isArray(document) ? kept.map(([, held]) => held) : objectOf(kept);
}

/** The values that an entity of a model should have in addition to what its schema requires. */
function preferredIn(schema: JsonObject, model: string | undefined): Preferred {
  if (model === undefined) return new Map();
  const described = cachedAttributesOf(schema);
  return preferredValues(described.attributes, model, entityTypes(model, listedTypes(described)));
}
