import { TaskTooCostlyError } from './errors.js';

/**
 * The result of a task. One that took too much time or memory says what it tried in vain to do by whatever `instead` returns or throws.
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
