/** The gateway token: kept in the storage of this tab, which ends with it, and nowhere else. */

const KEY = 'ngsi-ld-gateway.token';

let inMemory: string | undefined;
let waiting: { readonly answer: Promise<boolean>; readonly settle: (given: boolean) => void } | undefined;
const listeners = new Set<() => void>();

/** The token of this tab, if there is one. */
export function token(): string | undefined {
  try {
    return sessionStorage.getItem(KEY) ?? inMemory;
  } catch {
    return inMemory;
  }
}

/** Asks for the token. Requests that need it at the same time share one question. @returns whether one was given */
export function askForToken(): Promise<boolean> {
  if (waiting === undefined) {
    let settle: (given: boolean) => void = () => undefined;
    const answer = new Promise<boolean>((resolve) => (settle = resolve));
    waiting = { answer, settle };
    notify();
  }
  return waiting.answer;
}

/** Answers the question. @param given undefined: there is no token to give */
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
    // There is nothing to forget, then.
  }
  notify();
}

/** Whether the token is asked for now. */
export function isAskedForToken(): boolean {
  return waiting !== undefined;
}

/** Calls back on each change, until the returned function is called. */
export function onTokenChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function keep(given: string): void {
  inMemory = given;
  try {
    sessionStorage.setItem(KEY, given);
  } catch {
    // It holds until the page is left.
  }
}

function notify(): void {
  for (const listener of listeners) listener();
}
