import { useEffect, useMemo, useState } from 'preact/hooks';
import { StoredText } from './storage.js';

/** Unsaved input by name. It is kept in this tab, so that leaving a page of the console loses nothing. */
const drafts = new Map<string, unknown>();

/** Where the tab stores the drafts while the user signs in at the provider. */
const stored = new StoredText(() => sessionStorage, 'ngsi-ld-gateway.drafts');

/** Returns the draft of a name, if there is one. Each name stands for drafts of one type. */
export function getDraft(name: string): unknown {
  return drafts.get(name);
}

/** Keeps a draft, or forgets it. While there is a draft, the browser asks before the page is left. */
export function setDraft(name: string, draft: object | undefined): void {
  if (draft === undefined) drafts.delete(name);
  else drafts.set(name, draft);
  warnIf(drafts.size > 0);
}

/** Discards all drafts, so that the next person who uses this tab does not see them. */
export function clearDrafts(): void {
  drafts.clear();
  warnIf(false);
}

/** Stores the drafts for {@link restoreDrafts}, so that the page can be left without confirmation. */
export function storeDrafts(): void {
  // Without space or storage, the browser asks for confirmation, as always.
  if (drafts.size === 0 || !stored.set(JSON.stringify([...drafts]))) return;
  warnIf(false);
  // The browser may show the page again from its cache, without loading it.
  addEventListener('pageshow', restoreDrafts, { once: true });
}

/** Restores the drafts that were stored before the page was left. */
export function restoreDrafts(): void {
  const text = stored.get();
  // It is removed first, so that a damaged text cannot fail each time the page is loaded.
  stored.set(undefined);
  for (const [name, draft] of draftsIn(text)) drafts.set(name, draft);
  warnIf(drafts.size > 0);
}

/** Returns the drafts in a stored text, without those that cannot be read. */
function draftsIn(text = '[]'): readonly (readonly [string, object])[] {
  try {
    const entries: unknown = JSON.parse(text);
    return Array.isArray(entries) ? entries.filter(isEntry) : [];
  } catch {
    return [];
  }
}

function isEntry(entry: unknown): entry is readonly [string, object] {
  if (!Array.isArray(entry)) return false;
  const [name, draft] = entry as readonly unknown[];
  return typeof name === 'string' && typeof draft === 'object' && draft !== null;
}

function warnIf(isUnsaved: boolean): void {
  if (isUnsaved) addEventListener('beforeunload', warn);
  else removeEventListener('beforeunload', warn);
}

function warn(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

/**
 * Keeps a form in this tab until it is saved or discarded.
 *
 * @param name unique for each form
 * @param begin makes the initial state
 * @param version of what the initial state is made of. A new version replaces a form that was saved.
 */
export function useDraft<Form extends object>(name: string, begin: () => Form, version = '') {
  const first = useMemo(begin, [version]);
  const kept = () => getDraft(name) as Form | undefined;
  const [changed, setChanged] = useState(kept);
  const [isSaved, setIsSaved] = useState(false);
  const form = changed ?? first;
  useEffect(() => {
    if (isSaved) setChanged(undefined);
    setIsSaved(false);
  }, [version]);
  const keep = (next: Form) => {
    const draft = isSame(next, first) ? undefined : next;
    setDraft(name, draft);
    setChanged(draft);
    setIsSaved(false);
  };
  return {
    form,
    isChanged: !isSaved && !isSame(form, first),
    change: (part: Partial<Form>) => keep({ ...(kept() ?? form), ...part }),
    /** Restores the initial state. */
    discard: () => keep(first),
    /** Call it after saving: the form stays as it is, but the draft is dropped. */
    forget: () => {
      setDraft(name, undefined);
      setIsSaved(true);
    },
  };
}

function isSame(one: object, other: object): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
