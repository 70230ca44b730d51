import { GatewayError } from '../../shared/errors.js';
import type { InputIssue } from '../../shared/json/pointer.js';
import type { Unreadable } from '../../shared/json/strict-json.js';
import type { TaskAnswer } from '../../shared/task-answer.js';
import { unlessTooCostly } from '../../shared/workers/too-costly.js';

/**
 * The answer of a task; a refusal is thrown.
 *
 * @throws UnreadableBodyError, WorkbenchRefusedError
 */
export function answerOf(outcome: TaskAnswer<RefusalCode>): string {
  if ('answer' in outcome) return outcome.answer;
  if ('unreadable' in outcome) throw new UnreadableBodyError(outcome.unreadable);
  const { code, detail, errors, url } = outcome.refused;
  throw new WorkbenchRefusedError(code, detail, errors, url);
}

/**
 * Turns exceeded limits of a worker into errors that blame the input.
 *
 * @throws DeadlineExceededError, WorkbenchRefusedError, or what the work throws
 */
export function withinBounds<Result>(work: Promise<Result>): Promise<Result> {
  return unlessTooCostly(work, (cause) => {
    if (cause.bound === 'time')
      throw new DeadlineExceededError('The work exceeded WORKBENCH_TIMEOUT_MS and was ended.', { cause });
    const detail = 'The work took too much memory and was ended. Send less at a time.';
    throw new WorkbenchRefusedError('LIMIT_EXCEEDED', detail, [], undefined, { cause });
  });
}

/** A body that is not JSON, is ambiguous JSON, or is nested too deeply. */
export class UnreadableBodyError extends GatewayError {
  readonly code = 'BODY_UNREADABLE';

  constructor(readonly unreadable: Unreadable) {
    const { line, column, detail } = unreadable;
    super(`The body is unreadable: line ${line}, column ${column}: ${detail}.`);
  }
}

/** Why a body is refused; http/ maps each code to a kind of problem. */
export type RefusalCode =
  | 'BODY_INVALID'
  | 'CONTEXT_FETCH_FAILED'
  | 'CONTEXT_REFUSED'
  | 'CONTEXT_UNUSABLE'
  | 'DATA_DROPPED'
  | 'JSON_LD_INVALID'
  | 'LIMIT_EXCEEDED'
  | 'SAMPLES_INVALID'
  | 'SAMPLES_TOO_RICH'
  | 'TYPE_AMBIGUOUS'
  | 'TYPE_UNKNOWN';

/** A body that was read, and that cannot be worked on. */
export class WorkbenchRefusedError extends GatewayError {
  /** @param url of the context that is the reason */
  constructor(
    readonly code: RefusalCode,
    detail: string,
    readonly errors: readonly InputIssue[] = [],
    readonly url?: string,
    options?: ErrorOptions,
  ) {
    super(detail, options);
  }
}

/** The work took longer than one piece of it may. */
export class DeadlineExceededError extends GatewayError {
  readonly code = 'WORK_DEADLINE_EXCEEDED';
}
