import { parentPort } from 'node:worker_threads';
import type { Job, Started, TaskTable } from './tasks.js';

/** The function that a worker's entry module exports by default: it runs jobs by this table. */
export function serve(tasks: TaskTable): (job: Job) => unknown {
  const byKind = new Map(Object.entries(tasks));
  return ({ id, kind, input }) => {
    parentPort?.postMessage({ started: id } satisfies Started);
    const task = byKind.get(kind);
    if (task === undefined) throw new Error(`No task is called ${kind}.`);
    return task(input as never);
  };
}
