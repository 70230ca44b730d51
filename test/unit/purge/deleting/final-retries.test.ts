import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { BrokerTimeoutError, type BrokerReply } from '../../../../sidecar/purge/broker/index.js';
import { BrokerRefusedError, PurgeStoppedError } from '../../../../sidecar/purge/errors.js';
import { IdState } from '../../../../sidecar/purge/ledger/index.js';
import { entities } from '../../../../sidecar/purge/listing/index.js';
import type { PurgeLimits } from '../../../../sidecar/purge/run/index.js';
import { RepeatedTries, deleteSingly, runFinalRetries } from '../../../../sidecar/purge/deleting/index.js';
import { replyOf } from '../../../support/replies.js';
import { createTestClock } from '../../../support/purge-harness.js';
import { COUNTED_LOOKS, deletingContextOf, looksOf } from '../hand-made-context.js';
import { idsOf, surveyOf } from '../hand-made-lister.js';

interface Second {
  /** Reported as missing, and listed. */
  readonly missing?: readonly string[];
  readonly retryDue?: readonly string[];
  /** How often earlier final tries were cut short. */
  readonly cuts?: Readonly<Record<string, number>>;
  readonly lags?: number;
  readonly batch?: (ids: readonly string[]) => BrokerReply;
  readonly single?: (id: string) => BrokerReply;
  /** The creation time of an entity, by the number of the query. */
  readonly createdAt?: (nth: number) => string | undefined;
  readonly limits?: Partial<PurgeLimits>;
}

/** Second tries of ids that a survey still lists, at a broker that the test controls. */
function second({ missing = [], retryDue = [], lags = 0, cuts = {}, limits, ...broker }: Second) {
  const cutTries = new RepeatedTries();
  for (const [id, times] of Object.entries(cuts)) for (let nth = 0; nth < times; nth += 1) cutTries.note(id);
  let looks = 0;
  const singles: string[] = [];
  let [underWay, mostUnderWay] = [0, 0];
  const batches: (readonly string[])[] = [];
  const takesItsTime = async (reply: BrokerReply) => {
    underWay += 1;
    mostUnderWay = Math.max(mostUnderWay, underWay);
    // A refusal is handled first.
    if (reply.status !== 401) for (let turns = 0; turns < 3; turns += 1) await turn();
    underWay -= 1;
    return reply;
  };
  const clock = createTestClock();
  const context = deletingContextOf({
    clock,
    ...COUNTED_LOOKS,
    brokerQuery: { resource: entities('ids'), selection: [] },
    broker: async ({ method, path, jsonBody = '[]' }) => {
      if (method === 'POST') {
        const ids = JSON.parse(jsonBody) as string[];
        batches.push(ids);
        return takesItsTime(broker.batch?.(ids) ?? replyOf(204));
      }
      if (method === 'GET') {
        looks += 1;
        const createdAt = broker.createdAt?.(looks);
        const asked = new URLSearchParams(path.split('?')[1]).get('id')?.split(',') ?? [];
        return replyOf(
          200,
          asked.map((id) => ({ id, createdAt })),
        );
      }
      const id = decodeURIComponent(path.split('/').at(-1) ?? '');
      singles.push(id);
      return takesItsTime(broker.single?.(id) ?? replyOf(204));
    },
    limits: { batchSize: 500, pageSize: 100, ...limits },
  });
  const { ledger } = context;
  for (const entityId of [...missing, ...retryDue]) ledger.add({ entityId });
  for (const entityId of missing) ledger.record({ entityId }, { kind: 'absent' }, false);
  const problem = { status: 503, title: 'Busy' };
  for (const entityId of retryDue) ledger.record({ entityId }, { kind: 'retryable', problem }, false);
  const ended = runFinalRetries(context, surveyOf({ missing, retryDue }), lags, cutTries);
  return {
    ...context,
    ended,
    singles,
    batches,
    waits: () => looksOf(clock),
    inFlight: () => underWay,
    most: () => mostUnderWay,
  };
}

const GONE = replyOf(404);

const missingIn = (ids: readonly string[]) =>
  replyOf(207, { errors: ids.map((entityId) => ({ entityId, error: { status: 404, title: 'Missing' } })) });

it('final retries of entities that a large batch did not find use small batches, and learn nothing from them', async () => {
  const { ended, singles, batches, ledger, capabilities } = second({
    missing: idsOf(300),
    createdAt: () => '2020-01-01T00:00:00Z',
  });
  assert.equal(await ended, false);
  assert.deepEqual([singles, batches.map(({ length }) => length)], [[], [20, 100, 100, 80]]);
  assert.equal(ledger.states.count(IdState.gone), 300);
  assert.equal(capabilities.get('no-batch'), undefined);
});

it('final retries delete singly the entities that small batches do not find either, each once', async () => {
  const { ended, singles, ledger } = second({
    missing: idsOf(20),
    batch: missingIn,
    single: (id) => (id === 'urn:t:1' ? GONE : id === 'urn:t:2' ? replyOf(409) : replyOf(204)),
  });
  assert.equal(await ended, false);
  assert.deepEqual(singles, idsOf(20));
  const { goneTwice, absentTwice, failed } = IdState;
  assert.deepEqual(
    [goneTwice, absentTwice, failed].map((state) => ledger.states.count(state)),
    [18, 1, 1],
  );
});

it('final retries stop after a sample if the broker has none of it, because the query lags behind', async () => {
  for (const [lags, sample] of [
    [0, 20],
    [1, 200],
  ] as const) {
    const { ended, singles, ledger, waits, capabilities } = second({
      missing: idsOf(sample + 1),
      lags,
      batch: missingIn,
      single: () => GONE,
    });
    assert.equal(await ended, true);
    assert.deepEqual(singles, idsOf(sample));
    assert.deepEqual(waits(), [lags + 1]);
    assert.equal(ledger.states.get(`urn:t:${sample}`), IdState.absent);
    assert.equal(capabilities.get('no-batch'), undefined);
  }
});

it('final retries give up batches only if the same entities exist before and after a batch that finds none', async () => {
  const first = '2020-01-01T00:00:00Z';
  for (const [why, createdAt, batch, isLearnt, strategy] of [
    ['the same', () => first, missingIn, true, 'auto'],
    ['made again meanwhile', (nth: number) => `202${nth}-01-01T00:00:00Z`, missingIn, false, 'auto'],
    ['without a time', () => undefined, missingIn, false, 'auto'],
    ['one was found', () => first, (ids: readonly string[]) => missingIn(ids.slice(1)), false, 'auto'],
    ['batches are configured', () => first, missingIn, false, 'batch'],
  ] as const) {
    const limits = { strategy };
    const { ended, capabilities, ledger } = second({ missing: idsOf(50), createdAt, batch, limits });
    await ended;
    assert.equal(capabilities.get('no-batch') === true, isLearnt, why);
    if (strategy === 'auto') assert.equal(ledger.counts.deleted, 50, why);
  }
});

it('final retries of failed entities use batches, and single deletes after a batch fails again', async () => {
  const { ended, singles, batches, ledger } = second({
    retryDue: idsOf(30),
    batch: (ids) => replyOf(ids.includes('urn:t:7') ? 500 : 204),
    single: (id) => replyOf(id === 'urn:t:7' ? 409 : 204),
  });
  assert.equal(await ended, false);
  assert.deepEqual([batches.length, batches[0]?.length, singles], [3, 30, idsOf(30)]);
  // A batch with this entity had no clear answer before the entity was refused.
  assert.deepEqual([ledger.counts.deleted, ledger.counts.failed, ledger.counts.unknown], [29, 0, 1]);
  assert.equal(ledger.states.get('urn:t:7'), IdState.failed);
  assert.equal(ledger.states.get('urn:t:8'), IdState.goneTwice);
});

it('a failed entity that a batch of final retries does not find gets one more single try', async () => {
  const { ended, singles, ledger } = second({ retryDue: idsOf(3), batch: missingIn });
  await ended;
  assert.deepEqual([singles, ledger.states.count(IdState.absent)], [[], 3]);
});

it('final retries that were cut short once are made singly, and after two cuts one after the other', async () => {
  for (const times of [1, 2]) {
    const cuts = Object.fromEntries(idsOf(6).map((id, index) => [id, index < 4 ? times : 0]));
    const { ended, singles, batches, most } = second({ retryDue: idsOf(6), cuts });
    await ended;
    assert.deepEqual([batches, singles], [[idsOf(6).slice(4)], idsOf(4)]);
    assert.equal(most() > 1, times === 1);
  }
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

const failing = { batch: () => replyOf(500, { title: 'Broken' }), single: () => replyOf(500) };

it('final retries that get nothing but failures record each item as failed, and the purge continues', async () => {
  const { ended, ledger, requester, singles } = second({
    missing: idsOf(60).slice(30),
    retryDue: idsOf(30),
    ...failing,
  });
  assert.equal(await ended, false);
  assert.ok(singles.length < 60, `${singles.length} deletes`);
  assert.equal(ledger.states.count(IdState.failed), 60);
  assert.equal(ledger.errors.length, 60);
  assert.ok(ledger.errors.every(({ error }) => error.status === 500));
  // The failures are forgiven: the next query will show whether the broker still answers.
  const settled = await requester.send({ method: 'GET', path: '/entities/urn:t:1', operation: 'look' });
  assert.equal(settled.kind, 'answered');
});

it('final retries without any answer record the items with status 502', async () => {
  const late = () => {
    throw new BrokerTimeoutError('too late', false);
  };
  const { ended, ledger } = second({
    missing: idsOf(20),
    single: late,
    limits: { strategy: 'single' },
  });
  assert.equal(await ended, false);
  const given = ledger.errors.filter(({ error }) => error.title === 'The broker did not delete the entity');
  assert.ok(given.length > 0);
  assert.deepEqual(new Set(given.map(({ error }) => error.status)), new Set([502]));
});

it('final retries do not touch items that already had their final retry, whatever it found', async () => {
  for (const [answer, state, deleted] of [
    [replyOf(204), IdState.goneTwice, 20],
    [GONE, IdState.absentTwice, 0],
  ] as const) {
    let count = 0;
    const { ended, ledger } = second({
      missing: idsOf(20),
      retryDue: idsOf(50).slice(20),
      limits: { strategy: 'single' },
      single: () => ((count += 1) <= 20 ? answer : replyOf(500)),
    });
    assert.equal(await ended, false);
    assert.deepEqual([ledger.states.count(state), ledger.states.count(IdState.failed)], [20, 30]);
    const { matched, alreadyGone } = ledger.counts;
    assert.deepEqual([matched, ledger.counts.deleted, alreadyGone], [50, deleted, 20 - deleted]);
  }
});

it('final retries that end the purge send nothing more, and pass on the error', async () => {
  const { ended, requester, singles, inFlight } = second({
    missing: idsOf(20),
    retryDue: ['urn:t:x'],
    limits: { strategy: 'single' },
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

it('entities on which a first delete had no effect are deleted singly only while the query still lists them', async () => {
  const deleted: string[] = [];
  const context = deletingContextOf({
    brokerQuery: { resource: entities('ids'), selection: [{ name: 'q', value: 'n>1' }] },
    broker: ({ method, path }) => {
      if (method === 'DELETE') {
        deleted.push(decodeURIComponent(path.split('/').at(-1) ?? ''));
        return replyOf(204);
      }
      const asked = new URLSearchParams(path.split('?')[1]).get('id')?.split(',') ?? [];
      const shown = asked.filter((id) => id !== 'urn:t:1');
      return replyOf(
        200,
        shown.map((id) => ({ id, createdAt: '2020-01-01T00:00:00Z' })),
      );
    },
    limits: { pageSize: 100, pageSizeMax: 100 },
  });
  for (const entityId of idsOf(3)) {
    context.ledger.add({ entityId });
    context.ledger.record({ entityId }, { kind: 'deleted' }, false);
  }
  await deleteSingly(context, idsOf(3));
  assert.deepEqual(deleted.sort(), ['urn:t:0', 'urn:t:2']);
});
