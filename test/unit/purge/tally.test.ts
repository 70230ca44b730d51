import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { ItemVerdict } from '../../../sidecar/purge/batch-reply.js';
import { IdState } from '../../../sidecar/purge/id-ledger.js';
import { keyOf, Tally, type Item } from '../../../sidecar/purge/tally.js';

const GONE: ItemVerdict = { kind: 'claimed-gone' };
const RETRYABLE: ItemVerdict = { kind: 'retryable', problem: { status: 503, title: 'Busy' } };
const UNCLEAR: ItemVerdict = { kind: 'unclear', problem: { status: 500 } };
const REFUSED: ItemVerdict = { kind: 'refused', problem: { status: 403, title: 'Forbidden' } };
const ONE: Item = { entityId: 'urn:a:1' };

const counts = ({ matched, deleted, failed }: Tally) => ({ matched, deleted, failed });

function tallyOf(...settled: readonly (readonly [Item, ItemVerdict])[]): Tally {
  const tally = new Tally();
  for (const [item, verdict] of settled) {
    tally.take(item);
    tally.settle(item, verdict, false);
  }
  return tally;
}

describe('Tally: states', () => {
  it('an item that was taken is neither deleted nor failed yet', () => {
    const tally = new Tally();
    tally.take(ONE);
    assert.deepEqual(counts(tally), { matched: 1, deleted: 0, failed: 0 });
    assert.equal(tally.ledger.get('urn:a:1'), IdState.pending);
  });

  it('a claim counts as deleted, and is known as a first or a second one', () => {
    const tally = tallyOf([ONE, GONE]);
    assert.deepEqual(counts(tally), { matched: 1, deleted: 1, failed: 0 });
    assert.equal(tally.ledger.get('urn:a:1'), IdState.gone);
    tally.settle(ONE, GONE, true);
    assert.equal(tally.ledger.get('urn:a:1'), IdState.goneTwice);
    assert.deepEqual(tally.success, ['urn:a:1']);
  });

  for (const verdict of [RETRYABLE, UNCLEAR]) {
    it(`an item that is ${verdict.kind} is due for a second try, and failed after it`, () => {
      const tally = tallyOf([ONE, verdict]);
      assert.equal(tally.ledger.get('urn:a:1'), IdState.unsettled);
      assert.equal(tally.failed, 1);
      tally.settle(ONE, verdict, true);
      assert.equal(tally.ledger.get('urn:a:1'), IdState.failed);
      assert.equal(tally.failed, 1);
    });
  }

  it('a refused item is failed at once', () => {
    assert.equal(tallyOf([ONE, REFUSED]).ledger.get('urn:a:1'), IdState.failed);
  });

  it('a second try that succeeds takes the error back', () => {
    const tally = tallyOf([ONE, RETRYABLE]);
    assert.equal(tally.errors[0]?.error.title, 'Busy');
    tally.settle(ONE, GONE, true);
    assert.deepEqual(counts(tally), { matched: 1, deleted: 1, failed: 0 });
    assert.deepEqual([tally.errors, tally.success], [[], ['urn:a:1']]);
  });

  it('an item still listed after two claims is failed, and no success any more', () => {
    const tally = tallyOf([ONE, GONE]);
    tally.failListed(ONE, { status: 409, title: 'Entity still listed' });
    assert.deepEqual(counts(tally), { matched: 1, deleted: 0, failed: 1 });
    assert.deepEqual(tally.success, []);
    assert.equal(tally.errors[0]?.error.status, 409);
  });

  it('failed items that a complete survey does not list are gone after all', () => {
    const two = { entityId: 'urn:a:2' };
    const tally = tallyOf([ONE, REFUSED], [two, RETRYABLE], [{ entityId: 'urn:a:3' }, GONE]);
    tally.ledger.startSurvey();
    tally.ledger.markListed('urn:a:1');
    tally.forgetUnlisted();
    assert.deepEqual(counts(tally), { matched: 3, deleted: 2, failed: 1 });
    assert.deepEqual(
      tally.errors.map(({ entityId }) => entityId),
      ['urn:a:1'],
    );
    assert.deepEqual([...tally.success].sort(), ['urn:a:2', 'urn:a:3']);
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
    assert.deepEqual(counts(tally), { matched: 3000, deleted: 1500, failed: 1500 });
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
    const verdicts = fc.constantFrom(GONE, RETRYABLE, UNCLEAR, REFUSED);
    fc.assert(
      fc.property(fc.array(fc.tuple(items, verdicts, fc.boolean())), fc.array(items), (settled, listed) => {
        const tally = new Tally();
        for (const [item, verdict, isSecondTry] of settled) {
          tally.take(item);
          tally.settle(item, verdict, isSecondTry);
        }
        const check = () => {
          assert.equal(tally.deleted + tally.failed, tally.matched);
          assert.equal(tally.errors.length, tally.failed);
          const failed = new Set(tally.errors.map(({ entityId }) => entityId));
          for (const entityId of tally.success) assert.ok(!failed.has(entityId));
        };
        check();
        tally.ledger.startSurvey();
        for (const item of listed) tally.ledger.markListed(keyOf(item));
        tally.forgetUnlisted();
        check();
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
    assert.deepEqual(counts(tally), { matched: 3, deleted: 1, failed: 2 });
    const { error, ...item } = tally.errors[0] ?? {};
    assert.deepEqual([item, error?.status], [one, 403]);
    assert.deepEqual(tally.success, []);
  });
});
