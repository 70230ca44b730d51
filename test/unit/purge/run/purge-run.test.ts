import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { it } from 'node:test';
import {
  type BrokerRequest,
  BrokerCapabilities,
  type BrokerReply,
} from '../../../../sidecar/purge/broker/index.js';
import {
  BrokerReplyError,
  FilterIgnoredError,
  PurgeStoppedError,
  UnexpectedEntityError,
} from '../../../../sidecar/purge/errors.js';
import {
  type PurgeEvent,
  type PurgeOrder,
  type PurgePlan,
  reportOf,
  runPurge,
} from '../../../../sidecar/purge/run/index.js';
import { parseEntityPurgeQuery } from '../../../../sidecar/purge/index.js';
import { createTestClock } from '../../../support/purge-harness.js';
import { replyOf } from '../../../support/replies.js';

const NONE = { matched: 0, deleted: 0, alreadyGone: 0, failed: 0, unknown: 0 };

interface Run extends Partial<Omit<PurgePlan, 'run'>> {
  readonly run: PurgePlan['run'];
  readonly answer?: (request: BrokerRequest, nth: number) => BrokerReply;
  readonly order?: Partial<PurgeOrder>;
  readonly capabilities?: BrokerCapabilities;
}

/** Runs a purge to its end, and returns its events, its requests, and its outcome. */
async function ran({ run, answer = () => replyOf(204), order, capabilities, ...plan }: Run) {
  const sent: BrokerRequest[] = [];
  const events: PurgeEvent[] = [];
  const clock = createTestClock();
  const { signal } = new AbortController();
  let retries = 0;
  const running = runPurge(
    {
      query: parseEntityPurgeQuery('type=T&q=n>1'),
      onEvent: (event) => events.push(event),
      headers: { 'ngsild-tenant': 't' },
      limits: {
        pageSize: 10,
        pageSizeMax: 10,
        batchSize: 10,
        concurrency: 1,
        strategy: 'auto',
        maxAffected: 2,
      },
      ...order,
    },
    {
      client: {
        send: async (request) => {
          sent.push(request);
          return answer(request, sent.length);
        },
        close: async () => {},
      },
      capabilities: capabilities ?? new BrokerCapabilities(clock),
      retry: { maxAttempts: 3, minDelayMs: 1, maxDelayMs: 10, awayMs: 30_000 },
      clock,
      random: () => 0,
      onRetry: () => (retries += 1),
    },
    signal,
    { path: '/entities', ...plan, run },
  );
  let error: unknown;
  const report = await running.catch((thrown: unknown) => {
    error = thrown;
    return undefined;
  });
  assert.deepEqual(getEventListeners(signal, 'abort'), [], 'nothing keeps what the purge knew');
  return { sent, events, report, error, retries };
}

const DELETE = { method: 'DELETE', path: '/entities/urn:t:1', operation: 'delete', deletes: 1 } as const;
const QUERY = { method: 'GET', path: '/entities?type=T', operation: 'list' } as const;

it('a purge run ends with its report and its costs', async () => {
  const {
    events,
    report: whole,
    sent,
    retries,
  } = await ran({
    run: async (scope) => {
      scope.ledger.addNew(['urn:t:1', 'urn:t:2']);
      await scope.requester.send(DELETE);
      scope.ledger.record({ entityId: 'urn:t:1' }, { kind: 'deleted' }, false);
      scope.ledger.record({ entityId: 'urn:t:2' }, { kind: 'refused', problem: { status: 409 } }, false);
      return reportOf(scope, 5);
    },
    answer: (_request, nth) => replyOf(nth === 1 ? 500 : 204),
  });
  assert.deepEqual(events, []);
  assert.ok(whole !== undefined);
  const { errors, ...report } = whole;
  assert.deepEqual(report, {
    ...NONE,
    matched: 2,
    deleted: 1,
    failed: 1,
    dryRun: false,
    success: ['urn:t:1'],
    sample: [],
    warnings: [],
    arrived: 5,
    requests: 2,
    retries: 1,
  });
  assert.deepEqual([errors.length, errors[0]?.entityId, retries], [1, 'urn:t:2', 1]);
  assert.ok(sent.every(({ headers }) => headers?.['ngsild-tenant'] === 't'));
});

it('a purge run reports its counts if it ends early, unless the purge reports them itself', async () => {
  const error = new PurgeStoppedError('stopped');
  const run: PurgePlan['run'] = async (scope) => {
    scope.ledger.addNew(['urn:t:1']);
    throw error;
  };
  const told = await ran({ run });
  assert.equal(told.error, error);
  const counts = { ...NONE, matched: 1, requests: 0, retries: 0 };
  assert.deepEqual(told.events, [
    { type: 'progress', hasBegun: true, ...counts },
    { type: 'failures', errors: [] },
  ]);
  for (const reportsItself of [true, false]) {
    const own = await ran({ run, reportsItself });
    assert.deepEqual([own.error, own.events.length], [error, reportsItself ? 0 : 2]);
  }
});

it('a purge run asks before each try of a delete, and reports the outcome of each item', async () => {
  const told: unknown[] = [];
  let asked = 0;
  const { retries } = await ran({
    run: async (scope) => {
      await scope.requester.send(QUERY);
      assert.equal(asked, 0, 'a query deletes nothing');
      await scope.requester.send(DELETE);
      scope.ledger.addNew(['urn:t:1']);
      scope.ledger.record({ entityId: 'urn:t:1' }, { kind: 'absent' }, false);
      return reportOf(scope, 0);
    },
    answer: ({ method }, nth) => (method === 'GET' ? replyOf(200, []) : replyOf(nth === 2 ? 429 : 204)),
    order: {
      beforeDelete: () => {
        asked += 1;
        return undefined;
      },
      onOutcome: (item, outcome) => void told.push([item, outcome]),
    },
  });
  assert.equal(retries, 1);
  assert.ok(asked >= 2, String(asked));
  assert.deepEqual(told, [[{ entityId: 'urn:t:1' }, 'alreadyGone']]);
});

it('a purge run that finds an ignored filter, or an entity that the query excludes, has all filters proven again', async () => {
  for (const [error, isDistrusted] of [
    [new FilterIgnoredError('q', 'ignored'), true],
    [new UnexpectedEntityError('urn:x', 'id'), true],
    [new UnexpectedEntityError('urn:x', 'idPattern'), true],
    [new BrokerReplyError('unreadable'), false],
    [new PurgeStoppedError('stopped'), false],
    [undefined, false],
  ] as const) {
    const capabilities = new BrokerCapabilities(createTestClock());
    capabilities.setHonoured('q');
    const told = await ran({
      capabilities,
      run: async (scope) => {
        if (error !== undefined) throw error;
        return reportOf(scope, 0);
      },
    });
    assert.equal(told.error, error);
    assert.equal(capabilities.isHonoured('q'), !isDistrusted, String(error));
  }
});
