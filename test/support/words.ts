/**
 * Returns the words of a text in order; for long lists of short words, which would take a line
 * each.
 */
export function words(text: string): string[] {
  return text.trim().split(/\s+/);
}
