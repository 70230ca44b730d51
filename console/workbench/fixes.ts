import type { Schemas } from '../api/client.js';

export type Suggestion = Schemas['Suggestion'];

/** A finding that may suggest a fix. */
export interface Fixable {
  readonly pointer: string;
  readonly suggestion?: Suggestion | undefined;
}

/**
 * Applies suggestions to a text; all other text stays unchanged. Suggestions that no longer apply are skipped.
 *
 * @returns the same text if none applies any longer
 */
export async function applyFixes(text: string, findings: readonly Fixable[]): Promise<string> {
  // The parser is part of the editor, which is loaded by the time there are findings.
  const { editOf } = await import('../editor/json-positions.js');
  const edits = findings.flatMap(({ pointer, suggestion }) => {
    const edit = suggestion === undefined ? undefined : editOf(text, pointer, suggestion);
    return edit === undefined ? [] : [edit];
  });
  // From the end, so that earlier positions stay valid; of two edits at one position, the first is used.
  const ordered = edits.sort((one, other) => other.from - one.from);
  let [made, end] = [text, Infinity];
  for (const { from, to, insert } of ordered) {
    if (to > end) continue;
    made = made.slice(0, from) + insert + made.slice(to);
    end = from;
  }
  return made;
}
