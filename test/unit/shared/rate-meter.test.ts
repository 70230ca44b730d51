import assert from 'node:assert/strict';
import { it } from 'node:test';
import { RateMeter } from '../../../sidecar/shared/rate-meter.js';

/** A meter with the given counts at the given times. */
function meterOf(...notes: readonly (readonly [atMs: number, done: number])[]): RateMeter {
  const meter = new RateMeter();
  for (const [atMs, done] of notes) meter.record(atMs, done);
  return meter;
}

it('a rate is known from half a second after the first note', () => {
  assert.equal(meterOf().perSecond, undefined);
  assert.equal(meterOf([1000, 7]).perSecond, undefined);
  assert.equal(meterOf([1000, 7], [1499, 50]).perSecond, undefined);
  assert.equal(meterOf([1000, 7], [1500, 57]).perSecond, 100);
});

it('a rate covers the last five seconds, and forgets earlier notes', () => {
  const notes = (pace: (second: number) => number, seconds: number) =>
    Array.from({ length: seconds + 1 }, (_, n) => [n * 1000, pace(n)] as const);
  assert.equal(meterOf(...notes((n) => n * 10, 5)).perSecond, 10);
  // 1000 in the first second, then 10 in each: at 5 s the first one still counts, a second later it does not.
  const slower = (n: number) => (n === 0 ? 0 : 1000 + (n - 1) * 10);
  assert.equal(meterOf(...notes(slower, 5)).perSecond, 1040 / 5);
  assert.equal(meterOf(...notes(slower, 6)).perSecond, 10);
  assert.equal(meterOf(...notes(slower, 20)).perSecond, 10);
});

it('a rate over a long pause counts from the last note before the window', () => {
  assert.equal(meterOf([0, 0], [1000, 1000], [21_000, 1200]).perSecond, 10);
});

it('a rate is equally exact with many notes and with few', () => {
  const meter = new RateMeter();
  for (let atMs = 0; atMs <= 20_000; atMs += 1) meter.record(atMs, atMs / 2);
  const rate = meter.perSecond ?? 0;
  assert.ok(Math.abs(rate - 500) < 1, `${rate}`);
});

it('a rate starts again if the count or the clock goes back', () => {
  for (const back of [
    [2000, 900],
    [1999, 1000],
  ] as const) {
    const meter = meterOf([0, 0], [2000, 1000], back);
    assert.equal(meter.perSecond, undefined, back.join());
    meter.record(back[0] + 1000, back[1] + 30);
    assert.equal(meter.perSecond, 30, back.join());
  }
  assert.equal(meterOf([0, 100], [1000, 100], [2000, 100]).perSecond, 0);
});

it('the remaining time is the rest divided by the rate, and never below zero', () => {
  const meter = meterOf([0, 0], [1000, 20]);
  assert.equal(meter.remainingMs(120), 5000);
  assert.equal(meter.remainingMs(20), 0);
  assert.equal(meter.remainingMs(7), 0);
});

it('the remaining time is unknown without a rate or without progress', () => {
  assert.equal(meterOf().remainingMs(10), undefined);
  assert.equal(meterOf([0, 5]).remainingMs(10), undefined);
  assert.equal(meterOf([0, 5], [1000, 5]).remainingMs(10), undefined);
});
