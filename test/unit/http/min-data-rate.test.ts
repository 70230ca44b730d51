import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { ClientLag, MIN_BYTES_PER_SECOND, transferTimeMs } from '../../../sidecar/http/min-data-rate.js';

const whiles = fc.array(fc.record({ ms: fc.nat(10_000), bytes: fc.nat(100_000) }), { maxLength: 50 });

it('the lag of a client that keeps the pace never exceeds the longest booked time', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(10_000)), fc.integer({ min: 1, max: 5000 }), (times, pace) => {
      const lag = new ClientLag(pace);
      for (const ms of times) {
        const bytes = Math.ceil((ms * pace) / 1000);
        assert.equal(lag.record(ms, bytes), 0);
        assert.equal(lag.record(ms, 0), ms);
        assert.ok(lag.record(0, bytes) < 1e-6);
      }
    }),
  );
});

it('the lag of a client that sends nothing is all the booked time', () => {
  const lag = new ClientLag(1000);
  assert.deepEqual(
    [1, 2, 3].map(() => lag.record(500, 0)),
    [500, 1000, 1500],
  );
});

it('the lag of a client can be counted from any moment, because a fast client saves up no time', () => {
  fc.assert(
    fc.property(whiles, whiles, (before, after) => {
      const [all, fresh] = [new ClientLag(1000), new ClientLag(1000)];
      for (const { ms, bytes } of before) all.record(ms, bytes);
      for (const { ms, bytes } of after) assert.ok(all.record(ms, bytes) >= fresh.record(ms, bytes) - 1e-6);
    }),
  );
});

it('the time for some bytes is their number divided by the slowest pace', () => {
  assert.equal(transferTimeMs(65_536, MIN_BYTES_PER_SECOND), 65_536);
  assert.equal(transferTimeMs(1, 500), 2);
});
