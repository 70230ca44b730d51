import { hasFormat } from '../../../../sidecar/schemas/json-schema/formats.js';
import type { Dialect } from '../../../../sidecar/schemas/json-schema/keywords.js';
import {
  isArray,
  isObject,
  isOfType,
  isSchema,
  type JsonObject,
  type JsonValue,
  member,
  sameJson,
  type Schema,
  step,
  stringsOf,
} from '../../../../sidecar/shared/json/json.js';

/** The parts of an accepted value that a schema has evaluated: names of members, and indexes of items. */
type Evaluated = ReadonlySet<string | number>;

const NOTHING: Evaluated = new Set();

/**
 * JSON Schema keyword by keyword in the words of the specification, slow and simple: for comparison. References are absolute, or
 * pointers into the same document.
 */
export class ReferenceValidator {
  readonly #dialect: Dialect;
  readonly #root: JsonObject;
  readonly #documents: ReadonlyMap<string, JsonValue>;

  constructor(dialect: Dialect, root: JsonObject, documents: ReadonlyMap<string, JsonValue> = new Map()) {
    this.#dialect = dialect;
    this.#root = root;
    this.#documents = documents;
  }

  accepts(value: JsonValue): boolean {
    return this.#evaluate(this.#root, value, '') !== undefined;
  }

  /** The evaluated parts; undefined for a value that is not accepted. */
  #evaluate(schema: Schema, value: JsonValue, base: string): Evaluated | undefined {
    if (!isObject(schema)) return schema ? NOTHING : undefined;
    const reference = member(schema, '$ref');
    const referred = typeof reference === 'string' ? this.#referred(reference, value, base) : NOTHING;
    if (typeof reference === 'string' && this.#dialect === 'draft-07') return referred;
    const inPlace = this.#inPlace(schema, value, base);
    const own = this.#own(schema, value, base);
    if (referred === undefined || inPlace === undefined || own === undefined || !holds(schema, value))
      return undefined;
    const all = new Set([...referred, ...inPlace, ...own]);
    if (this.#dialect === 'draft-07') return all;
    return this.#rest(schema, value, base, all);
  }

  #referred(reference: string, value: JsonValue, base: string): Evaluated | undefined {
    const [uri = '', pointer = ''] = reference.split('#');
    const document = uri === '' ? base : uri;
    const root = document === '' ? this.#root : this.#documents.get(document);
    const found = pointer.split('/').slice(1).reduce<JsonValue | undefined>(step, root);
    if (!isSchema(found)) throw new Error(`${reference} leads to no schema`);
    return this.#evaluate(found, value, document);
  }

  /** Schemas that apply to the same value. */
  #inPlace(schema: JsonObject, value: JsonValue, base: string): Evaluated | undefined {
    const found: Evaluated[] = [];
    const results = (keyword: string) =>
      listIn(schema, keyword).map((one) => this.#evaluate(one, value, base));
    const [all, any, one] = [results('allOf'), results('anyOf'), results('oneOf')];
    const fitting = (list: readonly (Evaluated | undefined)[]) => list.filter((each) => each !== undefined);
    if (fitting(all).length < all.length) return undefined;
    if (member(schema, 'anyOf') !== undefined && fitting(any).length === 0) return undefined;
    if (member(schema, 'oneOf') !== undefined && fitting(one).length !== 1) return undefined;
    found.push(...fitting(all), ...fitting(any), ...fitting(one));
    const [not, condition] = [member(schema, 'not'), member(schema, 'if')];
    if (isSchema(not) && this.#evaluate(not, value, base) !== undefined) return undefined;
    if (isSchema(condition)) {
      const met = this.#evaluate(condition, value, base);
      const conclusion = member(schema, met === undefined ? 'else' : 'then');
      const concluded = isSchema(conclusion) ? this.#evaluate(conclusion, value, base) : NOTHING;
      if (concluded === undefined) return undefined;
      found.push(met ?? NOTHING, concluded);
    }
    if (isObject(value))
      for (const keyword of ['dependencies', 'dependentRequired', 'dependentSchemas'])
        for (const [name, held] of Object.entries(objectIn(schema, keyword))) {
          if (!Object.hasOwn(value, name)) continue;
          const result = isArray(held)
            ? stringsOf(held).every((other) => Object.hasOwn(value, other))
              ? NOTHING
              : undefined
            : isSchema(held)
              ? this.#evaluate(held, value, base)
              : NOTHING;
          if (result === undefined) return undefined;
          found.push(result);
        }
    return new Set(found.flatMap((each) => [...each]));
  }

  /** Schemas that apply to members and items, except those for the rest. */
  #own(schema: JsonObject, value: JsonValue, base: string): Evaluated | undefined {
    const evaluated = new Set<string | number>();
    const take = (held: Schema, key: string | number): boolean => {
      evaluated.add(key);
      return this.#evaluate(held, step(value, String(key)) ?? null, base) !== undefined;
    };
    let isValid = true;
    if (isObject(value)) {
      const names = Object.keys(value);
      for (const name of names) {
        const own = member(objectIn(schema, 'properties'), name);
        if (isSchema(own)) isValid = take(own, name) && isValid;
        for (const [pattern, held] of Object.entries(objectIn(schema, 'patternProperties')))
          if (new RegExp(pattern, 'u').test(name) && isSchema(held)) isValid = take(held, name) && isValid;
      }
      const [rest, naming] = [member(schema, 'additionalProperties'), member(schema, 'propertyNames')];
      for (const name of names) {
        if (isSchema(rest) && !evaluated.has(name)) isValid = take(rest, name) && isValid;
        if (isSchema(naming)) isValid &&= this.#evaluate(naming, name, base) !== undefined;
      }
    }
    if (isArray(value)) isValid = this.#items(schema, value, base, take, evaluated) && isValid;
    return isValid ? evaluated : undefined;
  }

  #items(
    schema: JsonObject,
    items: readonly JsonValue[],
    base: string,
    take: (held: Schema, index: number) => boolean,
    evaluated: Set<string | number>,
  ): boolean {
    const isNew = this.#dialect === '2020-12';
    const first = listIn(schema, isNew ? 'prefixItems' : 'items');
    const isList = isArray(member(schema, 'items'));
    const rest = member(schema, !isNew && isList ? 'additionalItems' : 'items');
    const verdicts = items.map((_, index) => {
      const held = first[index] ?? (isSchema(rest) ? rest : undefined);
      return held === undefined || take(held, index);
    });
    const wanted = member(schema, 'contains');
    if (!isSchema(wanted)) return verdicts.every(Boolean);
    const found = [...items.keys()].filter(
      (index) => this.#evaluate(wanted, items[index] ?? null, base) !== undefined,
    );
    if (isNew) for (const index of found) evaluated.add(index);
    const counts = this.#dialect === 'draft-07' ? {} : schema;
    const [least = 1, most = Infinity] = ['minContains', 'maxContains'].map((name) => member(counts, name));
    return verdicts.every(Boolean) && found.length >= Number(least) && found.length <= Number(most);
  }

  /** Applies `unevaluatedProperties` and `unevaluatedItems` to the rest. */
  #rest(schema: JsonObject, value: JsonValue, base: string, before: Evaluated): Evaluated | undefined {
    const keyword = isArray(value) ? 'unevaluatedItems' : 'unevaluatedProperties';
    const held = member(schema, keyword);
    if (!isSchema(held) || typeof value !== 'object' || value === null) return before;
    const keys = isArray(value) ? [...value.keys()] : Object.keys(value);
    const left = keys.filter((key) => !before.has(key));
    const isValid = left.every(
      (key) => this.#evaluate(held, step(value, String(key)) ?? null, base) !== undefined,
    );
    return isValid ? new Set([...before, ...left]) : undefined;
  }
}

/** Keywords on the value itself. */
function holds(schema: JsonObject, value: JsonValue): boolean {
  const of = (keyword: string) => member(schema, keyword);
  const number = (keyword: string) => Number(of(keyword));
  const type = of('type');
  const types = stringsOf(isArray(type) ? type : [type ?? null]);
  if (types.length > 0 && !types.some((one) => isOfType(value, one))) return false;
  const [allowed, constant] = [of('enum'), of('const')];
  if (isArray(allowed) && !allowed.some((one) => sameJson(one, value))) return false;
  if (constant !== undefined && !sameJson(constant, value)) return false;
  if (typeof value === 'number')
    return !(
      value < number('minimum') ||
      value > number('maximum') ||
      value <= number('exclusiveMinimum') ||
      value >= number('exclusiveMaximum') ||
      (of('multipleOf') !== undefined && !Number.isInteger(value / number('multipleOf')))
    );
  if (typeof value === 'string') {
    const [length, pattern, format] = [Array.from(value).length, of('pattern'), of('format')];
    if (typeof pattern === 'string' && !new RegExp(pattern, 'u').test(value)) return false;
    if (typeof format === 'string' && !hasFormat(format, value)) return false;
    return !(length < number('minLength') || length > number('maxLength'));
  }
  if (isArray(value)) {
    const isRepeated = (item: JsonValue, index: number) =>
      value.slice(0, index).some((other) => sameJson(item, other));
    if (of('uniqueItems') === true && value.some(isRepeated)) return false;
    return !(value.length < number('minItems') || value.length > number('maxItems'));
  }
  if (!isObject(value)) return true;
  const count = Object.keys(value).length;
  if (count < number('minProperties') || count > number('maxProperties')) return false;
  return stringsOf(of('required')).every((name) => Object.hasOwn(value, name));
}

function listIn(schema: JsonObject, keyword: string): readonly Schema[] {
  const value = member(schema, keyword);
  return isArray(value) ? value.filter(isSchema) : [];
}

function objectIn(schema: JsonObject, keyword: string): JsonObject {
  const value = member(schema, keyword);
  return isObject(value) ? value : {};
}
