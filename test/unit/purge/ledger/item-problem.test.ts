import assert from 'node:assert/strict';
import { it } from 'node:test';
import { errorTypes } from '../../../../sidecar/shared/problem.js';
import { itemProblem, problemOfFailure } from '../../../../sidecar/purge/ledger/index.js';
import { outcomeUnknown } from '../../../../sidecar/purge/ledger/item-problem.js';

it('itemProblem (clause 5.2.17) keeps the problem of the broker', () => {
  const said = { type: errorTypes.conflict, title: 'No', detail: 'held elsewhere', status: 409 };
  assert.deepEqual(itemProblem(said), said);
  assert.equal(itemProblem({ type: 'about:blank', status: 400 }).type, 'about:blank');
});

it('itemProblem (clause 5.2.17) always has type, title and status; an invalid type is replaced by that of the status', () => {
  for (const [status, type] of [
    [404, errorTypes.resourceNotFound],
    [409, errorTypes.conflict],
    [400, errorTypes.badRequestData],
    [403, errorTypes.badRequestData],
    [500, errorTypes.internalError],
    [503, errorTypes.internalError],
  ] as const) {
    assert.deepEqual(itemProblem({ status }), { type, title: `The broker answered ${status}`, status });
    for (const odd of ['Conflict', 'not a uri', 'http://with blank', 'see http://x', '']) {
      assert.equal(itemProblem({ status, type: odd }).type, type);
    }
  }
});

it('problemOfFailure is the problem of the last try if the broker gave one', () => {
  const problem = { status: 503, type: errorTypes.internalError, title: 'Busy', detail: 'try later' };
  assert.deepEqual(problemOfFailure({ kind: 'broker-error', status: 503, problem }), problem);
});

it('problemOfFailure describes the failure if the broker sent no problem', () => {
  assert.deepEqual(problemOfFailure({ kind: 'timeout' }), {
    status: 504,
    title: 'The broker answered nothing',
    detail: 'All tries failed; at the last one it did not answer in time.',
  });
  assert.equal(problemOfFailure({ kind: 'unreachable', cause: new Error('x.') }).status, 502);
  const { status, title, detail } = problemOfFailure({
    kind: 'throttled',
    status: 429,
    problem: { status: 429 },
  });
  assert.equal(status, 429);
  assert.equal(title, 'The broker answered 429');
  assert.match(detail ?? '', /too many requests/);
});

it("outcomeUnknown keeps a server error's status, names the last answer, and is 502 for any other", () => {
  for (const [status, told] of [
    [500, 500],
    [503, 503],
    [409, 502],
    [499, 502],
  ] as const) {
    const problem = outcomeUnknown({ type: errorTypes.conflict, status, title: 'Held' });
    assert.deepEqual([problem.status, problem.title], [told, 'Outcome unknown']);
    assert.match(problem.detail ?? '', /The last answer: Held\.$/);
  }
});
