/**
 * The first character of a text that cannot be in a header field: the gateway takes printable ASCII, and `fetch` throws for
 * some of the others. Undefined where all of them can.
 *
 * @returns the character and its code point, since some look like letters of ASCII, and others like nothing: `“М” (U+041C)`
 */
export function unsendable(text: string): string | undefined {
  const character = /[^\x20-\x7e]/u.exec(text.trim())?.[0];
  if (character === undefined) return undefined;
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return `“${character}” (U+${code})`;
}
