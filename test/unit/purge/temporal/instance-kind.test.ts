import assert from 'node:assert/strict';
import { it } from 'node:test';
import { IdState, keyOf } from '../../../../sidecar/purge/ledger/index.js';
import type { ItemBatch } from '../../../../sidecar/purge/deleting/index.js';
import {
  entitiesIn,
  type ListedPage,
  type PageQuery,
  temporalEntities,
} from '../../../../sidecar/purge/listing/index.js';
import { InstanceKind } from '../../../../sidecar/purge/temporal/instance-kind.js';
import { timeParameters, type TimeFilter } from '../../../../sidecar/purge/temporal/time-filter.js';
import { contextOf } from '../hand-made-context.js';
import { idsOf, isProbe, listerOf, pageOf, selectionOf } from '../hand-made-lister.js';

const STARTED = Date.UTC(2026, 0, 2);
const BEFORE: TimeFilter = { property: 'observedAt', from: undefined, to: '2026-01-01T00:00:00Z' };
const GEO = { georel: 'within', geometry: 'Point', coordinates: '[1,2]' };
const TWO = () => [1, 2];
const THREE = () => [1, 2, 3];
const guard = { checkAttribute: () => {}, checkInstance: () => {} };

interface Kind {
  readonly filters?: Readonly<Record<string, string>>;
  readonly time?: TimeFilter;
  readonly countsOnly?: boolean;
  readonly answer?: (query: PageQuery) => ListedPage;
}

function kindOf({ filters = {}, time = BEFORE, countsOnly = false, answer = () => pageOf([]) }: Kind) {
  const selection = [...selectionOf({ type: 'Car', ...filters }), ...timeParameters(time)];
  const { lister, asked } = listerOf((query) => (isProbe(query) ? pageOf([]) : answer(query)));
  const hand = contextOf({
    brokerQuery: { resource: temporalEntities(), selection },
    limits: { pageSize: 1000 },
  });
  const context = { ...hand, lister };
  return {
    kind: new InstanceKind(context, { guard, time, startedMs: () => STARTED, countsOnly }),
    asked,
    context,
  };
}

/** One shown instance of an attribute that has more. */
const cutPage = (ids: readonly string[], value: (index: number) => readonly unknown[] = () => [1]) =>
  pageOf(ids, {
    isPartial: true,
    instances: 100,
    entities: ids.map((id, index) => ({
      id,
      speed: value(index).map((one, n) => ({
        value: one,
        instanceId: `${id}:${n}`,
        observedAt: `2025-01-01T00:00:0${n}Z`,
      })),
    })),
  });

async function readAll(kind: ReturnType<typeof kindOf>['kind'], page: ListedPage): Promise<ItemBatch[]> {
  const batches: ItemBatch[] = [];
  for await (const batch of kind.read(
    page,
    page.ids.map((_, index) => index),
  ))
    batches.push(batch);
  return batches;
}

it('hidden instances are checked again at the end, for at most a thousand attributes', async () => {
  // The selection by q together with a geoquery is never learnt, so it cannot be told whether the rest is meant.
  const answer = ({ selection }: PageQuery) => {
    const id = selection.find(({ name }) => name === 'id')?.value ?? '';
    const isByValue = selection.some(({ name }) => name === 'georel');
    return isByValue ? pageOf([]) : cutPage([id], TWO);
  };
  const { kind, asked } = kindOf({
    filters: GEO,
    answer,
  });
  const batches = await readAll(kind, cutPage(idsOf(1010)));
  assert.equal(batches.filter(({ isIncomplete }) => isIncomplete === true).length, 1010);
  const left: string[] = [];
  for await (const { entityId, attribute, error } of kind.hiddenItems()) {
    assert.equal(error.type, 'urn:ngsi-ld-gateway:problem:instances-out-of-sight');
    left.push(`${entityId} ${attribute ?? ''}`);
  }
  assert.deepEqual([left.length, left[0]], [1000, `${idsOf(1)[0] ?? ''} speed`]);
  const selection = [
    ...selectionOf({ type: 'Car', id: 'urn:t:999', attrs: 'speed' }),
    ...timeParameters(BEFORE),
  ];
  assert.deepEqual(asked.at(-1), { selection, limit: 1 });
});

it('a purge warns if it cannot check all attributes with hidden instances again, even if those that it checks have none left', async () => {
  for (const count of [1000, 1001]) {
    let isGone = false;
    const { kind, context } = kindOf({
      filters: GEO,
      answer: ({ selection }) => {
        const id = selection.find(({ name }) => name === 'id')?.value ?? '';
        const isByValue = selection.some(({ name }) => name === 'georel');
        const isLeft = !isGone || id === 'urn:t:1000';
        return isByValue || !isLeft ? pageOf([]) : cutPage([id], TWO);
      },
    });
    // Every pass finds the same attributes again.
    for (let pass = 0; pass < 2; pass += 1) await readAll(kind, cutPage(idsOf(count)));
    isGone = true;
    for await (const error of kind.hiddenItems()) assert.fail(JSON.stringify(error));
    const warnings = [...context.warnings];
    assert.equal(warnings.length, count - 1000);
    if (count > 1000) assert.match(warnings[0] ?? '', /more than 1000 attributes/);
  }
});

it('hidden instances are not reported once they are gone', async () => {
  let isGone = false;
  const { kind } = kindOf({
    filters: GEO,
    answer: ({ selection }) =>
      isGone || selection.some(({ name }) => name === 'georel') ? pageOf([]) : cutPage(['urn:t:0'], TWO),
  });
  await readAll(kind, cutPage(['urn:t:0']));
  isGone = true;
  for await (const error of kind.hiddenItems()) assert.fail(JSON.stringify(error));
});

it('a purge sends at most ten queries to learn what q selects, and none for a geoquery', async () => {
  for (const [filters, most] of [
    [{ q: 'speed>1' }, 10],
    [{ q: 'speed>1', ...GEO }, 0],
  ] as const) {
    const { kind, asked } = kindOf({ filters });
    for (let page = 0; page < 15; page += 1) await readAll(kind, cutPage([`urn:t:${page}`], TWO));
    const learning = asked.filter(({ selection }) =>
      selection.some(({ name, value }) => name === 'q' && value === 'speed==1'),
    );
    assert.equal(learning.length, most);
  }
});

it('instances may be hidden behind a marked page, or behind a list as long as the longest ever shown', async () => {
  const { kind } = kindOf({});
  const hides = async (lengths: readonly number[], isPartial = false) => {
    const page = cutPage(idsOf(lengths.length), (index) =>
      Array.from({ length: lengths[index] ?? 0 }, (_, n) => n),
    );
    const [first] = await readAll(kind, { ...page, isPartial });
    assert.equal(
      first?.items.length,
      lengths.reduce((sum, length) => sum + length, 0),
    );
    return first.mayHideMore;
  };
  assert.equal(await hides([2, 5, 1]), true, 'nothing longer was shown before');
  assert.equal(await hides([4, 3]), false);
  assert.equal(await hides([4, 5]), true);
  assert.equal(await hides([1], true), true);
  assert.equal(await hides([]), false);
});

it('hidden instances are queried only behind a list whose shown instances all stay', async () => {
  const { kind, context, asked } = kindOf({});
  const page = cutPage(['urn:t:0'], TWO);
  const [batch] = await readAll(kind, page);
  const [one, other] = (batch?.items ?? []).map(keyOf);
  assert.ok(one !== undefined && other !== undefined);
  const { states } = context.ledger;
  for (const [first, second, stays] of [
    [IdState.failed, IdState.failed, true],
    [IdState.goneTwice, IdState.failed, true],
    [IdState.goneTwice, IdState.goneTwice, true],
    [IdState.failed, IdState.gone, false],
    [IdState.retryDue, IdState.failed, false],
    [IdState.pending, IdState.pending, false],
    [IdState.failed, IdState.absentTwice, false],
  ] as const) {
    states.set(one, first);
    states.set(other, second);
    const before = asked.length;
    await readAll(kind, page);
    assert.equal(asked.length > before, stays, `${first} ${second}`);
  }
});

it('hidden instances are queried behind arrivals, once arrivals are left alone', async () => {
  const late = new Date(STARTED + 1).toISOString();
  const early = new Date(STARTED - 1).toISOString();
  const pageAt = (createdAt: string) =>
    pageOf(['urn:t:0'], {
      isPartial: true,
      instances: 100,
      entities: [{ id: 'urn:t:0', speed: [{ instanceId: 'urn:i:1', observedAt: BEFORE.to, createdAt }] }],
    });
  const { kind, asked } = kindOf({});
  await readAll(kind, pageAt(late));
  assert.deepEqual(asked, []);
  kind.hasArrived({ entityId: 'urn:t:0', attribute: 'speed' });
  await readAll(kind, pageAt(early));
  assert.deepEqual(asked, [], 'it was there before');
  await readAll(kind, pageAt(late));
  assert.deepEqual(new Set(asked.map(({ needsTimes }) => needsTimes)), new Set([true]));
});

it('pages of instances grow with the lists, and in the second walk by entities only', async () => {
  const long = cutPage(['urn:t:0'], () => Array.from({ length: 100 }, (_, n) => n));
  const { kind } = kindOf({});
  await readAll(kind, long);
  assert.deepEqual(kind.shape(), { limit: 10, instances: 400, needsTimes: false });
  kind.beginSecondWalk();
  await readAll(kind, cutPage(idsOf(10), TWO));
  assert.deepEqual(kind.shape(), { limit: 40, instances: 1000, needsTimes: false, isBare: true });
  await readAll(kind, long);
  assert.deepEqual(kind.shape(), { limit: 50, instances: 1000, needsTimes: false, isBare: true });
});

it('a count queries omitted instances whatever q selects, and a purge only if q selects entities', async () => {
  for (const [selects, countsOnly, isAsked] of [
    ['instances', false, false],
    ['instances', true, true],
    ['entities', false, true],
    ['entities', true, true],
  ] as const) {
    const shown = (query: PageQuery, value: unknown) => {
      const q = query.selection.find(({ name }) => name === 'q')?.value;
      return q === undefined || selects === 'entities' || q === `speed==${String(value)}`;
    };
    const { kind, asked } = kindOf({
      filters: { q: 'speed>0' },
      countsOnly,
      answer: (query) => {
        const page = cutPage(['urn:t:0'], TWO);
        const entities = entitiesIn(page).map((entity) => ({
          ...entity,
          speed: (entity['speed'] as readonly { value: unknown }[]).filter(({ value }) =>
            shown(query, value),
          ),
        }));
        return { ...page, entities, isPartial: false };
      },
    });
    await readAll(kind, cutPage(['urn:t:0'], TWO));
    const learning = selects === 'instances' ? 2 : 1;
    assert.equal(asked.length > learning, isAsked, `${selects} ${String(countsOnly)}`);
  }
});

it('instances that may be cut only because of their number are measured once, on one whole list', async () => {
  const long = cutPage(['urn:t:0', 'urn:t:1'], TWO);
  for (const instances of [100, undefined]) {
    const { kind, asked } = kindOf({
      countsOnly: true,
      answer: () => ({ ...cutPage(['urn:t:0'], THREE), isPartial: false, instances }),
    });
    for (let round = 0; round < 2; round += 1) {
      const batches = await readAll(kind, { ...long, isPartial: false, instances });
      assert.deepEqual(
        batches.map(({ items, mayHideMore }) => [items.length, mayHideMore]),
        [[4, round === 0]],
      );
    }
    const selection = [
      ...selectionOf({ type: 'Car', id: 'urn:t:0', attrs: 'speed' }),
      ...timeParameters({ property: 'observedAt', from: '1970-01-01T00:00:00Z', to: undefined }),
    ];
    const size = instances === undefined ? { isBare: true } : { instances: 1000 };
    assert.deepEqual(asked, [{ selection, limit: 1, ...size }]);
  }
});

it('the problem of an instance that is still listed claims no more than that the broker said it is gone', () => {
  const { status, title, detail } = kindOf({}).kind.stillThere;
  assert.deepEqual([status, title], [409, 'Instance still listed']);
  assert.equal(detail, 'The broker answered that the instance is gone, but still shows it.');
});

it('pages of instances grow after two pages without new instances', () => {
  const { kind } = kindOf({});
  const limits = Array.from({ length: 5 }, () => kind.shape().limit);
  assert.deepEqual(limits, [10, 10, 40, 160, 640]);
});

it('pages of instances have their former size again once a page shows something new', async () => {
  const { kind } = kindOf({});
  for (let page = 0; page < 2; page += 1) kind.shape();
  await readAll(
    kind,
    cutPage(['urn:t:0'], () => Array.from({ length: 90 }, (_, n) => n)),
  );
  const limit = kind.shape().limit;
  assert.deepEqual([kind.shape().limit, kind.shape().limit === limit], [limit, false]);
});

it('instances found behind a list complete it if q is known to select entities', async () => {
  const all = cutPage(['urn:t:0'], THREE);
  const { kind } = kindOf({
    filters: { q: 'speed>0' },
    countsOnly: true,
    answer: () => ({ ...all, isPartial: false }),
  });
  const batches = await readAll(kind, cutPage(['urn:t:0'], TWO));
  assert.deepEqual(
    batches.flatMap(({ items }) => items.map(({ instanceId }) => instanceId)),
    ['urn:t:0:0', 'urn:t:0:1', 'urn:t:0:2'],
  );
  assert.ok(batches.every(({ isIncomplete }) => isIncomplete !== true));
});

it('instances that q may exclude are never items: they are queried, and make the list incomplete', async () => {
  // For values that are not numbers, the selection by q is not determined.
  const of = (query: PageQuery) =>
    query.selection.some(({ name }) => name === 'q') ? ['a', 'b'] : ['a', 'b', 'c'];
  for (const countsOnly of [true, false]) {
    const { kind, asked } = kindOf({
      filters: { q: 'speed!="c"' },
      countsOnly,
      answer: (query) => ({ ...cutPage(['urn:t:0'], () => of(query)), isPartial: false }),
    });
    const batches = await readAll(
      kind,
      cutPage(['urn:t:0'], () => ['a', 'b']),
    );
    assert.ok(asked.some(({ selection }) => selection.every(({ name }) => name !== 'q')));
    assert.deepEqual(
      batches.flatMap(({ items }) => items.map(({ instanceId }) => instanceId)),
      ['urn:t:0:0', 'urn:t:0:1'],
    );
    assert.equal(batches.filter(({ isIncomplete }) => isIncomplete === true).length, 1);
  }
});

it('instances are requested with createdAt if the query uses it, or once arrivals are skipped', () => {
  for (const property of ['createdAt', 'modifiedAt', 'deletedAt'] as const)
    assert.equal(kindOf({ time: { ...BEFORE, property } }).kind.shape().needsTimes, true);
  const { kind } = kindOf({});
  assert.equal(kind.shape().needsTimes, false);
  kind.hasArrived({ entityId: 'urn:t:0', attribute: 'speed' });
  assert.equal(kind.shape().needsTimes, true);
});

it('instances count as arrived if createdAt or modifiedAt is later than the start of the purge', () => {
  const [early, late] = [new Date(STARTED).toISOString(), new Date(STARTED + 1).toISOString()];
  const of = (time: Readonly<Record<string, string>>) => ({
    entityId: 'urn:t:0',
    attribute: 'speed',
    time,
  });
  const { kind } = kindOf({});
  assert.equal(kind.hasArrived(of({ createdAt: late })), true);
  assert.equal(kind.hasArrived(of({ createdAt: early })), false);
  // The observation time of a forecast is later than its arrival.
  assert.equal(kind.hasArrived(of({ observedAt: late })), false);
  assert.equal(kind.hasArrived(of({ createdAt: 'soon' })), false);
  const changed = kindOf({ time: { ...BEFORE, property: 'modifiedAt' } }).kind;
  assert.equal(changed.hasArrived(of({ modifiedAt: late })), true);
  assert.equal(changed.hasArrived(of({ createdAt: early, modifiedAt: late })), false);
});

it('instances are counted one entity at a time, all its instances at once', () => {
  const counting = kindOf({ countsOnly: true }).kind;
  assert.deepEqual(counting.shape(), { limit: 1, instances: 1000, needsTimes: false, isBare: true });
  assert.equal(counting.beginSecondWalk(), false);
  const { kind } = kindOf({});
  for (let turn = 0; turn < 4; turn += 1) kind.shape();
  assert.equal(kind.beginSecondWalk(), true);
  assert.deepEqual(kind.shape(), { limit: 10, instances: 1000, needsTimes: false, isBare: true });
  assert.equal(kind.beginSecondWalk(), false);
  assert.equal(kind.pendingMax, 1000);
});
