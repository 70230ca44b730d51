import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { PurgeContext } from '../../../../sidecar/purge/run/index.js';
import { FilterIgnoredError } from '../../../../sidecar/purge/errors.js';
import { IdStates, type Item } from '../../../../sidecar/purge/ledger/index.js';
import {
  countItems,
  walkItems,
  type ItemBatch,
  type ItemKind,
} from '../../../../sidecar/purge/deleting/index.js';
import {
  temporalEntities,
  type ListedPage,
  type PageQuery,
} from '../../../../sidecar/purge/listing/index.js';
import { contextOf, PROVEN } from '../hand-made-context.js';
import { idsOf, listerOf, pageOf } from '../hand-made-lister.js';

const LIMIT = 10;

/** The context of a purge over given pages; its filters are proven unless told otherwise. */
function contextWith(answer: (query: PageQuery) => ListedPage, proof: () => Promise<void> = async () => {}) {
  const { lister, asked } = listerOf((query, index) => {
    assert.ok(index < 100, 'the walk goes on for ever');
    return answer(query);
  });
  const brokerQuery = { resource: temporalEntities(), selection: [{ name: 'type', value: 'T' }] };
  const context = { ...contextOf({ brokerQuery }), lister, proof: { ...PROVEN, prove: proof } };
  return { context, asked };
}

const paged =
  (ids: readonly string[]) =>
  ({ offset = 0, limit = LIMIT }: PageQuery) =>
    pageOf(ids.slice(offset, offset + limit), { count: ids.length, limit });

/** One item for each entity. */
const onePerEntity = (page: ListedPage, indexes: readonly number[]): ItemBatch => ({
  items: indexes.map((index) => ({ entityId: page.ids[index] ?? '', attribute: 'a' })),
});

function kindOf(more: Partial<ItemKind> = {}): ItemKind {
  return {
    *read(page, indexes) {
      yield onePerEntity(page, indexes);
    },
    remove: async () => assert.fail('a walk deletes nothing'),
    mayComeBack: true,
    stillThere: { status: 409 },
    ...more,
  };
}

async function walked(context: PurgeContext, kind: ItemKind, entities = new IdStates()) {
  const items: Item[] = [];
  const end = await walkItems(context, kind, entities, (batch) => void items.push(...batch.items));
  return { end, ids: items.map(({ entityId }) => entityId) };
}

it('walkItems visits an entity once, however often the pages show it', async () => {
  const all = ['urn:t:0', 'urn:t:1', 'urn:t:0', 'urn:t:1', 'urn:t:2'];
  const { context } = contextWith(({ offset = 0 }) =>
    pageOf(all.slice(Math.max(0, offset - 2), offset + LIMIT)),
  );
  assert.deepEqual((await walked(context, kindOf())).ids, ['urn:t:0', 'urn:t:1', 'urn:t:2']);
});

it('walkItems visits every entity again in each walk, and notes how many there are', async () => {
  const entities = new IdStates();
  const { context } = contextWith(paged(idsOf(12)));
  for (let walk = 0; walk < 3; walk++)
    assert.equal((await walked(context, kindOf(), entities)).ids.length, 12);
  assert.equal(entities.size, 12);
});

it('walkItems has the filters proven before it reads anything from a page', async () => {
  const { context } = contextWith(paged(idsOf(3)), async () => {
    throw new FilterIgnoredError('q', 'ignored');
  });
  const kind = kindOf({ read: () => assert.fail('the page is read') });
  await assert.rejects(walked(context, kind), FilterIgnoredError);
});

it('walkItems requests each page in the current shape', async () => {
  const shapes = [
    { limit: 2, instances: 100 },
    { limit: 5, instances: 400 },
    { limit: 5, isBare: true },
  ];
  let page = 0;
  const { context, asked } = contextWith(paged(idsOf(12)));
  const { ids } = await walked(context, kindOf({ shape: () => shapes[Math.min(page++, 2)] ?? {} }));
  assert.equal(ids.length, 12);
  assert.deepEqual(
    asked.slice(0, 3).map(({ limit, instances, isBare }) => ({ limit, instances, isBare })),
    shapes.map((shape) => ({ instances: undefined, isBare: undefined, ...shape })),
  );
});

it('walkItems notes that the broker counts matches that it does not show', async () => {
  const all = idsOf(40);
  const { context } = contextWith(({ offset = 0 }) =>
    pageOf(
      all.slice(offset, offset + LIMIT).filter((_id, index) => index === 3),
      { count: all.length },
    ),
  );
  const { end, ids } = await walked(context, kindOf());
  assert.deepEqual([end.hidesSome, end.complete, ids.length > 3], [true, true, true]);
});

it('walkItems waits until a batch is processed before it reads on', async () => {
  const order: string[] = [];
  const { context } = contextWith(paged(idsOf(1)));
  const kind = kindOf({
    async *read() {
      for (const name of ['one', 'two']) {
        order.push(`read ${name}`);
        yield { items: [] };
      }
    },
  });
  await walkItems(context, kind, new IdStates(), async () => {
    await new Promise((resolve) => setImmediate(resolve));
    order.push('done');
  });
  assert.deepEqual(order, ['read one', 'done', 'read two', 'done']);
});

it('countItems counts each item once, including those that another query counted', async () => {
  const seen = new IdStates();
  const counts: number[] = [];
  for (const ids of [idsOf(12), idsOf(15)]) {
    const { context } = contextWith(paged(ids));
    assert.equal(
      await countItems(context, kindOf(), seen, (items, counted) => counts.push(items.length, counted)),
      true,
    );
  }
  assert.deepEqual(counts, [10, 10, 2, 12, 0, 12, 3, 15]);
  assert.equal(seen.size, 15);
});

it('countItems says if the broker does not show every item, or every entity', async () => {
  const incomplete = kindOf({
    *read(page, indexes) {
      yield onePerEntity(page, indexes);
      yield { items: [], isIncomplete: true };
    },
  });
  const same = ({ limit = LIMIT }: PageQuery) => pageOf(idsOf(LIMIT), { limit });
  for (const [answer, kind] of [
    [paged(idsOf(3)), incomplete],
    [same, kindOf()],
  ] as const)
    assert.equal(await countItems(contextWith(answer).context, kind, new IdStates(), () => {}), false);
});

it('countItems starts further walks as long as its kind requests', async () => {
  let looks = 1;
  const seen = new IdStates();
  const { context } = contextWith(paged(idsOf(3)));
  const kind = kindOf({
    *read(page, indexes) {
      yield {
        items: indexes.map((index) => ({ entityId: page.ids[index] ?? '', attribute: `a${looks}` })),
      };
    },
    beginSecondWalk: () => (looks += 1) <= 3,
  });
  await countItems(context, kind, seen, () => {});
  assert.equal(seen.size, 9);
});

it('countItems ends if its callback throws', async () => {
  const { context, asked } = contextWith(paged(idsOf(1000)));
  const enough = new Error('enough');
  const counting = countItems(context, kindOf(), new IdStates(), (_items, counted) => {
    if (counted >= 20) throw enough;
  });
  await assert.rejects(counting, enough);
  assert.equal(asked.length, 2);
});
