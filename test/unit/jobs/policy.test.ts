import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { narrowest, type PurgePolicy } from '../../../sidecar/jobs/policy.js';

const BOUNDS = ['maxAffected', 'pageSize', 'batchSize', 'concurrency', 'temporalConcurrency'] as const;

const bound = fc.integer({ min: 1, max: 9 });
const policies: fc.Arbitrary<PurgePolicy> = fc.record(
  {
    ...{ maxAffected: bound, pageSize: bound, batchSize: bound, concurrency: bound },
    ...{ temporalConcurrency: bound, dryRunOnly: fc.boolean(), allowTemporal: fc.boolean() },
  },
  { requiredKeys: [] },
);

describe('what two policies allow together', () => {
  it('two policies allow together no more than either of them, in every member', () => {
    fc.assert(
      fc.property(policies, policies, (one, other) => {
        const both = narrowest(one, other);
        for (const name of BOUNDS) {
          const least = Math.min(one[name] ?? Infinity, other[name] ?? Infinity);
          assert.equal(both[name] ?? Infinity, least, name);
          assert.equal(name in both, least !== Infinity, name);
        }
        assert.equal(both.dryRunOnly === true, one.dryRunOnly === true || other.dryRunOnly === true);
        const allows = ({ allowTemporal = true }: PurgePolicy) => allowTemporal;
        assert.equal(allows(both), allows(one) && allows(other));
      }),
    );
  });
});
