import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CutEvidence, type CutPage } from '../../../../sidecar/purge/temporal/cut-evidence.js';

const ASKED: CutPage = { isCut: false, instances: 1000 };
const BARE: CutPage = { isCut: false, instances: undefined };

describe('the evidence that a broker shows a part of a list only', () => {
  it('is that it says so, or that there are as many as were asked for', () => {
    const evidence = new CutEvidence();
    for (const [page, length, isCut] of [
      [{ isCut: true, instances: 100 }, 1, true],
      [{ isCut: true, instances: undefined }, 1, true],
      [{ isCut: false, instances: 100 }, 99, false],
      [{ isCut: false, instances: 100 }, 100, true],
      [{ isCut: false, instances: undefined }, 1e6, false],
    ] as const) {
      assert.equal(evidence.isToldCut(page, length), isCut);
      assert.equal(evidence.isSurelyCut(page, length), isCut);
      evidence.note(page, 2e6);
      assert.equal(evidence.mayBeCut(page, length), isCut);
    }
  });

  it('may be that no longer list was shown, in answers to the same way of asking', () => {
    for (const [page, other] of [
      [ASKED, BARE],
      [BARE, ASKED],
    ] as const) {
      const evidence = new CutEvidence();
      assert.equal(evidence.mayBeCut(page, 0), true);
      evidence.note(page, 5);
      evidence.note(page, 3);
      evidence.note(other, 50);
      assert.deepEqual(
        [4, 5, 6].map((length) => evidence.mayBeCut(page, length)),
        [false, true, true],
      );
      assert.equal(evidence.mayBeCut(other, 49), false);
    }
  });

  it('is sure where others were found behind a list as short, without a word', () => {
    for (const [page, other] of [
      [ASKED, BARE],
      [BARE, ASKED],
    ] as const) {
      const evidence = new CutEvidence();
      assert.equal(evidence.isSurelyCut(page, 5), false);
      evidence.noteMore(page, 7);
      evidence.noteMore(page, 5);
      evidence.noteMore(page, 6);
      assert.deepEqual(
        [4, 5, 6].map((length) => evidence.isSurelyCut(page, length)),
        [false, true, true],
      );
      assert.equal(evidence.isSurelyCut(other, 500), false);
    }
  });

  it('says nothing of others where the answer itself told of more', () => {
    const evidence = new CutEvidence();
    evidence.noteMore({ isCut: true, instances: 100 }, 2);
    evidence.noteMore({ isCut: false, instances: 3 }, 3);
    assert.equal(evidence.isSurelyCut(ASKED, 900), false);
  });
});
