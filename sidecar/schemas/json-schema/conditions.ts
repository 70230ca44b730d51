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
import { ASSERTIONS, BOUNDS } from './keywords.js';

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

const FOR_ARRAYS = [
  'items',
  'prefixItems',
  'contains',
  'minItems',
  'maxItems',
  'uniqueItems',
  'unevaluatedItems',
];
const FOR_OBJECTS = [
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
];
const FOR_SCALARS = [...BOUNDS, 'minLength', 'maxLength', 'pattern', 'format'];

/** Keywords that have no effect on which properties, or which items, are evaluated. */
const IRRELEVANT: Readonly<Record<Aspect, ReadonlySet<string>>> = {
  validity: new Set(),
  properties: new Set([...FOR_ARRAYS, ...FOR_SCALARS]),
  items: new Set([...FOR_OBJECTS, ...FOR_SCALARS]),
};

/** Keywords that have no effect with the value 0. */
const COUNTS_FROM: ReadonlySet<string> = new Set(['minLength', 'minItems', 'minProperties']);

/** Keywords that are handled with the keyword they belong to, or when schemas are collected. */
const READ_ELSEWHERE: ReadonlySet<string> = new Set(['minContains', 'maxContains', 'then', 'else', 'allOf']);

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
  return Object.keys(schema).flatMap((keyword) =>
    !ASSERTIONS.has(keyword) || READ_ELSEWHERE.has(keyword) || IRRELEVANT[view].has(keyword)
      ? []
      : keywordConditions(keyword, schema, view),
  );
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
