import fc from 'fast-check';
import type { AjvDialect } from './verdicts.js';

import type { JsonObject, JsonValue, Schema } from '../../../../sidecar/shared/json/json.js';

type Keywords = Readonly<Record<string, fc.Arbitrary<JsonValue>>>;

const NAMES = ['a', 'b', 'c'] as const;
const SMALL = fc.nat({ max: 4 });
const VALUE = fc.constantFrom<JsonValue>(null, true, 0, 1, 2, 'a', 'ab');
const TYPE = fc.constantFrom('null', 'boolean', 'object', 'array', 'string', 'integer', 'number');
const NAME_LISTS = fc.constantFrom<JsonObject>({ a: ['b'] }, { b: ['a', 'c'] });

/** Documents small enough for the schemas below to distinguish them. */
export const documents: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.constantFrom<JsonValue>(
      null,
      true,
      false,
      0,
      1,
      2,
      3,
      0.5,
      -1,
      '',
      'a',
      'b',
      'ab',
      'abc',
      '2024-01-01',
    ),
    fc.array(tie('value'), { maxLength: 3 }),
    objectWith([...NAMES, 'd'], tie('value')),
  ),
})).value;

/**
 * Small schemas of a draft, with all its validating keywords. Some refer to the definition under `definition`, which may refer to
 * itself.
 */
export function schemaPairs(
  dialect: AjvDialect,
  definition: string,
): fc.Arbitrary<{ readonly root: JsonObject; readonly definition: JsonObject }> {
  const make = new SchemaMaker(dialect, definition);
  return fc.record({ root: make.schema(2), definition: make.schema(1) });
}

class SchemaMaker {
  readonly #dialect: AjvDialect;
  readonly #definition: string;

  constructor(dialect: AjvDialect, definition: string) {
    this.#dialect = dialect;
    this.#definition = definition;
  }

  /** A schema object of up to four keywords, with this many levels of nested schemas. */
  schema(depth: number): fc.Arbitrary<JsonObject> {
    const keywords = { ...this.#valueKeywords(), ...(depth === 0 ? {} : this.#applicators(depth - 1)) };
    const entries = Object.entries(keywords).map(([keyword, held]) =>
      held.map((one): readonly [string, JsonValue] => [keyword, one]),
    );
    return fc
      .uniqueArray(fc.oneof(...entries), { maxLength: 4, selector: ([keyword]) => keyword })
      .map((chosen) => Object.fromEntries(chosen));
  }

  #any(depth: number): fc.Arbitrary<Schema> {
    return fc.oneof(
      { weight: 8, arbitrary: this.schema(depth) },
      { weight: 1, arbitrary: fc.boolean() },
      { weight: 2, arbitrary: fc.constant({ $ref: this.#definition }) },
    );
  }

  #valueKeywords(): Keywords {
    return {
      type: fc.oneof(TYPE, fc.uniqueArray(TYPE, { minLength: 1, maxLength: 3 })),
      enum: fc.uniqueArray(VALUE, { minLength: 1, maxLength: 3, selector: (one) => JSON.stringify(one) }),
      const: VALUE,
      minimum: SMALL,
      maximum: SMALL,
      exclusiveMinimum: SMALL,
      exclusiveMaximum: SMALL,
      multipleOf: fc.constantFrom(1, 2, 0.5),
      minLength: SMALL,
      maxLength: SMALL,
      pattern: fc.constantFrom('^a', 'b$', '^.?$'),
      format: fc.constantFrom('date', 'text'),
      minItems: SMALL,
      maxItems: SMALL,
      uniqueItems: fc.boolean(),
      minProperties: SMALL,
      maxProperties: SMALL,
      required: fc.subarray([...NAMES], { minLength: 1 }),
      ...(this.#dialect === 'draft-07' ? {} : { dependentRequired: NAME_LISTS }),
    };
  }

  #applicators(depth: number): Keywords {
    const one = this.#any(depth);
    const several = fc.array(one, { minLength: 1, maxLength: 3 });
    const common: Keywords = {
      $ref: fc.constant(this.#definition),
      properties: objectWith(NAMES, one),
      patternProperties: objectWith(['^a', 'b'], one),
      additionalProperties: one,
      propertyNames: one,
      contains: one,
      allOf: several,
      anyOf: several,
      oneOf: several,
      not: one,
      if: one,
      then: one,
      else: one,
    };
    const older: Keywords = { items: fc.oneof(one, several), additionalItems: one };
    const newer: Keywords = {
      dependentSchemas: objectWith(NAMES, one),
      unevaluatedProperties: one,
      unevaluatedItems: one,
      minContains: SMALL,
      maxContains: SMALL,
    };
    switch (this.#dialect) {
      case 'draft-07':
        return { ...common, ...older, dependencies: fc.oneof(NAME_LISTS, objectWith(NAMES, one)) };
      case '2019-09':
        return { ...common, ...older, ...newer };
      case '2020-12':
        return { ...common, ...newer, items: one, prefixItems: several };
    }
  }
}

function objectWith(names: readonly string[], held: fc.Arbitrary<JsonValue>): fc.Arbitrary<JsonObject> {
  return fc
    .uniqueArray(fc.tuple(fc.constantFrom(...names), held), { maxLength: 3, selector: ([name]) => name })
    .map((entries) => Object.fromEntries(entries));
}

/** Self-contained schemas of draft 2020-12. */
export const schemas: fc.Arbitrary<JsonObject> = schemaPairs('2020-12', '#/$defs/d').map(
  ({ root, definition }) => ({ ...root, $defs: { d: definition } }),
);
