/** Longest value from outside that a message repeats. */
export const QUOTED_MAX_CHARS = 100;

/** A value from outside as messages show it: in double quotes, escaped, and cut where it is long. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > QUOTED_MAX_CHARS ? `${text.slice(0, QUOTED_MAX_CHARS)}…` : text);
}
