import assert from 'node:assert/strict';
import { it } from 'node:test';
import { attributeNames } from '../../../../sidecar/ngsi-ld/members.js';
import type { DeleteResult } from '../../../../sidecar/purge/broker/index.js';
import type { PurgeContext, BrokerQuery, PurgeEvent } from '../../../../sidecar/purge/run/index.js';
import {
  BrokerFailedError,
  NotConvergingError,
  TooManyMatchesError,
} from '../../../../sidecar/purge/errors.js';
import { removeItems } from '../../../../sidecar/purge/attributes/index.js';
import type { ItemBatch, ItemKind } from '../../../../sidecar/purge/deleting/index.js';
import { entitiesIn, entities, temporalEntities } from '../../../../sidecar/purge/listing/index.js';
import { keyOf, type Item } from '../../../../sidecar/purge/ledger/index.js';
import { replyOf } from '../../../support/replies.js';
import { createTestClock, type TestClock } from '../../../support/purge-harness.js';
import { contextOf } from '../hand-made-context.js';
import { listerOf, pageOf } from '../hand-made-lister.js';

const GONE: DeleteResult = { kind: 'deleted' };
const BUSY: DeleteResult = { kind: 'retryable', problem: { status: 503, title: 'Busy' } };
const UNCLEAR: DeleteResult = { kind: 'unclear', problem: { status: 207, title: 'Partly' } };
const REFUSED: DeleteResult = { kind: 'refused', problem: { status: 409, title: 'Locked' } };
const LIMIT = 10;

/** Entities by id, each with the names of its attributes. */
type World = Map<string, Set<string>>;

const worldOf = (count: number, ...attributes: readonly string[]): World =>
  new Map(Array.from({ length: count }, (_, index) => [`urn:t:${index}`, new Set(attributes)]));

interface Removal {
  readonly world: World;
  /** The outcome of an item's nth try (from 1); unless told otherwise, an item reported as gone is removed. */
  readonly verdict?: (item: Item, nth: number) => DeleteResult | 'ghost';
  /** The entities that the query shows; all by default. */
  readonly matches?: (attributes: ReadonlySet<string>) => boolean;
  /** An entity that arrives with attribute `a` as a pass begins. */
  readonly arrival?: (pass: number) => string | undefined;
  /** Called with each page before it is shown. */
  readonly onPage?: (offset: number, pass: number) => void;
  readonly total?: number;
  readonly count?: (shown: number) => number | undefined;
  readonly brokerQuery?: Partial<BrokerQuery>;
  readonly kind?: Partial<ItemKind>;
  readonly clock?: TestClock;
  readonly maxAffected?: number;
  readonly emit?: (event: PurgeEvent) => void;
  /** An item whose delete an earlier query of the same purge left unclear. */
  readonly unclear?: Item;
}

async function removed(removal: Removal) {
  const {
    world,
    matches = () => true,
    verdict = () => GONE,
    onPage,
    count = (shown: number) => shown,
  } = removal;
  let passes = 0;
  const { lister } = listerOf(({ offset = 0 }, index) => {
    assert.ok(index < 2000, 'the removal goes on for ever');
    if (offset === 0) passes += 1;
    const arrived = offset === 0 ? removal.arrival?.(passes) : undefined;
    if (arrived !== undefined) world.set(arrived, new Set(['a']));
    onPage?.(offset, passes);
    const all = [...world].filter(([, attributes]) => matches(attributes));
    const shown = all.slice(offset, offset + LIMIT);
    return pageOf(
      shown.map(([id]) => id),
      {
        entities: shown.map(([id, attributes]) => ({
          id,
          ...Object.fromEntries([...attributes].map((name) => [name, {}])),
        })),
        count: count(all.length),
        limit: LIMIT,
        ...(removal.clock === undefined ? {} : { atMs: removal.clock.monotonicMs() }),
      },
    );
  });
  const brokerQuery: BrokerQuery = {
    resource: entities('attributes'),
    selection: [],
    ...removal.brokerQuery,
  };
  // Only requests that prove the filters reach this broker: nothing matches an impossible value.
  const opened = contextOf({
    brokerQuery,
    broker: () => replyOf(200, []),
    limits: { maxAffected: removal.maxAffected },
    ...(removal.clock === undefined ? {} : { clock: removal.clock }),
    ...(removal.emit === undefined ? {} : { onEvent: removal.emit }),
  });
  const context: PurgeContext = { ...opened, lister };
  if (removal.unclear !== undefined) {
    context.ledger.add(removal.unclear);
    context.ledger.markUnclear(removal.unclear);
  }
  const tries = new Map<string, number>();
  const kind: ItemKind = {
    *read(page, indexes) {
      yield {
        items: indexes.flatMap((index) =>
          attributeNames(entitiesIn(page)[index] ?? {}).map((attribute) => ({
            entityId: page.ids[index] ?? '',
            attribute,
          })),
        ),
      };
    },
    mayComeBack: true,
    async remove(item) {
      const nth = (tries.get(keyOf(item)) ?? 0) + 1;
      tries.set(keyOf(item), nth);
      await new Promise((resolve) => setImmediate(resolve));
      const outcome = verdict(item, nth);
      if (outcome === 'ghost') return GONE;
      if (outcome.kind === 'deleted') world.get(item.entityId)?.delete(item.attribute ?? '');
      return outcome;
    },
    stillThere: { status: 409, title: 'Still listed' },
    ...removal.kind,
  };
  const left = await removeItems(context, kind, removal.total);
  const { counts, errors, success } = context.ledger;
  return { ...counts, errors, success, left, passes, tries };
}

/** Reads each entity as a batch of its own, which `batchOf` makes of the names of its attributes. */
function inBatches(
  batchOf: (names: readonly string[], entityId: string) => Partial<ItemBatch> & { names?: readonly string[] },
): Pick<ItemKind, 'read'> {
  return {
    *read(page, indexes) {
      for (const index of indexes) {
        const { [index]: entityId = '' } = page.ids;
        const shown = attributeNames(entitiesIn(page)[index] ?? {});
        const { names = shown, ...more } = batchOf(shown, entityId);
        yield { items: names.map((attribute) => ({ entityId, attribute })), ...more };
      }
    },
  };
}

const namesOf = (errors: readonly Item[]) =>
  errors.map(({ entityId, attribute }) => `${entityId} ${attribute ?? ''}`).sort();

it('the removal of items retries an item that the query no longer shows, and reports it if it fails again', async () => {
  // As drop=a,b with q=a>1: once a is gone, b is no longer shown.
  const failing = await removed({
    world: worldOf(12, 'a', 'b'),
    matches: (attributes) => attributes.has('a'),
    verdict: ({ entityId, attribute }) => (entityId === 'urn:t:3' && attribute === 'b' ? BUSY : GONE),
    brokerQuery: { selection: [{ name: 'q', value: 'a>1' }] },
    total: 12,
  });
  assert.deepEqual([failing.matched, failing.deleted, failing.failed], [24, 23, 1]);
  assert.deepEqual(namesOf(failing.errors), ['urn:t:3 b']);
  assert.equal(failing.tries.get(keyOf({ entityId: 'urn:t:3', attribute: 'b' })), 2);
  assert.ok(!failing.success.includes('urn:t:3'));

  for (const first of [BUSY, UNCLEAR]) {
    const { deleted, failed, unknown } = await removed({
      world: worldOf(12, 'a', 'b'),
      matches: (attributes) => attributes.has('a'),
      verdict: ({ attribute }, nth) => (attribute === 'b' && nth === 1 ? first : GONE),
      brokerQuery: { selection: [{ name: 'q', value: 'a>1' }] },
      total: 12,
    });
    assert.deepEqual([deleted, failed, unknown], [24, 0, 0]);
  }
});

it('the removal of items tries an item twice and not a third time, even if the query still shows it', async () => {
  for (const outcome of [BUSY, UNCLEAR]) {
    const { deleted, tries } = await removed({
      world: worldOf(12, 'a'),
      verdict: ({ entityId }) => (entityId === 'urn:t:3' ? outcome : GONE),
      total: 12,
    });
    assert.deepEqual([deleted, tries.get(keyOf({ entityId: 'urn:t:3', attribute: 'a' }))], [11, 2]);
  }
});

it('the removal of items reports its progress while it deletes, every twenty items', async () => {
  const deletedAt: number[] = [];
  await removed({
    world: worldOf(10, 'a', 'b', 'c', 'd', 'e'),
    emit: (event) => {
      if (event.type === 'progress') deletedAt.push(event.deleted);
    },
    total: 10,
  });
  assert.deepEqual(deletedAt.slice(0, 3), [20, 40, 50]);
});

it('the removal of items reports refused items unless the query proves that they are gone', async () => {
  const refusal = {
    world: worldOf(3, 'a', 'b'),
    matches: (attributes: ReadonlySet<string>) => attributes.has('a'),
    verdict: ({ attribute }: Item) => (attribute === 'b' ? REFUSED : GONE),
  };
  for (const brokerQuery of [
    { selection: [{ name: 'q', value: 'a>1' }] },
    { selection: [{ name: 'georel', value: 'within' }] },
    { isPartial: true },
  ]) {
    const { failed, errors } = await removed({ ...refusal, world: worldOf(3, 'a', 'b'), brokerQuery });
    assert.deepEqual([failed, namesOf(errors)], [3, ['urn:t:0 b', 'urn:t:1 b', 'urn:t:2 b']]);
  }
});

it('the removal of items counts refused items as already gone if a query that shows every match lacks them', async () => {
  const world = worldOf(3, 'a');
  const { alreadyGone, failed, errors } = await removed({
    world,
    verdict: (item) => {
      // Another client is faster.
      world.get(item.entityId)?.delete('a');
      return REFUSED;
    },
  });
  assert.deepEqual([alreadyGone, failed, errors], [3, 0, []]);
});

it('the removal of items reports items that are still there after two confirmed deletes and some more queries', async () => {
  for (const left of ['ghost', { kind: 'absent' }] as const) {
    const { matched, deleted, failed, errors, tries, passes } = await removed({
      world: worldOf(15, 'a'),
      verdict: ({ entityId }) => (entityId === 'urn:t:7' ? left : GONE),
      total: 1000,
    });
    assert.deepEqual([matched, deleted, failed], [15, 14, 1]);
    assert.deepEqual([namesOf(errors), errors[0]?.error.title], [['urn:t:7 a'], 'Still listed']);
    assert.equal(tries.get(keyOf({ entityId: 'urn:t:7', attribute: 'a' })), 2);
    // Two passes with tries, three more queries, and the last one.
    assert.equal(passes, 6);
  }
});

it('the removal of items repeats a delete without effect also under a maximum, if a time shows that the item is old', async () => {
  const { deleted, failed, tries } = await removed({
    world: worldOf(1, 'a'),
    verdict: (_item, nth) => (nth === 1 ? 'ghost' : GONE),
    maxAffected: 1,
    kind: inBatches((names, entityId) => ({
      items: names.map((attribute) => ({ entityId, attribute, time: { createdAt: '1970-01-01T00:00:00Z' } })),
    })),
  });
  assert.deepEqual([deleted, failed, [...tries.values()]], [1, 0, [2]]);
});

it('the removal of items leaves and counts items that arrive after the second full pass', async () => {
  // As many as were counted have arrived by then, or more.
  for (const total of [5, 7]) {
    const world = worldOf(5, 'a');
    const { matched, deleted, left } = await removed({
      world,
      arrival: (pass) => `urn:new:${pass}`,
      total,
    });
    assert.deepEqual([matched, deleted, left], [7, 7, 1]);
    assert.deepEqual(
      [...world].filter(([, attributes]) => attributes.size > 0).map(([id]) => id),
      ['urn:new:3'],
    );
  }
});

it('the removal of items does not query again for items that an earlier query left unclear', async () => {
  const unclear = { entityId: 'urn:earlier', attribute: 'a' };
  const { deleted, unknown, passes } = await removed({ world: worldOf(5, 'a'), total: 5, unclear });
  assert.deepEqual([deleted, unknown, passes], [5, 1, 2]);
});

it('the removal of items ends with an error of its final tries that concerns all of them', async () => {
  const failure = { kind: 'broker-error', status: 429 } as const;
  for (const reason of ['retry-after-too-long', 'away-too-long', 'attempts-used-up'] as const) {
    const error = new BrokerFailedError('delete', failure, reason);
    let tries = 0;
    const remove = async () => {
      tries += 1;
      if (tries > 3) throw error;
      return BUSY;
    };
    await assert.rejects(removed({ world: worldOf(3, 'a'), kind: { remove }, total: 3 }), error);
  }
});

it('the removal of items reports the rest as failed if its final tries get nothing but failures', async () => {
  for (const status of [503, undefined]) {
    const failure = { kind: 'broker-error', ...(status === undefined ? {} : { status }) } as const;
    const error = new BrokerFailedError('delete', failure, 'nothing-but-failures');
    const world = worldOf(3, 'a');
    let tries = 0;
    const remove = async (): Promise<DeleteResult> => {
      tries += 1;
      if (tries > 3) throw error;
      return BUSY;
    };
    const { failed, errors } = await removed({ world, kind: { remove }, total: 3 });
    assert.deepEqual([failed, tries <= 6], [3, true]);
    for (const { error: problem } of errors) {
      assert.deepEqual(
        [problem.status, problem.title, problem.detail],
        [status ?? 502, 'The broker did not delete the item', error.message],
      );
    }
  }
});

it('the removal of items leaves arrivals even if the broker counts matches that it never shows', async () => {
  for (const total of [15, 1000]) {
    const world = worldOf(5, 'a');
    const { left, deleted } = await removed({
      world,
      brokerQuery: { resource: temporalEntities() },
      count: () => 1000,
      arrival: (pass) => `urn:new:${pass}`,
      total,
    });
    assert.ok(left > 0 && deleted < 30, `${left} left, ${deleted} deleted`);
  }
});

it('the removal of items includes items that arrive during the first passes, whatever their times', async () => {
  const world = worldOf(3, 'a');
  const { deleted, left } = await removed({
    world,
    arrival: (pass) => (pass === 2 ? 'urn:new' : undefined),
    kind: { hasArrived: ({ entityId }) => entityId === 'urn:new' },
    total: 3,
  });
  assert.deepEqual([deleted, left], [4, 0]);
});

it('the removal of items includes items uncovered by a truncated page, even in a pass that takes no new items', async () => {
  let pass = 0;
  const { deleted, left } = await removed({
    world: worldOf(1, 'x'),
    onPage: (_offset, nth) => {
      pass = nth;
    },
    kind: {
      *read(page) {
        const [entityId = ''] = page.ids;
        if (entityId === '' || pass > 3) return;
        yield { items: [{ entityId, attribute: `a${pass}` }], mayHideMore: pass === 3 };
      },
    },
    total: 1,
  });
  assert.deepEqual([deleted, left], [3, 0]);
});

it('the removal of items reports refused items as failed if a truncating broker no longer shows them', async () => {
  for (const mayHideMore of [true, false]) {
    let pass = 0;
    const { failed, alreadyGone } = await removed({
      world: worldOf(1, 'x'),
      verdict: () => REFUSED,
      onPage: (_offset, nth) => {
        pass = nth;
      },
      kind: {
        *read(page) {
          const [entityId] = page.ids;
          const items = entityId === undefined || pass > 1 ? [] : [{ entityId, attribute: 'x' }];
          yield { items, mayHideMore: mayHideMore && pass > 1 };
        },
      },
      total: 1,
    });
    assert.deepEqual([failed, alreadyGone], mayHideMore ? [1, 0] : [0, 1]);
  }
});

it('the removal of items retries items that are still listed in a pass that takes no new items', async () => {
  const world = worldOf(5, 'a');
  const late = { entityId: 'urn:new', attribute: 'a' };
  const { deleted, failed, tries } = await removed({
    world,
    arrival: (pass) => (pass === 2 ? 'urn:new' : undefined),
    verdict: ({ entityId }, nth) => (entityId === 'urn:new' && nth === 1 ? 'ghost' : GONE),
    total: 5,
  });
  assert.deepEqual([tries.get(keyOf(late)), world.get('urn:new')?.size], [2, 0]);
  assert.deepEqual([deleted, failed], [6, 0]);
});

it('the removal of items ends even if items arrive in each pass and there is no count', async () => {
  const world = worldOf(5, 'a');
  const { deleted, left, passes } = await removed({
    world,
    count: () => undefined,
    arrival: (pass) => `urn:new:${pass}`,
  });
  assert.ok(passes < 20 && left > 0 && deleted >= 5, `${passes} passes, ${left} left`);
});

it('the removal of items gives up after fifty passes if each finds new counted items', async () => {
  const world = worldOf(1, 'a');
  let passes = 0;
  await assert.rejects(
    removed({
      world,
      count: () => undefined,
      arrival: (pass) => `urn:new:${(passes = pass)}`,
      total: 1000,
    }),
    NotConvergingError,
  );
  assert.equal(passes, 50);
});

it('the removal of items queries three more times for matches that are counted and not listed', async () => {
  for (const [shownFrom, isFound] of [
    [5, true],
    [6, false],
  ] as const) {
    let pass = 0;
    // One pass that removes all, three more queries, and the last one.
    const ended = removed({
      world: worldOf(5, 'a'),
      onPage: (_offset, nth) => {
        pass = nth;
      },
      count: (shown) => (pass < shownFrom ? shown + 1 : shown),
      total: 5,
    });
    if (isFound) assert.equal((await ended).deleted, 5);
    else await assert.rejects(ended, { message: /counts 1 more matches/ });
  }
});

it('the removal of items waits for the deletes in flight before its final tries end with an error', async () => {
  const failure = { kind: 'broker-error', status: 429 } as const;
  const error = new BrokerFailedError('delete', failure, 'retry-after-too-long');
  const [tries, ended] = [new Map<string, number>(), new Set<string>()];
  const remove = async ({ entityId }: Item): Promise<DeleteResult> => {
    const nth = (tries.get(entityId) ?? 0) + 1;
    tries.set(entityId, nth);
    if (nth === 1) return BUSY;
    if (entityId === 'urn:t:0') throw error;
    for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    ended.add(entityId);
    return GONE;
  };
  await assert.rejects(removed({ world: worldOf(3, 'a'), kind: { remove }, total: 3 }), error);
  assert.deepEqual([...ended].sort(), ['urn:t:1', 'urn:t:2']);
});

it('the removal of items tries an item once even if it is shown several times in a pass', async () => {
  const { deleted, tries } = await removed({
    world: worldOf(5, 'a'),
    kind: inBatches((names) => ({ names: [...names, ...names] })),
    total: 5,
  });
  assert.equal(deleted, 5);
  assert.ok([...tries.values()].every((count) => count === 1));
});

it('the removal of items ends even if dated items arrive in each pass at a broker that truncates', async () => {
  const world = worldOf(1, 'a0', 'a1', 'a2', 'a3');
  const { matched, deleted, left, passes } = await removed({
    world,
    onPage: (offset, pass) => {
      if (offset === 0) world.get('urn:t:0')?.add(`new${pass}`);
    },
    kind: {
      ...inBatches((names) => ({ names: names.slice(0, 2), mayHideMore: true })),
      hasArrived: ({ attribute = '' }) => attribute.startsWith('new'),
    },
    total: 1,
  });
  assert.ok(passes < 15, `${passes} passes`);
  assert.deepEqual([matched, deleted, left > 0], [deleted, deleted, true]);
});

it('the removal of items leaves items that arrive beyond those counted when a pass began', async () => {
  for (const [count, deleted, left] of [
    [(shown: number) => shown, 20, 1],
    [() => 20, 21, 0],
    [() => undefined, 21, 0],
  ] as const) {
    const world = worldOf(20, 'a');
    const result = await removed({
      world,
      count,
      onPage: (offset, pass) => {
        if (offset === 20 && pass === 2) world.set('urn:new:1', new Set(['a']));
      },
      total: 20,
    });
    assert.deepEqual([result.deleted, result.left], [deleted, left]);
  }
});

it('the removal of items handles in one pass all items counted when the pass began, even if others arrive and pages come in batches', async () => {
  const world = worldOf(20, 'a');
  let rest: readonly string[] = [];
  await removed({
    world,
    onPage: (offset, pass) => {
      if (pass === 1 && offset === 10)
        for (let n = 0; n < 10; n += 1) world.set(`urn:new:${n}`, new Set(['a']));
      if (pass === 2 && offset === 0)
        rest = [...world].filter(([, attributes]) => attributes.size > 0).map(([id]) => id);
    },
    kind: inBatches(() => ({})),
    total: 20,
  });
  assert.deepEqual(
    rest,
    Array.from({ length: 10 }, (_, n) => `urn:new:${n}`),
  );
});

it('the removal of items reports items that the broker never showed', async () => {
  const error = { type: 'about:blank', title: 'Hidden', status: 501 };
  const { failed, errors, matched } = await removed({
    world: worldOf(3, 'a'),
    kind: {
      async *hiddenItems() {
        yield { entityId: 'urn:t:1', attribute: 'hidden', error };
      },
    },
  });
  assert.deepEqual([matched, failed, namesOf(errors)], [4, 1, ['urn:t:1 hidden']]);
});

it('the removal of items removes no more than its maximum', async () => {
  await assert.rejects(removed({ world: worldOf(25, 'a'), maxAffected: 12 }), TooManyMatchesError);
  assert.equal((await removed({ world: worldOf(25, 'a'), maxAffected: 25 })).deleted, 25);
});

it('the removal of items starts another walk before it ends, as often as its kind requests', async () => {
  let looks = 0;
  const world = worldOf(3, 'a', 'b');
  const { deleted } = await removed({
    world,
    kind: {
      // The first query shows a only.
      ...inBatches((names) => ({ names: names.filter((name) => looks > 0 || name === 'a') })),
      beginSecondWalk: () => (looks += 1) === 1,
    },
  });
  assert.deepEqual([deleted, looks], [6, 2]);
});

it('the removal of items repeats passes as long as the broker truncates', async () => {
  // More passes than are made if everything is shown at once.
  const names = Array.from({ length: 130 }, (_, index) => `a${index}`);
  const { deleted, passes } = await removed({
    world: worldOf(1, ...names),
    kind: inBatches((names) => ({ names: names.slice(0, 2), mayHideMore: names.length > 1 })),
    total: 1,
  });
  assert.deepEqual([deleted, passes], [130, 66]);
});

it('the removal of items lists items again if they got old while they were read', async () => {
  const clock = createTestClock();
  const listedMs = new Map<string, number>();
  const ages: number[] = [];
  let reads = 0;
  const world = worldOf(3, 'a');
  const { deleted, passes } = await removed({
    world,
    clock,
    onPage: () => {
      for (const id of world.keys()) listedMs.set(id, clock.monotonicMs());
    },
    kind: {
      async *read(page, indexes) {
        reads += 1;
        // Something else was asked of the broker first.
        if (reads === 1) await clock.sleep(5000);
        yield { items: indexes.map((index) => ({ entityId: page.ids[index] ?? '', attribute: 'a' })) };
      },
      async remove({ entityId }, isStale) {
        if (isStale()) return { kind: 'unsent' };
        ages.push(clock.monotonicMs() - (listedMs.get(entityId) ?? NaN));
        world.delete(entityId);
        return GONE;
      },
    },
  });
  assert.deepEqual([deleted, ages], [3, [0, 0, 0]]);
  assert.ok(passes > 1);
});

it('the removal of items tries items again whose tries were cut short, but only a few times', async () => {
  for (const [cuts, deleted] of [
    [3, 1],
    [Infinity, 0],
  ] as const) {
    let tried = 0;
    const result = await removed({
      world: worldOf(1, 'a'),
      // The list got too old between two tries.
      verdict: () => ((tried += 1) <= cuts ? { ...BUSY, isCutShort: true } : GONE),
      total: 1,
    });
    assert.deepEqual([result.deleted, result.failed], [deleted, 1 - deleted]);
    assert.ok(tried < 10, String(tried));
  }
});
