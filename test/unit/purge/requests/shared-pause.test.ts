import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createSharedPause } from '../../../../sidecar/purge/requests/availability.js';

describe('a shared pause', () => {
  it('a shared pause lasts until the latest moment that was asked for: a shorter one never cuts it', () => {
    const steps = fc.array(fc.record({ passesMs: fc.nat({ max: 5000 }), asksMs: fc.nat({ max: 10_000 }) }));
    fc.assert(
      fc.property(steps, fc.nat({ max: 20_000 }), (asked, laterMs) => {
        let nowMs = 1000;
        const pause = createSharedPause({ now: () => nowMs, sleep: async () => {} });
        assert.equal(pause.leftMs, 0);
        let untilMs = 0;
        for (const { passesMs, asksMs } of asked) {
          nowMs += passesMs;
          pause.begin(asksMs);
          untilMs = Math.max(untilMs, nowMs + asksMs);
          assert.equal(pause.leftMs, untilMs - nowMs);
        }
        nowMs += laterMs;
        assert.equal(pause.leftMs, Math.max(0, untilMs - nowMs));
        assert.equal(pause.asked, asked.length);
      }),
    );
  });
});
