import type { Targets } from './flatten.js';
import {
  isArray,
  isObject,
  isSchema,
  member,
  sameJson,
  type JsonObject,
  type JsonValue,
  type Schema,
} from '../../shared/json/json.js';
import { ASSERTIONS, holdsNamedSchemas } from './keywords.js';

/** Lists whose order and repetitions mean nothing. */
const SETS: ReadonlySet<string> = new Set(['enum', 'required', 'type']);

/** Whether two schemas say the same in the same way: annotations, order and the names of definitions do not count. */
export function isSameSchema(one: Schema, other: Schema, targets: Targets): boolean {
  const assumed = new Map<JsonObject, Set<JsonObject>>();

  const schemas = (first: Schema, second: Schema): boolean => {
    if (first === second) return true;
    if (!isObject(first) || !isObject(second)) return false;
    const partners = assumed.get(first) ?? new Set();
    if (partners.has(second)) return true;
    assumed.set(first, partners.add(second));
    const [ownFirst, ownSecond] = [keywordsOf(first), keywordsOf(second)];
    return (
      ownFirst.length === ownSecond.length &&
      ownFirst.every((keyword) => values(keyword, member(first, keyword), member(second, keyword)))
    );
  };

  const values = (keyword: string, first: JsonValue | undefined, second: JsonValue | undefined): boolean => {
    if (first === undefined || second === undefined) return false;
    if (keyword === '$ref')
      return typeof first === 'string' && typeof second === 'string' && refs(first, second);
    if (SETS.has(keyword)) return sets(first, second);
    if (keyword === 'const') return sameJson(first, second);
    if (isArray(first))
      return (
        isArray(second) &&
        first.length === second.length &&
        first.every((item, index) => held(item, second[index]))
      );
    if (
      isObject(first) &&
      isObject(second) &&
      (holdsNamedSchemas(keyword) || keyword === 'dependentRequired')
    ) {
      const names = Object.keys(first);
      return (
        names.length === Object.keys(second).length &&
        names.every((name) => held(member(first, name), member(second, name)))
      );
    }
    return held(first, second);
  };

  const held = (first: JsonValue | undefined, second: JsonValue | undefined): boolean => {
    if (isSchema(first) && isSchema(second)) return schemas(first, second);
    if (isArray(first) && isArray(second)) return sets(first, second);
    return sameJson(first, second);
  };

  const refs = (first: string, second: string): boolean => {
    const [target, otherTarget] = [targets.get(first), targets.get(second)];
    return target !== undefined && otherTarget !== undefined && schemas(target, otherTarget);
  };

  return schemas(one, other);
}

function keywordsOf(schema: JsonObject): readonly string[] {
  return Object.keys(schema).filter((keyword) => keyword === '$ref' || ASSERTIONS.has(keyword));
}

function sets(one: JsonValue, other: JsonValue): boolean {
  if (!isArray(one) || !isArray(other)) return sameJson(one, other);
  const within = (items: readonly JsonValue[], all: readonly JsonValue[]): boolean =>
    items.every((item) => all.some((candidate) => sameJson(item, candidate)));
  return within(one, other) && within(other, one);
}
