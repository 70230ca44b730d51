import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { BrokerRequest } from '../../../sidecar/broker/client.js';
import type { BrokerReply } from '../../../sidecar/broker/reply.js';
import { BrokerFailedError, BrokerRefusedError } from '../../../sidecar/purge/errors.js';
import { deleteItem } from '../../../sidecar/purge/item-delete.js';
import { entities } from '../../../sidecar/purge/listed-resource.js';
import type { Item } from '../../../sidecar/purge/tally.js';
import { replyOf } from '../broker/replies.js';
import { contextOf } from './hand-made-context.js';

const ITEM: Item = { entityId: 'urn:a:1', attribute: 'speed' };
const PATH = '/entities/urn%3Aa%3A1/attrs/speed';
const view = { resource: entities('attributes'), selection: [] };

async function deleted(answer: (request: BrokerRequest) => BrokerReply, path: string | undefined = PATH) {
  const asked: BrokerRequest[] = [];
  const { requester } = contextOf({
    view,
    broker: (request) => {
      asked.push(request);
      return answer(request);
    },
  });
  const verdict = await deleteItem(requester, ITEM, { path, operation: 'delete an attribute' });
  return { verdict, asked };
}

describe('the delete of an item', () => {
  it('is one DELETE of its path, without a body', async () => {
    const { asked } = await deleted(() => replyOf(204));
    assert.equal(asked.length, 1);
    assert.deepEqual([asked[0]?.method, asked[0]?.path, asked[0]?.jsonBody], ['DELETE', PATH, undefined]);
  });

  it('is believed where the broker says done, or that there is no such thing', async () => {
    for (const status of [200, 202, 204, 404]) {
      assert.deepEqual(
        (await deleted(() => replyOf(status))).verdict,
        { kind: 'claimed-gone' },
        String(status),
      );
    }
  });

  it('is refused where the broker refuses, with its own words', async () => {
    for (const status of [400, 409, 410, 422]) {
      const { verdict, asked } = await deleted(() => replyOf(status, { title: 'Locked', detail: 'by hand' }));
      assert.ok(verdict.kind === 'refused');
      assert.deepEqual([verdict.problem.status, verdict.problem.title, asked.length], [status, 'Locked', 1]);
    }
  });

  it('is unclear where the broker did a part of it', async () => {
    const { verdict } = await deleted(() => replyOf(207, { updated: [], notUpdated: [] }));
    assert.equal(verdict.kind, 'unclear');
  });

  it('may be tried again where all tries were used up', async () => {
    const { verdict, asked } = await deleted(() => replyOf(503, { title: 'Busy' }));
    assert.ok(verdict.kind === 'retryable');
    assert.deepEqual([verdict.problem.title, asked.length], ['Busy', 3]);
  });

  it('ends the purge where the broker has no such operation, or does not let the caller', async () => {
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

  it('is not sent where its path could be read as another', async () => {
    const { requester } = contextOf({ view });
    const verdict = await deleteItem(requester, ITEM, { path: undefined, operation: 'delete an attribute' });
    assert.ok(verdict.kind === 'refused');
    assert.equal(requester.requests, 0);
  });
});
