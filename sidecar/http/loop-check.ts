import { MAX_HOPS, loopIn } from '../shared/via.js';
import type { ProblemDraft } from './forward-problem.js';
import { problem } from './problem-kinds.js';

/** The problem of a request that goes in circles (RFC 9110 § 7.6.3); undefined for all others. */
export type LoopCheck = (via: string | undefined) => ProblemDraft | undefined;

const DETAILS = {
  'been-here':
    'The request has been here before, as its Via says: BROKER_URL, or a broker behind it, leads back to this gateway.',
  'too-many-hops': `The request has passed ${MAX_HOPS} gateways of this kind, as its Via says: they probably forward to each other.`,
} as const;

/** @param name this gateway's own name in Via */
export function createLoopCheck(name: string): LoopCheck {
  return (via) => {
    const loop = via === undefined ? undefined : loopIn(via, name);
    if (loop === undefined) return undefined;
    return problem('loopDetected', DETAILS[loop]);
  };
}
