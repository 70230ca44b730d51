import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { DeleteBudget, type DeleteBound } from '../../../sidecar/jobs/delete-budget.js';
import { TooManyMatchesError } from '../../../sidecar/purge/index.js';

const nothing = async () => {};
const maximum = (most: number) => ({ most, by: 'maxAffected' }) as const;

const clock = { monotonicMs: () => 0 };
const budgetOf = (bound: DeleteBound, spent: number, write: (spent: number) => Promise<void> = nothing) =>
  new DeleteBudget(bound, { spent, settled: spent }, { write, clock });
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

it('the budget of a job is its maximum minus what earlier processes deleted or left unsettled, and is never negative', () => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(), fc.nat(), (bound, settled, uncertain) => {
      const before = { spent: settled + uncertain, settled };
      const budget = new DeleteBudget(maximum(bound), before, { write: nothing, clock });
      assert.equal(budget.remaining, Math.max(0, bound - settled));
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
        const budget = budgetOf(maximum(1e9), before, async (spent) => void written.push(spent));
        let spent = before;
        for (const amount of some) {
          await budget.reserve(amount);
          spent += amount;
          assert.equal(written.at(-1), spent);
        }
        await budget.settle(affected);
        const done = { affected, taken: affected + 7 };
        await budget.reserve(7, () => done);
        assert.deepEqual(written.slice(some.length), [before + affected, before + affected + 7]);
      },
    ),
  );
});

it('the budget of a job never records a smaller number after a larger one while requests are in flight, however slow the store', async () => {
  const written: number[] = [];
  const waits = [5, 0, 3];
  const budget = budgetOf(maximum(100), 10, async (spent) => {
    for (let turns = waits.shift() ?? 0; turns > 0; turns--) await nextTurn();
    written.push(spent);
  });
  await Promise.all([budget.reserve(20), budget.reserve(30), budget.reserve(5)]);
  assert.equal(written.at(-1), 65);
  assert.deepEqual(
    written,
    written.toSorted((one, other) => one - other),
  );
});

it('the budget of a job allows no request that might exceed the maximum, and gets back what was not deleted', async () => {
  const before = { spent: 60, settled: 40 };
  const budget = new DeleteBudget(maximum(100), before, { write: nothing, clock });
  let affected = 0;
  const done = () => ({ affected, taken: 60 });
  const first = await budget.reserve(30, done);
  assert.equal(await budget.reserve(11, done), undefined);
  const second = await budget.reserve(10, done);
  // The first request had no effect, the second one had.
  first?.();
  second?.();
  affected = 10;
  await nextTurn();
  assert.ok(await budget.reserve(30, done));
  assert.equal(await budget.reserve(1, done), undefined);
});

it('a request that is sent again after a lost answer counts once', async () => {
  const written: number[] = [];
  const budget = budgetOf(maximum(10), 0, async (spent) => void written.push(spent));
  const done = () => ({ affected: 10, taken: 10 });
  assert.ok(await budget.reserve(10, done), 'the ten whose answer was lost');
  assert.deepEqual(written, [10]);
});

it('the size of requests of a job follows the number of items that the broker deletes in an eighth of a second', async () => {
  let nowMs = 0;
  const budget = new DeleteBudget(
    maximum(1e6),
    { spent: 0, settled: 0 },
    { write: nothing, clock: { monotonicMs: () => nowMs } },
  );
  const sizes: number[] = [];
  const request = async (perSecond: number) => {
    const amount = budget.maxPerRequest;
    sizes.push(amount);
    const end = await budget.reserve(amount);
    nowMs += (amount * 1000) / perSecond;
    end?.();
  };
  for (let index = 0; index < 4; index++) await request(50_000);
  for (let index = 0; index < 2; index++) await request(64);
  assert.deepEqual(sizes, [32, 128, 512, 2048, 6250, 8]);
});

it('the budget of a job refuses a request that it cannot record', async () => {
  const away = new Error('the store is away');
  const budget = budgetOf(maximum(100), 0, () => Promise.reject(away));
  await assert.rejects(budget.reserve(1), away);
  await assert.rejects(budget.settle(1), away);
});

it('the error of a resumed job with too many matches states the whole bound, the used part, and the setting', () => {
  const error = new TooManyMatchesError(840, 400, true);
  const explained = budgetOf(maximum(1000), 600).explain(error, true);
  assert.deepEqual([explained.matched, explained.maxAffected, explained.exact], [840, 1000, true]);
  assert.equal(
    explained.message,
    'The query still matches 840, which is more than is left of the 1000 that may be affected in all (maxAffected), with up to 600 already used. Count them with dryRun=true, and purge the rest with another maximum.',
  );
  const growth = { most: 60, by: 'maxGrowth' } as const;
  const seen = new TooManyMatchesError(61, 60, false);
  assert.match(
    budgetOf(growth, 20).explain(seen, true).message,
    /^The query still matches at least 61, which is more than is left of the 60 that the retention policy allows in all \(maxGrowth\), with up to 20 .* raise maxGrowth/,
  );
  const arrived = budgetOf(growth, 0).explain(seen, true).message;
  assert.match(arrived, /^The query matches at least 61, .*\(maxGrowth\)\. Check/);
  assert.doesNotMatch(arrived, /maxAffected/);
});

it('the budget of a job does not change the error if the whole bound is left', () => {
  const error = new TooManyMatchesError(840, 400, true);
  assert.equal(budgetOf(maximum(400), 0).explain(error, true), error);
  assert.equal(budgetOf({ most: 400, by: 'maxGrowth' }, 0).explain(error, false), error);
});
