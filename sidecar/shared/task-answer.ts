import type { ProblemKind } from './errors.js';
import type { InputIssue } from './json/json.js';
import type { Unreadable } from './json/strict-json.js';

/** The reason why a task refuses a body, as plain data that can be sent between threads. */
export interface TaskRefusal<Kind extends ProblemKind> {
  readonly kind: Kind;
  /** A sentence. */
  readonly detail: string;
  /** Pointers are relative to the body; empty if no specific place is at fault. */
  readonly errors: readonly InputIssue[];
  /** URL of the document that is the reason. */
  readonly url?: string;
}

export interface Refused<Kind extends ProblemKind> {
  readonly refused: TaskRefusal<Kind>;
}

/** The result of a task on the text of a body: the text of the answer, or why there is none. */
export type TaskAnswer<Kind extends ProblemKind> =
  | { readonly answer: string }
  | { readonly unreadable: Unreadable }
  | Refused<Kind>;
