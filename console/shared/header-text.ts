/**
 * The first character of a text that cannot be in a header field: the gateway takes printable ASCII, and `fetch` throws for
 * some of the others. Undefined where all of them can.
 */
export function unsendable(text: string): string | undefined {
  return /[^\x20-\x7e]/u.exec(text.trim())?.[0];
}
