import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { BrokerRequest } from '../../../../sidecar/purge/broker/index.js';
import type { Item } from '../../../../sidecar/purge/ledger/index.js';
import { temporalEntities } from '../../../../sidecar/purge/listing/index.js';
import { temporalAttributeKind } from '../../../../sidecar/purge/temporal/attribute-kind.js';
import { replyOf } from '../../../support/replies.js';
import { contextOf } from '../hand-made-context.js';
import { pageOf } from '../hand-made-lister.js';

const ID = 'urn:t:0';

function kindOf(datasetId: string | undefined) {
  const sent: string[] = [];
  const checked: string[] = [];
  const context = contextOf({
    brokerQuery: { resource: temporalEntities(), selection: [] },
    broker: ({ method, path }: BrokerRequest) => {
      sent.push(`${method} ${path}`);
      return replyOf(204);
    },
  });
  const guard = {
    checkAttribute: (id: string, name: string) => void checked.push(`${id} ${name}`),
    checkInstance: (id: string, name: string, { datasetId: of }: { readonly datasetId: string }) =>
      void checked.push(`${id} ${name} ${of}`),
  };
  const kind = temporalAttributeKind(context, guard, datasetId);
  const remove = async (item: Item) => {
    context.ledger.add(item);
    return kind.remove(item, () => false);
  };
  return { kind, sent, checked, remove };
}

/** Two entities, the second with an attribute of which no instance is shown. */
const PAGE = pageOf([ID, 'urn:t:1'], {
  entities: [
    {
      id: ID,
      type: 'T',
      speed: [{ value: 1 }, { value: 2, datasetId: 'urn:d:1' }, { value: 3, datasetId: 'urn:d:1' }],
    },
    { id: 'urn:t:1', type: 'T', speed: [], heading: { value: 1, datasetId: 'urn:d:1' } },
  ],
});

const itemsOf = (kind: ReturnType<typeof kindOf>['kind'], indexes: readonly number[]) =>
  [...(kind.read(PAGE, indexes) as Iterable<{ readonly items: readonly Item[] }>)].flatMap(
    ({ items }) => items,
  );

it('attributes as items are those with instances, each with its datasets', () => {
  assert.deepEqual(itemsOf(kindOf(undefined).kind, [0, 1]), [
    { entityId: ID, attribute: 'speed', datasets: ['@none', 'urn:d:1'] },
    { entityId: 'urn:t:1', attribute: 'heading', datasets: ['urn:d:1'] },
  ]);
  assert.deepEqual(itemsOf(kindOf(undefined).kind, []), []);
});

it('attributes as items are single datasets if datasets are purged', () => {
  assert.deepEqual(itemsOf(kindOf('urn:d:1').kind, [0]), [
    { entityId: ID, attribute: 'speed', datasetId: 'urn:d:1' },
  ]);
});

it('attributes as items are checked against the query, each attribute and each instance', () => {
  const { kind, checked } = kindOf(undefined);
  itemsOf(kind, [0, 1]);
  assert.deepEqual(checked, [
    `${ID} speed`,
    `${ID} speed @none`,
    `${ID} speed urn:d:1`,
    `${ID} speed urn:d:1`,
    'urn:t:1 speed',
    'urn:t:1 heading',
    'urn:t:1 heading urn:d:1',
  ]);
});

it('attributes as items are refused without a request if no path surely means them', async () => {
  for (const [datasetId, item] of [
    ['urn:d:1&deleteAll=true', { entityId: ID, attribute: 'speed' }],
    ['urn:d:1', { entityId: ID, attribute: 'a/b' }],
    ['urn:d:1', { entityId: ID }],
  ] as const) {
    const { remove, sent } = kindOf(datasetId);
    const verdict = await remove(item);
    assert.deepEqual([verdict.kind, sent], ['refused', []], JSON.stringify(item));
  }
});

it('attributes as items are walked once more, ten entities at a time, only if datasets are purged', () => {
  const { kind } = kindOf('urn:d:1');
  assert.deepEqual(kind.shape?.(), {});
  assert.equal(kind.beginSecondWalk?.(), true);
  assert.deepEqual(kind.shape(), { isBare: true, limit: 10 });
  assert.equal(kind.beginSecondWalk(), false);
  const whole = kindOf(undefined).kind;
  assert.deepEqual([whole.beginSecondWalk?.(), whole.shape?.()], [false, {}]);
});

it('attributes as items are reported as an attribute or a dataset if they cannot be deleted', () => {
  for (const [datasetId, title, what] of [
    [undefined, 'Attribute still listed', 'attribute'],
    ['@none', 'Dataset still listed', 'dataset'],
  ] as const) {
    const { stillThere } = kindOf(datasetId).kind;
    assert.deepEqual([stillThere.status, stillThere.title], [409, title]);
    assert.equal(stillThere.detail, `The broker answered that the ${what} is gone, but still shows it.`);
  }
});
