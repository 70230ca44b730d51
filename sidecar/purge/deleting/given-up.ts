import type { DeleteResult } from '../broker/batch-reply.js';
import type { Settled } from '../requests/requester.js';
import { problemOfFailure } from '../ledger/item-problem.js';

/** The result of an item whose request was given up. */
export function givenUp({ failure, isCutShort }: Extract<Settled, { kind: 'gave-up' }>): DeleteResult {
  const problem = problemOfFailure(failure);
  return { kind: 'retryable', problem, ...(isCutShort === true ? { isCutShort } : {}) };
}
