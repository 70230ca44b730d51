import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import type { BrokerRequest, BrokerReply } from '../../../../sidecar/purge/broker/index.js';
import { attributeNames } from '../../../../sidecar/ngsi-ld/members.js';
import type { PurgeCounts, Item } from '../../../../sidecar/purge/ledger/index.js';
import { entitiesIn, entities } from '../../../../sidecar/purge/listing/index.js';
import {
  type ItemBatch,
  type ItemKind,
  resolveUnclear,
  resolveUnclearAtEnd,
  WHOLE_ENTITIES,
} from '../../../../sidecar/purge/deleting/index.js';
import type { Parameter } from '../../../../sidecar/purge/query/index.js';
import { replyOf } from '../../../support/replies.js';
import { contextOf } from '../hand-made-context.js';
import { selectionOf } from '../hand-made-lister.js';

const THINGS: readonly Parameter[] = [{ name: 'type', value: 'Thing' }];

type World = Readonly<Record<string, readonly string[]>>;

interface Look {
  readonly items: readonly Item[];
  /** The existing entities, each with the names of its attributes. */
  readonly world: World;
  readonly selection?: readonly Parameter[];
  readonly kind?: Pick<ItemKind, 'read'>;
  /** Ids that a query shows, in place of those that it names. */
  readonly shows?: (ids: readonly string[]) => readonly string[];
  readonly isLast?: boolean;
  /** The answer, in place of the existing entities. */
  readonly answer?: () => BrokerReply;
}

/** Looks for items that each had a delete without a clear answer. */
async function looked({ items, world, selection = THINGS, kind = WHOLE_ENTITIES, isLast, ...look }: Look) {
  const queries: URLSearchParams[] = [];
  const broker = ({ method, path }: BrokerRequest) => {
    assert.equal(method, 'GET', 'a look deletes nothing');
    assert.ok(path.length < 7000, `${path.length} characters`);
    const query = new URLSearchParams(path.split('?')[1]);
    if ([...query.values()].some((value) => value.includes('PurgeProbe'))) return replyOf(200, []);
    queries.push(query);
    if (look.answer !== undefined) return look.answer();
    const ids = query.get('id')?.split(',') ?? [];
    const shown = (look.shows?.(ids) ?? ids).filter((id) => Object.hasOwn(world, id));
    const offset = Number(query.get('offset') ?? 0);
    const page = shown.slice(offset, offset + Number(query.get('limit')));
    const body = page.map((id) => ({
      id,
      ...Object.fromEntries((world[id] ?? []).map((name) => [name, {}])),
    }));
    return replyOf(200, body, { 'ngsild-results-count': String(shown.length) });
  };
  const context = contextOf({
    brokerQuery: { resource: entities('attributes'), selection },
    broker,
    limits: { pageSize: 1000 },
  });
  for (const item of items) {
    context.ledger.add(item);
    context.ledger.markUnclear(item);
  }
  await (isLast === true ? resolveUnclearAtEnd : resolveUnclear)(context, kind);
  const { deleted, unknown } = context.ledger.counts;
  return { deleted, unknown, queries, ledger: context.ledger };
}

const outcome = ({ deleted, unknown }: Pick<PurgeCounts, 'deleted' | 'unknown'>) => [deleted, unknown];
const wholes = (count: number, prefix = 'urn:t:'): Item[] =>
  Array.from({ length: count }, (_, index) => ({ entityId: `${prefix}${index}` }));

/** Attributes as items. */
function attributes(extra: Partial<ItemBatch> = {}): Pick<ItemKind, 'read'> {
  return {
    *read(page, indexes) {
      const items = indexes.flatMap((index) =>
        attributeNames(entitiesIn(page)[index] ?? {}).map((attribute) => ({
          entityId: page.ids[index] ?? '',
          attribute,
        })),
      );
      yield { items, ...extra };
    },
  };
}

for (const isLast of [false, true]) {
  it(`unclear entities count as deleted if missing, and as present if shown${isLast ? ', after a failure too' : ''}`, async () => {
    const { ledger, ...counts } = await looked({
      items: wholes(5),
      world: { 'urn:t:1': [], 'urn:t:3': [] },
      isLast,
    });
    assert.deepEqual(outcome(counts), [3, 0]);
    assert.deepEqual(ledger.unclear, []);
  });
}

it("unclear entities are queried by id, with the purge's own query without its ids", async () => {
  const selection = selectionOf({ type: 'Thing', q: 'n>1', id: 'urn:t:1', idPattern: '.*' });
  const items = wholes(3, `urn:${'é'.repeat(300)}:`);
  const { queries, ...counts } = await looked({ items, world: {}, selection });
  assert.deepEqual(outcome(counts), [3, 0]);
  for (const query of queries)
    assert.deepEqual(
      ['type', 'q', 'idPattern'].map((name) => query.get(name)),
      ['Thing', 'n>1', null],
    );
  assert.deepEqual(
    queries.flatMap((query) => query.getAll('id').flatMap((ids) => ids.split(','))),
    items.map(({ entityId }) => entityId),
  );
});

it('each unclear entity is queried once, in portions of at most 100 ids and 3000 characters, as large as possible', async () => {
  const sizes = fc.array(
    fc.oneof(fc.integer({ min: 1, max: 60 }), fc.constantFrom(500, 1300, 1999, 2000, 3989, 3990, 5000)),
    { minLength: 1, maxLength: 260 },
  );
  await fc.assert(
    fc.asyncProperty(sizes, fc.integer({ min: 1, max: 3 }), async (lengths, attributesOfEach) => {
      const ids = lengths.map((length, index) => `urn:${index}:`.padEnd(length, 'x'));
      const names = ['a', 'b', 'c'].slice(0, attributesOfEach);
      const items = ids.flatMap((entityId) => names.map((attribute) => ({ entityId, attribute })));
      const { queries, ...counts } = await looked({ items, world: {}, kind: attributes() });
      assert.deepEqual(outcome(counts), [items.length, 0]);
      const portions = queries.map((query) => query.get('id')?.split(',') ?? []);
      assert.deepEqual(portions.flat(), ids);
      const chars = (portion: readonly string[]) => portion.map(encodeURIComponent).join('').length;
      for (const [index, portion] of portions.entries()) {
        assert.ok(portion.length === 1 || (portion.length <= 100 && chars(portion) <= 3000));
        const next = portions[index + 1]?.[0];
        if (next === undefined) continue;
        assert.ok(portion.length === 100 || chars([...portion, next]) > 3000, 'the next one would have fit');
      }
    }),
    { numRuns: 40 },
  );
});

it('short ids of unclear entities are queried a hundred at a time', async () => {
  const { queries } = await looked({ items: wholes(250), world: {} });
  assert.deepEqual(
    queries.map((query) => query.get('id')?.split(',').length),
    [100, 100, 50],
  );
});

it('no query is sent if nothing is unclear', async () => {
  assert.equal((await looked({ items: [], world: {} })).queries.length, 0);
});

it('unclear entities stay unclear if the broker refuses the query or does not answer, without an error', async () => {
  for (const status of [400, 403, 500]) {
    const failing = looked({ items: wholes(3), world: {}, answer: () => replyOf(status) });
    assert.deepEqual(outcome(await failing), [0, 3], String(status));
  }
  const answer = () => {
    throw new TypeError('a bug');
  };
  await assert.rejects(looked({ items: wholes(3), world: {}, answer }), TypeError);
});

it('an unclear id with a comma stays unclear, because a list of ids cannot contain it', async () => {
  const items = [{ entityId: 'urn:t:1,2' }, { entityId: 'urn:t:3' }];
  assert.deepEqual(outcome(await looked({ items, world: {} })), [1, 1]);
});

it('only shown entities are resolved if the broker also shows other ids', async () => {
  const world = { 'urn:t:0': [], 'urn:other': [] };
  const shows = () => ['urn:other', 'urn:t:0'];
  const { ledger, ...counts } = await looked({ items: wholes(3), world, shows });
  assert.deepEqual(outcome(counts), [0, 2]);
  assert.deepEqual(
    ledger.unclear.map(({ entityId }) => entityId),
    ['urn:t:1', 'urn:t:2'],
  );
});

const items = ['urn:t:0', 'urn:t:1', 'urn:t:2'].map((entityId) => ({ entityId, attribute: 'a' }));
const world: World = { 'urn:t:0': ['a', 'b'], 'urn:t:1': ['b'] };

it('unclear parts are deleted if their entity is shown without them, or not at all', async () => {
  assert.deepEqual(outcome(await looked({ items, world, kind: attributes() })), [2, 0]);
});

it('unclear parts stay unclear if the entity is not shown and the query selects by value', async () => {
  for (const name of ['q', 'georel']) {
    const selection = [...THINGS, { name, value: 'x' }];
    assert.deepEqual(outcome(await looked({ items, world, selection, kind: attributes() })), [1, 1]);
  }
});

it('unclear parts of entities that are not shown stay unclear if the broker also shows other ids', async () => {
  const shows = (ids: readonly string[]) => [...ids, 'urn:other'];
  const others = { ...world, 'urn:other': ['a'] };
  // Of the two entities that are shown, one has lost its part; the third may be hidden.
  assert.deepEqual(outcome(await looked({ items, world: others, shows, kind: attributes() })), [1, 1]);
});

it('unclear parts stay unclear if any batch of a page may be truncated', async () => {
  for (const extra of [{ mayHideMore: true }, { isIncomplete: true }]) {
    const kind = {
      *read(...page: Parameters<ItemKind['read']>) {
        yield { items: [], ...extra };
        yield* attributes().read(...page) as Iterable<ItemBatch>;
      },
    };
    assert.deepEqual(outcome(await looked({ items, world, kind })), [1, 1]);
  }
});
