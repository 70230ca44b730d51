import { type Closure, closuresOf, isEvaluated, isMatch } from './closures.js';
import {
  alwaysAppliedSchemas,
  namedSchemaIn,
  namedSchemasIn,
  namesByName,
  schemaIn,
  schemasIn,
  type ReferenceTargets,
} from './flatten.js';
import { ANNOTATIONS } from './keywords.js';
import {
  compareNumbers,
  doubleOf,
  isArray,
  isInteger,
  isNumber,
  isObject,
  type JsonNumber,
  type JsonObject,
  type JsonValue,
  member,
  jsonEquals,
  jsonType,
  type Schema,
  stringsOf,
} from '../../shared/json/json.js';
import { intersection } from '../../shared/json/lossless-json.js';

/** The JSON types, with integers and fractions as two types. */
const TYPES = ['null', 'boolean', 'object', 'array', 'string', 'integer', 'fraction'] as const;
export type ConstraintType = (typeof TYPES)[number];

interface Bound {
  readonly value: JsonNumber;
  readonly exclusive: boolean;
}

/** How many levels of required properties are examined to find out that no object can satisfy the schemas. */
const EMPTINESS_DEPTH = 4;

/**
 * What is known about a value from the schemas that apply to it together. Where it cannot tell, it leaves all
 * possibilities open.
 */
export class ValueConstraints {
  /** The given schemas, and all that apply because of them. */
  readonly schemas: readonly Schema[];
  readonly atoms: readonly JsonObject[];
  readonly #targets: ReferenceTargets;
  readonly #depth: number;
  #required: ReadonlySet<string> | undefined;
  #values: readonly JsonValue[] | null | undefined;
  #types: ReadonlySet<ConstraintType> | undefined;
  #closures: readonly Closure[] | undefined;

  constructor(schemas: Iterable<Schema>, targets: ReferenceTargets, depth = 0) {
    this.#targets = targets;
    this.#depth = depth;
    this.schemas = alwaysAppliedSchemas(schemas, targets);
    this.atoms = this.schemas.filter(isObject);
  }

  /** The names of the properties that every object has. */
  get required(): ReadonlySet<string> {
    return (this.#required ??= requiredIn(this.atoms));
  }

  /** The only possible values, if the schemas enumerate them. */
  get values(): readonly JsonValue[] | undefined {
    if (this.#values === undefined) {
      const isPossible = (value: JsonValue) => this.#declares(typeOf(value)) && this.#isWithinBounds(value);
      this.#values = this.#listedValues()?.filter(isPossible) ?? null;
    }
    return this.#values ?? undefined;
  }

  /** The possible types; empty if no value can satisfy the schemas. Expensive if many properties are required. */
  get types(): ReadonlySet<ConstraintType> {
    this.#types ??= new Set(TYPES.filter((type) => this.#isAllowedType(type) && this.#isPossible(type)));
    return this.#types;
  }

  get isEmpty(): boolean {
    return this.types.size === 0;
  }

  /** The minimum or maximum length or count that keywords such as `minLength` allow. */
  limit(side: 'min' | 'max', what: 'Length' | 'Items' | 'Properties'): number {
    const limits = this.#numbers(`${side}${what}`).map(doubleOf);
    return side === 'min' ? Math.max(0, ...limits) : Math.min(Infinity, ...limits);
  }

  lowerBound(): Bound {
    return this.#bound('minimum', 'exclusiveMinimum', 1);
  }

  upperBound(): Bound {
    return this.#bound('maximum', 'exclusiveMaximum', -1);
  }

  /**
   * The tightest bound; if only integers are possible, the one that they reach: at least 1 for those greater than 0.
   *
   * @param sign 1 for a lower bound, -1 for an upper one
   */
  #bound(inclusive: string, exclusively: string, sign: 1 | -1): Bound {
    const excluded = this.#numbers(exclusively);
    let value: JsonNumber = -sign * Infinity;
    for (const one of [...this.#numbers(inclusive), ...excluded])
      if (compareNumbers(one, value) === sign) value = one;
    const exclusive = excluded.some((one) => compareNumbers(one, value) === 0);
    const bound = { value, exclusive };
    if (typeof value !== 'number' || this.#allowsFractions()) return bound;
    const first = sign * Math.ceil(sign * value);
    const reached = exclusive && first === value ? first + sign : first;
    return Number.isSafeInteger(reached) ? { value: reached, exclusive: false } : bound;
  }

  #allowsFractions(): boolean {
    return this.#declares('fraction') && !this.#numbers('multipleOf').some(isInteger);
  }

  /** Whether one of the schemas has the keyword with exactly this value. */
  hasKeywordValue(keyword: string, value: JsonValue): boolean {
    return this.atoms.some((atom) => jsonEquals(member(atom, keyword), value));
  }

  /** The names of the properties that `properties` of the schemas describe. */
  get describedNames(): ReadonlySet<string> {
    return new Set(this.atoms.flatMap((atom) => [...namedSchemasIn(atom, 'properties').keys()]));
  }

  /** The conditions of the schemas on all other properties. */
  get closures(): readonly Closure[] {
    this.#closures ??= this.atoms.flatMap((atom) => closuresOf(atom, this.#targets));
    return this.#closures;
  }

  /** Schemas known to apply to a property. Patterns are not executed, so there may be more. */
  property(name: string): readonly Schema[] {
    return this.atoms.flatMap((atom) => {
      if (excludedName(atom) === name) return [false];
      const own = namedSchemaIn(atom, 'properties', name);
      if (own !== undefined) return [own];
      const rest = schemaIn(atom, 'additionalProperties');
      return rest === undefined || namedSchemasIn(atom, 'patternProperties').size > 0 ? [] : [rest];
    });
  }

  /**
   * The schemas known to apply to a property: by its name, by the patterns that match it, and by the conditions on
   * all other properties.
   *
   * Must run in a worker: patterns are executed.
   */
  propertyByPatterns(name: string): readonly Schema[] {
    if (name === '__proto__') return [];
    const byAtom = this.atoms.flatMap((atom) => {
      const matching = [...namedSchemasIn(atom, 'patternProperties')].filter(([one]) => isMatch(one, name));
      const own = namedSchemaIn(atom, 'properties', name);
      return [
        ...(excludedName(atom) === name ? [false] : []),
        ...(own === undefined ? [] : [own]),
        ...matching.map(([, schema]) => schema),
      ];
    });
    const others = this.closures.filter(
      ({ evaluations }) => !evaluations.some((one) => isEvaluated(name, one)),
    );
    return [...byAtom, ...others.map(({ rest }) => rest)];
  }

  /**
   * The schemas under exactly this pattern in `patternProperties`. Every property whose name matches the pattern
   * satisfies them.
   */
  pattern(pattern: string): readonly Schema[] {
    return this.atoms
      .map((atom) => namedSchemaIn(atom, 'patternProperties', pattern))
      .filter((schema) => schema !== undefined);
  }

  /** The schemas that apply to the item at an index; with `Infinity`, to the items after all listed ones. */
  item(index: number): readonly Schema[] {
    return this.atoms.flatMap((atom) => {
      const schema = schemasIn(atom, 'prefixItems')[index] ?? schemaIn(atom, 'items');
      return schema === undefined ? [] : [schema];
    });
  }

  /** The length of the longest `prefixItems`. */
  get listedItems(): number {
    return Math.max(0, ...this.atoms.map((atom) => schemasIn(atom, 'prefixItems').length));
  }

  #isAllowedType(type: ConstraintType): boolean {
    return this.values?.some((value) => typeOf(value) === type) ?? this.#declares(type);
  }

  #declares(type: ConstraintType): boolean {
    if (this.schemas.includes(false)) return false;
    return this.atoms.every((atom) => {
      if (type !== 'object' && excludedName(atom) !== undefined) return false;
      const declared = member(atom, 'type');
      if (declared === undefined) return true;
      const names = isArray(declared) ? declared : [declared];
      return names.some(
        (name) => name === type || (name === 'number' && (type === 'integer' || type === 'fraction')),
      );
    });
  }

  #listedValues(): readonly JsonValue[] | undefined {
    const lists = this.atoms.flatMap((atom) => {
      const listed = member(atom, 'enum');
      const constant = member(atom, 'const');
      return [...(isArray(listed) ? [listed] : []), ...(constant === undefined ? [] : [[constant]])];
    });
    const [first, ...others] = lists;
    return first === undefined ? this.#valuesOfTypes() : others.reduce(intersection, first);
  }

  /** The values null, true and false, if no other types are possible. */
  #valuesOfTypes(): readonly JsonValue[] | undefined {
    const types = TYPES.filter((type) => this.#declares(type));
    if (!types.every((type) => type === 'null' || type === 'boolean')) return undefined;
    return types.flatMap((type): readonly JsonValue[] => (type === 'null' ? [null] : [false, true]));
  }

  #isWithinBounds(value: JsonValue): boolean {
    if (isNumber(value))
      return isWithin(value, this.lowerBound(), 1) && isWithin(value, this.upperBound(), -1);
    if (typeof value !== 'string') return true;
    // Lengths are counted in code points (JSON Schema Validation, section 6.3).
    const length = Array.from(value).length;
    return length >= this.limit('min', 'Length') && length <= this.limit('max', 'Length');
  }

  #isPossible(type: ConstraintType): boolean {
    switch (type) {
      case 'string':
        return this.limit('min', 'Length') <= this.limit('max', 'Length');
      case 'array':
        return this.limit('min', 'Items') <= this.limit('max', 'Items');
      case 'object':
        return (
          this.limit('min', 'Properties') <= this.limit('max', 'Properties') &&
          (this.#depth >= EMPTINESS_DEPTH ||
            [...this.required].every(
              (name) => !new ValueConstraints(this.property(name), this.#targets, this.#depth + 1).isEmpty,
            ))
        );
      case 'integer':
      case 'fraction': {
        if (type === 'fraction' && !this.#allowsFractions()) return false;
        const [low, high] = [this.lowerBound(), this.upperBound()];
        const order = compareNumbers(low.value, high.value);
        return order < 0 || (order === 0 && !low.exclusive && !high.exclusive);
      }
      default:
        return true;
    }
  }

  #numbers(keyword: string): readonly JsonNumber[] {
    return this.atoms.map((atom) => member(atom, keyword)).filter(isNumber);
  }
}

/** The type of a value, with integers and fractions as two types. */
export function typeOf(value: JsonValue): ConstraintType {
  const type = jsonType(value);
  return type !== 'number' ? type : isInteger(value) ? 'integer' : 'fraction';
}

/** The names that `required` lists, and those that they require in turn. */
function requiredIn(atoms: readonly JsonObject[]): ReadonlySet<string> {
  const required = new Set(atoms.flatMap((atom) => stringsOf(member(atom, 'required'))));
  const needed = ['dependentRequired', 'dependencies'].flatMap((keyword) =>
    atoms.filter((atom) => Object.hasOwn(atom, keyword)).flatMap((atom) => [...namesByName(atom, keyword)]),
  );
  for (let size = -1; size < required.size;) {
    size = required.size;
    for (const [name, others] of needed)
      if (required.has(name)) for (const other of others) required.add(other);
  }
  return required;
}

/**
 * The name excluded by `"not": {"required": [name]}`. This refuses all values other than objects as well, because
 * they satisfy `required`.
 */
function excludedName(atom: JsonObject): string | undefined {
  const excluded = schemaIn(atom, 'not');
  if (!isObject(excluded)) return undefined;
  if (!Object.keys(excluded).every((keyword) => keyword === 'required' || ANNOTATIONS.has(keyword)))
    return undefined;
  const [name, ...others] = stringsOf(member(excluded, 'required'));
  return others.length === 0 ? name : undefined;
}

/** @param sign 1 for a lower bound, -1 for an upper one */
function isWithin(value: JsonNumber, { value: bound, exclusive }: Bound, sign: 1 | -1): boolean {
  const order = sign * compareNumbers(value, bound);
  return exclusive ? order > 0 : order >= 0;
}
