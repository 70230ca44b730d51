/** The gateway token. It is kept only in the storage of this tab, which is deleted with the tab. */

const KEY = 'ngsi-ld-gateway.token';

let inMemory: string | undefined;
let waiting: { readonly answer: Promise<boolean>; readonly settle: (given: boolean) => void } | undefined;
const listeners = new Set<() => void>();

/** Returns the token of this tab, if there is one. */
export function token(): string | undefined {
  try {
    return sessionStorage.getItem(KEY) ?? inMemory;
  } catch {
    return inMemory;
  }
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
    notify();
  }
  return waiting.answer;
}

/** Answers the question. @param given undefined if the user gives no token */
export function giveToken(given: string | undefined): void {
  if (given !== undefined) keep(given);
  const { settle } = waiting ?? {};
  waiting = undefined;
  settle?.(given !== undefined);
  notify();
}

/** Forgets the token of this tab. */
export function forgetToken(): void {
  inMemory = undefined;
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    // Without storage, there is nothing to forget.
  }
  notify();
}

/** Whether the user is being asked for the token. */
export function isAskedForToken(): boolean {
  return waiting !== undefined;
}

/** Calls the listener on each change, until the returned function is called. */
export function onTokenChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function keep(given: string): void {
  inMemory = given;
  try {
    sessionStorage.setItem(KEY, given);
  } catch {
    // The token is kept in memory until the page is left.
  }
}

function notify(): void {
  for (const listener of listeners) listener();
}
