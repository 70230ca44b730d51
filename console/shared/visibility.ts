/**
 * Whether this tab is visible. A hidden tab keeps no connection open: over HTTP/1.1, browsers open six to a gateway for all
 * tabs together, and an event stream occupies one of them for as long as it lasts.
 */

/** Resolves when the tab is visible, or the signal aborts. */
export function whenVisible(signal: AbortSignal): Promise<void> {
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
