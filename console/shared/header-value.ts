/**
 * Finds the first character of a text that a header field cannot contain: the gateway accepts printable ASCII, and `fetch`
 * throws for some other characters. Undefined if there is none.
 *
 * @returns the character and its code point, because some look like ASCII letters and others are invisible: `“М” (U+041C)`
 */
export function invalidCharacter(text: string): string | undefined {
  const character = /[^\x20-\x7e]/u.exec(text.trim())?.[0];
  if (character === undefined) return undefined;
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return `“${character}” (U+${code})`;
}
