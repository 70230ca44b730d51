import { isArray, isObject, type JsonValue, member } from './json.js';

/** A JSON pointer (RFC 6901) of these reference tokens, without the `#` of a fragment. */
export function pointerOf(tokens: readonly string[]): string {
  return pointerTo('', ...tokens);
}

/** A JSON pointer that goes on from another one. */
export function pointerTo(base: string, ...tokens: readonly (string | number)[]): string {
  let pointer = base;
  for (const token of tokens) pointer += `/${typeof token === 'number' ? token : escaped(token)}`;
  return pointer;
}

function escaped(token: string): string {
  return /[~/]/.test(token) ? token.replaceAll('~', '~0').replaceAll('/', '~1') : token;
}

/** The reference tokens of a JSON pointer; undefined when the text is not a pointer. */
export function tokensOf(pointer: string): readonly string[] | undefined {
  if (pointer === '') return [];
  if (!pointer.startsWith('/') || /~(?![01])/.test(pointer)) return undefined;
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The pointer as the fragment of a URI (RFC 6901 section 6), without `#`. */
export function fragmentOf(tokens: readonly string[]): string {
  // What encodeURI leaves alone may stand in a fragment, except `#`. It throws on half a surrogate pair.
  return encodeURI(pointerOf(tokens).replaceAll(/[\uD800-\uDFFF]/gu, '\uFFFD')).replaceAll('#', '%23');
}

/** One step of a pointer: a member of an object, or an item of an array. */
export function step(value: JsonValue | undefined, token: string): JsonValue | undefined {
  if (isObject(value)) return member(value, token);
  if (!isArray(value) || !/^(?:0|[1-9]\d*)$/.test(token)) return undefined;
  return value[Number(token)];
}

/** What is wrong at one place of an input. */
export interface InputIssue {
  /** JSON Pointer (RFC 6901) into the input. */
  readonly pointer: string;
  /** A sentence or predicate for people. */
  readonly detail: string;
}
