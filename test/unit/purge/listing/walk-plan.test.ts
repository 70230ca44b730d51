import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  learnPaging,
  nextStep,
  startOfWalk,
  type WalkState,
} from '../../../../sidecar/purge/listing/walk-plan.js';
import type { PagingEvidence } from '../../../../sidecar/purge/listing/index.js';

interface Look {
  readonly ids?: number;
  readonly fresh?: number;
  readonly count?: number;
  readonly limit?: number;
  readonly hasNext?: boolean;
  readonly countsUnshown?: boolean;
}

const NOTHING_KNOWN: PagingEvidence = { contradicted: false, longestPage: 0 };

function seenOf({ ids = 0, fresh = 0, limit = 10, hasNext = false, countsUnshown = false, count }: Look) {
  const names = Array.from({ length: ids }, (_, index) => `urn:a:${index}`);
  const page = { ids: names, limit, hasNext, count };
  return { page, fresh, distinct: ids, countsUnshown };
}

function stepAfter(look: Look, state: Partial<WalkState> = {}, paging = NOTHING_KNOWN) {
  const before = { ...startOfWalk(0), ...state };
  const seen = seenOf(look);
  return nextStep(before, seen, learnPaging(paging, before, seen));
}

it('the plan of a walk goes on behind a page with something new, by as many ids as it showed', () => {
  const step = stepAfter({ ids: 7, fresh: 7, count: 20 });
  assert.ok(step.kind === 'next');
  assert.deepEqual([step.state.offset, step.state.listed, step.state.known, step.waits], [7, 7, 20, false]);
});

it('the plan of a walk asks again for an empty page before it passes over it, when the count says more', () => {
  const first = stepAfter({ count: 20 }, { offset: 10, listed: 10 });
  assert.ok(first.kind === 'next');
  assert.deepEqual([first.state.offset, first.waits], [10, true]);
  const second = stepAfter({ count: 20 }, first.state);
  assert.ok(second.kind === 'next');
  assert.deepEqual([second.state.offset, second.state.hasSkipped], [20, true]);
});

it('the plan of a walk ends as incomplete when pages stay empty although the count says more', () => {
  const step = stepAfter({ count: 20 }, { offset: 30, listed: 10, emptyPages: 3 });
  assert.ok(step.kind === 'end');
  assert.deepEqual([step.end.complete, step.end.unlisted], [false, 10]);
});

it('the plan of a walk asks twice for an empty page where the broker gives no count', () => {
  const first = stepAfter({});
  assert.ok(first.kind === 'next' && !first.waits);
  const second = stepAfter({}, first.state);
  assert.ok(second.kind === 'end' && second.end.complete);
});

it('the plan of a walk notices when every offset shows the same page, which may hide others', () => {
  const step = stepAfter({ ids: 10 }, { offset: 10, listed: 10 }, { contradicted: false, longestPage: 10 });
  assert.ok(step.kind === 'end' && step.ignoresOffset);
  assert.equal(step.end.complete, false);
});

it('the plan of a walk ends when two pages in a row agree with the count that everything was listed', () => {
  const first = stepAfter({ ids: 5, fresh: 5, count: 5 });
  assert.ok(first.kind === 'next');
  const second = stepAfter({ ids: 1, fresh: 1, count: 6 }, first.state);
  assert.ok(second.kind === 'end' && second.end.complete);
});

it('the plan of a walk takes only full agreement with the count, twice in a row, for the end', () => {
  for (const [look, confirmations] of [
    [{ ids: 5, fresh: 5, count: 15 }, 1],
    [{ ids: 5, fresh: 5, count: 16 }, 0],
    [{ ids: 10, fresh: 10, count: 20 }, 0],
    [{ ids: 5, fresh: 5 }, 0],
  ] as const) {
    const step = stepAfter(look, { offset: 10, listed: 10 });
    assert.ok(step.kind === 'next');
    assert.equal(step.state.confirmations, confirmations, JSON.stringify(look));
  }
  const between = stepAfter({ ids: 10, fresh: 10, count: 20 }, { offset: 10, listed: 10, confirmations: 1 });
  assert.ok(between.kind === 'next');
  assert.equal(between.state.confirmations, 0, 'those before do not count');
});

it('the plan of a walk passes over a full page of known matches only within what it has asked for', () => {
  const look = { ids: 10, count: 100, countsUnshown: true };
  const within = stepAfter(look, { offset: 10, listed: 20, reach: 20 });
  assert.ok(within.kind === 'next');
  assert.deepEqual([within.state.offset, within.state.skippedPages], [20, 1]);
  assert.equal(stepAfter(look, { offset: 10, listed: 20, reach: 19 }).kind, 'end');
});

it('the plan of a walk passes over pages up to the end of the count, or as long as a link leads on', () => {
  const before = { offset: 10, listed: 10, emptyPages: 3 };
  for (const [look, goesOn] of [
    [{ ids: 1, count: 21 }, true],
    [{ ids: 1, count: 20 }, false],
    [{ ids: 1, count: 20, hasNext: true }, false],
    [{ ids: 1, hasNext: true }, true],
    [{ ids: 1 }, false],
  ] as const) {
    const step = stepAfter({ ...look, countsUnshown: true }, before);
    assert.equal(step.kind === 'next', goesOn, JSON.stringify(look));
  }
});

it('the plan of a walk passes over a hundred thousand pages at most, and is incomplete then', () => {
  const look = { count: 1_000_000, countsUnshown: true };
  assert.equal(stepAfter(look, { skippedPages: 99_999 }).kind, 'next');
  const step = stepAfter(look, { skippedPages: 100_000 });
  assert.ok(step.kind === 'end');
  assert.deepEqual([step.end.complete, step.end.unlisted], [false, 1_000_000]);
});

it('the plan of a walk takes 256 short pages in a row, no longer than half of the longest one, for no trickle yet', () => {
  const longest = { contradicted: false, longestPage: 8 };
  const trickle = { ids: 4, fresh: 4 };
  assert.equal(stepAfter(trickle, { shortPages: 255 }, longest).kind, 'next');
  const step = stepAfter(trickle, { shortPages: 256 }, longest);
  assert.ok(step.kind === 'end');
  assert.deepEqual([step.end.complete, step.end.trickles], [false, true]);
  const longer = stepAfter({ ids: 5, fresh: 5 }, { shortPages: 256 }, longest);
  assert.ok(longer.kind === 'next');
  assert.equal(longer.state.shortPages, 0);
});

it('the plan of a walk does not take the first page, or a short one, for proof that the offset is ignored', () => {
  for (const [ids, offset, isProof] of [
    [10, 10, true],
    [10, 0, false],
    [9, 10, false],
  ] as const) {
    const step = stepAfter({ ids }, { offset, listed: 10 });
    assert.ok(step.kind === 'end');
    assert.equal(step.ignoresOffset, isProof, `${ids} from ${offset}`);
  }
});

it('a count is no longer trusted once more is listed than it says', () => {
  const state = { ...startOfWalk(0), listed: 9 };
  const paging = learnPaging(NOTHING_KNOWN, state, seenOf({ ids: 2, fresh: 2, count: 10 }));
  assert.equal(paging.contradicted, true);
  assert.equal(learnPaging(paging, state, seenOf({})).contradicted, true);
});

it('a page cut short shows hidden matches only where the broker may count what it does not show', () => {
  const look = { ids: 3, fresh: 3, count: 20 };
  assert.equal(learnPaging(NOTHING_KNOWN, startOfWalk(0), seenOf(look)).hidesSome, undefined);
  const unshown = learnPaging(NOTHING_KNOWN, startOfWalk(0), seenOf({ ...look, countsUnshown: true }));
  assert.equal(unshown.hidesSome, true);
});
