import { getPriority } from 'node:os';
import { threadId } from 'node:worker_threads';
import { serve } from '../../sidecar/shared/workers/tasks.js';

/** A worker's module whose tasks answer, fail or never end, as they are told. */
serve({
  echo: (input: unknown) => input,
  later: async (input: unknown) => {
    await new Promise((resolve) => setImmediate(resolve));
    return input;
  },
  fail(reason: string): never {
    throw new RangeError(reason);
  },
  spin(): never {
    for (;;);
  },
  /** Gives back what cannot cross threads. */
  strange: () => () => undefined,
  niceness: () => getPriority(),
  thread: () => threadId,
});

/** What this worker can do. */
export interface BusyTasks {
  readonly [kind: string]: (input: never) => unknown;
  readonly echo: (input: unknown) => unknown;
  readonly later: (input: unknown) => Promise<unknown>;
  readonly fail: (reason: string) => never;
  readonly spin: (input: null) => never;
  readonly strange: (input: null) => unknown;
  readonly niceness: (input: null) => number;
  readonly thread: (input: null) => number;
}
