import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import type { Clock } from '../../../../sidecar/shared/clock.js';
import { Deadlines } from '../../../../sidecar/shared/workers/limits.js';

/** A clock that is moved by hand; what sleeps wakes when it has been moved far enough. */
class HandClock implements Clock {
  time = 1000;
  /** What was added to readings by setting the clock. */
  offset = 0;
  readonly #sleeping = new Set<{ readonly until: number; readonly wake: () => void }>();

  readonly now = (): number => this.time + this.offset;

  readonly sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const sleeper = { until: this.time + ms, wake: resolve };
      this.#sleeping.add(sleeper);
      signal?.addEventListener('abort', () => {
        this.#sleeping.delete(sleeper);
        reject(new Error('over'));
      });
    });

  get sleepers(): number {
    return this.#sleeping.size;
  }

  async pass(ms: number): Promise<void> {
    for (const end = this.time + ms; this.time < end; this.time += 1) await this.#wake();
    await this.#wake();
  }

  async #wake(): Promise<void> {
    for (const sleeper of this.#sleeping) {
      if (sleeper.until > this.time) continue;
      this.#sleeping.delete(sleeper);
      sleeper.wake();
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}

it('deadlines call each entry on time, and never one that has ended', async () => {
  const entries = fc.array(
    fc.record({ at: fc.nat(20), ms: fc.nat(20), over: fc.option(fc.nat(20), { nil: undefined }) }),
    { maxLength: 8 },
  );
  await fc.assert(
    fc.asyncProperty(entries, async (some) => {
      const clock = new HandClock();
      const deadlines = new Deadlines(clock);
      const late = some.map((): number | undefined => undefined);
      const ends = some.map(() => (): void => undefined);
      for (let now = 0; now <= 40; now += 1) {
        for (const [index, { at, ms, over }] of some.entries()) {
          if (at === now)
            ends[index] = deadlines.start(ms, () => {
              late[index] = clock.time - 1000;
            });
          if (over !== undefined && at + over === now) ends[index]?.();
        }
        assert.ok(clock.sleepers <= 1, 'one timer is enough');
        await clock.pass(1);
      }
      for (const [index, { at, ms, over }] of some.entries()) {
        const when = late[index];
        // A step of the clock wakes before it ends, so that what begins in one is late in one, or in the next.
        if (over !== undefined && over <= ms && when === undefined) continue;
        assert.ok(when !== undefined && when - at - ms >= 0 && when - at - ms <= 1, `${index}: ${when}`);
        assert.ok(over === undefined || over >= ms);
      }
      deadlines.close();
      assert.equal(clock.sleepers, 0);
    }),
    { numRuns: 60 },
  );
});

it('deadlines hold when the clock is set back or never set', async () => {
  const clock = new HandClock();
  const deadlines = new Deadlines(clock);
  const late: string[] = [];
  deadlines.start(10, () => late.push('before'));
  clock.offset = -1_000_000;
  deadlines.start(10, () => late.push('after'));
  await clock.pass(10);
  assert.deepEqual(late, ['before', 'after']);
  const still = new Deadlines({ now: () => 0, sleep: clock.sleep });
  still.start(5, () => late.push('still'));
  await clock.pass(5);
  still.start(5, () => late.push('still'));
  await clock.pass(5);
  assert.deepEqual(late, ['before', 'after', 'still', 'still']);
});

it('deadlines share one timer', async () => {
  const clock = new HandClock();
  let sleeps = 0;
  const counting: Clock = {
    now: clock.now,
    sleep: (ms, signal) => {
      sleeps += 1;
      return clock.sleep(ms, signal);
    },
  };
  const deadlines = new Deadlines(counting);
  for (let count = 0; count < 1000; count += 1) deadlines.start(2000, () => assert.fail('not late'))();
  assert.equal(sleeps, 1);
  await clock.pass(2000);
  assert.equal(clock.sleepers, 0);
});
