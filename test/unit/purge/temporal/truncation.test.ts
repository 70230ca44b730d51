import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TruncationEvidence, type PageExtent } from '../../../../sidecar/purge/temporal/instance-pages.js';

const ASKED: PageExtent = { isPartial: false, instances: 1000 };
const BARE: PageExtent = { isPartial: false, instances: undefined };

describe('the evidence that a list is truncated', () => {
  it('the evidence that a list is truncated is a 206, or a list as long as requested', () => {
    const evidence = new TruncationEvidence();
    for (const [page, length, isPartial] of [
      [{ isPartial: true, instances: 100 }, 1, true],
      [{ isPartial: true, instances: undefined }, 1, true],
      [{ isPartial: false, instances: 100 }, 99, false],
      [{ isPartial: false, instances: 100 }, 100, true],
      [{ isPartial: false, instances: undefined }, 1e6, false],
    ] as const) {
      assert.equal(evidence.isMarkedTruncated(page, length), isPartial);
      assert.equal(evidence.isSurelyTruncated(page, length), isPartial);
      evidence.note(page, 2e6);
      assert.equal(evidence.mayBeTruncated(page, length), isPartial);
    }
  });

  it('the evidence that a list is truncated is weak if no longer list was shown by the same form of the query', () => {
    for (const [page, other] of [
      [ASKED, BARE],
      [BARE, ASKED],
    ] as const) {
      const evidence = new TruncationEvidence();
      assert.equal(evidence.mayBeTruncated(page, 0), true);
      evidence.note(page, 5);
      evidence.note(page, 3);
      evidence.note(other, 50);
      assert.deepEqual(
        [4, 5, 6].map((length) => evidence.mayBeTruncated(page, length)),
        [false, true, true],
      );
      assert.equal(evidence.mayBeTruncated(other, 49), false);
    }
  });

  it('the evidence that a list is truncated is certain if a list of that length was silently truncated before', () => {
    for (const [page, other] of [
      [ASKED, BARE],
      [BARE, ASKED],
    ] as const) {
      const evidence = new TruncationEvidence();
      assert.equal(evidence.isSurelyTruncated(page, 5), false);
      evidence.noteMore(page, 7);
      evidence.noteMore(page, 5);
      evidence.noteMore(page, 6);
      assert.deepEqual(
        [4, 5, 6].map((length) => evidence.isSurelyTruncated(page, length)),
        [false, true, true],
      );
      assert.equal(evidence.isSurelyTruncated(other, 500), false);
    }
  });

  it('the evidence that a list is truncated is not learnt from lists that were marked as truncated', () => {
    const evidence = new TruncationEvidence();
    evidence.noteMore({ isPartial: true, instances: 100 }, 2);
    evidence.noteMore({ isPartial: false, instances: 3 }, 3);
    assert.equal(evidence.isSurelyTruncated(ASKED, 900), false);
  });
});
