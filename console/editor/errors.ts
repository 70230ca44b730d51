import { ApiError } from '../api/client.js';

/** A position in a text: a JSON pointer, or a line and a column from 1. */
export interface Position {
  readonly pointer?: string;
  readonly line?: number;
  readonly column?: number;
}

/** An error that the gateway finds in a text, with its position if known. */
export interface TextError extends Position {
  readonly detail: string;
}

/**
 * Returns the errors that a problem reports in a text that was sent as a member of the body.
 *
 * @param member the pointer of the member, such as `/schema`
 * @param linesBefore number of lines of the body before those of the text
 */
export function errorsOf(error: unknown, member: string, linesBefore: number): readonly TextError[] {
  if (!(error instanceof ApiError)) return [];
  const { errors, line, column, detail, title } = error.problem;
  if (Array.isArray(errors))
    return errors.flatMap((one: unknown) => {
      const { pointer, detail: message } = (one ?? {}) as Readonly<Record<string, unknown>>;
      if (typeof pointer !== 'string' || typeof message !== 'string') return [];
      if (pointer !== member && !pointer.startsWith(`${member}/`)) return [{ detail: message }];
      return [{ detail: message, pointer: pointer.slice(member.length) }];
    });
  if (typeof line !== 'number' || line <= linesBefore) return [];
  const place = { line: line - linesBefore, ...(typeof column === 'number' ? { column } : {}) };
  return [{ detail: detail ?? title, ...place }];
}

/** Returns undefined if a text is one JSON value; otherwise the browser's error message. */
export function jsonError(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
