import { problemKinds, type Problem } from '../shared/problem.js';
import { GatewayError, type ProblemKind, type ProblemMembers } from '../shared/errors.js';

/** Creates a problem of one kind. @param members in addition to those of every problem, e.g. `parameter` */
export function problem(
  kind: ProblemKind,
  detail: string,
  members: ProblemMembers = {},
): Problem & { readonly detail: string } {
  return { ...problemKinds[kind], detail, ...members };
}

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
