import { GatewayError } from '../../shared/errors.js';
import type { Unreadable } from '../../shared/json/strict-json.js';

/** A body that is no JSON, not JSON that everybody reads alike, or nested too deeply. */
export class UnreadableBodyError extends GatewayError {
  readonly code = 'BODY_UNREADABLE';

  constructor(readonly unreadable: Unreadable) {
    const { line, column, detail } = unreadable;
    super(`The body is unreadable: line ${line}, column ${column}: ${detail}.`);
  }
}

/** What is wrong at one place of a body. */
export interface BodyFault {
  /** JSON pointer (RFC 6901) into the body. */
  readonly pointer: string;
  readonly detail: string;
}

/** Why a body is refused; which kind of problem each is, HTTP decides. */
export type RefusalCode =
  | 'BODY_INVALID'
  | 'CONTEXT_NOT_HAD'
  | 'CONTEXT_REFUSED'
  | 'CONTEXT_UNUSABLE'
  | 'DATA_DROPPED'
  | 'JSON_LD_INVALID'
  | 'LIMIT_EXCEEDED'
  | 'SAMPLES_INVALID'
  | 'SAMPLES_TOO_RICH';

/** A body that was read, and that cannot be worked on. */
export class WorkbenchRefusedError extends GatewayError {
  /** @param url of the context that is the reason */
  constructor(
    readonly code: RefusalCode,
    detail: string,
    readonly errors: readonly BodyFault[] = [],
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
