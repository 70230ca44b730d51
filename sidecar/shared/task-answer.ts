import type { ProblemKind } from './errors.js';
import type { InputIssue } from './json/json.js';
import type { Unreadable } from './json/strict-json.js';

/** Why a task on a body refuses it, as plain data that crosses threads. */
export interface TaskRefusal<Kind extends ProblemKind> {
  readonly kind: Kind;
  /** A sentence. */
  readonly detail: string;
  /** Pointers are into the body; empty where no place of it is at fault. */
  readonly errors: readonly InputIssue[];
  /** Of the document that is the reason. */
  readonly url?: string;
}

export interface Refused<Kind extends ProblemKind> {
  readonly refused: TaskRefusal<Kind>;
}

/** What a task on the text of a body ends with: the text of the answer, or why there is none. */
export type TaskAnswer<Kind extends ProblemKind> =
  | { readonly answer: string }
  | { readonly unreadable: Unreadable }
  | Refused<Kind>;
