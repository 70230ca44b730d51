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
  const escaped = tokens.map((token) => `/${String(token).replaceAll('~', '~0').replaceAll('/', '~1')}`);
  return base + escaped.join('');
}
