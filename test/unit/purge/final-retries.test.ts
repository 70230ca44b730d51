import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { BrokerTimeoutError } from '../../../sidecar/purge/broker/errors.js';
import type { BrokerReply } from '../../../sidecar/purge/broker/exchange.js';
import { BrokerRefusedError, PurgeStoppedError } from '../../../sidecar/purge/errors.js';
import { IdState } from '../../../sidecar/purge/id-states.js';
import { entities } from '../../../sidecar/purge/listing/listed-resource.js';
import { runFinalRetries } from '../../../sidecar/purge/final-retries.js';
import { replyOf } from './broker/replies.js';
import { contextOf } from './hand-made-context.js';
import { idsOf } from './hand-made-lister.js';

interface Second {
  readonly stillListed?: readonly string[];
  readonly retryDue?: readonly string[];
  /** Deleted, and not listed again. */
  readonly gone?: readonly string[];
  readonly lags?: number;
  readonly batch?: (ids: readonly string[]) => BrokerReply;
  readonly single?: (id: string) => BrokerReply;
}

/** Second tries at a broker by hand, of ids that a survey still lists. */
function second({ stillListed = [], retryDue = [], gone = [], lags = 0, ...broker }: Second) {
  const singles: string[] = [];
  let underWay = 0;
  const batches: (readonly string[])[] = [];
  const takesItsTime = async (reply: BrokerReply) => {
    underWay += 1;
    // A refusal comes first.
    if (reply.status !== 401) for (let turns = 0; turns < 3; turns += 1) await turn();
    underWay -= 1;
    return reply;
  };
  const context = contextOf({
    brokerQuery: { resource: entities('ids'), selection: [] },
    broker: async ({ method, path, jsonBody = '[]' }) => {
      if (method === 'POST') {
        const ids = JSON.parse(jsonBody) as string[];
        batches.push(ids);
        return takesItsTime(broker.batch?.(ids) ?? replyOf(204));
      }
      const id = decodeURIComponent(path.split('/').at(-1) ?? '');
      singles.push(id);
      return takesItsTime(broker.single?.(id) ?? replyOf(204));
    },
    limits: { batchSize: 100 },
  });
  const { ledger } = context;
  for (const entityId of [...stillListed, ...retryDue, ...gone]) ledger.add({ entityId });
  for (const entityId of [...stillListed, ...gone]) ledger.record({ entityId }, { kind: 'deleted' }, false);
  const problem = { status: 503, title: 'Busy' };
  for (const entityId of retryDue) ledger.record({ entityId }, { kind: 'retryable', problem }, false);
  const waits: number[] = [];
  const ended = runFinalRetries(
    {
      ...context,
      // Earlier deletes of single entities do not count.
      deleter: Object.create(context.deleter, {
        deletedSingly: { get: () => context.deleter.deletedSingly + 7 },
      }) as typeof context.deleter,
      requester: { ...context.requester, waitBefore: async (look) => void waits.push(look) },
    },
    {
      ...{ complete: true, trickles: false, unlisted: 0, lastCount: undefined },
      ...{ fresh: [], unseen: 0, stillListed, retryDue, lingering: 0 },
    },
    lags,
  );
  return { ...context, ended, singles, batches, waits, inFlight: () => underWay };
}

const GONE = replyOf(404);

describe('final retries of entities that are still listed', () => {
  it('final retries delete each listed entity singly, once, and record the results', async () => {
    const { ended, singles, batches, ledger, waits } = second({
      stillListed: idsOf(20),
      single: (id) => (id === 'urn:t:1' ? GONE : id === 'urn:t:2' ? replyOf(409) : replyOf(204)),
    });
    assert.equal(await ended, false);
    assert.deepEqual([singles, batches, waits], [idsOf(20), [], []]);
    assert.deepEqual(
      [ledger.states.count(IdState.goneTwice), ledger.states.count(IdState.failed), ledger.errors.length],
      [19, 1, 1],
    );
  });

  it('final retries stop after a sample if the broker has none of it, since the query lags behind', async () => {
    for (const [lags, sample] of [
      [0, 20],
      [1, 200],
    ] as const) {
      const { ended, singles, ledger, waits, capabilities } = second({
        stillListed: idsOf(sample + 1),
        single: () => GONE,
        lags,
      });
      assert.equal(await ended, true);
      assert.deepEqual(singles, idsOf(sample));
      assert.deepEqual(waits, [lags + 1]);
      assert.equal(ledger.states.get(`urn:t:${sample}`), IdState.gone);
      assert.equal(capabilities.batchDelete, true);
    }
  });

  it('final retries of no more entities than a sample wait for nothing', async () => {
    const { ended, singles, waits, ledger } = second({ stillListed: idsOf(20), single: () => GONE });
    assert.equal(await ended, false);
    assert.deepEqual([singles.length, waits, ledger.states.count(IdState.goneTwice)], [20, [], 20]);
  });

  it('final retries continue if the broker had some of the sample, and give up batches if it had most', async () => {
    for (const [had, batchDelete] of [
      [1, true],
      [10, true],
      [11, false],
      [20, false],
    ] as const) {
      const { ended, singles, capabilities, waits, ledger } = second({
        stillListed: idsOf(50),
        single: (id) => (Number(id.split(':')[2]) < had ? replyOf(204) : GONE),
      });
      assert.equal(await ended, false);
      assert.equal(ledger.states.count(IdState.goneTwice), 50, 'all were answered');
      assert.deepEqual([singles.length, capabilities.batchDelete, waits], [50, batchDelete, []]);
      assert.equal(new Set(singles).size, 50);
    }
  });

  it('final retries give up batches only if most of what they confirmed is still listed, since clients may make entities again', async () => {
    for (const [gone, batchDelete] of [
      [49, false],
      [50, true],
      [3000, true],
    ] as const) {
      const { ended, capabilities, singles } = second({
        stillListed: idsOf(50),
        gone: Array.from({ length: gone }, (_, index) => `urn:gone:${index}`),
      });
      assert.equal(await ended, false);
      assert.deepEqual([capabilities.batchDelete, singles.length], [batchDelete, 50], String(gone));
    }
  });
});

describe('final retries after a survey that ended early', () => {
  it('final retries give up batches also where a survey could list a part of what they confirmed', async () => {
    // A survey ends with 32,000 findings.
    const { ended, capabilities } = second({
      stillListed: idsOf(20_000),
      gone: Array.from({ length: 50_000 }, (_, index) => `urn:gone:${index}`),
    });
    assert.equal(await ended, false);
    assert.equal(capabilities.batchDelete, false);
  });
});

describe('final retries of entities that failed', () => {
  it('final retries of failed entities use batches, and single deletes after a batch fails again', async () => {
    const { ended, singles, batches, ledger } = second({
      retryDue: idsOf(30),
      batch: (ids) => replyOf(ids.includes('urn:t:7') ? 500 : 204),
      single: (id) => replyOf(id === 'urn:t:7' ? 409 : 204),
    });
    assert.equal(await ended, false);
    assert.deepEqual([batches.length, batches[0]?.length, singles], [3, 30, idsOf(30)]);
    // A batch with it had no clear answer before it was refused.
    assert.deepEqual([ledger.counts.deleted, ledger.counts.failed, ledger.counts.unknown], [29, 0, 1]);
    assert.equal(ledger.states.get('urn:t:7'), IdState.failed);
    assert.equal(ledger.states.get('urn:t:8'), IdState.goneTwice);
  });

  it('an entity that fails at its final retry is recorded as failed', async () => {
    const { ended, ledger } = second({
      retryDue: ['urn:t:0', 'urn:t:1', 'urn:t:2'],
      batch: () => replyOf(500),
      single: (id) => replyOf(id === 'urn:t:1' ? 204 : 500),
    });
    await ended;
    assert.deepEqual(
      idsOf(3).map((id) => ledger.states.get(id)),
      [IdState.failed, IdState.goneTwice, IdState.failed],
    );
  });
});

describe('final retries that get nothing but failures', () => {
  const failing = { batch: () => replyOf(500, { title: 'Broken' }), single: () => replyOf(500) };

  it('final retries that get nothing but failures record each item as failed and let the purge go on', async () => {
    const { ended, ledger, requester, singles } = second({
      stillListed: idsOf(60).slice(30),
      retryDue: idsOf(30),
      ...failing,
    });
    assert.equal(await ended, false);
    assert.ok(singles.length < 60, `${singles.length} deletes`);
    assert.equal(ledger.states.count(IdState.failed), 60);
    assert.equal(ledger.errors.length, 60);
    assert.ok(ledger.errors.every(({ error }) => error.status === 500));
    // The failures are forgiven: the next query is to show whether the broker still answers.
    const settled = await requester.send({ method: 'GET', path: '/entities/urn:t:1', operation: 'look' });
    assert.equal(settled.kind, 'gave-up');
  });

  it('final retries that get no answer at all record the items with the status of a broker that is not there', async () => {
    const late = () => {
      throw new BrokerTimeoutError('too late', false);
    };
    const { ended, ledger } = second({ stillListed: idsOf(20), batch: late, single: late });
    assert.equal(await ended, false);
    const given = ledger.errors.filter(({ error }) => error.title === 'The broker did not delete the entity');
    assert.ok(given.length > 0);
    assert.deepEqual(new Set(given.map(({ error }) => error.status)), new Set([502]));
  });

  it('final retries leave items that had their final retry before', async () => {
    let count = 0;
    const { ended, ledger } = second({
      stillListed: idsOf(20),
      retryDue: idsOf(50).slice(20),
      batch: () => replyOf(500),
      single: () => replyOf((count += 1) <= 20 ? 204 : 500),
    });
    assert.equal(await ended, false);
    assert.deepEqual([ledger.states.count(IdState.goneTwice), ledger.states.count(IdState.failed)], [20, 30]);
  });

  it('final retries leave items alone that were deleted at their final retry', async () => {
    let count = 0;
    const { ended, ledger } = second({
      stillListed: idsOf(20),
      retryDue: idsOf(50).slice(20),
      batch: () => replyOf(500),
      single: () => ((count += 1) <= 20 ? GONE : replyOf(500)),
    });
    // Absent after a delete that was claimed to have worked: that one did it. Of the first it is not known.
    ledger.states.set('urn:t:0', IdState.absent);
    await ended;
    assert.equal(ledger.states.get('urn:t:0'), IdState.absentTwice);
    assert.deepEqual([ledger.counts.deleted, ledger.counts.alreadyGone, ledger.counts.matched], [19, 1, 50]);
  });
});

describe('final retries that end the purge', () => {
  it('final retries that end the purge send nothing more, and pass on the error', async () => {
    const { ended, requester, singles, inFlight } = second({
      stillListed: idsOf(20),
      retryDue: ['urn:t:x'],
      single: (id) => replyOf(id === 'urn:t:0' ? 401 : 204),
    });
    await assert.rejects(ended, BrokerRefusedError);
    assert.equal(inFlight(), 0, 'what was sent is waited for');
    assert.ok(singles.length <= 4, `${singles.length} deletes`);
    const batched = second({
      retryDue: idsOf(300),
      batch: (ids) => replyOf(ids.includes('urn:t:0') ? 401 : 204),
    });
    await assert.rejects(batched.ended, BrokerRefusedError);
    assert.equal(batched.inFlight(), 0, 'so is a batch');
    await assert.rejects(
      requester.send({ method: 'GET', path: '/entities', operation: 'look' }),
      PurgeStoppedError,
    );
  });
});
