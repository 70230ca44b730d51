import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type BrokerReply } from '../../../../sidecar/purge/broker/index.js';
import { BrokerFailedError, BrokerRefusedError } from '../../../../sidecar/purge/errors.js';
import { entities, Lister } from '../../../../sidecar/purge/listing/index.js';
import { replyOf } from '../../../support/replies.js';
import { contextOf } from '../hand-made-context.js';

const QUERY = [{ name: 'type', value: 'T' }];
const UNKNOWN = replyOf(404, { title: 'Not found' });
const LISTED = replyOf(200, [{ id: 'urn:t:1' }]);

/** Whether a query was refused with a status. */
const isRefusal = (status: number) => (error: unknown) =>
  error instanceof BrokerRefusedError && error.problem.status === status;

/** A collection of a broker that answers by the form of its path: without a slash, and with one. */
function collectionOf(plain: (nth: number) => BrokerReply, slashed: () => BrokerReply = () => UNKNOWN) {
  const asked: string[] = [];
  const { requester, capabilities, clock } = contextOf({
    brokerQuery: { resource: entities('ids'), selection: QUERY },
    broker: ({ path }) => {
      const [resource = ''] = path.split('?');
      asked.push(resource);
      return resource.endsWith('/') ? slashed() : plain(asked.length);
    },
  });
  const resource = entities('attributes');
  const limits = { pageSize: 10, pageSizeMax: 10 };
  const lister = new Lister({ requester, capabilities, clock, resource, limits });
  return { page: async () => lister.page({ selection: QUERY }), capabilities, asked };
}

it('the path of a collection is blamed only for a 404, and not for a 404 about the tenant', async () => {
  for (const status of [200, 400, 403, 422]) {
    const { page, asked } = collectionOf(() => replyOf(status, []));
    if (status === 200) await page();
    else await assert.rejects(page(), isRefusal(status));
    assert.deepEqual([...new Set(asked)], ['/entities']);
  }
  const { page, asked } = collectionOf(() => replyOf(404, { type: 'NonexistentTenant' }));
  await assert.rejects(page(), BrokerRefusedError);
  assert.deepEqual(asked, ['/entities']);
});

it('the path of a collection is the one that answered a query, with a page or with a refusal of the query', async () => {
  for (const [reply, isAnswer] of [
    [replyOf(200, []), true],
    [replyOf(400, { title: 'no pick' }), true],
    [replyOf(403, { title: 'too many' }), true],
    [replyOf(200), false],
    [replyOf(200, { id: 'urn:t:1' }), false],
    [replyOf(200, '<html>'), false],
    [replyOf(204), false],
    [replyOf(301), false],
    [replyOf(401), false],
    [replyOf(405), false],
    [replyOf(422), false],
    [replyOf(500), false],
  ] as const) {
    const { page } = collectionOf(
      () => UNKNOWN,
      () => reply,
    );
    const answered = page();
    if (isAnswer && reply.status === 200) assert.equal((await answered).path, '/entities/');
    else await assert.rejects(answered, isRefusal(isAnswer ? reply.status : 404), reply.body);
  }
});

const failing = () => replyOf(500, { title: 'Broken' });

it('the path of a collection is not blamed if the broker fails with a slash and does not know the path without one', async () => {
  const { page } = collectionOf(() => replyOf(404, 'Not Found'), failing);
  await assert.rejects(page(), (error: unknown) => {
    assert.ok(error instanceof BrokerFailedError);
    return error.failure.status === 500;
  });
});

it('a query whose tries run out gets one more round of tries in a purge that has had answers', async () => {
  const { page, asked } = collectionOf((nth) => (nth === 1 ? LISTED : failing()));
  await page();
  await assert.rejects(
    page(),
    (error: unknown) => error instanceof BrokerFailedError && error.reason === 'attempts-used-up',
  );
  assert.equal(asked.length, 1 + 2 * 3);

  const recovering = collectionOf((nth) => (nth === 1 || nth === 6 ? LISTED : failing()));
  await recovering.page();
  assert.deepEqual((await recovering.page()).ids, ['urn:t:1']);
});

it('a query whose tries run out gets no more tries in a purge without answers', async () => {
  const { page, asked } = collectionOf(failing);
  await assert.rejects(page(), BrokerFailedError);
  assert.equal(asked.length, 3);
});

it('a query whose tries run out gets no more tries for an unavailable @context', async () => {
  const { page, asked } = collectionOf((nth) =>
    nth === 1 ? LISTED : replyOf(504, { type: 'LdContextNotAvailable' }),
  );
  await page();
  await assert.rejects(page(), BrokerFailedError);
  assert.equal(asked.length, 1 + 2);
});
