import type { RunOptions, TaskRunner } from '../../shared/workers/tasks.js';
import { costing } from '../json-schema/schema-work.js';
import type { ExampleInput, ExampleTasks, MadeExample } from './example-tasks.js';

/**
 * An example entity of a model, made and checked in a worker; see `exampleTasks`.
 *
 * @throws {SchemaTooCostlyError | WorkersBusyError | TaskFailedError}
 */
export async function makeExample(
  input: ExampleInput,
  workers: TaskRunner<ExampleTasks>,
  options?: RunOptions,
): Promise<MadeExample> {
  return costing(workers.run('makeExample', input, options));
}
