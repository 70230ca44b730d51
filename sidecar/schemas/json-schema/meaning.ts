import {
  isObject,
  type JsonObject,
  type JsonValue,
  member,
  pointerOf,
  type Schema,
} from '../../shared/json/json.js';
import { statedUnit } from '../../shared/stated-unit.js';
import {
  possibleSchemas,
  cachedAttributesOf,
  entityTypes,
  listedTypes,
  type ModelAttribute,
  type ModelAttributes,
} from './attributes.js';
import { type Difference, unproven } from './differences.js';
import { changesOfTerms, shown, type TermMeanings } from './term-changes.js';
import { ValueConstraints } from './value-constraints.js';
import { namedSchemasIn, schemaIn, schemasIn, type ReferenceTargets } from './flatten.js';

/** The parts of a version of a model that determine what its data means. */
export interface MeaningSource {
  /** Self-contained, as returned by `bundle`. */
  readonly schema: JsonObject;
  /** The terms of the model's context; if they are left out, IRIs are not compared. */
  readonly terms?: TermMeanings | undefined;
}

/** Maximum number of values compared, nested ones included. */
const MAX_VALUES = 5000;

/** Maximum number of changed terms reported that the schema does not describe: contexts may have thousands of terms. */
const MAX_OTHER_TERMS = 100;

/** Maximum nesting depth of the values compared. */
const MAX_LEVELS = 16;

/**
 * Finds what would change the meaning of stored data under the new version: attributes of another kind, names with
 * another IRI, values with another unit, type or format. Each change is breaking, even if every document stays valid. What only one version describes is not compared, and a unit that only one of them
 * names is not a change.
 *
 * @returns differences with pointers into the new schema
 * @throws {SchemaRefusedError} when a schema is not self-contained
 */
export function meaningChanges(before: MeaningSource, after: MeaningSource): readonly Difference[] {
  const [old, fresh] = [cachedAttributesOf(before.schema), cachedAttributesOf(after.schema)];
  const comparison = new MeaningComparison(old, fresh);
  const known = new Map(old.attributes.map((attribute) => [attribute.name, attribute]));
  for (const attribute of fresh.attributes) {
    const earlier = known.get(attribute.name);
    if (earlier !== undefined) comparison.attribute(earlier, attribute);
  }
  if (before.terms !== undefined && after.terms !== undefined) comparison.terms(before.terms, after.terms);
  return comparison.differences();
}

class MeaningComparison {
  readonly #differences = new Map<string, Difference>();
  readonly #old: ModelAttributes;
  readonly #fresh: ModelAttributes;
  #knownPlaces: ReadonlyMap<string, readonly string[]> | undefined;
  /** Pairs of schemas that have been compared. */
  readonly #seen = new Map<Schema, Set<Schema>>();
  #values = 0;

  constructor(old: ModelAttributes, fresh: ModelAttributes) {
    this.#old = old;
    this.#fresh = fresh;
  }

  get #places(): ReadonlyMap<string, readonly string[]> {
    return (this.#knownPlaces ??= placesOf(this.#fresh));
  }

  differences(): readonly Difference[] {
    const found = [...this.#differences.values()];
    if (this.#values <= MAX_VALUES) return found;
    return [...found, unproven('there are too many values to compare what all of them mean')];
  }

  attribute(old: ModelAttribute, fresh: ModelAttribute): void {
    const { name } = fresh;
    if (old.kind === fresh.kind && old.schema === fresh.schema) return;
    const tokens = this.#place(fresh.schema) ?? this.#places.get(name) ?? ['properties', name];
    if (old.kind !== fresh.kind) this.#add(tokens, `${shown(name)} is a ${fresh.kind}, was a ${old.kind}`);
    this.#value([old.schema], [fresh.schema], name, tokens, 0);
  }

  terms(old: TermMeanings, fresh: TermMeanings): void {
    let others = 0;
    for (const { name, detail } of changesOfTerms(old, fresh, this.#sharedNames())) {
      const tokens = this.#places.get(name);
      if (tokens === undefined && (others += 1) > MAX_OTHER_TERMS) continue;
      this.#add(tokens ?? [], detail);
    }
    const more = others - MAX_OTHER_TERMS;
    if (more > 0) this.#add([], `${more} more terms of the context mean something else`);
  }

  /** The names of members, and the types of entities, that both versions describe. */
  #sharedNames(): readonly string[] {
    const namesOf = (model: ModelAttributes) => [
      ...placesOf(model).keys(),
      ...entityTypes('', listedTypes(model)),
    ];
    const known = new Set(namesOf(this.#old));
    return namesOf(this.#fresh).filter((name) => known.has(name));
  }

  #value(
    old: readonly Schema[],
    fresh: readonly Schema[],
    name: string,
    tokens: readonly string[],
    level: number,
  ): void {
    const [first, other] = [old[0], fresh[0]];
    if (old.length === fresh.length && old.every((schema, index) => schema === fresh[index])) return;
    if (first === undefined || other === undefined || level > MAX_LEVELS) return;
    const partners = this.#seen.get(first) ?? new Set();
    if (partners.has(other) || (this.#values += 1) > MAX_VALUES) return;
    this.#seen.set(first, partners.add(other));
    const [was, is] = [possibleSchemas(old, this.#old.targets), possibleSchemas(fresh, this.#fresh.targets)];
    const [oldFacts, constraints] = [
      new ValueConstraints(old, this.#old.targets),
      new ValueConstraints(fresh, this.#fresh.targets),
    ];
    const [unit, newUnit] = [unitOf(was), unitOf(is)];
    if (unit !== undefined && newUnit !== undefined && unit !== newUnit)
      this.#add(tokens, `the unit of ${shown(name)} is ${shown(newUnit)}, was ${shown(unit)}`);
    const changed = (before: readonly string[], now: readonly string[]): void =>
      this.#add(tokens, `the value of ${shown(name)} is ${now.join(' or ')}, was ${before.join(' or ')}`);
    const [types, newTypes] = [valueTypesOf(oldFacts), valueTypesOf(constraints)];
    if (types.length > 0 && newTypes.length > 0 && !types.some((type) => newTypes.includes(type)))
      changed(types, newTypes);
    const readings = readingsOf(oldFacts, was, this.#old.targets);
    const newReadings = readingsOf(constraints, is, this.#fresh.targets);
    if (readings.length > 0 && newReadings.length > 0 && !readings.every((one) => newReadings.includes(one)))
      changed(readings, newReadings);
    const known = membersOf(was);
    for (const [inner, schemas] of membersOf(is)) {
      const place = this.#place(schemas[0]) ?? [...tokens, 'properties', inner];
      this.#value(known.get(inner) ?? [], schemas, inner, place, level + 1);
    }
    const items = itemsOf(is);
    this.#value(itemsOf(was), items, name, this.#place(items[0]) ?? tokens, level + 1);
  }

  #place(schema: Schema | undefined): readonly string[] | undefined {
    return isObject(schema) ? this.#fresh.sources.get(schema)?.tokens : undefined;
  }

  #add(tokens: readonly string[], detail: string): void {
    const pointer = pointerOf(tokens);
    this.#differences.set(`${pointer} ${detail}`, { pointer, class: 'breaking', reason: 'meaning', detail });
  }
}

/** The place where each name is described first. */
function placesOf({ sources }: ModelAttributes): ReadonlyMap<string, readonly string[]> {
  const places = new Map<string, readonly string[]>();
  for (const [schema, { tokens }] of sources)
    for (const name of namedSchemasIn(schema, 'properties').keys())
      if (!places.has(name)) places.set(name, [...tokens, 'properties', name]);
  return places;
}

function membersOf(atoms: readonly JsonObject[]): ReadonlyMap<string, readonly Schema[]> {
  const found = new Map<string, Schema[]>();
  for (const atom of atoms)
    for (const [name, schema] of namedSchemasIn(atom, 'properties'))
      found.set(name, [...(found.get(name) ?? []), schema]);
  return found;
}

/**
 * The schemas of the items. For a tuple, only the first item counts: coordinates have no units of their own.
 */
function itemsOf(atoms: readonly JsonObject[]): readonly Schema[] {
  return atoms.flatMap((atom) => {
    const item = schemasIn(atom, 'prefixItems')[0] ?? schemaIn(atom, 'items');
    return item === undefined ? [] : [item];
  });
}

/** Matches units that are words. Case matters in symbols of units (`mW`, `MW`), but not in words (`Celsius`). */
const WORDS = /^[a-z]{5,}(?: [a-z]+)*$/i;

/** The unit of a value, named in `x-ngsi.units` or in a description; in lower case if it is a word. */
function unitOf(atoms: readonly JsonObject[]): string | undefined {
  for (const atom of atoms) {
    const [hint, description] = [member(atom, 'x-ngsi'), member(atom, 'description')];
    const named = isObject(hint) ? (member(hint, 'units') ?? member(hint, 'unit')) : undefined;
    const unit = plain(named ?? (typeof description === 'string' ? statedUnit(description) : undefined));
    if (unit !== undefined) return WORDS.test(unit) ? unit.toLowerCase() : unit;
  }
  return undefined;
}

function plain(unit: JsonValue | undefined): string | undefined {
  const text = typeof unit === 'string' ? unit.trim().replaceAll(/\s+/g, ' ') : '';
  return text === '' ? undefined : text;
}

/** The number of types, with integers and fractions as two. */
const ALL_TYPES = 7;

/**
 * The types that the value can have, with all numbers as one; empty if nothing is said about the type. `null` means
 * that there is no value, so it is left out.
 */
function valueTypesOf({ types }: ValueConstraints): readonly string[] {
  if (types.size === ALL_TYPES) return [];
  const names = [...types].map((type) => (type === 'integer' || type === 'fraction' ? 'number' : type));
  return [...new Set(names)].filter((name) => name !== 'null').map((name) => NOUNS[name] ?? name);
}

const NOUNS: Readonly<Record<string, string>> = {
  boolean: 'a boolean',
  object: 'an object',
  array: 'an array',
  string: 'a string',
  number: 'a number',
};

/** Formats of strings that brokers and clients do not read as text, but as times or durations. */
const READINGS: Readonly<Record<string, string>> = {
  'date-time': 'a date and time',
  'iso-date-time': 'a date and time',
  date: 'a date',
  time: 'a time of day',
  'iso-time': 'a time of day',
  duration: 'a duration',
};

const TEXT = 'a text';

/** How strings of the value are read; empty if nothing says that the value is a string. */
function readingsOf(
  constraints: ValueConstraints,
  atoms: readonly JsonObject[],
  targets: ReferenceTargets,
): readonly string[] {
  if (!constraints.types.has('string') || constraints.types.size === ALL_TYPES) return [];
  const always = constraints.atoms.flatMap(readingIn);
  if (always.length > 0) return distinct(always);
  const ways = atoms
    .flatMap((atom) => [...schemasIn(atom, 'anyOf'), ...schemasIn(atom, 'oneOf')])
    .map((way) => new ValueConstraints([...constraints.schemas, way], targets))
    .filter((way) => way.types.has('string'))
    .flatMap((way) => {
      const own = way.atoms.flatMap(readingIn);
      return own.length > 0 ? own : [TEXT];
    });
  return ways.length > 0 ? distinct(ways) : [TEXT];
}

function readingIn(atom: JsonObject): readonly string[] {
  const format = member(atom, 'format');
  const reading = typeof format === 'string' ? member(READINGS, format) : undefined;
  return reading === undefined ? [] : [reading];
}

function distinct(items: readonly string[]): readonly string[] {
  return [...new Set(items)];
}
