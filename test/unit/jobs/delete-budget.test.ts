import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { DeleteBudget } from '../../../sidecar/jobs/delete-budget.js';

const nothing = async () => {};

describe('the budget of a job', () => {
  it('the budget of a job is what earlier processes left of its maximum, and never negative', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), (bound, before) => {
        assert.equal(new DeleteBudget(bound, before, nothing).left, Math.max(0, bound - before));
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
          const budget = new DeleteBudget(5000, before, async (spent) => void written.push(spent));
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
    const budget = new DeleteBudget(100, 10, async (spent) => {
      await new Promise((resolve) => setImmediate(resolve));
      written.push(spent);
    });
    await Promise.all([budget.reserve(20), budget.reserve(30)]);
    assert.deepEqual(written, [30, 60]);
  });

  it('the budget of a job refuses a request that it cannot record', async () => {
    const away = new Error('the store is away');
    const budget = new DeleteBudget(100, 0, () => Promise.reject(away));
    await assert.rejects(budget.reserve(1), away);
    await assert.rejects(budget.settle(1), away);
  });
});
