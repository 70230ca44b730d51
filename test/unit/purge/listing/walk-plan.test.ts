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

it('the plan of a walk skips a full page of known matches only within the requested range', () => {
  const look = { ids: 10, count: 100, countsUnshown: true };
  const within = stepAfter(look, { offset: 10, listed: 20, reach: 20 });
  assert.ok(within.kind === 'next');
  assert.deepEqual([within.state.offset, within.state.skippedPages], [20, 1]);
  assert.equal(stepAfter(look, { offset: 10, listed: 20, reach: 19 }).kind, 'end');
});

it('the plan of a walk skips a hundred thousand pages at most, and is then incomplete', () => {
  const look = { count: 1_000_000, countsUnshown: true };
  assert.equal(stepAfter(look, { skippedPages: 99_999 }).kind, 'next');
  const step = stepAfter(look, { skippedPages: 100_000 });
  assert.ok(step.kind === 'end');
  assert.deepEqual([step.end.complete, step.end.unlisted], [false, 1_000_000]);
});

it('the plan of a walk takes up to 256 short pages in a row, of half the longest page at most, before it assumes a trickle', () => {
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

it('the plan of a walk does not take the first page, or a short one, as proof that the offset is ignored', () => {
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

it('the plan of a walk confirms its end only by full agreement with the count, and starts again after a disagreement', () => {
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
