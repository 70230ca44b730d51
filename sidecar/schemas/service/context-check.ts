import type { CheckedContext } from '../json-ld/check-context.js';
import { unwrapped } from '../json-ld/context-form.js';
import { ContextInvalidError, type ContextFault } from '../json-ld/errors.js';
import { runWithContexts } from '../json-ld/run-with-contexts.js';
import type { Supply } from '../json-ld/supplied.js';
import type { JsonLdTasks } from '../json-ld/tasks.js';
import { TaskTooCostlyError } from '../../shared/workers/errors.js';
import type { TaskRunner } from '../../shared/workers/tasks.js';

export interface ContextCheck {
  readonly workers: TaskRunner<Pick<JsonLdTasks, 'checkContext'>>;
  /** Gets the contexts that it names. */
  readonly supply: (url: string) => Promise<Supply>;
  /** Where it stands in the body. */
  readonly pointer: string;
}

/** A custom context that was found valid. */
export interface AcceptedContext extends CheckedContext {
  /** What a GET of it answers. */
  readonly text: string;
}

/**
 * Checks a custom context in a worker; see `parseContext`.
 *
 * @throws ContextInvalidError, WorkersBusyError, TaskFailedError, StoreUnavailableError
 */
export async function acceptContext(submitted: unknown, check: ContextCheck): Promise<AcceptedContext> {
  const { workers, supply, pointer } = check;
  const text = JSON.stringify(submitted ?? null);
  const refused = (detail: string, options?: ErrorOptions) => {
    const faults: readonly ContextFault[] = [{ pointer, detail }];
    return new ContextInvalidError(faults, options);
  };
  try {
    const run = runWithContexts(
      (supplied) => workers.run('checkContext', { text, pointer, supplied }),
      supply,
    );
    const outcome = await run;
    if ('refused' in outcome) throw refused(outcome.refused.detail);
    if ('invalid' in outcome) throw new ContextInvalidError(outcome.invalid);
    if (!('checked' in outcome)) throw new Error('A check of a context ended without a verdict.');
    const { value } = unwrapped(submitted, '');
    return { text: JSON.stringify({ '@context': value }), ...outcome.checked };
  } catch (error) {
    if (!(error instanceof TaskTooCostlyError)) throw error;
    throw refused(`Processing the context takes too much ${error.bound}.`, { cause: error });
  }
}
