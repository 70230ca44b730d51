import assert from 'node:assert/strict';
import { it } from 'node:test';
import { DEFAULT_DATASET } from '../../../../sidecar/ngsi-ld/members.js';
import { datasetsOf } from '../../../../sidecar/purge/attributes/item-delete.js';
import {
  datasetParameter,
  deleteItem,
  deleteWholeAttribute,
} from '../../../../sidecar/purge/attributes/index.js';
import { type BrokerReply, BrokerUnreachableError } from '../../../../sidecar/purge/broker/index.js';
import { BrokerFailedError, BrokerRefusedError } from '../../../../sidecar/purge/errors.js';
import { entities } from '../../../../sidecar/purge/listing/index.js';
import { words } from '../../../support/words.js';
import { replyOf } from '../../../support/replies.js';
import { budgetOf, contextOf } from '../hand-made-context.js';

const ITEM = { entityId: 'urn:a:1', attribute: 'speed' };
const PATH = '/entities/urn%3Aa%3A1/attrs/speed';
const HOW = { operation: 'delete an attribute', isStale: () => false } as const;

/** A broker that answers by the query of a delete ('' without one), or does not answer. */
function at(answer: (query: string) => BrokerReply | Error) {
  const sent: string[] = [];
  const reserved: number[] = [];
  const context = contextOf({
    brokerQuery: { resource: entities('attributes'), selection: [] },
    broker: ({ method, path, jsonBody }) => {
      assert.deepEqual([method, path.split('?')[0], jsonBody], ['DELETE', PATH, undefined]);
      const query = path.split('?')[1] ?? '';
      sent.push(query);
      const end = answer(query);
      if (end instanceof Error) throw end;
      return end;
    },
    budget: budgetOf(reserved),
  });
  context.ledger.add(ITEM);
  const remove = async () => deleteItem(context, ITEM, { path: PATH, ...HOW });
  return { context, sent, reserved, remove };
}

const unanswered = (wasSent: boolean) => new BrokerUnreachableError('broken', wasSent);

for (const [what, ends, kind, unclear, tries] of [
  ['is deleted if the broker says so', [200, 202, 204], 'deleted', 0, 1],
  ['is absent if the broker does not have it', [404], 'absent', 0, 1],
  ['is refused if the broker refuses it', [400, 409, 410, 422], 'refused', 0, 1],
  ['is unclear if the broker did only part of it', [207], 'unclear', 1, 1],
  ['is unclear if all its answers were server errors', [500, 503], 'retryable', 1, 3],
  ['is unclear if it had no answer', [unanswered(true)], 'retryable', 1, 3],
  ['is not unclear if it was never sent', [unanswered(false)], 'retryable', 0, 3],
  ['is not unclear if it was throttled', [429], 'retryable', 0, 3],
] as const)
  it(`the delete of an item ${what}`, async () => {
    const said = { title: 'Locked', detail: 'by hand' };
    for (const end of ends) {
      const { context, remove, sent, reserved } = at(() =>
        typeof end === 'number' ? replyOf(end, end < 300 ? {} : said) : end,
      );
      const verdict = await remove();
      assert.deepEqual([verdict.kind, context.ledger.unclear.length], [kind, unclear], String(end));
      assert.deepEqual([sent.length, reserved], [tries, [1]], 'it counts against rates and maxima, once');
      if ('problem' in verdict && typeof end === 'number' && end > 299)
        assert.deepEqual([verdict.problem.status, verdict.problem.title], [end, 'Locked']);
    }
  });

it('the delete of an item ends the purge if the broker lacks the operation, or refuses it to the caller', async () => {
  for (const status of [401, 403, 405, 501]) {
    await assert.rejects(
      at(() => replyOf(status, { title: 'no' })).remove(),
      (error: unknown) => error instanceof BrokerRefusedError && error.problem.status === status,
    );
  }
  const { remove } = at(() => replyOf(429, '', { 'retry-after': '86400' }));
  await assert.rejects(remove(), BrokerFailedError);
});

it('the delete of an item is not sent if its path could be read as another', async () => {
  const { context, sent } = at(() => replyOf(204));
  const verdict = await deleteItem(context, ITEM, { path: undefined, ...HOW });
  assert.deepEqual([verdict.kind, sent, context.requester.requestCounts.requests], ['refused', [], 0]);
});

it('datasetsOf names each dataset once, and the instances without a dataset as @none', () => {
  const instance = (datasetId?: unknown) => ({ type: 'Property', value: 1, datasetId });
  assert.deepEqual(datasetsOf(instance()), ['@none']);
  assert.deepEqual(datasetsOf(instance('urn:d:1')), ['urn:d:1']);
  assert.deepEqual(datasetsOf([instance('urn:d:1'), instance(), instance('urn:d:1'), instance('')]), [
    'urn:d:1',
    '@none',
  ]);
  for (const odd of [7, null, 'text', [null]]) assert.deepEqual(datasetsOf(odd), ['@none']);
});

it('datasetParameter is the percent-encoded query for one dataset, and empty for the instances without a dataset', () => {
  assert.equal(datasetParameter('@none'), '');
  assert.equal(datasetParameter('urn:ngsi-ld:ds:1'), '?datasetId=urn%3Angsi-ld%3Ads%3A1');
  assert.equal(datasetParameter('https://ds.example/a/1'), '?datasetId=https%3A%2F%2Fds.example%2Fa%2F1');
  assert.equal(datasetParameter('urn:x/.a/..b/c'), '?datasetId=urn%3Ax%2F.a%2F..b%2Fc');
  assert.equal(datasetParameter('urn:größe'), '?datasetId=urn%3Agr%C3%B6%C3%9Fe');
});

it('datasetParameter is undefined for a datasetId that could be read as another one, or as another parameter', () => {
  for (const datasetId of [
    ...words(`
      urn:x&deleteAll=true urn:x%26deleteAll=true urn:x=1 urn:x#1 urn:x;1 urn:x?1 urn:x+1 urn:x,urn:y urn:x\\1
      urn:x/ urn:x. urn:x/../y urn:x/./y urn:x＆a＝b urn:x／y urn:ａ
    `),
    ...['urn:x ', 'urn:x\n', '', '\ud800', 'urn:x\u0000'],
  ]) {
    assert.equal(datasetParameter(datasetId), undefined, JSON.stringify(datasetId));
  }
});

const [A, B] = ['urn:d:a', 'urn:d:b'];
const [ALL, OF_A, OF_B] = ['deleteAll=true', 'datasetId=urn%3Ad%3Aa', 'datasetId=urn%3Ad%3Ab'];

function whole(answer: (query: string) => number) {
  const { context, sent } = at((query) => replyOf(answer(query)));
  const remove = async (...datasets: readonly string[]) =>
    (await deleteWholeAttribute(context, { ...ITEM, datasets }, { collection: '/entities', ...HOW })).kind;
  return { remove, sent, capabilities: context.capabilities };
}

it('the delete of a whole attribute stops after a refusal', async () => {
  const { remove, sent } = whole(() => 409);
  assert.equal(await remove(A, B), 'refused');
  assert.deepEqual(sent, [ALL]);
  await assert.rejects(whole(() => 501).remove(), BrokerRefusedError);
});

it('the delete of a whole attribute uses deleteAll for datasets, and deletes each dataset if that finds none', async () => {
  const { remove, sent, capabilities } = whole((query) => (query === ALL ? 404 : 204));
  capabilities.learn('needs-datasets', true);
  assert.equal(await remove(A, DEFAULT_DATASET, B), 'deleted');
  assert.deepEqual(sent, [ALL, OF_A, '', OF_B]);
});

it('the delete of a whole attribute has the worst outcome of its datasets, and succeeds if one of them existed', async () => {
  for (const [a, b, kind] of [
    [204, 204, 'deleted'],
    [404, 204, 'deleted'],
    [204, 404, 'deleted'],
    [404, 404, 'absent'],
    [204, 409, 'refused'],
    [409, 404, 'refused'],
  ] as const) {
    const { remove } = whole((query) => (query === ALL ? 404 : query === OF_A ? a : b));
    assert.equal(await remove(A, B), kind, `${a}, ${b}`);
  }
});
