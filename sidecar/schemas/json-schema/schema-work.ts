import { TaskTooCostlyError } from '../../shared/workers/errors.js';
import type { RunOptions, TaskRunner } from '../../shared/workers/tasks.js';
import type { ChangeReport } from './differences.js';
import { SchemaRefusedError } from './errors.js';
import type { CompareInput, SchemaTasks } from './tasks.js';

/** Where work on schemas is done. */
export type SchemaWorkers = TaskRunner<SchemaTasks>;

/**
 * What changes between two versions of a model, found out in a worker; see `compareModels`.
 *
 * @throws {SchemaRefusedError | WorkersBusyError | TaskFailedError}
 */
export async function reportChanges(
  input: CompareInput,
  workers: SchemaWorkers,
  options?: RunOptions,
): Promise<ChangeReport> {
  return costing(workers.run('compareSchemas', input, options));
}

/** A task that a schema made too costly is the schema's fault. @throws {SchemaRefusedError} */
export async function costing<Result>(task: Promise<Result>): Promise<Result> {
  try {
    return await task;
  } catch (error) {
    if (!(error instanceof TaskTooCostlyError)) throw error;
    const detail = `processing the schema takes too much ${error.bound}`;
    throw new SchemaRefusedError(
      'schemaTooCostly',
      `The schema is refused: ${detail}.`,
      [{ pointer: '', detail }],
      [],
      {
        cause: error,
      },
    );
  }
}
