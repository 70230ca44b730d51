/**
 * Whether anyone looks at this tab. One that is hidden holds no connection: browsers open six to a gateway over HTTP/1.1, for
 * all tabs together, and a stream of events takes one of them for as long as it lasts.
 */

/** Resolves when the tab is seen, or the signal aborts. */
export function whenSeen(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (!document.hidden || signal.aborted) {
      resolve();
      return;
    }
    const look = () => {
      if (document.hidden && !signal.aborted) return;
      document.removeEventListener('visibilitychange', look);
      signal.removeEventListener('abort', look);
      resolve();
    };
    document.addEventListener('visibilitychange', look);
    signal.addEventListener('abort', look);
  });
}

/** Does something with a signal that aborts when the tab is hidden, and with the one given. */
export async function whileSeen<Value>(
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const hidden = new AbortController();
  const look = () => {
    if (document.hidden) hidden.abort();
  };
  document.addEventListener('visibilitychange', look);
  try {
    return await work(AbortSignal.any([signal, hidden.signal]));
  } finally {
    document.removeEventListener('visibilitychange', look);
  }
}
