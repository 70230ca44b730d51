/** A JSON object whose members are not known. Own members only: names come from users. */
export type JsonMap = Readonly<Record<string, unknown>>;

export function isMap(value: unknown): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An own member; undefined when there is none, also for names that every object inherits. */
export function memberOf(map: JsonMap, name: string): unknown {
  return Object.hasOwn(map, name) ? map[name] : undefined;
}

/** A JSON pointer (RFC 6901) that goes on from another one. */
export function pointerTo(base: string, ...tokens: readonly (string | number)[]): string {
  let pointer = base;
  for (const token of tokens) pointer += `/${typeof token === 'number' ? token : escaped(token)}`;
  return pointer;
}

function escaped(token: string): string {
  return /[~/]/.test(token) ? token.replaceAll('~', '~0').replaceAll('/', '~1') : token;
}

/** Whether two values are the same JSON: the order of an object's members does not count. */
export function sameValue(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((item, index) => sameValue(item, other[index]));
  if (!isMap(one) || !isMap(other)) return false;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && sameValue(one[name], other[name]))
  );
}
