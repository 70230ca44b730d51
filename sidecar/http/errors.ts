import type { Problem } from '../ngsi-ld/problem.js';
import { GatewayError, type ProblemKind, type ProblemMembers } from '../shared/errors.js';
import { problem } from './problem-kinds.js';

/** A request that the HTTP layer itself refuses, before it reaches the application. */
export class RequestRefusedError extends GatewayError {
  readonly problem: Problem;

  /** @param headers headers of the answer */
  constructor(
    readonly kind: ProblemKind,
    detail: string,
    members: ProblemMembers = {},
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(detail);
    this.problem = problem(kind, detail, members);
  }
}

/** Creates a {@link RequestRefusedError} to throw. */
export function refused(...refusal: ConstructorParameters<typeof RequestRefusedError>): RequestRefusedError {
  return new RequestRefusedError(...refusal);
}
