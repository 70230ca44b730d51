import { setMaxListeners } from 'node:events';

/**
 * Turns a running task into the stream of the events it emits.
 *
 * The task starts when the stream is first read. Its signal aborts when the given one does, or when the reader stops
 * reading; the stream ends only after the task has ended, and throws what the task throws.
 */
export async function* eventStream<Event>(
  signal: AbortSignal,
  task: (emit: (event: Event) => void, signal: AbortSignal) => Promise<void>,
): AsyncGenerator<Event, void> {
  const stop = new AbortController();
  // One listener for each request and wait under way, however many those are.
  setMaxListeners(0, stop.signal);
  const onAbort = () => stop.abort(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });

  let queue: Event[] = [];
  let wake = () => {};
  const over = { is: false };
  const emit = (event: Event) => {
    queue.push(event);
    wake();
  };
  const ended = task(emit, stop.signal).finally(() => {
    over.is = true;
    wake();
  });
  // The task's error is thrown below, after its last events; until then nobody else may call it unhandled.
  ended.catch(() => {});

  try {
    for (;;) {
      const events = queue;
      queue = [];
      yield* events;
      if (queue.length > 0) continue;
      if (over.is) break;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    await ended;
  } finally {
    stop.abort();
    signal.removeEventListener('abort', onAbort);
    await ended.catch(() => {});
  }
}
