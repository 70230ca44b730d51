import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import type { BrokerRequest, BrokerReply, DeleteResult } from '../../../../sidecar/purge/broker/index.js';
import { Deleter } from '../../../../sidecar/purge/deleting/index.js';
import { BrokerRefusedError } from '../../../../sidecar/purge/errors.js';
import { entities, temporalEntities } from '../../../../sidecar/purge/listing/index.js';
import type { PurgeLimits } from '../../../../sidecar/purge/run/index.js';
import { replyOf } from '../../../support/replies.js';
import { budgetOf, contextOf } from '../hand-made-context.js';
import { idsOf } from '../hand-made-lister.js';

interface HandMadeDeletes {
  /** Answers a batch. */
  readonly batch?: (ids: readonly string[], nth: number) => BrokerReply;
  /** Answers the delete of one entity. */
  readonly single?: (id: string) => BrokerReply;
  /** Answers a GET of an entity's path. */
  readonly get?: (id: string) => BrokerReply;
  /** Most deletes that the rate allows at once. */
  readonly maxPerRequest?: number;
  readonly limits?: Partial<PurgeLimits>;
  readonly isTemporal?: boolean;
}

const isFresh = () => false;

/** A deleter whose broker is a function, with the requests that it sent and the items that it settled. */
function deleterOf({ batch, single, get, maxPerRequest, limits, isTemporal = false }: HandMadeDeletes) {
  const batches: (readonly string[])[] = [];
  const singles: string[] = [];
  const settled = new Map<string, DeleteResult>();
  const broker = ({ method, path, jsonBody = '[]' }: BrokerRequest): BrokerReply => {
    if (method === 'POST') {
      assert.equal(path, '/entityOperations/delete');
      const ids = JSON.parse(jsonBody) as string[];
      batches.push(ids);
      return batch?.(ids, batches.length) ?? replyOf(204);
    }
    const id = decodeURIComponent(path.split('/').at(-1) ?? '');
    if (method === 'GET') return get?.(id) ?? replyOf(404);
    singles.push(id);
    return single?.(id) ?? replyOf(204);
  };
  const reserved: number[] = [];
  const unclear: string[] = [];
  const context = contextOf({
    onOutcome: ({ entityId }, outcome) => {
      if (outcome === 'unknown') unclear.push(entityId);
    },
    brokerQuery: { resource: isTemporal ? temporalEntities() : entities('ids'), selection: [] },
    broker,
    budget: budgetOf(reserved, maxPerRequest),
    limits: { batchSize: 100, ...limits },
  });
  const { capabilities } = context;
  const deleter = new Deleter(context);
  const settle = (id: string, verdict: DeleteResult) => {
    assert.ok(!settled.has(id), `${id} is settled twice`);
    settled.set(id, verdict);
  };
  const kinds = () => Object.fromEntries([...settled].map(([id, { kind }]) => [id, kind]));
  return {
    deleter,
    capabilities,
    batches,
    singles,
    unclear,
    settled,
    kinds,
    reserved,
    deleteBatch: async (ids: readonly string[]) => deleter.deleteBatch(ids, settle, isFresh),
  };
}

const itemErrors = (ids: readonly string[], status?: number) =>
  replyOf(207, {
    errors: ids.map((entityId) => ({ entityId, error: status === undefined ? {} : { status } })),
  });

it('the batch delete finds the size that the broker accepts, settles each id once, and keeps to that size', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 70 }),
      fc.integer({ min: 1, max: 70 }),
      fc.constantFrom(400, 413),
      async (count, most, status) => {
        const hand = deleterOf({
          batch: (ids) => (ids.length > most ? replyOf(status) : replyOf(204)),
        });
        const ids = idsOf(count);
        assert.deepEqual(await hand.deleteBatch(ids), []);
        assert.deepEqual([...hand.settled.keys()].sort(), [...ids].sort());
        assert.ok([...hand.settled.values()].every(({ kind }) => kind === 'deleted'));
        assert.deepEqual(hand.singles, []);
        assert.equal(hand.capabilities.get('batch-max') === undefined, count <= most);
        if (count <= most) return;
        // Halves of a refused batch are never smaller than half of the accepted size.
        const { batchSize } = hand.deleter;
        assert.ok(batchSize <= most && batchSize * 2 >= most, `${batchSize} of ${most}`);
        const before = hand.batches.length;
        hand.settled.clear();
        await hand.deleteBatch(ids);
        const sizes = hand.batches.slice(before).map(({ length }) => length);
        assert.equal(sizes.length, Math.ceil(count / batchSize));
        assert.ok(sizes.every((size) => size <= batchSize));
        assert.equal(hand.settled.size, count);
      },
    ),
    { numRuns: 60 },
  );
});

it('the batch delete deletes singly only the id that makes the broker refuse a batch, and keeps the batch size', async () => {
  const bad = new Set(['urn:t:3', 'urn:t:17']);
  const hand = deleterOf({
    batch: (ids) => replyOf(ids.some((id) => bad.has(id)) ? 400 : 204),
    single: (id) => replyOf(id === 'urn:t:3' ? 409 : 204),
  });
  assert.deepEqual(await hand.deleteBatch(idsOf(20)), []);
  assert.deepEqual(hand.singles.sort(), ['urn:t:17', 'urn:t:3']);
  assert.equal(hand.settled.size, 20);
  assert.equal(hand.settled.get('urn:t:3')?.kind, 'refused');
  assert.equal(hand.settled.get('urn:t:17')?.kind, 'deleted');
  assert.deepEqual(
    [hand.capabilities.get('batch-max'), hand.capabilities.get('no-batch') !== true],
    [undefined, true],
  );
  assert.equal(hand.deleter.usesBatches, true);
});

it('the batch delete finds the accepted size despite an id that the broker refuses, and only from answers', async () => {
  for (const [answer, most] of [
    [(ids: readonly string[]) => (ids.length > 2 || ids.includes('urn:t:0') ? 400 : 204), 2],
    [(ids: readonly string[]) => (ids.length > 4 ? 400 : 503), undefined],
  ] as const) {
    const hand = deleterOf({ batch: (ids) => replyOf(answer(ids)), single: () => replyOf(409) });
    await hand.deleteBatch(idsOf(8));
    assert.deepEqual([hand.settled.size, hand.capabilities.get('batch-max')], [8, most]);
  }
});

for (const status of [404, 405, 501]) {
  it(`the batch delete hands all ids back after a ${status}, and sends no other batch`, async () => {
    const hand = deleterOf({ batch: () => replyOf(status) });
    assert.deepEqual(await hand.deleteBatch(idsOf(3)), idsOf(3));
    assert.deepEqual([hand.capabilities.get('no-batch') !== true, hand.deleter.usesBatches], [false, false]);
    assert.deepEqual(await hand.deleteBatch(idsOf(5)), idsOf(5));
    assert.deepEqual([hand.batches.length, hand.settled.size], [1, 0]);
  });

  it(`the batch delete ends after a ${status} if only batches may be used`, async () => {
    const hand = deleterOf({ batch: () => replyOf(status), limits: { strategy: 'batch' } });
    await assert.rejects(
      hand.deleteBatch(idsOf(3)),
      (error: unknown) => error instanceof BrokerRefusedError && error.problem.status === status,
    );
    assert.deepEqual([hand.settled.size, hand.singles], [0, []]);
  });
}

for (const [status, meaning] of [
  [404, 'gone entities'],
  [405, 'a missing operation'],
  [501, 'a missing operation'],
] as const) {
  it(`the batch delete reads a bare ${status} as ${meaning} if batches have worked`, async () => {
    const hand = deleterOf({ batch: (_ids, nth) => replyOf(nth === 1 ? 204 : status) });
    await hand.deleteBatch(['urn:t:first']);
    const isGone = status === 404;
    assert.deepEqual(await hand.deleteBatch(idsOf(2)), isGone ? [] : idsOf(2));
    const settled = isGone ? { 'urn:t:0': 'absent', 'urn:t:1': 'absent' } : {};
    assert.deepEqual(hand.kinds(), { 'urn:t:first': 'deleted', ...settled });
    assert.equal(hand.deleter.usesBatches, isGone);
  });
}

it('the batch delete continues with batches after many refused entities, if one batch was accepted', async () => {
  const hand = deleterOf({
    batch: (ids) => replyOf(ids.some((id) => id.startsWith('urn:t:')) ? 400 : 204),
    single: () => replyOf(409),
  });
  await hand.deleteBatch(['urn:good']);
  assert.deepEqual(await hand.deleteBatch(idsOf(16)), []);
  assert.deepEqual([hand.singles.length, hand.deleter.usesBatches], [16, true]);
});

it('the batch delete remembers after a 413 that half of the batch may be accepted, whatever the outcome of the halves', async () => {
  for (const [status, most] of [
    [413, 4],
    [400, undefined],
  ] as const) {
    const hand = deleterOf({
      batch: (ids) => replyOf(ids.length > 4 ? status : ids.includes('urn:t:3') ? 400 : 204),
      single: () => replyOf(409),
    });
    await hand.deleteBatch(idsOf(8));
    assert.equal(hand.capabilities.get('batch-max'), most);
  }
});

it('the batch delete marks only repeated requests without an answer as unclear', async () => {
  const hand = deleterOf({
    batch: (ids, nth) => (nth === 1 ? itemErrors(['urn:t:1'], 429) : replyOf(nth === 2 ? 500 : 204)),
  });
  await hand.deleteBatch(idsOf(4));
  assert.deepEqual(hand.batches, [idsOf(4), ['urn:t:1'], ['urn:t:1']]);
  assert.deepEqual([hand.unclear, hand.reserved], [['urn:t:1'], [4, 1]]);
  assert.ok([...hand.settled.values()].every(({ kind }) => kind === 'deleted'));
});

it('the batch delete leaves the meaning of a bare 404 after a lost answer open, if only batches may be used', async () => {
  const hand = deleterOf({
    batch: (_ids, nth) => replyOf(nth === 1 ? 503 : 404),
    limits: { strategy: 'batch' },
  });
  assert.deepEqual(await hand.deleteBatch(idsOf(2)), []);
  assert.deepEqual(hand.kinds(), { 'urn:t:0': 'retryable', 'urn:t:1': 'retryable' });
  assert.deepEqual([hand.unclear, hand.singles], [idsOf(2), []]);
  await assert.rejects(hand.deleteBatch(['urn:t:2']), BrokerRefusedError);
  for (const status of [405, 501]) {
    const other = deleterOf({
      batch: (_ids, nth) => replyOf(nth === 1 ? 503 : status),
      limits: { strategy: 'batch' },
    });
    await assert.rejects(other.deleteBatch(idsOf(2)), BrokerRefusedError);
    assert.equal(other.settled.size, 0);
  }
});

for (const [what, status, count, singles, usesBatches, isLearnt] of [
  ['gives up batches after the first entity that can be deleted only singly', 204, 8, 1, false, true],
  [
    'gives up batches for this purge after ten entities that can be deleted neither way',
    409,
    64,
    10,
    false,
    false,
  ],
  ['learns nothing about batches from entities that another client has deleted', 404, 8, 8, true, false],
] as const)
  it(`the batch delete ${what}`, async () => {
    const hand = deleterOf({ batch: () => replyOf(400), single: () => replyOf(status) });
    assert.deepEqual(await hand.deleteBatch(idsOf(count)), idsOf(count).slice(singles));
    assert.deepEqual([hand.singles, hand.settled.size], [idsOf(singles), singles]);
    const { deleter, capabilities } = hand;
    assert.deepEqual([deleter.usesBatches, capabilities.get('no-batch') === true], [usesBatches, isLearnt]);
  });

it('the batch delete refuses an entity with the problem of its batch if only batches may be used', async () => {
  const hand = deleterOf({
    batch: (ids) => (ids.includes('urn:t:2') ? replyOf(422, { title: 'Bad' }) : replyOf(204)),
    limits: { strategy: 'batch' },
  });
  assert.deepEqual(await hand.deleteBatch(idsOf(4)), []);
  assert.deepEqual(hand.settled.get('urn:t:2'), {
    kind: 'refused',
    problem: { status: 422, title: 'Bad' },
  });
  assert.deepEqual([hand.singles, hand.settled.size], [[], 4]);
});

it('the batch delete retries only the retryable items, as often as the policy says', async () => {
  const hand = deleterOf({
    batch: (ids) =>
      replyOf(207, {
        errors: ids.flatMap((entityId) => {
          if (entityId === 'urn:t:1') return [{ entityId, error: { status: 503, title: 'Busy' } }];
          return entityId === 'urn:t:2' ? [{ entityId, error: { status: 409 } }] : [];
        }),
      }),
  });
  await hand.deleteBatch(idsOf(4));
  assert.deepEqual(hand.batches, [idsOf(4), ['urn:t:1'], ['urn:t:1']]);
  assert.deepEqual(hand.kinds(), {
    'urn:t:0': 'deleted',
    'urn:t:1': 'retryable',
    'urn:t:2': 'refused',
    'urn:t:3': 'deleted',
  });
  assert.deepEqual([...new Set(hand.unclear)], ['urn:t:1']);
});

it('the batch delete reports ids as cut short if their list got too old for another try', async () => {
  const hand = deleterOf({ batch: () => itemErrors(['urn:t:1'], 503) });
  const settle = (id: string, result: DeleteResult) => void hand.settled.set(id, result);
  await hand.deleter.deleteBatch(idsOf(2), settle, () => hand.batches.length > 0);
  assert.deepEqual(
    [hand.batches.length, hand.kinds()],
    [1, { 'urn:t:0': 'deleted', 'urn:t:1': 'retryable' }],
  );
  const failed = hand.settled.get('urn:t:1');
  assert.ok(failed?.kind === 'retryable' && failed.isCutShort === true);
});

it('the batch delete reports a whole batch as failed and unclear if its tries ran out', async () => {
  const hand = deleterOf({ batch: () => replyOf(503, { title: 'Busy' }) });
  assert.deepEqual(await hand.deleteBatch(idsOf(2)), []);
  assert.deepEqual(hand.kinds(), { 'urn:t:0': 'retryable', 'urn:t:1': 'retryable' });
  assert.deepEqual([hand.batches.length, [...new Set(hand.unclear)]], [3, idsOf(2)]);
});

it('the batch delete marks only items without a status, or with a server error, as unclear', async () => {
  for (const [status, isUnclear] of [
    [undefined, true],
    [500, true],
    [599, true],
    [429, false],
    [409, false],
    [404, false],
  ] as const) {
    const hand = deleterOf({ batch: (ids) => itemErrors(ids, status) });
    await hand.deleteBatch(['urn:t:0']);
    assert.equal(hand.unclear.length > 0, isUnclear, String(status));
  }
});

it('the batch delete is never larger than the purge, its rate or the broker allows', () => {
  assert.equal(deleterOf({ maxPerRequest: 7, limits: { batchSize: 50 } }).deleter.batchSize, 7);
  const { deleter, capabilities } = deleterOf({ limits: { batchSize: 50 } });
  assert.equal(deleter.batchSize, 50);
  capabilities.learn('batch-max', 70);
  assert.equal(deleter.batchSize, 50);
  capabilities.learn('batch-max', 20);
  assert.equal(deleter.batchSize, 20);
});

for (const [status, kind] of [
  [200, 'deleted'],
  [204, 'deleted'],
  [404, 'absent'],
  [400, 'refused'],
  [409, 'refused'],
  [423, 'refused'],
  [503, 'retryable'],
  [429, 'retryable'],
] as const) {
  it(`the delete of one entity is ${kind} after a ${status}`, async () => {
    const hand = deleterOf({ single: () => replyOf(status) });
    assert.equal((await hand.deleter.deleteOne('urn:t:0', isFresh)).kind, kind);
    assert.deepEqual(hand.batches, []);
    assert.equal(hand.unclear.length > 0, status === 503);
  });
}

for (const status of [405, 501]) {
  it(`the delete of one entity ends the purge if the broker answers ${status}, because the operation is missing`, async () => {
    for (const [isTemporal, operation] of [
      [false, 'delete an entity'],
      [true, 'delete a temporal entity'],
    ] as const) {
      const { deleter } = deleterOf({ single: () => replyOf(status), isTemporal });
      await assert.rejects(
        deleter.deleteOne('urn:t:0', isFresh),
        (error: unknown) => error instanceof BrokerRefusedError && error.operation === operation,
      );
    }
  });
}

it('the delete of one entity reads an error item in a successful answer', async () => {
  const hand = deleterOf({ single: (id) => itemErrors([id]) });
  assert.equal((await hand.deleter.deleteOne('urn:t:0', isFresh)).kind, 'unclear');
  assert.deepEqual(hand.unclear, ['urn:t:0']);
});

it('the delete of one entity follows the strategy, and never uses a batch for temporal entities', async () => {
  for (const [strategy, isTemporal, ways] of [
    ['batch', false, [1, 0]],
    ['auto', false, [0, 1]],
    ['single', false, [0, 1]],
    ['batch', true, [0, 1]],
  ] as const) {
    const hand = deleterOf({ limits: { strategy }, isTemporal });
    assert.equal((await hand.deleter.deleteOne('urn:t:0', isFresh)).kind, 'deleted');
    assert.deepEqual([hand.batches.length, hand.singles.length], ways);
  }
  const { deleter } = deleterOf({ limits: { strategy: 'batch' }, isTemporal: true });
  assert.equal(deleter.usesBatches, false);
  assert.equal(deleterOf({ limits: { strategy: 'single' } }).deleter.usesBatches, false);
});

it('an entity whose path could mean another one is deleted by batch, or else refused', async () => {
  const id = 'urn:t:0?b';
  const hand = deleterOf({ batch: () => replyOf(204) });
  assert.equal((await hand.deleter.deleteOne(id, isFresh)).kind, 'deleted');
  assert.deepEqual([hand.batches, hand.singles], [[[id]], []]);

  for (const [status, kind] of [
    [400, 'refused'],
    [503, 'retryable'],
  ] as const) {
    const failing = deleterOf({ batch: () => replyOf(status, { title: 'No' }) });
    const verdict = await failing.deleter.deleteOne(id, isFresh);
    assert.equal(verdict.kind, kind);
    assert.ok('problem' in verdict && verdict.problem.status === status);
    assert.deepEqual(failing.singles, []);
  }
  for (const [status, isUnclear] of [
    [undefined, true],
    [500, true],
    [409, false],
  ] as const) {
    const single = deleterOf({ batch: (ids) => itemErrors(ids, status) });
    await single.deleter.deleteOne(id, isFresh);
    assert.deepEqual(single.unclear, isUnclear ? [id] : [], String(status));
  }
  for (const without of [
    deleterOf({ batch: () => replyOf(404) }),
    deleterOf({ limits: { strategy: 'single' } }),
  ]) {
    const verdict = await without.deleter.deleteOne(id, isFresh);
    assert.ok(verdict.kind === 'refused' && verdict.problem.status === 501);
    assert.deepEqual(without.singles, []);
  }
});

it('each request of a deleter states how many entities it may delete, so that rates and maxima are respected', async () => {
  const { deleter, deleteBatch, reserved, batches, singles } = deleterOf({});
  await deleteBatch(idsOf(7));
  await deleter.deleteOne('urn:t:8', isFresh);
  assert.deepEqual([reserved, batches.length, singles.length], [[7, 1], 1, 1]);
  const halving = deleterOf({ batch: (ids) => replyOf(ids.length > 2 ? 413 : 204) });
  await halving.deleteBatch(idsOf(4));
  assert.deepEqual(halving.reserved, [4, 2, 2]);
  const native = deleterOf({ limits: { strategy: 'batch' } });
  await native.deleter.deleteOne('urn:t:8', isFresh);
  assert.deepEqual([native.reserved, native.batches], [[1], [['urn:t:8']]]);
});
