import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Failure } from '../../../sidecar/purge/broker/index.js';
import {
  BrokerFailedError,
  BrokerRefusedError,
  describeFailure,
  TooManyMatchesError,
  UnexpectedEntityError,
} from '../../../sidecar/purge/errors.js';

it('the errors of a purge distinguish a broker that lacks a feature from one that refuses', () => {
  for (const [status, message] of [
    [405, 'The broker cannot delete an entity: it does not implement this operation (status 405).'],
    [501, 'The broker cannot delete an entity: it does not implement this operation (status 501).'],
    [400, 'The broker refused to delete an entity with status 400.'],
    [403, 'The broker refused to delete an entity with status 403.'],
    [502, 'The broker refused to delete an entity with status 502.'],
  ] as const)
    assert.equal(new BrokerRefusedError('delete an entity', { status }).message, message);
});

it('the errors of a purge say what failed, and why it is not retried', () => {
  const cause = new Error('The broker could not be reached: connection refused.');
  for (const [failure, words] of [
    [{ kind: 'throttled', status: 429 }, 'it answered 429 (too many requests)'],
    [{ kind: 'context-unavailable' }, 'it could not load the @context of the request'],
    [{ kind: 'broker-error', status: 503 }, 'it answered 503'],
    [{ kind: 'broker-error' }, 'it answered an error'],
    [{ kind: 'timeout' }, 'it did not answer in time'],
    [{ kind: 'unreachable', cause }, 'The broker could not be reached: connection refused'],
    [{ kind: 'unreachable', cause: new Error('10.0.0.1: x.y.') }, '10.0.0.1: x.y'],
    [{ kind: 'unreachable' }, 'it could not be reached'],
  ] as const satisfies readonly (readonly [Failure, string])[]) {
    assert.equal(describeFailure(failure), words);
    const error = new BrokerFailedError('list', failure, 'attempts-used-up');
    assert.equal(error.message, `The broker did not list: ${words} (all tries failed).`);
    assert.equal(error.cause, 'cause' in failure ? failure.cause : undefined);
  }
  const failure = { kind: 'timeout' } as const;
  const reasons = ['retry-after-too-long', 'nothing-but-failures', 'away-too-long'] as const;
  assert.deepEqual(
    reasons.map((reason) => /\((.*)\)/.exec(new BrokerFailedError('x', failure, reason).message)?.[1]),
    [
      'it asks to wait longer than this purge may',
      'it answers nothing but failures',
      'it did not come back in time',
    ],
  );
});

it('the errors of a purge say "at least" if not all matches were counted', () => {
  assert.match(new TooManyMatchesError(7, 5, true).message, /^The query matches 7, more than the 5 that/);
  assert.match(new TooManyMatchesError(7, 5, false).message, /^The query matches at least 7, more/);
});

it('the errors of a purge shorten a long id', () => {
  const { entityId, message } = new UnexpectedEntityError('x'.repeat(5000), 'id');
  assert.deepEqual([entityId.length, message.length < 300], [200, true]);
});
