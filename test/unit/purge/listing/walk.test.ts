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
import { idsOf, listerOf, pageOf } from '../hand-made-lister.js';

const LIMIT = 10;
const SELECTION = [{ name: 'type', value: 'T' }];

interface Walked {
  readonly end: WalkEnd;
  /** Ids noted as new, in order. */
  readonly ids: readonly string[];
  readonly pages: readonly ListedPage[];
  readonly asked: readonly PageQuery[];
  readonly looks: readonly number[];
  readonly contradicted: boolean;
  readonly paging: PagingEvidence;
}

async function walked(
  answer: (offset: number, index: number) => ListedPage,
  more: { readonly first?: ListedPage; readonly paging?: PagingEvidence } = {},
): Promise<Walked> {
  const { lister, asked } = listerOf(({ offset }, index) => {
    assert.ok(index < 400, 'the walk goes on for ever');
    return answer(offset ?? 0, index);
  });
  const ids = new Set<string>();
  const looks: number[] = [];
  const paging: PagingEvidence = more.paging ?? { contradicted: false, longestPage: 0 };
  const walk = walkMatches({
    lister,
    selection: SELECTION,
    paging,
    isNew: (id) => ids.size < ids.add(id).size,
    requester: {
      waitBeforeCheck: async (look) => {
        looks.push(look);
      },
    },
    ...(more.first === undefined ? {} : { first: more.first }),
  });
  const pages: ListedPage[] = [];
  for (;;) {
    const step = await walk.next();
    if (step.done === true)
      return {
        end: step.value,
        ids: [...ids],
        pages,
        asked,
        looks,
        paging,
        contradicted: paging.contradicted,
      };
    pages.push(step.value);
  }
}

/** The part of all ids that a page shows. */
const slice = (all: readonly string[], offset: number, size = LIMIT) => all.slice(offset, offset + size);

it('walkMatches requests the count with the first page and after the last match, and each page once', async () => {
  const all = idsOf(25);
  const { asked, ids, end } = await walked((offset) => pageOf(slice(all, offset), { count: 25 }));
  assert.deepEqual(
    asked.map(({ offset, count }) => [offset, count]),
    [
      [0, true],
      [10, undefined],
      [20, undefined],
      [25, true],
    ],
  );
  assert.deepEqual(ids, all);
  assert.deepEqual(end, { complete: true, trickles: false, unlisted: 0, lastCount: 25 });
});

it('walkMatches starts with a page that was fetched before', async () => {
  const all = idsOf(12);
  const { asked, ids } = await walked((offset) => pageOf(slice(all, offset), { count: 12 }), {
    first: pageOf(slice(all, 0), { count: 12 }),
  });
  assert.deepEqual(ids, all);
  assert.deepEqual(asked[0], { selection: SELECTION, offset: 10, limit: LIMIT });
});

it('walkMatches sends two queries if nothing is shown without a count, because [] may be the form of an error', async () => {
  const all = idsOf(3);
  assert.equal((await walked(() => pageOf([]))).asked.length, 2);
  const { ids } = await walked((offset, index) => pageOf(index === 0 ? [] : slice(all, offset)));
  assert.deepEqual(ids, all);
});

it('walkMatches reads beyond a page even if the count says it was the last, because some brokers count only the page', async () => {
  const all = idsOf(30);
  for (const size of [LIMIT, 7]) {
    const { ids, end } = await walked((offset) => {
      const shown = slice(all, offset, size);
      return pageOf(shown, { count: shown.length });
    });
    assert.deepEqual([ids, end.complete], [all, true]);
  }
});

it('walkMatches ends if a broker repeats its last entity for every offset past the end', async () => {
  const all = idsOf(20);
  for (const count of [20, undefined]) {
    const { ids, pages, end } = await walked((offset) =>
      pageOf(offset < 20 ? slice(all, offset) : all.slice(-1), { count }),
    );
    assert.deepEqual([ids, pages.length, end.complete], [all, 2, true]);
  }
});

it('walkMatches takes a page longer than requested as the whole result if the count says so', async () => {
  const all = idsOf(35);
  const { asked, ids, end } = await walked(() => pageOf(all, { count: 35 }));
  assert.deepEqual([asked.length, ids, end.complete], [1, all, true]);
});

it('walkMatches does not take a page longer than requested as the whole result without a count', async () => {
  for (const count of [undefined, 10]) {
    const { ids, end } = await walked(() => pageOf(idsOf(35), { count }));
    assert.deepEqual([ids.length, end.complete], [35, false]);
    const paged = await walked((offset) => pageOf(slice(idsOf(100), offset, 35), { count }));
    assert.deepEqual([paged.ids.length, paged.end.complete], [100, true]);
  }
});

it('walkMatches does not take a page longer than requested as the whole result if there is a next link', async () => {
  const all = idsOf(50);
  const { ids } = await walked((offset) =>
    pageOf(slice(all, offset, 35), { count: offset === 0 ? 35 : undefined, hasNext: offset === 0 }),
  );
  assert.deepEqual(ids, all);
});

it('walkMatches ends if one new match is counted and shown for every query', async () => {
  const { asked, end } = await walked((offset, index) =>
    pageOf(index === 0 ? idsOf(3) : [`urn:t:${offset}`], { count: 3 + index }),
  );
  assert.deepEqual([asked.length, end.complete], [2, true]);
});

it('walkMatches does not mistake pages of one reduced size for a trickle, however many', async () => {
  const all = idsOf(2000);
  const { ids, end } = await walked((offset) => pageOf(slice(all, offset, 7)));
  assert.deepEqual([ids, end.complete], [all, true]);
});

it('walkMatches does not mistake short pages for a trickle if a count or a link says that there is more', async () => {
  const all = idsOf(300);
  for (const tells of ['count', 'link']) {
    const { ids, end } = await walked((offset) =>
      pageOf(
        slice(all, offset, offset === 0 ? LIMIT : 1),
        tells === 'count' ? { count: 300 } : { hasNext: offset < 299 },
      ),
    );
    assert.deepEqual([ids.length, end.complete, end.trickles], [300, true, false], tells);
  }
});

it('walkMatches notes that the offset is ignored if another offset shows a full page of known matches', async () => {
  for (const [shown, isIgnored] of [
    [() => idsOf(LIMIT), true],
    [() => idsOf(3), undefined],
    [(offset: number) => (offset < 20 ? slice(idsOf(20), offset) : ['urn:t:19']), undefined],
    [(offset: number) => slice(idsOf(20), offset), undefined],
  ] as const) {
    const { paging } = await walked((offset) => pageOf(shown(offset)));
    assert.equal(paging.ignoresOffset, isIgnored, shown.toString());
  }
});

it('walkMatches is not complete if pages overlapped or one was empty, unless a count says that all was listed', async () => {
  const all = idsOf(30);
  for (const [shown, hasNext] of [
    [(offset: number) => slice(all, Math.max(0, offset - 1)), () => false],
    [
      (offset: number) => (offset === 10 ? [] : slice(all, offset < 10 ? 0 : offset - 10)),
      (offset: number) => offset === 10,
    ],
  ] as const) {
    for (const count of [undefined, 30]) {
      const { ids, end } = await walked((offset) =>
        pageOf(shown(offset), { count, hasNext: hasNext(offset) }),
      );
      assert.equal(ids.length, 30);
      assert.equal(end.complete, count !== undefined);
    }
  }
});

it('walkMatches ends if new matches arrive as fast as they are listed, and reports the trickle', async () => {
  const { asked, end } = await walked((offset) => pageOf(offset === 0 ? idsOf(10) : [`urn:t:${offset}`]));
  assert.ok(asked.length < 300);
  assert.deepEqual([end.complete, end.trickles], [false, true]);
});

it('walkMatches ends soon after twice the first count if full pages of new matches arrive for ever', async () => {
  for (const [present, listed] of [
    [20, 300],
    [1000, 2260],
  ] as const) {
    let queries = 0;
    const { ids, end } = await walked((offset) => {
      queries += 1;
      return pageOf(
        idsOf(LIMIT).map((_, index) => `urn:t:${offset + index}`),
        { count: present + queries * LIMIT },
      );
    });
    assert.deepEqual([end.complete, end.trickles, end.unlisted], [false, true, 0]);
    assert.ok(ids.length > present * 2 + 256 && ids.length <= listed + LIMIT * 2, String(ids.length));
  }
});

it('walkMatches lists all matches if they arrive more slowly than they are listed', async () => {
  const { ids, end } = await walked((offset, index) => {
    const present = 1000 + index * 4;
    return pageOf(slice(idsOf(present), offset), { count: present });
  });
  assert.deepEqual([end.complete, end.trickles, ids.length], [true, false, end.lastCount]);
});

it('walkMatches with a stride ends even if new matches arrive for ever', async () => {
  let queries = 0;
  const { end, asked } = await walked(
    (offset) => {
      queries += 1;
      return pageOf([`urn:t:${offset}`], { count: 100 + queries * LIMIT });
    },
    { paging: { contradicted: false, longestPage: 0, stride: LIMIT } },
  );
  assert.deepEqual([end.complete, end.trickles], [false, true]);
  assert.ok(asked.length * LIMIT > 200 && asked.length < 60, String(asked.length));
});

it('walkMatches with a stride finds every match, even if pages have to be smaller', async () => {
  const entities = fc.array(fc.boolean(), { maxLength: 80 });
  const limits = fc.array(fc.integer({ min: 1, max: LIMIT }), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(entities, limits, async (matching, most) => {
      const { ids, end, pages, asked } = await walked(
        (offset, index) => {
          const limit = most[index % most.length] ?? LIMIT;
          const page = matching.slice(offset, offset + limit);
          const shown = page.flatMap((isMatch, at) => (isMatch ? [`urn:t:${offset + at}`] : []));
          return pageOf(shown, { count: matching.length, limit });
        },
        { paging: { contradicted: false, longestPage: 0, stride: LIMIT } },
      );
      assert.ok(end.complete && pages.every((page) => page.ids.length > 0));
      assert.ok(asked.every(({ limit, count }) => limit === LIMIT && count === true));
      assert.equal(ids.length, matching.filter((isMatch) => isMatch).length);
    }),
  );
});

it('walkMatches continues after an empty page with a next link unless a count contradicts', async () => {
  const all = idsOf(5);
  const { ids } = await walked((offset) =>
    pageOf(offset === 0 ? [] : slice(all, offset - LIMIT), { hasNext: offset === 0 }),
  );
  assert.deepEqual(ids, all);
});

it('walkMatches continues after any number of empty pages, three of them in a row at most', async () => {
  const all = idsOf(40);
  // Each page of matches is followed by three empty pages.
  const { ids } = await walked((offset) => {
    const nth = Math.floor(offset / LIMIT);
    return pageOf(nth % 4 === 0 ? slice(all, (nth / 4) * LIMIT) : [], { hasNext: nth < 12 });
  });
  assert.deepEqual(ids, all);
});

it('walkMatches gives up on next links that lead from empty page to empty page', async () => {
  const { asked } = await walked(() => pageOf([], { hasNext: true }));
  assert.deepEqual(
    asked.map(({ offset }) => offset),
    [0, 10, 20, 30],
  );
});

it('walkMatches does not follow a next link once the count is reached', async () => {
  const all = idsOf(20);
  const { asked, end } = await walked((offset) => pageOf(slice(all, offset), { count: 20, hasNext: true }));
  assert.deepEqual([asked.length, end.complete], [3, true]);
});

it('walkMatches requests an empty page again, after a wait, if the count contradicts it', async () => {
  const all = idsOf(4);
  const { ids, looks, asked, end } = await walked((offset, index) =>
    pageOf(index === 0 ? [] : slice(all, offset), { count: 4 }),
  );
  assert.deepEqual([ids, looks, end.complete], [all, [1], true]);
  assert.deepEqual(
    asked.slice(0, 2).map(({ offset }) => offset),
    [0, 0],
  );
});

it('walkMatches gives up after three waits, and reports the number of unlisted matches', async () => {
  const all = idsOf(10);
  const { ids, looks, asked, end } = await walked((offset) => pageOf(slice(all, offset), { count: 17 }));
  assert.deepEqual([ids, looks], [all, [1, 2, 3]]);
  assert.deepEqual(
    asked.map(({ offset }) => offset),
    [0, 10, 10, 20, 30],
  );
  assert.deepEqual(end, { complete: false, trickles: false, unlisted: 7, lastCount: 17 });
});

it('walkMatches distrusts, for the whole purge, a count that is less than the number of listed matches', async () => {
  const all = idsOf(25);
  const understated = await walked((offset) => pageOf(slice(all, offset), { count: 3 }));
  assert.deepEqual([understated.ids, understated.contradicted, understated.end.complete], [all, true, true]);
  const honest = await walked((offset) => pageOf(slice(all, offset), { count: 25 }));
  assert.equal(honest.contradicted, false);
});

it('walkMatches lists everything once and ends, whatever the length of pages and however low the count', async () => {
  const counted = fc.constantFrom<(total: number) => number | undefined>(
    (total) => total,
    () => undefined,
    () => 0,
    () => 1,
    (total) => Math.max(0, total - 1),
  );
  const pastEnd = fc.constantFrom<(all: readonly string[]) => readonly string[]>(
    () => [],
    (all) => all.slice(-1),
  );
  const sizes = fc.array(fc.integer({ min: 1, max: LIMIT }), { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: 60 }), counted, pastEnd, sizes, async (total, count, past, cut) => {
      const all = idsOf(total);
      const { ids, pages, end } = await walked((offset, index) => {
        const shown = offset < total ? slice(all, offset, cut[index % cut.length]) : past(all);
        return pageOf(shown, { count: total === 0 ? 0 : count(total) });
      });
      assert.deepEqual(ids, all);
      assert.equal(end.complete, true);
      assert.ok(pages.every((page) => page.ids.length > 0));
    }),
  );
});
