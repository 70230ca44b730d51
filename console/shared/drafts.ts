import { useState } from 'preact/hooks';

/** What was typed and not saved, by name: kept in this tab, so that looking elsewhere loses nothing. */
const drafts = new Map<string, unknown>();

/** Under which the tab stores the drafts while somebody signs in elsewhere. */
const STORED = 'ngsi-ld-gateway.drafts';

/** What was typed under a name, if there is something. Each name stands for drafts of one type. */
export function draftOf(name: string): unknown {
  return drafts.get(name);
}

/** Keeps a draft, or forgets it. While there is one, the browser asks before the page is left. */
export function keepDraft(name: string, draft: object | undefined): void {
  if (draft === undefined) drafts.delete(name);
  else drafts.set(name, draft);
  askIf(drafts.size > 0);
}

/** Discards all drafts, so that the next person who uses this tab does not see them. */
export function forgetDrafts(): void {
  drafts.clear();
  askIf(false);
}

/** Stores the drafts for {@link restoreDrafts}, so that the page can be left without a question. */
export function storeDrafts(): void {
  if (drafts.size === 0) return;
  try {
    sessionStorage.setItem(STORED, JSON.stringify([...drafts]));
  } catch {
    // There is no room, or no storage: the browser asks, as for any other way to leave.
    return;
  }
  askIf(false);
  // A page that the browser kept whole is shown again without being loaded.
  addEventListener('pageshow', restoreDrafts, { once: true });
}

/** Takes back the drafts that were stored before the page was left. */
export function restoreDrafts(): void {
  try {
    const stored = sessionStorage.getItem(STORED);
    sessionStorage.removeItem(STORED);
    for (const [name, draft] of JSON.parse(stored ?? '[]') as [string, object][]) drafts.set(name, draft);
  } catch {
    // Without a storage, nothing was stored.
  }
  askIf(drafts.size > 0);
}

function askIf(isUnsaved: boolean): void {
  if (isUnsaved) addEventListener('beforeunload', ask);
  else removeEventListener('beforeunload', ask);
}

function ask(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

/** A form, and whether it differs from what it began with. */
export interface Drafted<Form> {
  readonly form: Form;
  readonly isChanged: boolean;
  readonly change: (changed: Partial<Form>) => void;
  /** Goes back to what it began with. */
  readonly discard: () => void;
  /** To be called once it is saved: it stays as it is, and is not kept any longer. */
  readonly forget: () => void;
}

/** A form that stays in this tab until it is saved or discarded. @param name no other form has it */
export function useDraft<Form extends object>(name: string, begin: () => Form): Drafted<Form> {
  const [first] = useState(begin);
  const kept = () => draftOf(name) as Form | undefined;
  const [form, setForm] = useState(() => kept() ?? first);
  const keep = (next: Form) => {
    keepDraft(name, isSame(next, first) ? undefined : next);
    setForm(next);
  };
  return {
    form,
    isChanged: !isSame(form, first),
    change: (changed) => keep({ ...(kept() ?? form), ...changed }),
    discard: () => keep(first),
    forget: () => keepDraft(name, undefined),
  };
}

function isSame(one: object, other: object): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
