import type { RunOptions, TaskRunner } from '../../shared/workers/tasks.js';
import { costing } from '../json-schema/schema-work.js';
import type { ExampleTexts, ExampleTasks, MadeExampleText } from './example-tasks.js';

/**
 * An example entity of a model, as text, made and checked in a worker; see `exampleTasks`.
 *
 * @throws {SchemaRefusedError | WorkersBusyError | TaskFailedError}
 */
export async function makeExample(
  input: ExampleTexts,
  workers: TaskRunner<ExampleTasks>,
  options?: RunOptions,
): Promise<MadeExampleText> {
  return costing(workers.run('makeExample', input, options));
}
