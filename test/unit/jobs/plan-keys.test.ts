import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { PlanKeys } from '../../../sidecar/jobs/plan-keys.js';
import { withoutDryRun } from '../../../sidecar/jobs/plan-service.js';
import { narrower } from '../../../sidecar/jobs/purge-kinds.js';

describe('the items of a plan', () => {
  it('the items of a plan are exactly those that were added, also after storing and reading', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.string(), { maxLength: 3000 }),
        fc.array(fc.string()),
        (items, others) => {
          const keys = new PlanKeys();
          for (const item of [...items, ...items]) keys.add(item);
          const read = new PlanKeys(keys.key);
          for (const part of keys.toParts()) read.addPart(part);
          assert.deepEqual([keys.size, read.size], [items.length, items.length]);
          for (const item of items) assert.ok(keys.has(item) && read.has(item));
          const known = new Set(items);
          for (const other of others) if (!known.has(other)) assert.ok(!read.has(other));
        },
      ),
    );
  });

  it('the stored items of a plan reveal nothing without the key', () => {
    const [one, other] = [new PlanKeys(), new PlanKeys()];
    for (const keys of [one, other]) keys.add('urn:ngsi-ld:Car:1');
    assert.notDeepEqual(one.toParts(), other.toParts());
  });

  it('ten thousand items of a plan are stored in several parts', () => {
    const keys = new PlanKeys();
    for (let index = 0; index < 10_000; index += 1) keys.add(`urn:ngsi-ld:Car:${String(index)}`);
    assert.equal(keys.toParts().length, 3);
  });
});

describe('the purge that applies a plan', () => {
  it('a purge that applies a plan has the narrower of both policies', () => {
    assert.deepEqual(narrower({ maxAffected: 5, pageSize: 10 }, { maxAffected: 3, batchSize: 2 }), {
      maxAffected: 3,
      pageSize: 10,
      batchSize: 2,
    });
    for (const [one, other, both] of [
      [true, false, false],
      [false, true, false],
      [true, true, true],
    ] as const)
      assert.deepEqual(narrower({ allowTemporal: one }, { allowTemporal: other }), { allowTemporal: both });
    assert.deepEqual(narrower({ dryRunOnly: false }, { dryRunOnly: true }), { dryRunOnly: true });
    assert.deepEqual(narrower({ dryRunOnly: true }, {}), { dryRunOnly: true });
  });

  it('a purge that applies a plan has the query of the dry run, without dryRun', () => {
    assert.equal(
      withoutDryRun('type=A&q=a==%22dryRun=true%22&maxAffected=5&dryRun=true'),
      'type=A&q=a==%22dryRun=true%22&maxAffected=5',
    );
  });
});
