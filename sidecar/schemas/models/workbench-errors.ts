import { GatewayError, type ProblemMembers } from '../../shared/errors.js';
import type { InputIssue } from '../../shared/json/json.js';
import type { Unreadable } from '../../shared/json/strict-json.js';

/** A body that is not JSON, is ambiguous JSON, or is nested too deeply. */
export class UnreadableBodyError extends GatewayError {
  /** Text that is not JSON is a bad request. JSON that is nested too deeply is well-formed but refused. */
  readonly kind: 'limitExceeded' | 'invalidRequest';

  constructor(readonly unreadable: Unreadable) {
    const { line, column, detail, isTooDeep } = unreadable;
    super(`The body cannot be read as JSON: line ${line}, column ${column}: ${detail}.`);
    this.kind = isTooDeep ? 'limitExceeded' : 'invalidRequest';
  }

  override get members(): ProblemMembers {
    const { line, column } = this.unreadable;
    return { line, column };
  }
}

/** Why a body is refused. */
export type WorkRefusal =
  | 'bodyInvalid'
  | 'contextInvalid'
  | 'contextRefused'
  | 'contextUnavailable'
  | 'dataDropped'
  | 'jsonLdInvalid'
  | 'limitExceeded'
  | 'notFound'
  | 'typeAmbiguous';

/** A body that was read but cannot be processed. */
export class WorkbenchRefusedError extends GatewayError {
  /** @param url URL of the context that is the reason */
  constructor(
    readonly kind: WorkRefusal,
    detail: string,
    readonly errors: readonly InputIssue[] = [],
    readonly url?: string,
    options?: ErrorOptions,
  ) {
    super(detail, options);
  }

  override get members(): ProblemMembers {
    const { errors, url } = this;
    return { ...(errors.length === 0 ? {} : { errors }), ...(url === undefined ? {} : { url }) };
  }
}

/** The work took longer than a single task may. */
export class DeadlineExceededError extends GatewayError {
  readonly kind = 'deadlineExceeded';
}
