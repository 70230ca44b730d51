import { useEffect, useState } from 'preact/hooks';
import { StoredText } from '../shared/storage.js';

/** The gateway token. It is kept only in the storage of this tab, which is deleted with the tab. */
const stored = new StoredText(() => sessionStorage, 'ngsi-ld-gateway.token');

let waiting: { readonly answer: Promise<boolean>; readonly settle: (given: boolean) => void } | undefined;
const listeners = new Set<() => void>();

/** Returns the token of this tab, if there is one. */
export function token(): string | undefined {
  return stored.get();
}

/**
 * Asks the user for the token. Requests that need it at the same time share one question.
 *
 * @returns whether a token was given
 */
export function askForToken(): Promise<boolean> {
  if (waiting === undefined) {
    let settle: (given: boolean) => void = () => undefined;
    const answer = new Promise<boolean>((resolve) => (settle = resolve));
    waiting = { answer, settle };
    notifyListeners();
  }
  return waiting.answer;
}

/** Answers the question. @param given undefined if the user gives no token */
export function submitToken(given: string | undefined): void {
  if (given !== undefined) stored.set(given);
  const { settle } = waiting ?? {};
  waiting = undefined;
  settle?.(given !== undefined);
  notifyListeners();
}

/** Forgets the token of this tab. */
export function clearToken(): void {
  stored.set(undefined);
  notifyListeners();
}

/** Whether the user is being asked for the token. */
export function isTokenAsked(): boolean {
  return waiting !== undefined;
}

/** Calls the listener whenever the credentials of this tab change, or are asked for, until the returned function is called. */
export function onCredentialsChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Tells the listeners that the user has signed in or out, or that the token has changed or is asked for. */
export function notifyListeners(): void {
  for (const listener of listeners) listener();
}

/** Renders a component again whenever the credentials of this tab change, or are asked for. */
export function useCredentials(): void {
  const [, setTurn] = useState(0);
  useEffect(() => onCredentialsChange(() => setTurn((last) => last + 1)), []);
}
