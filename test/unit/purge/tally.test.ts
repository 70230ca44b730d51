import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { ItemVerdict } from '../../../sidecar/purge/batch-reply.js';
import { IdState } from '../../../sidecar/purge/id-ledger.js';
import { keyOf, Tally, type Item, type PurgeCounts } from '../../../sidecar/purge/tally.js';

const GONE: ItemVerdict = { kind: 'claimed-gone' };
const ABSENT: ItemVerdict = { kind: 'absent' };
const RETRYABLE: ItemVerdict = { kind: 'retryable', problem: { status: 503, title: 'Busy' } };
const UNCLEAR: ItemVerdict = { kind: 'unclear', problem: { status: 500 } };
const REFUSED: ItemVerdict = { kind: 'refused', problem: { status: 403, title: 'Forbidden' } };
const ONE: Item = { entityId: 'urn:a:1' };
const TWO: Item = { entityId: 'urn:a:2' };

const NONE: PurgeCounts = { matched: 0, deleted: 0, alreadyGone: 0, failed: 0, unknown: 0 };
const counted = (counts: Partial<PurgeCounts>): PurgeCounts => ({ ...NONE, ...counts });

function tallyOf(...settled: readonly (readonly [Item, ItemVerdict])[]): Tally {
  const tally = new Tally();
  for (const [item, verdict] of settled) {
    tally.take(item);
    tally.settle(item, verdict, false);
  }
  return tally;
}

/** Settles by a survey that lists these items. */
function survey(tally: Tally, showsAll: boolean, ...listed: readonly Item[]): void {
  tally.ledger.startSurvey();
  for (const item of listed) tally.ledger.markListed(keyOf(item));
  tally.settleBySurvey(showsAll);
}

describe('Tally: states', () => {
  it('an item that was taken has no outcome yet', () => {
    const tally = new Tally();
    tally.take(ONE);
    assert.deepEqual(tally.counts, counted({ matched: 1 }));
    assert.equal(tally.ledger.get('urn:a:1'), IdState.pending);
  });

  it('a claim counts as deleted, and is known as a first or a second one', () => {
    const tally = tallyOf([ONE, GONE]);
    assert.deepEqual(tally.counts, counted({ matched: 1, deleted: 1 }));
    assert.equal(tally.ledger.get('urn:a:1'), IdState.gone);
    tally.settle(ONE, GONE, true);
    assert.equal(tally.ledger.get('urn:a:1'), IdState.goneTwice);
    assert.deepEqual(tally.success, ['urn:a:1']);
  });

  it('an item that is absent was gone already, unless an earlier delete may have done it', () => {
    const absent = tallyOf([ONE, ABSENT]);
    assert.deepEqual(absent.counts, counted({ matched: 1, alreadyGone: 1 }));
    absent.settle(ONE, ABSENT, true);
    assert.deepEqual(absent.counts, counted({ matched: 1, alreadyGone: 1 }));
    assert.deepEqual(absent.success, ['urn:a:1']);

    const claimed = tallyOf([ONE, GONE]);
    claimed.settle(ONE, ABSENT, true);
    assert.deepEqual(claimed.counts, counted({ matched: 1, deleted: 1 }));

    for (const isSecondTry of [false, true]) {
      const unanswered = new Tally();
      unanswered.take(ONE);
      unanswered.noteUnclear(ONE);
      unanswered.settle(ONE, ABSENT, isSecondTry);
      assert.deepEqual(unanswered.counts, counted({ matched: 1, deleted: 1 }));
    }

    const refused = tallyOf([ONE, RETRYABLE]);
    refused.settle(ONE, ABSENT, true);
    assert.deepEqual(refused.counts, counted({ matched: 1, alreadyGone: 1 }));
  });

  it('an item that is absent at first, and deleted at the second try, counts as deleted', () => {
    const tally = tallyOf([ONE, ABSENT]);
    tally.settle(ONE, GONE, true);
    assert.deepEqual(tally.counts, counted({ matched: 1, deleted: 1 }));
  });

  for (const verdict of [RETRYABLE, UNCLEAR]) {
    it(`an item that is ${verdict.kind} is due for a second try, and failed after it`, () => {
      const tally = tallyOf([ONE, verdict]);
      assert.equal(tally.ledger.get('urn:a:1'), IdState.unsettled);
      assert.equal(tally.counts.failed, 1);
      tally.settle(ONE, verdict, true);
      assert.equal(tally.ledger.get('urn:a:1'), IdState.failed);
      assert.equal(tally.counts.failed, 1);
    });
  }

  it('a refused item is failed at once', () => {
    assert.equal(tallyOf([ONE, REFUSED]).ledger.get('urn:a:1'), IdState.failed);
  });

  it('a second try that succeeds takes the error back', () => {
    const tally = tallyOf([ONE, RETRYABLE]);
    assert.equal(tally.errors[0]?.error.title, 'Busy');
    tally.settle(ONE, GONE, true);
    assert.deepEqual(tally.counts, counted({ matched: 1, deleted: 1 }));
    assert.deepEqual([tally.errors, tally.success], [[], ['urn:a:1']]);
  });

  it('an item still listed after two claims is failed, and no success any more', () => {
    const tally = tallyOf([ONE, GONE]);
    tally.failListed(ONE, { status: 409, title: 'Entity still listed' });
    assert.deepEqual(tally.counts, counted({ matched: 1, failed: 1 }));
    assert.deepEqual(tally.success, []);
    assert.equal(tally.errors[0]?.error.status, 409);
  });
});

describe('Tally: what is unclear', () => {
  it('is unknown while its delete is under way, when its tries are used up, and when it is given up', () => {
    const tally = new Tally();
    tally.take(ONE);
    tally.noteUnclear(ONE);
    assert.deepEqual(tally.counts, counted({ matched: 1, unknown: 1 }));
    tally.settle(ONE, RETRYABLE, false);
    assert.deepEqual(tally.counts, counted({ matched: 1, unknown: 1 }));
    tally.giveUp(ONE, { status: 502, title: 'Broken' });
    assert.deepEqual(tally.counts, counted({ matched: 1, unknown: 1 }));
    assert.deepEqual(tally.unclear, [ONE]);
    assert.deepEqual(tally.success, []);
    const [shown] = tally.errors;
    assert.equal(shown?.error.type, 'urn:ngsi-ld-gateway:problem:outcome-unknown');
    assert.equal(shown.error.status, 502);
  });

  it('is clear once a later try is answered as done', () => {
    const tally = new Tally();
    tally.take(ONE);
    tally.noteUnclear(ONE);
    tally.settle(ONE, GONE, false);
    assert.deepEqual(tally.counts, counted({ matched: 1, deleted: 1 }));
    assert.deepEqual(tally.unclear, []);
  });

  it('is deleted where a look does not find it, and not deleted where it does', () => {
    for (const settle of [false, true]) {
      const tally = new Tally();
      for (const item of [ONE, TWO]) {
        tally.take(item);
        tally.noteUnclear(item);
        if (settle) tally.settle(item, RETRYABLE, false);
      }
      tally.foundGone(ONE);
      tally.foundThere(TWO);
      assert.deepEqual(tally.counts, counted({ matched: 2, deleted: 1, failed: settle ? 1 : 0 }));
      assert.deepEqual(tally.unclear, []);
      assert.deepEqual(tally.success, ['urn:a:1']);
      assert.deepEqual(
        tally.errors.map(({ entityId }) => entityId),
        settle ? ['urn:a:2'] : [],
      );
    }
  });

  it('is counted without end, and kept for a look up to 10,000 items of the query at hand', () => {
    const tally = new Tally();
    for (let index = 0; index < 10_500; index++) {
      const item = { entityId: `urn:a:${index}` };
      tally.take(item);
      tally.noteUnclear(item);
    }
    assert.deepEqual([tally.counts.unknown, tally.unclear.length], [10_500, 10_000]);
    tally.startQuery();
    assert.deepEqual([tally.counts.unknown, tally.unclear.length], [10_500, 0]);
  });

  it('is nothing that was never taken', () => {
    const tally = new Tally();
    tally.noteUnclear(ONE);
    assert.deepEqual(tally.counts, NONE);
  });
});

describe('Tally: a last survey', () => {
  const THREE: Item = { entityId: 'urn:a:3' };
  const FOUR: Item = { entityId: 'urn:a:4' };
  function mixed(): Tally {
    const tally = tallyOf([ONE, REFUSED], [TWO, REFUSED], [THREE, GONE]);
    tally.take(FOUR);
    tally.noteUnclear(FOUR);
    tally.settle(FOUR, RETRYABLE, false);
    return tally;
  }

  it('that shows everything: what it does not list is deleted where a delete is unclear, else gone by another hand', () => {
    const tally = mixed();
    survey(tally, true, ONE);
    assert.deepEqual(tally.counts, counted({ matched: 4, deleted: 2, alreadyGone: 1, failed: 1 }));
    assert.deepEqual(
      tally.errors.map(({ entityId }) => entityId),
      ['urn:a:1'],
    );
    assert.deepEqual([...tally.success].sort(), ['urn:a:2', 'urn:a:3', 'urn:a:4']);
  });

  it('that shows a part only settles nothing that it does not list', () => {
    const tally = mixed();
    survey(tally, false);
    assert.deepEqual(tally.counts, counted({ matched: 4, deleted: 1, failed: 2, unknown: 1 }));
  });

  it('settles that what it lists was not deleted', () => {
    const tally = mixed();
    survey(tally, false, FOUR);
    assert.deepEqual(tally.counts, counted({ matched: 4, deleted: 1, failed: 3 }));
    const shown = tally.errors.find(({ entityId }) => entityId === 'urn:a:4');
    assert.equal(shown?.error.title, 'Busy');
  });
});

describe('Tally: lists', () => {
  const speed: Item = { entityId: 'urn:a:1', attribute: 'speed' };
  const color: Item = { entityId: 'urn:a:1', attribute: 'color' };

  it('attributes of one entity are items of their own', () => {
    const tally = tallyOf([speed, GONE], [color, GONE], [ONE, GONE]);
    assert.equal(tally.matched, 3);
    assert.deepEqual(tally.success, ['urn:a:1']);
    assert.equal(new Set([speed, color, ONE].map(keyOf)).size, 3);
  });

  it('success never names an entity with a failed attribute, in whatever order they were settled', () => {
    for (const order of [
      [speed, color],
      [color, speed],
    ] as const) {
      const tally = tallyOf(...order.map((item) => [item, item === speed ? GONE : REFUSED] as const));
      assert.deepEqual(tally.success, []);
      assert.equal(tally.errors[0]?.attribute, 'color');
    }
  });

  it('hold a thousand items each, while the counts go on', () => {
    const tally = new Tally();
    for (let index = 0; index < 1500; index++) {
      for (const [kind, verdict] of [
        ['good', GONE],
        ['bad', REFUSED],
      ] as const) {
        const item = { entityId: `urn:${kind}:${index}` };
        tally.take(item);
        tally.settle(item, verdict, false);
      }
    }
    assert.deepEqual(tally.counts, counted({ matched: 3000, deleted: 1500, failed: 1500 }));
    assert.deepEqual([tally.success.length, tally.errors.length], [1000, 1000]);
  });

  it('success never names an entity with a failed attribute, even when the list of errors is full', () => {
    const tally = new Tally();
    for (let index = 0; index < 1000; index++)
      tally.settle({ entityId: `urn:b:${index}`, attribute: 'x' }, REFUSED, false);
    tally.settle(color, REFUSED, false);
    tally.settle({ entityId: 'urn:b:0', attribute: 'x' }, GONE, true);
    tally.settle(speed, GONE, false);
    assert.ok(!tally.success.includes('urn:a:1'));
  });

  it('keep the counts in balance with the items, whatever happens to them', () => {
    const items = fc.record({
      entityId: fc.constantFrom('urn:a:1', 'urn:a:2', '__proto__'),
      attribute: fc.constantFrom('a', 'b'),
    });
    const verdicts = fc.constantFrom(GONE, ABSENT, RETRYABLE, UNCLEAR, REFUSED);
    const steps = fc.array(fc.tuple(items, verdicts, fc.boolean(), fc.boolean()));
    fc.assert(
      fc.property(steps, fc.array(items), fc.boolean(), (settled, listed, showsAll) => {
        const tally = new Tally();
        for (const [item, verdict, isSecondTry, isUnclear] of settled) {
          tally.take(item);
          if (isUnclear) tally.noteUnclear(item);
          tally.settle(item, verdict, isSecondTry);
        }
        const check = () => {
          const { matched, deleted, alreadyGone, failed, unknown } = tally.counts;
          assert.equal(deleted + alreadyGone + failed + unknown, matched);
          assert.equal(tally.errors.length, failed + unknown);
          const bad = new Set(tally.errors.map(({ entityId }) => entityId));
          for (const entityId of tally.success) assert.ok(!bad.has(entityId));
        };
        check();
        survey(tally, showsAll, ...listed);
        check();
        for (const item of tally.unclear) {
          if (item.attribute === 'a') tally.foundGone(item);
          else tally.foundThere(item);
          check();
        }
        assert.equal(tally.counts.unknown, 0);
      }),
    );
  });
});

describe('the key of an item', () => {
  const attribute = { entityId: 'urn:a:1', attribute: 'speed' };

  it('is that of one entity, attribute, dataset, instance or digest only', () => {
    const items: readonly Item[] = [
      { entityId: 'urn:a:1' },
      { entityId: 'urn:a:2' },
      attribute,
      { ...attribute, attribute: 'x' },
      { ...attribute, entityId: 'urn:a:2' },
      { ...attribute, datasetId: 'x' },
      { ...attribute, datasetId: '@none' },
      { ...attribute, instanceId: 'x' },
      { ...attribute, instanceId: '@none' },
      { ...attribute, digest: 'x' },
      { ...attribute, attribute: 'x', instanceId: 'speed' },
    ];
    assert.equal(new Set(items.map(keyOf)).size, items.length);
  });

  it('does not mind an instance changing its dataset or its time on the way', () => {
    const instance = { ...attribute, instanceId: 'urn:i:1' };
    const keys = [
      instance,
      { ...instance, datasetId: 'urn:d:1' },
      { ...instance, time: { observedAt: '2026-01-01T00:00:00Z' } },
    ].map(keyOf);
    assert.equal(new Set(keys).size, 1);
  });

  it('differs with each of its parts, which hold no NUL', () => {
    const texts = fc.string({ unit: fc.constantFrom('a', 'b', 'i', 'x', 'd', ':', ' ', '/'), minLength: 1 });
    const items = fc.record({ entityId: texts, attribute: texts, instanceId: texts });
    fc.assert(
      fc.property(items, items, (one, other) => {
        assert.equal(keyOf(one) === keyOf(other), JSON.stringify(one) === JSON.stringify(other));
        const byDigest = ({ instanceId, ...rest }: typeof one): Item => ({ ...rest, digest: instanceId });
        assert.notEqual(keyOf(one), keyOf(byDigest(one)));
      }),
    );
  });

  it('books instances of one attribute apart, with their parts in the errors', () => {
    const one = { ...attribute, instanceId: 'urn:i:1', datasetId: 'urn:d:1', time: { observedAt: 'T' } };
    const tally = tallyOf(
      [one, REFUSED],
      [{ ...attribute, instanceId: 'urn:i:2' }, GONE],
      [{ ...attribute, digest: 'x' }, REFUSED],
    );
    assert.deepEqual(tally.counts, counted({ matched: 3, deleted: 1, failed: 2 }));
    const { error, ...item } = tally.errors[0] ?? {};
    assert.deepEqual([item, error?.status], [one, 403]);
    assert.deepEqual(tally.success, []);
  });
});
