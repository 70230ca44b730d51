import { isArray, isObject, member, type JsonValue } from '../../shared/json/json.js';

type Tokens = readonly string[];

/** Compares places in a document by their order there; a place comes before what is in it. */
export function documentOrder(document: JsonValue): (one: Tokens, other: Tokens) => number {
  const ranks = new Map<JsonValue, ReadonlyMap<string, number>>();
  const rankOf = (value: JsonValue | undefined, token: string): number => {
    if (!isObject(value)) return Number(token);
    const known =
      ranks.get(value) ?? new Map(Object.keys(value).map((name, index) => [name, index] as const));
    ranks.set(value, known);
    return known.get(token) ?? Infinity;
  };
  return (one, other) => {
    let value: JsonValue | undefined = document;
    for (let index = 0; index < Math.min(one.length, other.length); index += 1) {
      const [first, second] = [one[index] ?? '', other[index] ?? ''];
      if (first !== second) return rankOf(value, first) - rankOf(value, second) || 0;
      value = inner(value, first);
    }
    return one.length - other.length;
  };
}

function inner(value: JsonValue | undefined, token: string): JsonValue | undefined {
  if (isObject(value)) return member(value, token);
  return isArray(value) ? value[Number(token)] : undefined;
}
