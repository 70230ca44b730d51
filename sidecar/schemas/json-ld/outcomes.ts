import type { Unreadable } from '../../shared/json/strict-json.js';
import type { ContextFault } from './errors.js';
import type { ContextFailureCode, Needs } from './supplied.js';

/** Why a request is refused. */
export interface Refusal {
  readonly code: ContextFailureCode | 'BODY_INVALID' | 'DATA_DROPPED' | 'JSON_LD_INVALID' | 'LIMIT_EXCEEDED';
  readonly detail: string;
  /** Pointers are into the body. */
  readonly errors?: readonly ContextFault[];
  /** Of the context that is the reason. */
  readonly url?: string;
}

export interface Refused {
  readonly refused: Refusal;
}

/** What a task on a body ends with: the text of the answer, or why there is none. */
export type Outcome = { readonly answer: string } | { readonly unreadable: Unreadable } | Refused | Needs;

/** A request that is refused for faults at places of the body. @param subject the beginning of a sentence */
export function refusedFor(code: Refusal['code'], subject: string, errors: readonly ContextFault[]): Refused {
  return { refused: { code, detail: `${subject}: ${errors[0]?.detail ?? 'no reason known'}`, errors } };
}
