import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import {
  type ListedPage,
  type PageQuery,
  walkMatches,
  type PagingEvidence,
  type WalkEnd,
} from '../../../../sidecar/purge/listing/index.js';
import { listerOf, pageOf } from '../hand-made-lister.js';

const LIMIT = 10;

/** A broker's matches in their order; those that it counts and does not show are undefined. */
type Row = readonly (string | undefined)[];

/** x` is shown, `.` is counted only. */
const rowOf = (pattern: string): Row =>
  Array.from(pattern, (mark, index) => (mark === 'x' ? `urn:t:${index}` : undefined));
const shownOf = (row: Row): readonly string[] => row.filter((id) => id !== undefined);

interface Walked {
  readonly ids: readonly string[];
  readonly end: WalkEnd;
  readonly paging: PagingEvidence;
  readonly pages: readonly ListedPage[];
  readonly asked: readonly PageQuery[];
  readonly looks: number;
}

/** Pages of a broker that selects and cuts first, and then leaves out entities with nothing to show. */
function filteredPage(row: Row, offset: number, limit: number, tells: 'count' | 'next'): ListedPage {
  const ids = shownOf(row.slice(offset, offset + limit));
  const more = tells === 'count' ? { count: row.length } : { hasNext: offset + limit < row.length };
  return pageOf(ids, { ...more, limit });
}

async function walked(
  answer: (offset: number, limit: number) => ListedPage,
  shape?: (page: number) => { readonly limit: number },
): Promise<Walked> {
  const { lister, asked } = listerOf(({ offset = 0, limit = LIMIT }, index) => {
    assert.ok(index < 1000, 'the walk goes on for ever');
    return answer(offset, limit);
  });
  const ids: string[] = [];
  const seen = new Set<string>();
  const pages: ListedPage[] = [];
  const paging: PagingEvidence = { contradicted: false, longestPage: 0 };
  let looks = 0;
  const walk = walkMatches({
    lister,
    selection: [],
    paging,
    countsUnshown: true,
    isNew: (id) => {
      if (seen.has(id)) return false;
      seen.add(id);
      ids.push(id);
      return true;
    },
    requester: {
      waitBeforeCheck: async () => {
        looks += 1;
      },
    },
    ...(shape === undefined ? {} : { shape: () => shape(asked.length) }),
  });
  for (;;) {
    const step = await walk.next();
    if (step.done === true) return { ids, end: step.value, paging, pages, asked, looks };
    pages.push(step.value);
  }
}

const walkedRow = async (row: Row, tells: 'count' | 'next' = 'count') =>
  walked((offset, limit) => filteredPage(row, offset, limit, tells));

it('a walk over unshown matches notes that matches are hidden, so that the count is not trusted', async () => {
  assert.equal((await walkedRow(rowOf('xxxxx.....'))).paging.hidesSome, true);
  assert.equal((await walkedRow(rowOf(`${'x'.repeat(10)}${'.'.repeat(5)}`))).paging.hidesSome, true);
  assert.equal((await walkedRow(rowOf('x'.repeat(25)))).paging.hidesSome, undefined);
});

it('a walk over unshown matches does not wait for hidden matches', async () => {
  const { looks, asked } = await walkedRow(rowOf('.'.repeat(100)));
  assert.deepEqual([looks, asked.length], [0, 10]);
});

it('a walk over unshown matches requests no page after the last match', async () => {
  for (const pattern of ['.'.repeat(95), 'x'.repeat(95), 'x.'.repeat(47)]) {
    const { asked } = await walkedRow(rowOf(pattern));
    assert.ok(
      asked.every(({ offset = 0 }) => offset <= pattern.length),
      pattern,
    );
  }
});

it('a walk over unshown matches ends if the broker shows one page for every offset, short or empty', async () => {
  for (const ids of [['urn:t:0', 'urn:t:1'], []]) {
    for (const more of [{ count: 500 }, { hasNext: false }]) {
      const { asked } = await walked((_offset, limit) => pageOf(ids, { ...more, limit }));
      assert.ok(asked.length <= 60, String(asked.length));
    }
  }
});

it('a walk over unshown matches yields every shown match once, wherever the others lie', async () => {
  const rows = fc
    .array(fc.boolean(), { maxLength: 120 })
    .map((marks) => rowOf(marks.map((mark) => (mark ? 'x' : '.')).join('')));
  await fc.assert(
    fc.asyncProperty(rows, fc.constantFrom('count', 'next'), async (row, tells) => {
      const { ids, end, pages } = await walkedRow(row, tells);
      assert.deepEqual(ids, shownOf(row));
      assert.deepEqual([end.unlisted, end.trickles], [0, false]);
      if (tells === 'count') assert.equal(end.complete, true);
      assert.ok(pages.every((page) => page.ids.length > 0));
    }),
    { numRuns: 300 },
  );
});

it('a walk over unshown matches yields every shown match after long empty stretches, and in growing pages', async () => {
  const stretches = fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 60 })), { maxLength: 6 });
  const sizes = fc
    .array(fc.integer({ min: 1, max: 25 }), { minLength: 1, maxLength: 5 })
    .map((some) => some.toSorted((a, b) => a - b));
  await fc.assert(
    fc.asyncProperty(stretches, sizes, async (parts, limits) => {
      const row = rowOf(parts.map(([isShown, length]) => (isShown ? 'x' : '.').repeat(length)).join(''));
      const { ids, end } = await walked(
        (offset, limit) => filteredPage(row, offset, limit, 'count'),
        (page) => ({ limit: limits[Math.min(page, limits.length - 1)] ?? LIMIT }),
      );
      assert.deepEqual(ids, shownOf(row));
      assert.equal(end.complete, true);
    }),
    { numRuns: 300 },
  );
});
