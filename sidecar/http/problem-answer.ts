import { ownType, type Problem } from '../ngsi-ld/problem.js';

/** A problem and the headers that belong to it. */
export interface ProblemAnswer {
  readonly problem: Problem;
  readonly headers: Readonly<Record<string, string>>;
}

export function answer(body: Problem, headers: Readonly<Record<string, string>> = {}): ProblemAnswer {
  return { problem: body, headers };
}

export function problem(type: string, title: string, status: number, detail: string): Problem {
  return { type, title, status, detail };
}

/** An answer with a problem type of ours. @param name a heading in docs/errors.md */
export function own(
  name: string,
  title: string,
  status: number,
  detail: string,
  members: Readonly<Record<string, unknown>> = {},
  headers: Readonly<Record<string, string>> = {},
): ProblemAnswer {
  return answer({ ...problem(ownType(name), title, status, detail), ...members }, headers);
}
