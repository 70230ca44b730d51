import {
  isArray,
  isObject,
  isSchema,
  type JsonObject,
  type JsonValue,
  member,
  type Schema,
  stringsOf,
} from '../../shared/json/json.js';
import { canonicalJson } from '../../shared/json/lossless-json.js';
import { namedSchemasIn, schemaIn, schemasIn } from './flatten.js';
import { typesRefusedBy } from './formats.js';
import { ASSERTIONS } from './keywords.js';

/**
 * The aspect of a schema that is considered: which values are valid, or which properties of valid objects, or which
 * items of valid arrays, are evaluated (core, section 11). `unevaluatedProperties` and `unevaluatedItems` depend on
 * what is evaluated.
 */
export type Aspect = 'validity' | 'properties' | 'items';

/** A subschema in a condition, and the view of it that matters. */
export interface HeldSubschema {
  readonly schema: Schema;
  readonly aspect: Aspect;
}

/** One condition that a schema states, in a form that does not depend on how it is written. */
export interface Condition {
  readonly keyword: string;
  /** The condition without its subschemas. */
  readonly text: string;
  readonly subschemas: readonly HeldSubschema[];
  /** How to compare `held`: as a list, as a bag (in any order) or as a set (in any order, ignoring repetitions). */
  readonly order: 'list' | 'bag' | 'set';
  /** Whether the condition has no effect if the first schema in `held` accepts everything. */
  readonly isEmptyIfTrue: boolean;
}

/** Keywords that apply only to arrays, only to objects, or only to other values. */
const ONLY_FOR: Readonly<Record<string, 'array' | 'object' | 'other'>> = {
  ...Object.fromEntries(
    ['items', 'prefixItems', 'contains', 'minItems', 'maxItems', 'uniqueItems', 'unevaluatedItems'].map(
      (keyword) => [keyword, 'array' as const],
    ),
  ),
  ...Object.fromEntries(
    [
      'properties',
      'patternProperties',
      'additionalProperties',
      'unevaluatedProperties',
      'required',
      'propertyNames',
      'minProperties',
      'maxProperties',
      'dependentRequired',
      'dependentSchemas',
      'dependencies',
    ].map((keyword) => [keyword, 'object' as const]),
  ),
  ...Object.fromEntries(
    [
      'minimum',
      'maximum',
      'exclusiveMinimum',
      'exclusiveMaximum',
      'multipleOf',
      'minLength',
      'maxLength',
      'pattern',
      'format',
    ].map((keyword) => [keyword, 'other' as const]),
  ),
};

/** The type of the values that a view is about; undefined for all types. */
const CONCERNED: Readonly<Record<Aspect, string | undefined>> = {
  validity: undefined,
  properties: 'object',
  items: 'array',
};

/** Keywords that have no effect with the value 0. */
const COUNTS_FROM: ReadonlySet<string> = new Set(['minLength', 'minItems', 'minProperties']);

/** Keywords that are handled with the keyword they belong to. */
const READ_BY_OTHERS: ReadonlySet<string> = new Set(['minContains', 'maxContains', 'then', 'else']);

/** Conditions found so far: versions of a model have most of their schemas in common. */
const known: Readonly<Record<Aspect, WeakMap<JsonObject, readonly Condition[]>>> = {
  validity: new WeakMap(),
  properties: new WeakMap(),
  items: new WeakMap(),
};

/** The conditions of a schema's own keywords, without those of its `$ref` and `allOf`. */
export function conditionsOf(schema: JsonObject, view: Aspect): readonly Condition[] {
  const found = known[view].get(schema) ?? findConditions(schema, view);
  known[view].set(schema, found);
  return found;
}

function findConditions(schema: JsonObject, view: Aspect): readonly Condition[] {
  const concerned = CONCERNED[view];
  return Object.keys(schema).flatMap((keyword) => {
    if (!ASSERTIONS.has(keyword) || keyword === 'allOf' || READ_BY_OTHERS.has(keyword)) return [];
    const only = Object.hasOwn(ONLY_FOR, keyword) ? ONLY_FOR[keyword] : undefined;
    if (concerned !== undefined && only !== undefined && only !== concerned) return [];
    return keywordConditions(keyword, schema, view);
  });
}

function keywordConditions(keyword: string, schema: JsonObject, aspect: Aspect): readonly Condition[] {
  const value = member(schema, keyword) ?? null;
  const same = (held: Schema): HeldSubschema => ({ schema: held, aspect });
  const inner = (held: Schema): HeldSubschema => ({ schema: held, aspect: 'validity' });
  const says = (text: string, ...subschemas: readonly HeldSubschema[]): Condition => ({
    keyword,
    text,
    subschemas,
    order: 'list',
    isEmptyIfTrue: false,
  });
  /** In the other views, even a schema that accepts everything has an effect: it evaluates properties or items. */
  const unlessTrue = (text: string, ...held: readonly HeldSubschema[]): Condition => ({
    ...says(text, ...held),
    isEmptyIfTrue: aspect === 'validity',
  });
  switch (keyword) {
    case 'type':
      return [says(`type ${canonicalJson(typesIn(value))}`)];
    case 'enum':
      return [says(`enum ${texts(isArray(value) ? value : [])}`)];
    case 'const':
      return [says(`enum ${texts([value])}`)];
    case 'required':
      return stringsOf(value).map((name) => says(`required ${canonicalJson(name)}`));
    case 'dependentRequired':
    case 'dependentSchemas':
    case 'dependencies':
      return dependencies(value, says, same);
    case 'properties':
      return named(schema, keyword).map(([name, held]) =>
        says(`property ${canonicalJson(name)}`, inner(held)),
      );
    case 'patternProperties':
      return named(schema, keyword).map(([pattern, held]) =>
        unlessTrue(`pattern ${canonicalJson(pattern)}`, inner(held)),
      );
    case 'additionalProperties': {
      const [names, patterns] = ['properties', 'patternProperties'].map((other) =>
        texts(named(schema, other).map(([name]) => name)),
      );
      return isSchema(value) ? [unlessTrue(`but ${names} ${patterns}`, inner(value))] : [];
    }
    case 'unevaluatedProperties':
      return isSchema(value) ? [unlessTrue(keyword, inner(value), { schema, aspect: 'properties' })] : [];
    case 'unevaluatedItems':
      return isSchema(value) ? [unlessTrue(keyword, inner(value), { schema, aspect: 'items' })] : [];
    case 'propertyNames':
      return isSchema(value) ? [unlessTrue(keyword, inner(value))] : [];
    case 'prefixItems':
      return schemasIn(schema, keyword).map((item, index) => unlessTrue(`item ${index}`, inner(item)));
    case 'items': {
      const first = schemasIn(schema, 'prefixItems').length;
      return isSchema(value) ? [unlessTrue(`items from ${first}`, inner(value))] : [];
    }
    case 'contains': {
      const [least, most] = [member(schema, 'minContains') ?? 1, member(schema, 'maxContains') ?? null];
      const isEmpty = aspect === 'validity' && least === 0 && most === null;
      return isSchema(value) && !isEmpty
        ? [says(`contains ${canonicalJson(least)} ${canonicalJson(most)}`, inner(value))]
        : [];
    }
    case 'if': {
      const [then, other] = [schemaIn(schema, 'then'), schemaIn(schema, 'else')];
      const isEmpty = aspect === 'validity' && then === undefined && other === undefined;
      return isSchema(value) && !isEmpty
        ? [says(keyword, ...[value, then ?? true, other ?? true].map(same))]
        : [];
    }
    case 'not':
      return isSchema(value) ? [says(keyword, same(value))] : [];
    case 'anyOf':
    case 'oneOf': {
      const order = keyword === 'anyOf' ? 'set' : 'bag';
      const schemas = schemasIn(schema, keyword);
      // A single alternative always applies, like a schema in `allOf`.
      return schemas.length === 1 ? [] : [{ ...says(keyword, ...schemas.map(same)), order }];
    }
    case 'format':
      return typeof value === 'string' && typesRefusedBy(value).length > 0
        ? [plain(keyword, value, says)]
        : [];
    case 'uniqueItems':
      return value === true ? [plain(keyword, value, says)] : [];
    default:
      return COUNTS_FROM.has(keyword) && value === 0 ? [] : [plain(keyword, value, says)];
  }
}

type ConditionFactory = (text: string, ...held: readonly HeldSubschema[]) => Condition;

function plain(keyword: string, value: JsonValue, says: ConditionFactory): Condition {
  return says(`${keyword} ${canonicalJson(value)}`);
}

/** Conditions on objects that have a certain property: the properties that it requires, or a schema. */
function dependencies(
  value: JsonValue,
  says: ConditionFactory,
  same: (held: Schema) => HeldSubschema,
): readonly Condition[] {
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, needed]) => {
    if (isSchema(needed)) return [says(`with ${canonicalJson(name)}`, same(needed))];
    return stringsOf(needed)
      .filter((other) => other !== name)
      .map((other) => says(`with ${canonicalJson(name)} ${canonicalJson(other)}`));
  });
}

function named(schema: JsonObject, keyword: string): readonly (readonly [string, Schema])[] {
  return [...namedSchemasIn(schema, keyword)];
}

function typesIn(value: JsonValue): readonly string[] {
  const names = isArray(value) ? stringsOf(value) : stringsOf([value]);
  return [...new Set(names)].filter((name) => name !== 'integer' || !names.includes('number')).sort();
}

function texts(values: readonly JsonValue[]): string {
  return [...new Set(values.map(canonicalJson))].sort().join();
}
