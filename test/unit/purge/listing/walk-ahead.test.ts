import assert from 'node:assert/strict';
import fc from 'fast-check';
import { it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { walkMatches, type PagingEvidence } from '../../../../sidecar/purge/listing/index.js';
import { type WalkOptions, ReadAhead } from '../../../../sidecar/purge/listing/walk.js';
import { idsOf, listerOf, pageOf } from '../hand-made-lister.js';

const LIMIT = 10;

/** Walks over consecutive ids, until `stopsAt` pages were read. */
async function walked(
  total: number,
  options: Partial<WalkOptions> & {
    readonly stopsAt?: number;
    readonly mayGrow?: boolean;
    readonly tookMs?: number;
  } = {},
) {
  const { stopsAt = Infinity, mayGrow = false, tookMs = 0, ...more } = options;
  const all = idsOf(total);
  const { lister, asked } = listerOf(({ offset = 0 }) =>
    pageOf(all.slice(offset, offset + LIMIT), { count: total, limit: LIMIT, mayGrow, tookMs }),
  );
  const ids = new Set<string>();
  const paging: PagingEvidence = { contradicted: false, longestPage: 0 };
  const walk = walkMatches({
    lister,
    selection: [],
    paging,
    requester: { waitBeforeCheck: async () => {} },
    isNew: (id) => ids.size < ids.add(id).size,
    ...more,
  });
  for (let pages = 0; pages < stopsAt; pages++) if ((await walk.next()).done === true) break;
  return { ids: [...ids], offsets: asked.map(({ offset = 0 }) => offset), asked };
}

it('a walk that reads ahead lists everything once, in order, and requests each page once, however far it reads ahead', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(95), fc.integer({ min: 1, max: 8 }), async (total, concurrency) => {
      const { ids, offsets } = await walked(total, { concurrency });
      assert.deepEqual(ids, idsOf(total));
      assert.equal(new Set(offsets).size, offsets.length);
      // Besides the pages with matches, only the page after the last match.
      assert.ok(offsets.length <= Math.ceil(total / LIMIT) + 1, offsets.join());
    }),
    { numRuns: 60 },
  );
});

it('a walk that reads ahead has at most four queries in flight, within the concurrency of the purge', async () => {
  for (const [concurrency, ahead] of [
    [1, 1],
    [2, 2],
    [4, 4],
    [16, 4],
  ] as const) {
    const { offsets } = await walked(1000, { concurrency, stopsAt: 2 });
    assert.deepEqual(offsets, [0, 10, 20, 30, 40].slice(0, 1 + ahead), `${concurrency} requests`);
  }
  assert.deepEqual((await walked(1000, { stopsAt: 2 })).offsets, [0, 10]);
});

it('a walk that reads ahead reads nothing beyond the wanted or counted matches', async () => {
  for (const [from, wanted, offsets] of [
    [0, 10, [0, 10]],
    [0, 11, [0, 10]],
    [0, 25, [0, 10, 20]],
    [5, 25, [5, 15, 25]],
  ] as const) {
    const given = await walked(100, { concurrency: 8, from, wanted, stopsAt: 2 });
    assert.deepEqual(given.offsets, offsets, `${wanted} from ${from}`);
  }
  assert.deepEqual((await walked(25, { concurrency: 8, stopsAt: 2 })).offsets, [0, 10, 20]);
});

it('a walk that reads ahead waits for each page if the next may be larger, or be requested in another shape', async () => {
  for (const options of [{ mayGrow: true }, { shape: () => ({ instances: 2 }) }]) {
    const { offsets, asked } = await walked(100, { concurrency: 8, stopsAt: 2, ...options });
    assert.deepEqual(offsets, [0, 10]);
    const [, second] = asked;
    assert.deepEqual([second?.count, second?.instances], [true, 'shape' in options ? 2 : undefined]);
  }
});

it('a walk reads no pages ahead that would come too late to be used', async () => {
  for (const [timeLeftMs, offsets] of [
    [600, [0, 10, 20, 30, 40]],
    [300, [0, 10, 20, 30, 40]],
    [299, [0, 10]],
    [-1, [0, 10]],
  ] as const) {
    const options = { concurrency: 8, stopsAt: 2, tookMs: 300, timeLeftMs: () => timeLeftMs };
    assert.deepEqual((await walked(100, options)).offsets, offsets, `${timeLeftMs} ms`);
  }
});

it('a walk that reads ahead requests one page after the other if the broker ignores the offset', async () => {
  const paging = { contradicted: false, longestPage: 0, ignoresOffset: true };
  assert.deepEqual((await walked(100, { concurrency: 8, stopsAt: 2, paging })).offsets, [0, 10]);
});

it('a walk that reads ahead passes on how many matches are still expected, so that pages may grow', async () => {
  const { asked } = await walked(100, { mayGrow: true, from: 20 });
  assert.deepEqual(
    asked.slice(0, 3).map(({ expected }) => expected),
    [undefined, 70, 60],
  );
});

const SELECTION = [{ name: 'type', value: 'T' }];
const ALL = idsOf(100);

/** A lister of 100 ids in pages of 10. */
const pages = () => listerOf(({ offset = 0, limit = 10 }) => pageOf(ALL.slice(offset, offset + limit)));

it('ReadAhead requests an offset again that is not in flight, and forgets the others', async () => {
  const { lister, asked } = pages();
  const ahead = new ReadAhead(lister, 2);
  ahead.ask(SELECTION, { offset: 10, limit: 10, end: 30, count: 100 });
  assert.deepEqual((await ahead.page({ selection: SELECTION, offset: 13 })).ids, ALL.slice(13, 23));
  await ahead.page({ selection: SELECTION, offset: 10 });
  assert.equal(asked.length, 4);
});

it('ReadAhead throws the error of a page when the page is wanted, and not before', async () => {
  const { lister } = listerOf(({ offset }) => {
    if (offset === 20) throw new Error('no such page');
    return pageOf(['urn:t:1']);
  });
  const ahead = new ReadAhead(lister, 2);
  ahead.ask(SELECTION, { offset: 10, limit: 10, end: 30, count: 100 });
  await ahead.page({ selection: SELECTION, offset: 10 });
  // The other page is not awaited yet.
  await turn();
  await assert.rejects(ahead.page({ selection: SELECTION, offset: 20 }), /no such page/);
});
