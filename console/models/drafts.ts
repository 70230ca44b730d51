/** Texts that were typed and not saved: kept in this tab, so that looking elsewhere loses nothing. */
export interface Draft {
  readonly text: string;
  /** Of what it was made from. */
  readonly etag: string;
}

const drafts = new Map<string, Draft>();

/** The text that was typed under a name, if there is one. */
export function draftOf(name: string): Draft | undefined {
  return drafts.get(name);
}

/** Keeps a text, or forgets it. While there is one, the browser asks before the page is left. */
export function keepDraft(name: string, draft: Draft | undefined): void {
  if (draft === undefined) drafts.delete(name);
  else drafts.set(name, draft);
  if (drafts.size > 0) addEventListener('beforeunload', ask);
  else removeEventListener('beforeunload', ask);
}

function ask(event: BeforeUnloadEvent): void {
  event.preventDefault();
}
