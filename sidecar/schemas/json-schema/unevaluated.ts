import type {
  AnySchemaObject,
  DataValidationCxt,
  ErrorObject,
  SchemaValidateFunction,
} from 'ajv/dist/types/index.js';
import type { Ajv2020, ValidateFunction } from 'ajv/dist/2020.js';
import {
  fragmentOf,
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  pointerTo,
  type Schema,
} from '../../shared/json/json.js';
import { type Evaluation, optionalSchemasIn, unevaluatedIndexes, unevaluatedMembers } from './evaluated.js';
import { alternativesIn, conjunctsOf, eachSchemaIn, type FlatSchema } from './flatten.js';
import { subschemasOf, UNEVALUATED, usesUnevaluated } from './keywords.js';

/** The name under which Ajv knows the schema that {@link Unevaluated} is of. */
const ROOT = 'flat:';

/** Whether a value fits one schema within the flat one, and what is wrong with it. */
interface Part {
  (value: JsonValue, at?: Partial<DataValidationCxt>): unknown;
  errors?: readonly ErrorObject[] | null;
}

/**
 * `unevaluatedProperties` and `unevaluatedItems` for Ajv. Ajv's own code for them decides while it compiles what can only be
 * known of a value, and so is wrong in both directions.
 *
 * Where it depends on a value whether a schema applies, that schema is compiled by itself as well, once.
 */
export class Unevaluated {
  readonly #ajv: Ajv2020;
  readonly #targets: FlatSchema['targets'];
  readonly #pointers = new Map<JsonObject, string>();
  readonly #parts = new Map<JsonObject, Part>();
  readonly #patterns = new Map<string, RegExp>();
  /** What was found of values that hold others, by schema; keywords within each other ask for the same. */
  readonly #known = new Map<JsonObject, WeakMap<JsonValue & object, boolean>>();

  /**
   * @param ajv with its keywords of these names taken away
   * @param document the flat schema as one document
   */
  constructor(ajv: Ajv2020, targets: FlatSchema['targets'], document: JsonObject) {
    this.#ajv = ajv;
    this.#targets = targets;
    this.#locate(document, []);
    for (const keyword of UNEVALUATED) {
      ajv.removeKeyword(keyword);
      ajv.addKeyword({
        keyword,
        type: keyword === 'unevaluatedItems' ? 'array' : 'object',
        schemaType: ['boolean', 'object'],
        compile: (held: Schema, parent: AnySchemaObject) => this.#check(keyword, held, parent),
      });
    }
    ajv.addSchema(document, ROOT);
  }

  /** Compiles the whole, and every part that will be needed. */
  compile(): ValidateFunction {
    const validate = this.#compiled('');
    for (const schema of this.#pointers.keys()) if (usesUnevaluated(schema)) this.#prepare(schema);
    return validate;
  }

  /** Compiles what is asked of values by themselves to say which of their parts a schema leaves. */
  #prepare(schema: JsonObject): void {
    const found = new Set<Schema>();
    const open: Schema[] = [schema];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      for (const one of conjunctsOf([next], this.#targets)) {
        if (!isObject(one) || found.has(one)) continue;
        found.add(one);
        for (const part of [...optionalSchemasIn(one), ...eachSchemaIn([one], 'contains')])
          if (isObject(part)) this.#part(part);
        open.push(...alternativesIn(one));
      }
    }
    for (const keyword of UNEVALUATED)
      for (const held of eachSchemaIn([schema], keyword)) if (isObject(held)) this.#part(held);
  }

  #locate(schema: JsonObject, tokens: readonly string[]): void {
    this.#pointers.set(schema, fragmentOf(tokens));
    for (const { tokens: inner, schema: held } of subschemasOf(schema, '2020-12'))
      if (isObject(held)) this.#locate(held, [...tokens, ...inner]);
  }

  #compiled(pointer: string): ValidateFunction {
    const validate = this.#ajv.getSchema(`${ROOT}#${pointer}`);
    if (validate === undefined) throw new Error(`Ajv does not find ${pointer} in the schema.`);
    return validate as ValidateFunction;
  }

  #part(schema: JsonObject): Part {
    const known = this.#parts.get(schema) ?? (this.#compiled(this.#pointers.get(schema) ?? '') as Part);
    this.#parts.set(schema, known);
    return known;
  }

  #check(keyword: (typeof UNEVALUATED)[number], held: Schema, parent: JsonObject): SchemaValidateFunction {
    const check: SchemaValidateFunction = (value: JsonValue & object, at?: DataValidationCxt): boolean => {
      const errors: Partial<ErrorObject>[] = [];
      for (const key of this.#unevaluated(parent, value)) {
        const instancePath = pointerTo(at?.instancePath ?? '', key);
        if (held === false) errors.push({ keyword, instancePath, message: 'must not be there', params: {} });
        else if (held !== true) errors.push(...this.#errorsOf(held, value, key, instancePath));
      }
      check.errors = errors;
      return errors.length === 0;
    };
    return check;
  }

  #unevaluated(schema: JsonObject, value: JsonValue & object): readonly (string | number)[] {
    const around: Evaluation = {
      targets: this.#targets,
      fits: (one) => this.#fits(one, value),
      itemFits: (one, index) => this.#fits(one, childOf(value, index), within(value, index)),
      patternOf: (pattern) => this.#patternOf(pattern),
    };
    if (isArray(value)) return unevaluatedIndexes(schema, value, around);
    return isObject(value) ? unevaluatedMembers(schema, value, around) : [];
  }

  #fits(schema: Schema, value: JsonValue, at?: Partial<DataValidationCxt>): boolean {
    if (!isObject(schema)) return schema;
    if (typeof value !== 'object' || value === null) return this.#part(schema)(value, at) === true;
    const known = this.#known.get(schema) ?? new WeakMap<JsonValue & object, boolean>();
    this.#known.set(schema, known);
    const fits = known.get(value) ?? this.#part(schema)(value, at) === true;
    known.set(value, fits);
    return fits;
  }

  #errorsOf(
    schema: JsonObject,
    value: JsonValue & object,
    key: string | number,
    instancePath: string,
  ): readonly ErrorObject[] {
    const part = this.#part(schema);
    const isValid = part(childOf(value, key), { ...within(value, key), instancePath }) === true;
    return isValid ? [] : (part.errors ?? []);
  }

  #patternOf(pattern: string): RegExp {
    const known = this.#patterns.get(pattern) ?? new RegExp(pattern, 'u');
    this.#patterns.set(pattern, known);
    return known;
  }
}

/** Where a value stands, for keywords that look around. */
function within(around: JsonValue & object, key: string | number): Partial<DataValidationCxt> {
  return { instancePath: pointerTo('', key), parentData: around, parentDataProperty: key };
}

function childOf(value: JsonValue, key: string | number): JsonValue {
  if (isArray(value)) return value[Number(key)] ?? null;
  return isObject(value) ? (value[key] ?? null) : null;
}
