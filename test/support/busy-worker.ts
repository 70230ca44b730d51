import { getPriority } from 'node:os';
import { threadId } from 'node:worker_threads';
import { serve } from '../../sidecar/shared/workers/tasks.js';

/** The module of a worker whose tasks answer, fail or never end, as requested. */
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
  /** Returns something that cannot be sent between threads. */
  strange: () => () => undefined,
  niceness: () => getPriority(),
  thread: () => threadId,
});

/** The tasks of this worker. */
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
