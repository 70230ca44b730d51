import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { problemOf, unforeseen } from '../../../sidecar/http/problem.js';
import { Lease } from '../../../sidecar/jobs/lease.js';
import { newRecord } from '../../../sidecar/jobs/new-record.js';
import type { PurgeServiceOptions } from '../../../sidecar/jobs/purge-options.js';
import { PurgesAtWork } from '../../../sidecar/jobs/purges-at-work.js';
import { QueryRefusedError } from '../../../sidecar/purge/index.js';
import { LeaseLostError } from '../../../sidecar/store/errors.js';
import type { PurgeClaim, PurgeRecord } from '../../../sidecar/store/purge-records.js';
import { createTestClock } from '../../support/purge-harness.js';
import { STARTED } from '../../support/purge-service.js';

const recordOf = (members: Partial<PurgeRecord> = {}): PurgeRecord => ({
  ...newRecord(
    { target: 'entities', query: 'type=T', policy: {}, caller: 'c', requestId: 'r', headers: {} },
    { state: 'running', worker: 'w', createdAt: '2026-01-01T00:00:00.000Z' },
  ),
  ...members,
});

const leaseOf = (number: number) => new Lease(number, Infinity, () => 0);

const turns = async () => {
  for (let index = 0; index < 10; index += 1) await turn();
};

/** The purges of a process, and by what right their records were written. */
function atWork(put: (record: PurgeRecord, claim: PurgeClaim) => Promise<void> = async () => {}) {
  const written: (readonly [PurgeRecord, PurgeClaim])[] = [];
  const told: string[] = [];
  const purges = new PurgesAtWork(
    {
      store: {
        put: async (record: PurgeRecord, _job: undefined, claim: PurgeClaim) => {
          await put(record, claim);
          written.push([record, claim]);
        },
      },
      ...{ clock: createTestClock(STARTED), holder: 'h', leaseMs: 30_000 },
      problemOf: (error: unknown) => problemOf(error)?.problem ?? unforeseen(),
      observer: { ended: () => {}, storeAway: () => {}, storeBack: () => {} },
    } as unknown as PurgeServiceOptions,
    { left: () => told.push('left'), refused: () => told.push('refused'), inquire: async () => {} },
  );
  return { purges, written, told };
}

describe('the purges that a process works on', () => {
  it('a process is idle when the last of its purges has left, and at once when there is none', async () => {
    const { purges } = atWork();
    await purges.idle();
    const all = [1, 2].map((number) => purges.track(recordOf(), leaseOf(number)));
    let isIdle = false;
    const idle = purges.idle().then(() => (isIdle = true));
    for (const [index, live] of all.entries()) {
      await turns();
      assert.equal(isIdle, false, `${String(all.length - index)} are left`);
      purges.leave(live);
    }
    await idle;
    assert.deepEqual(purges.all(), []);
  });

  it('a job that this process has taken again stays when its earlier run leaves', () => {
    const { purges } = atWork();
    const record = recordOf();
    const [before, again] = [purges.track(record, leaseOf(1)), purges.track(record, leaseOf(2))];
    purges.leave(before);
    assert.equal(purges.get(record.id), again);
    purges.leave(again);
    assert.equal(purges.get(record.id), undefined);
  });

  it('a lost lease stops the run that had it, and not the one that has taken the job again', async () => {
    const { purges } = atWork(async ({ id }, { lease }) => {
      await turn();
      if (lease === 1) throw new LeaseLostError(id);
    });
    const record = recordOf();
    purges.track(record, leaseOf(1)).set({ deleted: 1 });
    const again = purges.track(record, leaseOf(2));
    await turns();
    assert.equal(again.lease.isTaken, false);
    await purges.close();

    const lost = purges.track(record, leaseOf(1));
    const other = atWork(({ id }) => Promise.reject(new LeaseLostError(id)));
    const own = other.purges.track(record, leaseOf(1));
    own.set({ deleted: 1 });
    await turns();
    assert.deepEqual([own.lease.isTaken, lost.lease.isTaken], [true, false]);
    own.set({ deleted: 2 });
    assert.equal(other.purges.unwritten(record.id), undefined, 'it is another process that writes now');
  });

  it('the record of a job is written under its lease, and that of a purge whose caller waits in the name of this process', () => {
    const { purges } = atWork();
    assert.deepEqual(purges.claimOf(purges.track(recordOf(), leaseOf(7))), { lease: 7 });
    assert.deepEqual(purges.claimOf(purges.track(recordOf(), leaseOf(0))), {
      lease: 0,
      by: { holder: 'h', leaseMs: 30_000 },
    });
  });

  it('a purge that has ended is not written again by what is asked of it then', async () => {
    const { purges, written } = atWork();
    const live = purges.track(recordOf(), leaseOf(1));
    live.set({ state: 'succeeded' });
    await turns();
    assert.equal((await purges.keep(live)).state, 'succeeded');
    await turns();
    assert.equal(written.length, 1);
  });
});

describe('the record of a refused purge', () => {
  it('the record of a refused purge has the start of what its caller may make long, to the character', async () => {
    const { purges, written, told } = atWork();
    for (const [member, most] of [
      ['query', 8192],
      ['tenant', 256],
      ['link', 4096],
    ] as const)
      for (const length of [most, most + 1]) {
        const error = new QueryRefusedError('badRequestData', 'no');
        const record = purges.recordRefusal(recordOf({ [member]: 'x'.repeat(length) }), error);
        assert.equal(record?.[member]?.length, most, member);
      }
    assert.deepEqual(
      told,
      Array.from({ length: 6 }, () => 'refused'),
    );
    assert.deepEqual(purges.all(), []);
    await purges.close();
    assert.equal(written.length, 6);
    const failed = purges.track(recordOf({ query: 'x'.repeat(9000) }), leaseOf(1));
    purges.end(failed, { state: 'failed' });
    assert.equal(failed.record.query.length, 9000, 'what has run is kept whole');
  });

  it('only refusals that are about the purge itself are recorded', () => {
    for (const [status, isRecorded] of [
      [400, true],
      [403, true],
      [409, true],
      [501, true],
      [401, false],
      [404, false],
      [429, false],
      [500, false],
      [502, false],
      [503, false],
    ] as const) {
      const purges = new PurgesAtWork(
        {
          problemOf: () => ({ ...unforeseen(), status }),
          store: {},
          observer: {},
        } as unknown as PurgeServiceOptions,
        { left: () => {}, refused: () => {}, inquire: async () => {} },
      );
      assert.equal(purges.isRefusal(new Error('no')), isRecorded, String(status));
    }
  });
});
