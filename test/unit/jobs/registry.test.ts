import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { LivePurge } from '../../../sidecar/jobs/live-purge.js';
import { JobRegistry, type PlaceKind } from '../../../sidecar/jobs/registry.js';
import { PurgeStoppedError, TooManyPurgesError } from '../../../sidecar/purge/errors.js';
import { createTestClock } from '../../support/purge-harness.js';
import { leaseOf, recordOf } from '../../support/purge-service.js';

const liveOf = (record = recordOf()) => new LivePurge(record, leaseOf(), createTestClock(), () => {});

/** A purge that runs in a place of a kind. @throws TooManyPurgesError */
function begin(registry: JobRegistry, kind: PlaceKind): LivePurge {
  const live = liveOf();
  registry.enter(live);
  try {
    registry.takePlace(live, kind);
  } catch (error) {
    registry.leave(live);
    throw error;
  }
  return live;
}

/** How many places of a kind can be taken one after the other. */
function take(registry: JobRegistry, kind: PlaceKind): number {
  let taken = 0;
  for (; registry.isFree(kind); taken += 1) begin(registry, kind);
  assert.throws(() => begin(registry, kind), TooManyPurgesError);
  return taken;
}

it('there are as many places as configured, and the same number for dry runs', () => {
  const registry = new JobRegistry(16);
  assert.deepEqual([take(registry, 'purge'), take(registry, 'dry run'), registry.purges], [16, 16, 32]);
  assert.deepEqual([take(registry, 'job'), take(registry, 'purge')], [0, 0]);
});

it('three quarters of the places, and at least one, are for jobs, and the others for callers who wait', () => {
  for (const [max, jobs] of [
    [16, 12],
    [4, 3],
    [2, 1],
    [1, 1],
  ] as const) {
    const registry = new JobRegistry(max);
    assert.deepEqual([take(registry, 'job'), take(registry, 'purge')], [jobs, max - jobs], String(max));
  }
});

it('a refusal says which places are all taken, and how many there are', () => {
  for (const [kind, words] of [
    ['purge', 'purges'],
    ['job', 'purges'],
    ['dry run', 'dry runs'],
  ] as const) {
    const registry = new JobRegistry(3);
    take(registry, kind === 'job' ? 'purge' : kind);
    assert.throws(() => begin(registry, kind), { message: new RegExp(` running ${words}, 3, is reached`) });
  }
});

it('places never exceed their number, whatever arrives and leaves, and leaving twice returns one place', () => {
  const kind = fc.constantFrom<PlaceKind>('purge', 'job', 'dry run');
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9 }), fc.array(fc.tuple(kind, fc.boolean())), (max, steps) => {
      const registry = new JobRegistry(max);
      const held: { readonly kind: PlaceKind; readonly live: LivePurge }[] = [];
      const count = (...kinds: readonly PlaceKind[]) =>
        held.filter(({ kind }) => kinds.includes(kind)).length;
      for (const [kind, comes] of steps) {
        if (comes && registry.isFree(kind)) held.push({ kind, live: begin(registry, kind) });
        else if (!comes) {
          const gone = held.shift();
          for (let times = 0; gone !== undefined && times < 2; times += 1) registry.leave(gone.live);
        }
        assert.ok(count('purge', 'job') <= max && count('dry run') <= max);
        assert.ok(max === 1 || count('job') < max);
        assert.equal(registry.purges, held.length);
      }
    }),
  );
});

it('a process that stops stops everything that runs, and refuses new purges before they begin', () => {
  const registry = new JobRegistry(4);
  const running = (['purge', 'job', 'dry run'] as const).map((kind) => begin(registry, kind));
  registry.stop();
  assert.ok(running.every(({ stopped }) => stopped.aborted));
  assert.ok(registry.stopping.aborted);
  assert.throws(() => begin(registry, 'purge'), PurgeStoppedError);
  const late = liveOf();
  registry.enter(late);
  assert.ok(late.stopped.aborted, 'also what was taken from the queue meanwhile');
});

it('a process is idle when the last of its purges has left, and at once if there is none', async () => {
  const registry = new JobRegistry(4);
  await registry.idle();
  const running = [begin(registry, 'purge'), begin(registry, 'job')];
  let idle = 0;
  const waiting = [registry.idle(), registry.idle()].map((promise) => promise.then(() => (idle += 1)));
  for (const live of running) {
    await turn();
    assert.equal(idle, 0);
    registry.leave(live);
  }
  await Promise.all(waiting);
  assert.deepEqual([idle, registry.all()], [2, []]);
});

it('a job that was taken again is found by its id, while its earlier run still counts until it leaves', async () => {
  let left = 0;
  const registry = new JobRegistry(4, () => (left += 1));
  const record = recordOf();
  const [before, again] = [liveOf(record), liveOf(record)];
  for (const live of [before, again]) registry.enter(live);
  assert.deepEqual([registry.get(record.id), registry.all()], [again, [again]]);
  registry.leave(again);
  assert.equal(registry.get(record.id), undefined);
  let isIdle = false;
  const idle = registry.idle().then(() => (isIdle = true));
  await turn();
  assert.equal(isIdle, false);
  registry.leave(before);
  await idle;
  assert.equal(left, 2);
});
