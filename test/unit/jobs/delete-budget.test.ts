import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { DeleteBudget } from '../../../sidecar/jobs/delete-budget.js';
import { TooManyMatchesError } from '../../../sidecar/purge/errors.js';

const nothing = async () => {};
const maximum = (most: number) => ({ most, by: 'maxAffected' }) as const;

describe('the budget of a job', () => {
  it('the budget of a job is what earlier processes left of its maximum, and never negative', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), (bound, before) => {
        assert.equal(new DeleteBudget(maximum(bound), before, nothing).left, Math.max(0, bound - before));
      }),
    );
  });

  it('the budget of a job records everything that may have been deleted before each request', async () => {
    const amounts = fc.array(fc.nat({ max: 1000 }));
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: 1000 }),
        amounts,
        fc.nat({ max: 1000 }),
        async (before, some, affected) => {
          const written: number[] = [];
          const budget = new DeleteBudget(maximum(5000), before, async (spent) => void written.push(spent));
          let spent = before;
          for (const amount of some) {
            await budget.reserve(amount);
            spent += amount;
            assert.equal(written.at(-1), spent);
          }
          await budget.settle(affected);
          await budget.reserve(7);
          assert.deepEqual(written.slice(some.length), [before + affected, before + affected + 7]);
        },
      ),
    );
  });

  it('the budget of a job adds up the deletes of requests that begin together', async () => {
    const written: number[] = [];
    const budget = new DeleteBudget(maximum(100), 10, async (spent) => {
      await new Promise((resolve) => setImmediate(resolve));
      written.push(spent);
    });
    await Promise.all([budget.reserve(20), budget.reserve(30)]);
    assert.deepEqual(written, [30, 60]);
  });

  it('the budget of a job refuses a request that it cannot record', async () => {
    const away = new Error('the store is away');
    const budget = new DeleteBudget(maximum(100), 0, () => Promise.reject(away));
    await assert.rejects(budget.reserve(1), away);
    await assert.rejects(budget.settle(1), away);
  });

  it('the budget of a job that goes on explains too many matches by the whole bound, what is used of it, and what sets it', () => {
    const error = new TooManyMatchesError(840, 400, true);
    const explained = new DeleteBudget(maximum(1000), 600, nothing).explain(error, true);
    assert.deepEqual([explained.matched, explained.maxAffected, explained.exact], [840, 1000, true]);
    assert.equal(
      explained.message,
      'The query still matches 840, more than is left of the 1000 that may be affected in all (maxAffected), of which 600 are used or may be. Count them with dryRun=true, and purge the rest with another maximum.',
    );
    const growth = { most: 60, by: 'maxGrowth' } as const;
    const seen = new TooManyMatchesError(61, 60, false);
    assert.match(
      new DeleteBudget(growth, 20, nothing).explain(seen, true).message,
      /^The query still matches at least 61, more than is left of the 60 that the retention policy allows in all \(maxGrowth\), of which 20 .* raise maxGrowth/,
    );
    const arrived = new DeleteBudget(growth, 0, nothing).explain(seen, true).message;
    assert.match(arrived, /^The query matches at least 61, .*\(maxGrowth\)\. Check/);
    assert.doesNotMatch(arrived, /maxAffected/);
  });

  it('the budget of a job leaves the error of a whole bound as it is', () => {
    const error = new TooManyMatchesError(840, 400, true);
    assert.equal(new DeleteBudget(maximum(400), 0, nothing).explain(error, true), error);
    assert.equal(new DeleteBudget({ most: 400, by: 'maxGrowth' }, 0, nothing).explain(error, false), error);
  });
});
