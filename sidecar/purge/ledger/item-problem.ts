import type { BrokerProblem, Failure } from '../broker/index.js';
import { isUri } from '../../ngsi-ld/names.js';
import { errorTypes, problemTypeUri, type Problem } from '../../shared/problem.js';
import { describeFailure } from '../errors.js';

/** Returns the problem of an item whose tries were used up. */
export function problemOfFailure(failure: Failure): BrokerProblem {
  const status = failure.status ?? (failure.kind === 'timeout' ? 504 : 502);
  return {
    status,
    ...(failure.problem?.type === undefined ? {} : { type: failure.problem.type }),
    title: failure.problem?.title ?? `The broker answered ${failure.status ?? 'nothing'}`,
    detail: failure.problem?.detail ?? `All tries failed; at the last one ${describeFailure(failure)}.`,
  };
}

/** Completes a broker's problem to one that a BatchEntityError (clause 5.2.17) can carry. */
export function itemProblem(problem: BrokerProblem): Problem {
  return {
    type: isUri(problem.type) ? problem.type : fallbackType(problem.status),
    title: problem.title ?? `The broker answered ${problem.status}`,
    status: problem.status,
    ...(problem.detail === undefined ? {} : { detail: problem.detail }),
  };
}

/** Returns the problem of an item whose delete was sent, with unknown effect. */
export function outcomeUnknown({ status, title }: Problem): Problem {
  return {
    type: problemTypeUri('outcome-unknown'),
    title: 'Outcome unknown',
    status: status >= 500 ? status : 502,
    detail: `A delete was sent, but its effect is unknown: the item may be gone. The last answer: ${title}.`,
  };
}

function fallbackType(status: number): string {
  if (status === 404) return errorTypes.resourceNotFound;
  if (status === 409) return errorTypes.conflict;
  return status < 500 ? errorTypes.badRequestData : errorTypes.internalError;
}
