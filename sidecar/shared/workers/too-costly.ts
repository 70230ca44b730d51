import { TaskTooCostlyError } from './errors.js';

/**
 * The result of a task. For one that takes too much time or memory, what `instead` returns or throws.
 *
 * @throws what the task and `instead` throw
 */
export async function unlessTooCostly<Result, Instead = never>(
  task: Promise<Result>,
  instead: (error: TaskTooCostlyError) => Instead,
): Promise<Result | Instead> {
  try {
    return await task;
  } catch (error) {
    if (error instanceof TaskTooCostlyError) return instead(error);
    throw error;
  }
}
