import { RequestRefusedError } from '../errors.js';
import { problemKinds, type ProblemName } from './problem-kinds.js';

/** What is wrong at one place of a body. */
export interface BodyFault {
  /** JSON pointer (RFC 6901) into the body. */
  readonly pointer: string;
  readonly detail: string;
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
  return new RequestRefusedError({ ...problemKinds[name], detail, ...members }, headers);
}

/** A refusal of a query parameter. */
export function parameterRefused(parameter: string, detail: string): RequestRefusedError {
  return refused('invalidRequest', `The parameter ${shown(parameter)} ${detail}.`, {
    parameter: parameter.slice(0, SHOWN_MAX),
  });
}

const SHOWN_MAX = 100;

/** A name from outside as messages may show it. */
export function shown(name: string): string {
  return JSON.stringify(name.length > SHOWN_MAX ? `${name.slice(0, SHOWN_MAX)}…` : name);
}
