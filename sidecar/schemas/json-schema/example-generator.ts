import {
  isArray,
  type JsonObject,
  type JsonValue,
  member,
  objectOf,
  type Schema,
} from '../../shared/json/json.js';
import type { ModelAttribute } from './attributes.js';
import { exampleNumber, exampleString } from './example-values.js';
import { BOUNDS } from './keywords.js';
import { ValueConstraints, type ConstraintType } from './value-constraints.js';
import {
  eachSchemaIn,
  namedSchemaIn,
  namesByName,
  schemaIn,
  schemasIn,
  type ReferenceTargets,
} from './flatten.js';

/** Which of several options to take at each choice, by its name; by default the first. */
export type Choices = ReadonlyMap<string, number>;

/** Values for properties of the document, the best first. */
export type Preferred = ReadonlyMap<string, readonly JsonValue[]>;

/** Maximum number of items or added properties. */
const MAX_ITEMS = 64;

/** Maximum number of values made, nested ones included. */
const MAX_VALUES = 2000;

/** Maximum nesting depth of values. */
const MAX_LEVELS = 100;

/** Keywords that suggest a type if the schema does not state it. */
const TYPE_KEYWORDS: readonly (readonly [readonly ConstraintType[], readonly string[]])[] = [
  [['object'], ['properties', 'required', 'patternProperties', 'additionalProperties', 'minProperties']],
  [['array'], ['items', 'prefixItems', 'contains', 'minItems', 'uniqueItems']],
  [['string'], ['format', 'pattern', 'minLength', 'maxLength']],
  [['integer', 'fraction'], BOUNDS],
];

/** Keywords by which the presence of a property requires something. */
const DEPENDENCIES = ['dependentSchemas', 'dependentRequired', 'dependencies'];

const PLAIN = ['string', 'integer', 'fraction', 'boolean', 'object', 'array', 'null'] as const;

/** Makes one example of a schema. Records in `options` how many options each choice had, so that others can be tried. */
export class ExampleGenerator {
  readonly options = new Map<string, number>();
  readonly #targets: ReferenceTargets;
  readonly #choices: Choices;
  /** The schemas of the values that contain the current one. */
  readonly #outer = new Set<JsonObject>();
  #preferred: Preferred = new Map();
  #values = 0;
  #levels = 0;

  constructor(targets: ReferenceTargets, choices: Choices = new Map()) {
    this.#targets = targets;
    this.#choices = choices;
  }

  /** Returns an example of the schema, with the preferred properties if it can have them; undefined if none can be made. */
  document(schema: Schema, preferred: Preferred): JsonValue | undefined {
    this.#preferred = preferred;
    return this.#value([schema], '', 0);
  }

  #value(schemas: readonly Schema[], path: string, variant: number): JsonValue | undefined {
    this.#values += 1;
    if (this.#values > MAX_VALUES || this.#levels === MAX_LEVELS) return undefined;
    const constraints = this.#resolveAlternatives(schemas, path);
    const fresh = constraints.atoms.filter((atom) => !this.#outer.has(atom));
    if (constraints.isEmpty || (constraints.atoms.length > 0 && fresh.length === 0)) return undefined;
    for (const atom of fresh) this.#outer.add(atom);
    this.#levels += 1;
    const listed = this.#listedValue(constraints, path, variant);
    const value = listed === undefined ? this.#generated(constraints, path, variant) : listed;
    this.#levels -= 1;
    for (const atom of fresh) this.#outer.delete(atom);
    return value;
  }

  /**
   * A value that the schema itself lists: one of the only possible values, `null` (no value in NGSI-LD) last; or a
   * default or example.
   */
  #listedValue(constraints: ValueConstraints, path: string, variant: number): JsonValue | undefined {
    if (constraints.values !== undefined) {
      const values = constraints.values.toSorted(
        (one, other) => Number(one === null) - Number(other === null),
      );
      return values[(this.#choose(`${path} value`, values.length) + variant) % values.length];
    }
    const samples = constraints.atoms
      .flatMap((atom) => {
        const examples = member(atom, 'examples');
        return [member(atom, 'default'), ...(isArray(examples) ? examples : [])];
      })
      .filter((sample) => sample !== undefined && sample !== null)
      .filter(
        (sample) => !new ValueConstraints([...constraints.schemas, { const: sample }], this.#targets).isEmpty,
      );
    // The last option is to take none of the samples, but to make a value.
    return samples[this.#choose(`${path} sample`, samples.length + 1) + variant];
  }

  #generated(constraints: ValueConstraints, path: string, variant: number): JsonValue | undefined {
    const telling = TYPE_KEYWORDS.filter(([, keywords]) =>
      constraints.atoms.some((atom) => keywords.some((keyword) => Object.hasOwn(atom, keyword))),
    ).flatMap(([types]) => types);
    const types = [...new Set([...telling, ...PLAIN])].filter((type) => constraints.types.has(type));
    switch (types[this.#choose(`${path} type`, types.length)]) {
      case 'object':
        return this.#object(constraints, path);
      case 'array':
        return this.#array(constraints, path);
      case 'string':
        return exampleString(constraints, variant);
      case 'integer':
      case 'fraction':
        return exampleNumber(constraints, variant);
      case 'boolean':
        return variant % 2 === 0;
      case 'null':
        return null;
      default:
        return undefined;
    }
  }

  #object(given: ValueConstraints, path: string): JsonObject | undefined {
    const { constraints, required } = this.#withDependents(given, path);
    const preferred = path === '' ? [...this.#preferred.keys()] : [];
    const names = new Set([...preferred, ...required, ...constraints.describedNames]);
    const made = new Map<string, JsonValue>();
    for (const name of names) {
      const value = this.#property(constraints, path, name);
      if (value !== undefined) made.set(name, value);
      else if (required.has(name)) return undefined;
    }
    const [least, most] = [constraints.limit('min', 'Properties'), constraints.limit('max', 'Properties')];
    for (const name of [...names].reverse()) if (made.size > most && !required.has(name)) made.delete(name);
    for (let count = 1; made.size < Math.min(least, MAX_ITEMS); count += 1) {
      const name = `property${count}`;
      const value = made.has(name) ? undefined : this.#property(constraints, path, name);
      if (value === undefined) break;
      made.set(name, value);
    }
    return objectOf(made);
  }

  #property(constraints: ValueConstraints, path: string, name: string): JsonValue | undefined {
    const schemas = constraints.propertyByPatterns(name);
    const within = `${path}/${name}`;
    const preferred = (path === '' ? (this.#preferred.get(name) ?? []) : []).find(
      (value) => !new ValueConstraints([...schemas, { const: value }], this.#targets).isEmpty,
    );
    if (preferred !== undefined && this.#choose(`${within} preferred`, 2) === 0) return preferred;
    return this.#value(schemas, within, 0);
  }

  /** Adds what the presence of each property requires. */
  #withDependents(
    given: ValueConstraints,
    path: string,
  ): { constraints: ValueConstraints; required: ReadonlySet<string> } {
    const hasDependents = given.atoms.some((atom) =>
      DEPENDENCIES.some((keyword) => Object.hasOwn(atom, keyword)),
    );
    if (!hasDependents) return { constraints: given, required: given.required };
    let constraints = given;
    const seen = new Set<string>();
    const required = new Set(constraints.required);
    const open = (): string | undefined =>
      [...constraints.describedNames, ...required].find((name) => !seen.has(name));
    for (let name = open(); name !== undefined; name = open()) {
      seen.add(name);
      for (const keyword of ['dependentSchemas', 'dependencies']) {
        for (const atom of constraints.atoms) {
          const schema = namedSchemaIn(atom, keyword, name);
          if (schema !== undefined)
            constraints = this.#resolveAlternatives([...constraints.schemas, schema], `${path} ${name}`);
        }
      }
      for (const keyword of ['dependentRequired', 'dependencies'])
        for (const atom of constraints.atoms)
          for (const needed of namesByName(atom, keyword).get(name) ?? []) required.add(needed);
      for (const needed of constraints.required) required.add(needed);
    }
    return { constraints, required };
  }

  #array(constraints: ValueConstraints, path: string): readonly JsonValue[] | undefined {
    const [least, most] = [constraints.limit('min', 'Items'), constraints.limit('max', 'Items')];
    const contained = constraints.atoms.flatMap((atom) => {
      const count = member(atom, 'minContains') ?? 1;
      return eachSchemaIn([atom], 'contains').flatMap((schema) =>
        Array.from({ length: Math.min(Number(count), MAX_ITEMS) }, () => schema),
      );
    });
    const length = Math.min(Math.max(least, contained.length, constraints.listedItems, 1), most, MAX_ITEMS);
    const isUnique = constraints.hasKeywordValue('uniqueItems', true);
    const items: JsonValue[] = [];
    for (let index = 0; index < length; index += 1) {
      const schemas = [...constraints.item(index), ...contained.slice(index, index + 1)];
      const item = this.#value(schemas, `${path}/${index}`, isUnique ? index : 0);
      if (item === undefined) return index < least ? undefined : items;
      items.push(item);
    }
    return items;
  }

  /** The constraints after taking one of each set of alternatives. */
  #resolveAlternatives(schemas: readonly Schema[], path: string): ValueConstraints {
    let constraints = new ValueConstraints(schemas, this.#targets);
    const settled = new Set<Alternatives['of']>();
    const open = (): Alternatives | undefined =>
      constraints.atoms.flatMap(alternativesOf).find(({ of }) => !settled.has(of));
    for (let next = open(); next !== undefined; next = open()) {
      settled.add(next.of);
      const possible = next.schemas.filter(
        (one) => !new ValueConstraints([...constraints.schemas, one], this.#targets).isEmpty,
      );
      const taken = possible[this.#choose(`${path} ${settled.size}`, possible.length)];
      if (taken !== undefined)
        constraints = new ValueConstraints([...constraints.schemas, taken], this.#targets);
    }
    return constraints;
  }

  #choose(choice: string, count: number): number {
    if (count > 1) this.options.set(choice, count);
    return Math.min(this.#choices.get(choice) ?? 0, Math.max(0, count - 1));
  }
}

/** Alternative schemas, identified by the list that is the value of their keyword. */
interface Alternatives {
  readonly of: JsonValue | undefined;
  readonly schemas: readonly Schema[];
}

function alternativesOf(atom: JsonObject): readonly Alternatives[] {
  const lists = ['anyOf', 'oneOf'].map((keyword) => ({
    of: member(atom, keyword),
    schemas: schemasIn(atom, keyword),
  }));
  const condition = schemaIn(atom, 'if');
  return [
    ...lists.filter(({ schemas }) => schemas.length > 0),
    ...(typeof condition === 'object' ? [{ of: condition, schemas: branchesOf(atom, condition) }] : []),
  ];
}

/**
 * The branches of each schema with an `if`. They are always the same objects, so that a value inside another one of
 * the same branch is recognised.
 */
const BRANCHES = new WeakMap<JsonObject, readonly Schema[]>();

function branchesOf(atom: JsonObject, condition: JsonObject): readonly Schema[] {
  const branches = BRANCHES.get(atom) ?? [
    { allOf: [condition, schemaIn(atom, 'then') ?? true] },
    { allOf: [{ not: condition }, schemaIn(atom, 'else') ?? true] },
  ];
  BRANCHES.set(atom, branches);
  return branches;
}

/** What an entity has in addition to what its schema requires: an id, its type, and URIs in relationships. */
export function preferredValues(
  attributes: readonly Pick<ModelAttribute, 'name' | 'kind'>[],
  model: string,
  types: readonly string[],
): Preferred {
  const relationships = attributes.filter(({ kind }) => kind === 'Relationship');
  return new Map<string, readonly JsonValue[]>([
    ['id', [uriOf(model)]],
    ['type', types.flatMap((type) => [type, [type]])],
    ...relationships.map(({ name }) => [name, [uriOf(typeFor(name)), [uriOf(typeFor(name))]]] as const),
  ]);
}

function uriOf(type: string): string {
  return `urn:ngsi-ld:${type}:001`;
}

/** The type that the name of a relationship suggests: Device for `refDevice` and `hasDevice`. */
function typeFor(name: string): string {
  const word = name.replace(/^(?:ref|has|is)(?=[A-Z])/, '').replaceAll(/[^A-Za-z0-9]/g, '');
  return word === '' ? 'Entity' : `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`;
}
