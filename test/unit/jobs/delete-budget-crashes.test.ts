import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { DeleteBudget } from '../../../sidecar/jobs/delete-budget.js';
import { yieldToEventLoop } from '../../../sidecar/shared/event-loop.js';

/** The remains of a process that was killed: the numbers that were written last. */
interface Written {
  readonly spent: number;
  readonly settled: number;
}

/** A scenario of crashes. */
interface Fate {
  readonly matches: number;
  /** Created before each process starts. */
  readonly arrivals: readonly number[];
  /** Requests that each process except the last sends before it is killed. */
  readonly kills: readonly number[];
  /** Requests in flight at a time. */
  readonly concurrency: number;
  /** The share of requests that are carried out although the process that sent them is gone. */
  readonly carriedOut: number;
  readonly seed: number;
}

const fates: fc.Arbitrary<Fate> = fc.record({
  matches: fc.integer({ min: 1, max: 400 }),
  arrivals: fc.array(fc.nat(20), { maxLength: 4 }),
  kills: fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 4 }),
  concurrency: fc.integer({ min: 1, max: 4 }),
  carriedOut: fc.constantFrom(0, 0.5, 1),
  seed: fc.nat(),
});

function randomOf(seed: number): () => number {
  let state = seed + 1;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

/** A job over all items of a scenario with a maximum, whose processes are killed one after the other. */
async function run({ matches, arrivals, kills, concurrency, carriedOut, seed }: Fate) {
  const most = matches;
  const random = randomOf(seed);
  const clock = { monotonicMs: () => 0 };
  let left = matches;
  let effects = 0;
  let written: Written = { spent: 0, settled: 0 };
  let withheld = 0;
  /** Recorded, perhaps, but no longer sent. */
  let unsent = 0;
  const remove = (amount: number): number => {
    const gone = Math.min(amount, left);
    left -= gone;
    effects += gone;
    return gone;
  };
  for (let process = 0; process <= kills.length; process++) {
    left += arrivals[process] ?? 0;
    const before = written;
    let deleted = 0;
    let killed = false;
    const isDead = () => killed;
    const budget = new DeleteBudget({ most, by: 'maxAffected' }, before, {
      write: async (spent) => {
        if (!isDead()) written = { spent, settled: before.settled + deleted };
      },
      clock,
    });
    if (left > budget.remaining) return { effects, most, left, withheld, unsent, isRefused: true };
    const taken = left;
    const done = () => ({ affected: deleted, taken });
    let open = taken;
    let sent = 0;
    let refused = 0;
    const worker = async () => {
      while (open > 0 && !isDead()) {
        const amount = Math.min(open, budget.maxPerRequest, 64);
        open -= amount;
        const end = await budget.reserve(amount, done);
        if (isDead()) {
          unsent += amount;
          return;
        }
        if (end === undefined) {
          refused += amount;
          continue;
        }
        sent += 1;
        if (sent === kills[process]) killed = true;
        await yieldToEventLoop();
        if (isDead()) {
          // Requests that the killed process has sent may be carried out, or not.
          if (random() < carriedOut) remove(amount);
          return;
        }
        // Each answer is booked when it arrives.
        deleted += remove(amount);
        end();
      }
    };
    await Promise.all(Array.from({ length: concurrency }, worker));
    // The final retries, one by one.
    for (; refused > 0 && !isDead(); refused -= 1) {
      const end = await budget.reserve(1, done);
      if (end === undefined) withheld += process === kills.length ? 1 : 0;
      else deleted += remove(1);
      end?.();
    }
  }
  return { effects, most, left, withheld, unsent, isRefused: false };
}

it('a job never deletes more than its maximum, wherever it is killed, whatever is carried out, and however many matches are added', async () => {
  await fc.assert(
    fc.asyncProperty(fates, async (fate) => {
      const { effects, most } = await run(fate);
      assert.ok(effects <= most, `${effects} of ${most}`);
    }),
    { numRuns: 150 },
  );
});

it('a killed job finishes if all sent requests are carried out, and otherwise withholds the items in doubt', async () => {
  await fc.assert(
    fc.asyncProperty(fates, async (fate) => {
      const { left, withheld, unsent, isRefused } = await run({ ...fate, arrivals: [] });
      assert.equal(isRefused, false);
      assert.ok(left <= withheld, `${left} left, ${withheld} withheld`);
      // If one process is killed, no more items are in doubt than it had in flight.
      if (fate.kills.length <= 1) assert.ok(left <= fate.concurrency * 64, `${left} left`);
      if (fate.carriedOut === 1) assert.ok(left <= unsent, `${left} left, ${unsent} were not sent`);
    }),
    { numRuns: 150 },
  );
});
