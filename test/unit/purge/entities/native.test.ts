import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { BrokerReply } from '../../../../sidecar/purge/broker/index.js';
import { BrokerFailedError, BrokerRefusedError, BrokerReplyError } from '../../../../sidecar/purge/errors.js';
import type { PurgeEvent } from '../../../../sidecar/purge/run/index.js';
import { entities } from '../../../../sidecar/purge/listing/index.js';
import { purgeNatively } from '../../../../sidecar/purge/entities/native.js';
import { replyOf } from '../../../support/replies.js';
import { budgetOf, contextOf } from '../hand-made-context.js';
import { idsOf, pageOf } from '../hand-made-lister.js';

/** A broker that returns `counts` one after the other, the first for the earlier page, and answers its own purge. */
async function natively(
  counts: readonly (number | undefined)[],
  purge: (nth: number) => BrokerReply = () => replyOf(204),
  { shown = (count: number) => idsOf(count), path = '/entities' } = {},
) {
  const sent: string[] = [];
  const events: PurgeEvent[] = [];
  const reserved: number[] = [];
  let looks = 0;
  let purges = 0;
  const context = contextOf({
    brokerQuery: { resource: entities('ids'), selection: [{ name: 'type', value: 'T' }] },
    broker: (request) => {
      assert.ok(sent.length < 100, 'it goes on for ever');
      const { method } = request;
      sent.push(method === 'DELETE' ? `DELETE ${request.path}` : method);
      if (method === 'DELETE') return purge((purges += 1));
      looks += 1;
      const count = counts[Math.min(looks, counts.length - 1)];
      return replyOf(
        200,
        shown(count ?? 3).map((id) => ({ id })),
        count === undefined ? {} : { 'ngsild-results-count': String(count) },
      );
    },
    limits: { pageSize: 2000, pageSizeMax: 2000 },
    budget: budgetOf(reserved),
  });
  const listening = { ...context, emit: (event: PurgeEvent) => events.push(event) };
  const [first] = counts;
  const page = pageOf(shown(first ?? 3), { count: first, path });
  const progress = () =>
    events.flatMap((event) => {
      if (event.type !== 'progress') return [];
      const { deleted, failed, unknown } = event;
      return [[deleted, failed, unknown]];
    });
  const ended = purgeNatively(listening, page);
  return { ended, sent, progress, reserved };
}

it("the broker's own purge is repeated until the count is 0, and counts every match that is gone as deleted", async () => {
  const { ended, sent, progress, reserved } = await natively([50, 30, 10, 0]);
  const { matched, deleted, alreadyGone, failed, unknown, arrived, errors } = await ended;
  assert.deepEqual([matched, deleted, alreadyGone, failed, unknown, arrived], [50, 50, 0, 0, 0, 0]);
  assert.deepEqual([errors, reserved], [[], [50, 30, 10]]);
  assert.deepEqual(sent, [
    'DELETE /entities?type=T',
    'GET',
    'DELETE /entities?type=T',
    'GET',
    'DELETE /entities?type=T',
    'GET',
  ]);
  assert.deepEqual(progress(), [
    [20, 0, 0],
    [40, 0, 0],
    [50, 0, 0],
  ]);
});

it("the broker's own purge reserves all that the broker counts, however few a page shows", async () => {
  const { ended, reserved } = await natively([5000, 3000, 0], undefined, {
    shown: (count) => idsOf(Math.min(count, 10)),
  });
  await ended;
  assert.deepEqual(reserved, [5000, 3000]);
});

it("the broker's own purge is sent to the path that listed the matches", async () => {
  const { ended, sent } = await natively([1, 0], () => replyOf(204), { path: '/entities/' });
  await ended;
  assert.equal(sent[0], 'DELETE /entities/?type=T');
});

it("the broker's own purge ends after two purges without progress, and reports the remaining matches", async () => {
  const { ended, sent } = await natively([50, 30, 40, 30]);
  const { deleted, failed, arrived, errors } = await ended;
  assert.deepEqual([deleted, failed, arrived, errors.length], [20, 30, 0, 30]);
  assert.equal(sent.filter((request) => request.startsWith('DELETE')).length, 3);
  assert.deepEqual(
    [errors[0]?.entityId, errors[0]?.error.status, errors[0]?.error.title],
    ['urn:t:0', 409, 'Entity still listed'],
  );
});

it("the broker's own purge never counts less than 0 as deleted, and counts arrivals", async () => {
  const { deleted, failed, arrived } = await (await natively([5, 8])).ended;
  assert.deepEqual([deleted, failed, arrived], [0, 5, 3]);
});

it("the broker's own purge names at most a thousand of the remaining matches", async () => {
  assert.equal((await (await natively([1500, 1500])).ended).errors.length, 1000);
});

it("the broker's own purge trusts the listed matches if they exceed the count", async () => {
  const { ended } = await natively([1, 1], () => replyOf(204), { shown: () => idsOf(4) });
  assert.deepEqual((await ended).matched, 4);
});

it("the broker's own purge treats a 404 like any other answer, because the count decides", async () => {
  const { ended } = await natively([5, 0], () => replyOf(404));
  assert.equal((await ended).deleted, 5);
});

it("the broker's own purge ends with the refusal of the broker, and counts nothing as deleted", async () => {
  for (const status of [400, 405, 409, 501]) {
    const { ended, progress } = await natively([5, 5], () => replyOf(status));
    await assert.rejects(
      ended,
      (error: unknown) => error instanceof BrokerRefusedError && error.problem.status === status,
    );
    assert.deepEqual(progress(), []);
  }
});

it("the broker's own purge sends no more queries if a later purge is refused, because its effect is known", async () => {
  const { ended, sent, progress } = await natively([5, 2], (nth) => replyOf(nth === 1 ? 204 : 403));
  await assert.rejects(ended, BrokerRefusedError);
  assert.deepEqual([sent.length, progress()], [3, [[3, 0, 0]]]);
});

it("the broker's own purge queries once more if its tries ran out without a clear answer", async () => {
  const { ended, progress } = await natively([5, 2], () => replyOf(500));
  await assert.rejects(ended, BrokerFailedError);
  assert.deepEqual(progress(), [[3, 0, 0]]);
});

it("the broker's own purge counts the matches as unknown if the last query fails too", async () => {
  const { ended, progress } = await natively([5, undefined], () => replyOf(500));
  await assert.rejects(ended, BrokerFailedError);
  assert.deepEqual(progress(), [[0, 0, 5]]);
});

it("the broker's own purge is refused without a count, or if matches are counted but not listed", async () => {
  for (const { ended, sent } of [
    await natively([undefined]),
    await natively([3], undefined, { shown: () => [] }),
    await natively([1], undefined, { shown: () => [] }),
  ]) {
    await assert.rejects(ended, BrokerReplyError);
    assert.deepEqual(sent, []);
  }
  const { ended, progress } = await natively([5, undefined]);
  await assert.rejects(ended, BrokerReplyError);
  // The purge was sent, and its result is unknown.
  assert.deepEqual(progress(), [[0, 0, 5]]);
});
