import type { Problem } from '../ngsi-ld/problem.js';
import { GatewayError } from '../shared/errors.js';

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
