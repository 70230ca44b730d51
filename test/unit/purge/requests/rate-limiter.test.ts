import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { RateLimiter } from '../../../../sidecar/purge/requests/index.js';
import { HandClock } from '../../../support/hand-clock.js';

const never = new AbortController().signal;

/** Asks for single deletes, and counts those that the rateLimiter has let through. */
function asksFor(rateLimiter: RateLimiter, count: number) {
  const asked = { through: 0 };
  for (let n = 0; n < count; n += 1) void rateLimiter.acquire(1, never).then(() => (asked.through += 1));
  return asked;
}

it('the rate limiter of a purge lets everything through while no rate is set', async () => {
  const rateLimiter = new RateLimiter(new HandClock());
  await rateLimiter.acquire(1_000_000, never);
  assert.equal(rateLimiter.burst, Infinity);
});

it('the rate limiter of a purge lets at most one second’s worth through at once, and the rest at the rate', async () => {
  const clock = new HandClock();
  const rateLimiter = new RateLimiter(clock, 10);
  const asked = asksFor(rateLimiter, 40);
  await clock.pass(0);
  assert.equal(asked.through, 10);
  await clock.pass(1000);
  assert.equal(asked.through, 20);
  await clock.pass(1500);
  assert.equal(asked.through, 35);
});

it('the rate limiter of a purge refuses more than one second allows, and takes nothing for it', async () => {
  const clock = new HandClock();
  const rateLimiter = new RateLimiter(clock, 10);
  assert.equal(await rateLimiter.acquire(11, never), false);
  assert.equal(await rateLimiter.acquire(10, never), true);
});

it('the rate limiter of a purge lets an amount through once the bucket contains it', async () => {
  const clock = new HandClock();
  const rateLimiter = new RateLimiter(clock, 10);
  const done: number[] = [];
  for (const amount of [10, 5, 10, 1]) void rateLimiter.acquire(amount, never).then(() => done.push(amount));
  for (const [ms, through] of [
    [499, [10]],
    [1, [10, 5]],
    [999, [10, 5]],
    [1, [10, 5, 10]],
    [99, [10, 5, 10]],
    [1, [10, 5, 10, 1]],
  ] as const) {
    await clock.pass(ms);
    assert.deepEqual(done, through);
  }
});

it('a lowered rate refuses waiting amounts that are now too large, and lets the rest through at the new rate', async () => {
  const clock = new HandClock();
  const rateLimiter = new RateLimiter(clock, 500);
  await rateLimiter.acquire(500, never);
  const ends: [number, boolean, number][] = [];
  for (const amount of [500, 1, 500, 1])
    void rateLimiter.acquire(amount, never).then((isTaken) => ends.push([amount, isTaken, clock.now()]));
  await clock.pass(500);
  rateLimiter.setRate(1);
  await clock.pass(3);
  // The saved amount of the old rate is at most one second's worth at the new one.
  assert.deepEqual(ends, [
    [500, false, 500],
    [1, true, 500],
    [500, false, 500],
  ]);
  await clock.pass(1000);
  assert.deepEqual(ends.slice(3), [[1, true, 1500]]);
});

it('the rate limiter of a purge takes unsent amounts back, but never more than a burst', async () => {
  const clock = new HandClock();
  const rateLimiter = new RateLimiter(clock, 10);
  await rateLimiter.acquire(10, never);
  rateLimiter.setRate(2);
  rateLimiter.refund(10);
  const asked = asksFor(rateLimiter, 9);
  await clock.pass(0);
  assert.equal(asked.through, 2);
});

it('the rate limiter of a purge neither gains nor loses if the clock is set back', async () => {
  const clock = new HandClock();
  const rateLimiter = new RateLimiter(clock, 2);
  await rateLimiter.acquire(2, never);
  clock.set(-10_000);
  const asked = asksFor(rateLimiter, 2);
  for (const [ms, count] of [
    [499, 0],
    [1, 1],
    [499, 1],
    [1, 2],
  ] as const) {
    await clock.pass(ms);
    assert.equal(asked.through, count);
  }
});

it('the rate limiter of a purge never exceeds rate × time + one burst, whatever is requested and however the rate is changed', async () => {
  const step = fc.oneof(
    fc.record({ take: fc.integer({ min: 1, max: 20 }) }),
    fc.record({ advance: fc.integer({ min: 1, max: 3000 }) }),
    fc.record({ rate: fc.integer({ min: 1, max: 50 }) }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 50 }),
      fc.array(step, { maxLength: 60 }),
      async (first, steps) => {
        const clock = new HandClock();
        const rateLimiter = new RateLimiter(clock, first);
        let through = 0;
        let allowed = Math.max(1, first);
        let rate = first;
        for (const one of steps) {
          if ('take' in one) {
            const amount = one.take;
            void rateLimiter.acquire(amount, never).then((isTaken) => (through += isTaken ? amount : 0));
          } else if ('rate' in one) {
            rate = one.rate;
            rateLimiter.setRate(rate);
            // The saved amount is cut to one second's worth at the new rate.
            allowed = Math.min(allowed, through + rate);
          } else {
            await clock.pass(one.advance);
            allowed += (rate * one.advance) / 1000;
          }
          await clock.pass(0);
          assert.ok(through <= allowed + 1e-6, `${String(through)} of ${String(allowed)}`);
        }
      },
    ),
    { numRuns: 60 },
  );
});

it('the rate limiter of a purge lets all waiting amounts through if the rate is removed', async () => {
  const clock = new HandClock();
  const rateLimiter = new RateLimiter(clock, 1);
  await rateLimiter.acquire(1, never);
  const asked = asksFor(rateLimiter, 5);
  await clock.pass(0);
  assert.equal(asked.through, 0);
  rateLimiter.setRate(undefined);
  await clock.pass(0);
  assert.equal(asked.through, 5);
});

it('the rate limiter of a purge counts the time before a change of its rate at the old rate', async () => {
  for (const [before, after, through] of [
    [1, 100, 0],
    [100, 1, 1],
  ] as const) {
    const clock = new HandClock();
    const rateLimiter = new RateLimiter(clock, before);
    await rateLimiter.acquire(before, never);
    await clock.pass(900);
    rateLimiter.setRate(after);
    const asked = asksFor(rateLimiter, 20);
    await clock.pass(0);
    assert.equal(asked.through, through, `${before} to ${after}`);
  }
});

it('the rate limiter of a purge lets one delete through at once, however low its rate is', async () => {
  const clock = new HandClock();
  const rateLimiter = new RateLimiter(clock, 0.5);
  assert.equal(rateLimiter.burst, 1);
  const asked = asksFor(rateLimiter, 2);
  for (const [ms, count] of [
    [0, 1],
    [1999, 1],
    [1, 2],
  ] as const) {
    await clock.pass(ms);
    assert.equal(asked.through, count);
  }
});

it('the rate limiter of a purge has no burst for a rate that is set after an unlimited time', async () => {
  const clock = new HandClock();
  const rateLimiter = new RateLimiter(clock);
  rateLimiter.setRate(10);
  const asked = asksFor(rateLimiter, 20);
  await clock.pass(1000);
  assert.ok(asked.through >= 9 && asked.through <= 10, String(asked.through));
});

it('an aborted signal leaves the queue of the rate limiter of a purge, and those behind it continue', async () => {
  const clock = new HandClock();
  const rateLimiter = new RateLimiter(clock, 1);
  await rateLimiter.acquire(1, never);
  const leaving = new AbortController();
  const first = rateLimiter.acquire(1, leaving.signal);
  let second = false;
  void rateLimiter.acquire(1, never).then(() => (second = true));
  await clock.pass(0);
  leaving.abort(new Error('gone'));
  await assert.rejects(first, /gone/);
  await clock.pass(1000);
  assert.equal(second, true);
});

it('deletes that are given back let the next request through at once', async () => {
  const clock = new HandClock();
  const rateLimiter = new RateLimiter(clock, 10);
  await rateLimiter.acquire(10, never);
  let through = 0;
  for (let n = 0; n < 4; n += 1)
    void rateLimiter.acquire(10, never).then(() => {
      through += 1;
      // The request became too old while it waited.
      if (through < 4) rateLimiter.refund(10);
    });
  await clock.pass(999);
  assert.equal(through, 0);
  await clock.pass(1);
  assert.equal(through, 4);
});
