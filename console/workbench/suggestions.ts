import type { Schemas } from '../api/client.js';

export type Suggestion = Schemas['Suggestion'];

/** A finding that says what was meant. */
export interface Suggesting {
  readonly pointer: string;
  readonly suggestion?: Suggestion | undefined;
}

/**
 * A text with what was suggested; the rest stays as it was written. Of several, those that no longer fit are left out.
 *
 * @returns the same text where nothing fits any more
 */
export async function withSuggestions(text: string, findings: readonly Suggesting[]): Promise<string> {
  // The parser comes with the editor, and is there when something was found.
  const { editOf } = await import('../editor/json-places.js');
  const edits = findings.flatMap(({ pointer, suggestion }) => {
    const edit = suggestion === undefined ? undefined : editOf(text, pointer, suggestion);
    return edit === undefined ? [] : [edit];
  });
  // From the end, so that places before stay; of two for one place, the first.
  const ordered = edits.sort((one, other) => other.from - one.from);
  let [made, end] = [text, Infinity];
  for (const { from, to, insert } of ordered) {
    if (to > end) continue;
    made = made.slice(0, from) + insert + made.slice(to);
    end = from;
  }
  return made;
}
