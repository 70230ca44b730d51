import type { Unreadable } from '../../shared/json/strict-json.js';
import { TaskTooCostlyError } from '../../shared/workers/errors.js';
import {
  DeadlineExceededError,
  UnreadableBodyError,
  WorkbenchRefusedError,
  type BodyFault,
  type RefusalCode,
} from './errors.js';

/** What a task can end with, apart from needing something more. */
export type Outcome =
  { readonly answer: string } | { readonly unreadable: Unreadable } | { readonly refused: Refusal };

/** Why a task refuses a body, as plain data. */
export interface Refusal {
  readonly code: RefusalCode;
  readonly detail: string;
  readonly errors?: readonly BodyFault[];
  readonly url?: string;
}

/**
 * The answer of a task; a refusal is thrown.
 *
 * @throws UnreadableBodyError, WorkbenchRefusedError
 */
export function answerOf(outcome: Outcome): string {
  if ('answer' in outcome) return outcome.answer;
  if ('unreadable' in outcome) throw new UnreadableBodyError(outcome.unreadable);
  const { code, detail, errors, url } = outcome.refused;
  throw new WorkbenchRefusedError(code, detail, errors, url);
}

/**
 * What was sent is to blame when the work on it takes more than it may.
 *
 * @throws DeadlineExceededError, WorkbenchRefusedError, or what the work throws
 */
export async function withinBounds<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (cause) {
    if (!(cause instanceof TaskTooCostlyError)) throw cause;
    if (cause.bound === 'time')
      throw new DeadlineExceededError(
        'The work took longer than one piece of it may (WORKBENCH_TIMEOUT_MS), and was ended.',
        { cause },
      );
    const detail = 'The work took more memory than one piece of it may, and was ended: send less at once.';
    throw new WorkbenchRefusedError('LIMIT_EXCEEDED', detail, [], undefined, { cause });
  }
}
