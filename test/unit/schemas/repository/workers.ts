import { type RepositoryTasks, repositoryTasks } from '../../../../sidecar/schemas/repository/tasks.js';
import type { RunOptions, TaskRunner } from '../../../../sidecar/shared/workers/tasks.js';

type Run = readonly [kind: string, options: RunOptions | undefined];

/** Workers that do their tasks at once. @param failure the error with which they fail instead */
export function workersOf(failure?: (kind: string) => Error | undefined) {
  const runs: Run[] = [];
  const tasks = repositoryTasks as unknown as Readonly<Record<string, (input: unknown) => unknown>>;
  const workers = {
    run: async (kind: string, input: unknown, options?: RunOptions) => {
      runs.push([kind, options]);
      const error = failure?.(kind);
      if (error !== undefined) throw error;
      return Promise.resolve(tasks[kind]?.(input));
    },
  } as unknown as TaskRunner<RepositoryTasks>;
  return { workers, runs };
}
