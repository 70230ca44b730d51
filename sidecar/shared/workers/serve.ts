import { getPriority, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { systemThread } from '../clock.js';
import type { Job, Loaded, JobResult, TaskTable } from './tasks.js';

/** How much lower the priority of a worker is than that of the main thread (nice, -20 to 19). */
const NICENESS = 5;

/** The default export of a worker's entry module: a function that runs jobs, one after the other. */
export function serve(tasks: TaskTable): (jobs: readonly Job[]) => Promise<readonly JobResult[]> {
  const byKind = new Map(Object.entries(tasks));
  lowerPriority();
  parentPort?.postMessage({ loaded: true, thread: systemThread() } satisfies Loaded);
  return async (jobs) => {
    const outcomes: JobResult[] = [];
    for (const job of jobs) outcomes.push(await outcomeOf(job, byKind));
    return outcomes;
  };
}

async function outcomeOf(
  { kind, input }: Job,
  tasks: ReadonlyMap<string, (input: never) => unknown>,
): Promise<JobResult> {
  const start = performance.now();
  try {
    const task = tasks.get(kind);
    if (task === undefined) throw new Error(`No task is called ${kind}.`);
    const value = await task(input as never);
    return { value, ms: performance.now() - start };
  } catch (error) {
    return {
      error: error instanceof Error ? error : new Error(String(error)),
      ms: performance.now() - start,
    };
  }
}

/** On Linux, a priority applies to one thread; elsewhere to the whole process. */
function lowerPriority(): void {
  if (parentPort === null || process.platform !== 'linux') return;
  try {
    // A new thread has the priority of the thread that started it.
    setPriority(Math.min(19, getPriority() + NICENESS));
  } catch {
    // Some sandboxes forbid it. Nothing depends on it.
  }
}
