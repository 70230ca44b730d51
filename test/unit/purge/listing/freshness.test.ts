import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { freshMsOf } from '../../../../sidecar/purge/deleting/delete-listed.js';
import { isStaleSince, ListAhead } from '../../../../sidecar/purge/deleting/index.js';

describe('how long a list is fresh', () => {
  it('a list is fresh for two seconds, or for as long as it took, ten seconds at most', () => {
    const tookMs = [0, 50, 2000, 2001, 7000, 10_001, 600_000];
    assert.deepEqual(
      tookMs.map((ms) => freshMsOf({ tookMs: ms })),
      [2000, 2000, 2000, 2001, 7000, 10_000, 10_000],
    );
    const at = (now: number) => isStaleSince({ now: () => now }, { atMs: 100, tookMs: 3000 })();
    assert.deepEqual([at(100), at(3100), at(3101)], [false, false, true]);
  });
});

describe('how far ahead a purge lists', () => {
  it('a round lists what goes within three quarters of the time for which its list is fresh', () => {
    const ahead = new ListAhead();
    assert.equal(ahead.next(Infinity), Infinity);
    assert.equal(ahead.next(100), 150);
    ahead.note({ listed: { tookMs: 8000 }, sent: 400, unsent: 9600, ms: 8000 });
    assert.equal(ahead.next(Infinity), 300);
    assert.equal(ahead.next(10), 60);
    ahead.note({ listed: { tookMs: 20 }, sent: 100, unsent: 200, ms: 2000 });
    assert.equal(ahead.next(Infinity), 75);
  });

  it('a round lists more after one of which nothing got too old', () => {
    const ahead = new ListAhead();
    ahead.note({ listed: { tookMs: 20 }, sent: 200, unsent: 1, ms: 2000 });
    ahead.note({ listed: { tookMs: 20 }, sent: 150, unsent: 0, ms: 1500 });
    assert.equal(ahead.next(Infinity), 225);
  });
});
