import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  type BrokerRequest,
  BrokerUnreachableError,
  type BrokerReply,
} from '../../../../sidecar/purge/broker/index.js';
import { BrokerFailedError, BrokerRefusedError } from '../../../../sidecar/purge/errors.js';
import { deleteItem } from '../../../../sidecar/purge/attributes/index.js';
import { entities } from '../../../../sidecar/purge/listing/index.js';
import type { Item } from '../../../../sidecar/purge/ledger/index.js';
import { replyOf } from '../broker/replies.js';
import { budgetOf, contextOf } from '../hand-made-context.js';

const ITEM: Item = { entityId: 'urn:a:1', attribute: 'speed' };
const PATH = '/entities/urn%3Aa%3A1/attrs/speed';
const brokerQuery = { resource: entities('attributes'), selection: [] };

async function deleted(answer: (request: BrokerRequest) => BrokerReply, path: string | undefined = PATH) {
  const asked: BrokerRequest[] = [];
  const reserved: number[] = [];
  const context = contextOf({
    brokerQuery,
    broker: (request) => {
      asked.push(request);
      return answer(request);
    },
    budget: budgetOf(reserved),
  });
  context.ledger.add(ITEM);
  const verdict = await deleteItem(context, ITEM, {
    path,
    operation: 'delete an attribute',
    isStale: () => false,
  });
  return { verdict, asked, reserved, unclear: context.ledger.unclear.length };
}

function unanswered(wasSent: boolean): never {
  throw new BrokerUnreachableError('broken', wasSent);
}

it('the delete of an item is one DELETE of its path, without a body', async () => {
  const { asked, reserved } = await deleted(() => replyOf(204));
  assert.equal(asked.length, 1);
  assert.deepEqual(reserved, [1], 'it counts against rates and maxima');
  assert.deepEqual([asked[0]?.method, asked[0]?.path, asked[0]?.jsonBody], ['DELETE', PATH, undefined]);
});

for (const [kind, statuses] of [
  ['deleted', [200, 202, 204]],
  ['absent', [404]],
] as const) {
  it(`the delete of an item is ${kind} if the broker says so: ${statuses.join(', ')}`, async () => {
    for (const status of statuses) {
      const { verdict, unclear } = await deleted(() => replyOf(status));
      assert.deepEqual(verdict, { kind });
      assert.equal(unclear, 0);
    }
  });
}

it("the delete of an item is refused with the broker's own words if the broker refuses", async () => {
  for (const status of [400, 409, 410, 422]) {
    const { verdict, asked } = await deleted(() => replyOf(status, { title: 'Locked', detail: 'by hand' }));
    assert.ok(verdict.kind === 'refused');
    assert.deepEqual([verdict.problem.status, verdict.problem.title, asked.length], [status, 'Locked', 1]);
  }
});

it('the delete of an item is unclear if the broker did only part of it', async () => {
  const { verdict, unclear } = await deleted(() => replyOf(207, { updated: [], notUpdated: [] }));
  assert.deepEqual([verdict.kind, unclear], ['unclear', 1]);
});

it('the delete of an item may be retried later if all tries were used up', async () => {
  const { verdict, asked } = await deleted(() => replyOf(503, { title: 'Busy' }));
  assert.ok(verdict.kind === 'retryable');
  assert.deepEqual([verdict.problem.title, asked.length], ['Busy', 3]);
});

for (const [name, fails, unclear] of [
  ['had no answer', () => unanswered(true), 1],
  ['had a server error for an answer', () => replyOf(500), 1],
  ['was never sent', () => unanswered(false), 0],
  ['was throttled', () => replyOf(429), 0],
] as const) {
  it(`the delete of an item has an outcome that is ${unclear === 1 ? 'not ' : ''}known if it ${name}`, async () => {
    assert.equal((await deleted(fails)).unclear, unclear);
  });
}

it('the delete of an item ends the purge if the broker lacks the operation, or refuses it to the caller', async () => {
  for (const status of [401, 403, 405, 501]) {
    await assert.rejects(
      deleted(() => replyOf(status, { title: 'no' })),
      (error: unknown) => error instanceof BrokerRefusedError && error.problem.status === status,
    );
  }
  await assert.rejects(
    deleted(() => replyOf(429, '', { 'retry-after': '86400' })),
    BrokerFailedError,
  );
});

it('the delete of an item is not sent if its path could be read as another', async () => {
  const context = contextOf({ brokerQuery });
  const verdict = await deleteItem(context, ITEM, {
    path: undefined,
    operation: 'delete an attribute',
    isStale: () => false,
  });
  assert.ok(verdict.kind === 'refused');
  assert.equal(context.requester.effort.requests, 0);
});
