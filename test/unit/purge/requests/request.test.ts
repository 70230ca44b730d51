import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  BrokerTimeoutError,
  BrokerUnreachableError,
  ReplyTooLargeError,
  RequestAbortedError,
  type BrokerReply,
  type Failure,
} from '../../../../sidecar/purge/broker/index.js';
import { BrokerReplyError, PurgeStoppedError } from '../../../../sidecar/purge/errors.js';
import { type PurgeRequest, Requester } from '../../../../sidecar/purge/requests/index.js';
import { createTestClock } from '../../../support/purge-harness.js';
import { replyOf } from '../../../support/replies.js';

const HEADERS = { 'ngsild-tenant': 'mine', link: '<x>' };

const ONE_TRY = { maxAttempts: 1, minDelayMs: 1, maxDelayMs: 1, awayMs: 0 };

/** One try at a broker that answers, or fails, in one way. @param stop aborted while the request is in flight, if at all */
async function tried(
  end: BrokerReply | Error,
  request: Partial<PurgeRequest> = {},
  stop?: AbortController,
): Promise<{ readonly outcome: unknown; readonly unclear: number }> {
  let unclear = 0;
  const client = {
    send: async () => {
      stop?.abort();
      if (end instanceof Error) throw end;
      return end;
    },
    close: async () => {},
  };
  const dependencies = { client, retry: ONE_TRY, clock: createTestClock(), random: () => 0 };
  const probe = { method: 'GET', path: '/', operation: 'answer' } as const;
  const signal = stop?.signal ?? new AbortController().signal;
  const requester = new Requester({ headers: HEADERS }, dependencies, signal, probe);
  const settled = await requester
    .send({ method: 'DELETE', path: '/x', operation: 'delete', onUnclear: () => (unclear += 1), ...request })
    .catch((error: unknown) => ({ kind: 'threw', error }) as const);
  requester.end();
  if (settled.kind === 'threw') return { outcome: settled.error, unclear };
  return { outcome: settled.kind === 'answered' ? settled.reply : settled.failure, unclear };
}

const failureOf = (outcome: unknown) => {
  assert.ok(isFailure(outcome), String(outcome));
  const { kind, status, wasNeverSent } = outcome;
  return [kind, status, wasNeverSent];
};

const isFailure = (outcome: unknown): outcome is Failure =>
  typeof outcome === 'object' && outcome !== null && 'kind' in outcome && !(outcome instanceof Error);

it('one try of a request fails without an answer, and is unclear if it was sent', async () => {
  for (const [error, failure, unclear] of [
    [new BrokerTimeoutError('late', true), ['timeout', undefined, undefined], 1],
    [new BrokerTimeoutError('late', false), ['timeout', undefined, true], 0],
    [new BrokerUnreachableError('gone', true), ['unreachable', undefined, undefined], 1],
    [new BrokerUnreachableError('gone', false), ['unreachable', undefined, true], 0],
  ] as const) {
    const { outcome, unclear: noted } = await tried(error);
    assert.deepEqual([failureOf(outcome), noted], [failure, unclear]);
    assert.ok(isFailure(outcome) && outcome.cause === error);
  }
});

it('one try of a request fails on a retryable answer, and is unclear after a server error', async () => {
  for (const [reply, failure, unclear] of [
    [replyOf(500), ['broker-error', 500, undefined], 1],
    [replyOf(503), ['broker-error', 503, undefined], 1],
    [replyOf(429), ['throttled', 429, undefined], 0],
    [replyOf(504, { type: 'LdContextNotAvailable' }), ['context-unavailable', 504, undefined], 0],
  ] as const) {
    const { outcome, unclear: noted } = await tried(reply);
    assert.deepEqual([failureOf(outcome), noted], [failure, unclear]);
  }
});

it('one try of a request fails if the request itself finds a failure in a success', async () => {
  const failed = { kind: 'failed-query' } as const;
  const failureIn = ({ body }: BrokerReply) => (body === '[]' ? failed : undefined);
  const empty = await tried(replyOf(200, []), { method: 'GET', failureOf: failureIn });
  assert.deepEqual([failureOf(empty.outcome), empty.unclear], [['failed-query', undefined, undefined], 0]);
  const full = await tried(replyOf(200, [1]), { method: 'GET', failureOf: failureIn });
  assert.deepEqual(full.outcome, replyOf(200, [1]));
});

it('one try of a request cannot use an answer that is too large, unless a query can request less', async () => {
  const error = new ReplyTooLargeError('too large');
  for (const method of ['DELETE', 'POST'] as const) {
    const { outcome, unclear } = await tried(error, { method });
    assert.ok(outcome instanceof BrokerReplyError && outcome.cause === error);
    assert.equal(unclear, 1);
  }
  assert.equal((await tried(error, { method: 'GET' })).outcome, error);
});

it('one try of a request ends like the purge if it was cut off, and is unclear after any other error', async () => {
  const cutOff = new RequestAbortedError('cut off');
  assert.equal((await tried(cutOff, { method: 'GET' })).outcome, cutOff);
  const { outcome } = await tried(cutOff, { method: 'GET' }, new AbortController());
  assert.ok(outcome instanceof PurgeStoppedError);
  const mistake = new TypeError('a mistake');
  const { outcome: thrown, unclear } = await tried(mistake);
  assert.deepEqual([thrown === mistake, unclear], [true, 1]);
});
