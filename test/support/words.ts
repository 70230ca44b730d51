/** The words of a text, in their order: a list of many short ones that would take a line each. */
export function words(text: string): string[] {
  return text.trim().split(/\s+/);
}
