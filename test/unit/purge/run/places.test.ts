import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { TooManyPurgesError } from '../../../../sidecar/purge/errors.js';
import { PurgePlaces } from '../../../../sidecar/purge/run/places.js';
import type { PlaceKind } from '../../../../sidecar/purge/run/index.js';

/** How many places of a kind can be taken one after the other. */
const take = (places: PurgePlaces, kind: PlaceKind): number => {
  for (let taken = 0; ; taken += 1) {
    try {
      places.take(kind);
    } catch (error) {
      assert.ok(error instanceof TooManyPurgesError);
      return taken;
    }
  }
};

describe('places for purges', () => {
  it('places for purges are as many as configured, and dry runs have as many of their own', () => {
    const places = new PurgePlaces(16);
    assert.deepEqual([take(places, 'purge'), take(places, 'dry run')], [16, 16]);
    assert.deepEqual([take(places, 'job'), take(places, 'purge')], [0, 0]);
  });

  it('three quarters of the places, and at least one, are for jobs, and the others for callers who wait', () => {
    for (const [max, jobs] of [
      [16, 12],
      [4, 3],
      [2, 1],
      [1, 1],
    ] as const) {
      const places = new PurgePlaces(max);
      assert.deepEqual([take(places, 'job'), take(places, 'purge')], [jobs, max - jobs], String(max));
    }
  });

  it('places for purges are given back once, also when they are released twice', () => {
    const places = new PurgePlaces(2);
    const leave = places.take('purge');
    places.take('purge');
    leave();
    leave();
    assert.equal(take(places, 'purge'), 1);
  });

  it('places for purges that are all taken say which they are, and how many', () => {
    for (const [kind, words] of [
      ['purge', '3 purges are running'],
      ['job', '3 purges are running'],
      ['dry run', '3 dry runs are running'],
    ] as const) {
      const places = new PurgePlaces(3);
      for (let taken = 0; taken < 3; taken += 1) places.take(kind === 'job' ? 'purge' : kind);
      assert.throws(() => places.take(kind), { message: new RegExp(`^${words}, which is the limit`) });
    }
  });

  it('places for purges never exceed their number, whatever comes and goes', () => {
    const kind = fc.constantFrom<PlaceKind>('purge', 'job', 'dry run');
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.array(fc.tuple(kind, fc.boolean())), (max, steps) => {
        const places = new PurgePlaces(max);
        const held: { readonly kind: PlaceKind; readonly leave: () => void }[] = [];
        const count = (...kinds: readonly PlaceKind[]) =>
          held.filter(({ kind }) => kinds.includes(kind)).length;
        for (const [kind, comes] of steps) {
          if (comes && places.isFree(kind)) held.push({ kind, leave: places.take(kind) });
          else if (!comes) held.shift()?.leave();
          assert.ok(count('purge', 'job') <= max && count('dry run') <= max);
          assert.ok(max === 1 || count('job') < max);
        }
      }),
    );
  });
});
