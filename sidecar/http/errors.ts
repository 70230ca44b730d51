import type { Problem } from '../ngsi-ld/problem.js';
import { GatewayError } from '../shared/errors.js';
import { problem, type ProblemName } from './problem-kinds.js';

/** A request that HTTP handling itself refuses, with the problem to answer. */
export class RequestRefusedError extends GatewayError {
  readonly code = 'REQUEST_REFUSED';

  constructor(
    readonly problem: Problem,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(problem.detail ?? problem.title);
  }
}

/**
 * A refusal of a request before it reaches the application.
 *
 * @param members beyond those of every problem, e.g. `parameter` or `errors`
 */
export function refused(
  name: ProblemName,
  detail: string,
  members: Readonly<Record<string, unknown>> = {},
  headers: Readonly<Record<string, string>> = {},
): RequestRefusedError {
  return new RequestRefusedError(problem(name, detail, members), headers);
}
