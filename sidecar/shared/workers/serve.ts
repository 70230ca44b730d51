import { getPriority, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import type { Job, Loaded, Outcome, TaskTable } from './tasks.js';

/** How much nicer a worker is than the thread that serves, where both want the same core (nice, -20 to 19). */
const NICENESS = 5;

/** The function that a worker's entry module exports by default: it runs jobs by this table, one after the other. */
export function serve(tasks: TaskTable): (jobs: readonly Job[]) => Promise<readonly Outcome[]> {
  const byKind = new Map(Object.entries(tasks));
  standBack();
  parentPort?.postMessage({ loaded: true } satisfies Loaded);
  return async (jobs) => {
    const outcomes: Outcome[] = [];
    for (const job of jobs) outcomes.push(await outcomeOf(job, byKind));
    return outcomes;
  };
}

async function outcomeOf(
  { kind, input }: Job,
  tasks: ReadonlyMap<string, (input: never) => unknown>,
): Promise<Outcome> {
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

/** On Linux a priority is that of one thread; elsewhere it would be that of the whole process. */
function standBack(): void {
  if (parentPort === null || process.platform !== 'linux') return;
  try {
    // A new thread has the priority of the thread that started it.
    setPriority(Math.min(19, getPriority() + NICENESS));
  } catch {
    // Some sandboxes forbid it, and nothing depends on it.
  }
}
