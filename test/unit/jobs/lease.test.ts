import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Lease } from '../../../sidecar/jobs/lease.js';
import { PurgeStoppedError } from '../../../sidecar/purge/index.js';

function leaseOf(number = 1, untilMs = 1000) {
  const time = { ms: 0 };
  const lease = new Lease(number, untilMs, () => time.ms);
  let asked = 0;
  const ask = async () => void (asked += 1);
  return {
    ...{ time, lease, ask },
    get asked() {
      return asked;
    },
  };
}

describe('the lease of a job', () => {
  it('a lease holds until its last millisecond, and a job sends nothing from then on', () => {
    const { lease, time } = leaseOf();
    time.ms = 999;
    lease.require();
    assert.equal(lease.lost.aborted, false);
    time.ms = 1000;
    assert.throws(() => lease.require(), PurgeStoppedError);
    assert.equal(lease.lost.aborted, true, 'what runs is told');
    assert.equal(lease.isTaken, false);
  });

  it('a lease that was given up does not hold again, however late it is renewed', () => {
    for (const giveUp of [(lease: Lease) => lease.lapse(), (lease: Lease) => lease.take()]) {
      const { lease } = leaseOf();
      giveUp(lease);
      lease.renew(5000);
      assert.equal(lease.holds, false);
      assert.throws(() => lease.require(), PurgeStoppedError);
    }
  });

  it('a lease that another process has taken is lost, and says so', () => {
    const { lease } = leaseOf();
    lease.take();
    assert.deepEqual([lease.isTaken, lease.lost.aborted], [true, true]);
  });

  it('a renewed lease holds until its new end', () => {
    const { lease, time } = leaseOf();
    time.ms = 1500;
    lease.renew(2000);
    assert.equal(lease.holds, true);
    time.ms = 2000;
    assert.equal(lease.holds, false);
  });
});

describe('the lease of a purge whose caller waits', () => {
  it('a purge whose caller waits does not ask the store while its lease holds', () => {
    const { lease, ask, time } = leaseOf(0);
    time.ms = 999;
    assert.equal(lease.inquire(ask), undefined);
  });

  it('a purge whose caller waits asks the store once a second while its lease is in doubt, and goes on', async () => {
    const made = leaseOf(0);
    const { lease, ask, time } = made;
    for (const [ms, asked] of [
      [1000, 1],
      [1001, 1],
      [1999, 1],
      [2000, 2],
      [2999, 2],
      [3000, 3],
    ] as const) {
      time.ms = ms;
      await lease.inquire(ask);
      assert.equal(made.asked, asked, `${String(ms)} ms`);
    }
    assert.equal(lease.lost.aborted, false);
  });

  it('a purge whose caller waits stops once the store says that it was ended', () => {
    const made = leaseOf(0);
    made.lease.take();
    assert.throws(() => made.lease.inquire(made.ask), PurgeStoppedError);
    assert.equal(made.asked, 0);
  });
});
