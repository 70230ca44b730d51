import type { Problem } from '../ngsi-ld/problem.js';
import { GatewayError, type ProblemKind, type ProblemMembers } from '../shared/errors.js';
import { problem } from './problem-kinds.js';

/** A request that HTTP handling itself refuses, before it reaches the application. */
export class RequestRefusedError extends GatewayError {
  readonly problem: Problem;

  /** @param headers of the answer */
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

/** {@link RequestRefusedError}, to be thrown. */
export function refused(...refusal: ConstructorParameters<typeof RequestRefusedError>): RequestRefusedError {
  return new RequestRefusedError(...refusal);
}
