import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  type BrokerRequest,
  BrokerTimeoutError,
  BrokerUnreachableError,
  ReplyTooLargeError,
  RequestAbortedError,
  type BrokerReply,
} from '../../../../sidecar/purge/broker/index.js';
import { BrokerReplyError, PurgeStoppedError } from '../../../../sidecar/purge/errors.js';
import { TryFailed } from '../../../../sidecar/purge/requests/request.js';
import { tryOnce } from '../../../../sidecar/purge/requests/requester.js';
import type { PurgeRequest } from '../../../../sidecar/purge/requests/index.js';
import { replyOf } from '../broker/replies.js';

const HEADERS = { 'ngsild-tenant': 'mine', link: '<x>' };

/** One try at a broker that answers, or fails, in one way. */
async function tried(
  end: BrokerReply | Error,
  request: Partial<PurgeRequest> = {},
  signal = new AbortController().signal,
) {
  const sent: BrokerRequest[] = [];
  let unclear = 0;
  const client = {
    send: async (given: BrokerRequest) => {
      sent.push(given);
      if (end instanceof Error) throw end;
      return end;
    },
    close: async () => {},
  };
  const outcome = await tryOnce(
    client,
    { headers: HEADERS },
    { method: 'DELETE', path: '/x', operation: 'delete', onUnclear: () => (unclear += 1), ...request },
    signal,
  ).catch((error: unknown) => error);
  return { outcome, unclear, sent: sent[0] };
}

const failureOf = (outcome: unknown) => {
  assert.ok(outcome instanceof TryFailed, String(outcome));
  const { kind, status, wasNeverSent } = outcome.failure;
  return [kind, status, wasNeverSent];
};

it('one try of a request fails without an answer, and is unclear if it was sent', async () => {
  for (const [error, failure, unclear] of [
    [new BrokerTimeoutError('late', true), ['timeout', undefined, undefined], 1],
    [new BrokerTimeoutError('late', false), ['timeout', undefined, true], 0],
    [new BrokerUnreachableError('gone', true), ['unreachable', undefined, undefined], 1],
    [new BrokerUnreachableError('gone', false), ['unreachable', undefined, true], 0],
  ] as const) {
    const { outcome, unclear: noted } = await tried(error);
    assert.deepEqual([failureOf(outcome), noted], [failure, unclear]);
    assert.ok(outcome instanceof TryFailed && outcome.failure.cause === error);
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

it('one try of a request fails where the request itself finds a failure in a success', async () => {
  const failed = { kind: 'failed-query' } as const;
  const failureIn = ({ body }: BrokerReply) => (body === '[]' ? failed : undefined);
  const empty = await tried(replyOf(200, []), { method: 'GET', failureOf: failureIn });
  assert.deepEqual([failureOf(empty.outcome), empty.unclear], [['failed-query', undefined, undefined], 0]);
  const full = await tried(replyOf(200, [1]), { method: 'GET', failureOf: failureIn });
  assert.deepEqual(full.outcome, replyOf(200, [1]));
});

it('one try of a request cannot use an answer that is too large, unless a query can ask for less', async () => {
  const error = new ReplyTooLargeError('too large');
  for (const method of ['DELETE', 'POST'] as const) {
    const { outcome, unclear } = await tried(error, { method });
    assert.ok(outcome instanceof BrokerReplyError && outcome.cause === error);
    assert.equal(unclear, 1);
  }
  assert.equal((await tried(error, { method: 'GET' })).outcome, error);
});

it('one try of a request ends as the purge does where it was cut off, and is unclear after any other mistake', async () => {
  const stop = new AbortController();
  const cutOff = new RequestAbortedError('cut off');
  assert.equal((await tried(cutOff, { method: 'GET' }, stop.signal)).outcome, cutOff);
  stop.abort();
  const { outcome } = await tried(cutOff, { method: 'GET' }, stop.signal);
  assert.ok(outcome instanceof PurgeStoppedError);
  const mistake = new TypeError('a mistake');
  const { outcome: thrown, unclear } = await tried(mistake);
  assert.deepEqual([thrown === mistake, unclear], [true, 1]);
});
