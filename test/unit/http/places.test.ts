import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { Places, type PlaceSeeker, type Holder } from '../../../sidecar/http/places.js';
import { nextTurn } from '../../../sidecar/shared/next-turn.js';

const WAIT_MS = 10_000;
const IDLE_MS = 4000;
/** Time between two checks. */
const LOOK_MS = 1000;

/** Places on a clock that only the test moves, and the notices that requests got. */
function placesOf(t: TestContext, max: number) {
  let nowMs = 50_000;
  t.mock.timers.enable({ apis: ['setInterval'] });
  t.mock.method(performance, 'now', () => nowMs);
  const told: string[] = [];
  const places = new Places({ max, waitMs: WAIT_MS, idleMs: IDLE_MS });
  const seeker = (name: string): PlaceSeeker => ({
    admit: () => told.push(`${name} in`),
    turnAway: () => told.push(`${name} away`),
  });
  /** A holder whose client has been idle for this long. */
  const holder = (name: string, idleMs: number): Holder => ({
    idleSinceMs: nowMs - idleMs,
    cutOff: () => told.push(`${name} cut`),
  });
  /** Lets time pass, with every check. */
  const pass = (ms: number) => {
    for (let left = ms; left > 0; left -= LOOK_MS) {
      nowMs += LOOK_MS;
      t.mock.timers.tick(LOOK_MS);
    }
  };
  return { places, told, seeker, holder, pass };
}

it('as many requests as there are places are admitted at once, and the others in order as places become free', async (t) => {
  const { places, told, seeker } = placesOf(t, 2);
  for (const name of ['a', 'b', 'c', 'd']) places.enter(seeker(name));
  assert.deepEqual(told, ['a in', 'b in']);
  places.leave();
  await nextTurn();
  assert.deepEqual(told, ['a in', 'b in', 'c in']);
  places.leave();
  await nextTurn();
  assert.deepEqual(told.at(-1), 'd in');
  // Both places are still taken; then both are free again.
  places.enter(seeker('e'));
  assert.equal(told.length, 4);
  for (let times = 0; times < 3; times += 1) places.leave();
  await nextTurn();
  for (const name of ['f', 'g', 'h']) places.enter(seeker(name));
  assert.deepEqual(told.slice(4), ['e in', 'f in', 'g in']);
});

it('a request that gets the place of another is admitted in a later turn, not during the end of the other', async (t) => {
  const { places, told, seeker } = placesOf(t, 1);
  places.enter(seeker('a'));
  places.enter(seeker('b'));
  places.leave();
  assert.deepEqual(told, ['a in']);
  await nextTurn();
  assert.deepEqual(told, ['a in', 'b in']);
});

it('a waiting request is turned away exactly when its time is over, and later ones keep waiting', (t) => {
  const { places, told, seeker, pass } = placesOf(t, 1);
  places.enter(seeker('a'));
  places.enter(seeker('b'));
  pass(2000);
  places.enter(seeker('c'));
  pass(WAIT_MS - 2000 - LOOK_MS);
  assert.deepEqual(told, ['a in']);
  pass(LOOK_MS);
  assert.deepEqual(told, ['a in', 'b away']);
  pass(1000);
  assert.deepEqual(told, ['a in', 'b away']);
  pass(1000);
  assert.deepEqual(told, ['a in', 'b away', 'c away']);
});

it('requests are turned away in every round of waiting', (t) => {
  const { places, told, seeker, pass } = placesOf(t, 1);
  places.enter(seeker('a'));
  for (const name of ['b', 'c', 'd']) {
    places.enter(seeker(name));
    pass(WAIT_MS);
    assert.equal(told.at(-1), `${name} away`);
    pass(WAIT_MS);
  }
  assert.equal(told.length, 4);
});

it('a request that has given up waiting is neither admitted nor turned away', async (t) => {
  const { places, told, seeker, pass } = placesOf(t, 1);
  const [b, c] = [seeker('b'), seeker('c')];
  places.enter(seeker('a'));
  places.enter(b);
  places.enter(c);
  places.giveUp(b);
  places.leave();
  await nextTurn();
  pass(2 * WAIT_MS);
  assert.deepEqual(told, ['a in', 'c in']);
});

it('no timer runs if no request waits for a place', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  const places = new Places({ max: 1, waitMs: WAIT_MS, idleMs: IDLE_MS });
  const nobody = (): PlaceSeeker => ({ admit: () => undefined, turnAway: () => undefined });
  const waiting = nobody();
  places.enter(nobody());
  assert.equal(timers(), before);
  for (const end of [() => places.leave(), () => places.giveUp(waiting)]) {
    places.enter(waiting);
    assert.equal(timers(), before + 1);
    end();
    assert.equal(timers(), before);
    await nextTurn();
  }
});

it('an idle client keeps its place if no request waits for it', (t) => {
  const { places, told, holder, seeker, pass } = placesOf(t, 2);
  places.enter(seeker('a'));
  places.watch(holder('a', 100 * IDLE_MS));
  pass(WAIT_MS);
  assert.deepEqual(told, ['a in']);
});

it('an idle client loses its place exactly when its time is over', (t) => {
  const { places, told, holder, seeker, pass } = placesOf(t, 1);
  places.enter(seeker('a'));
  places.watch(holder('a', 0));
  places.enter(seeker('b'));
  pass(IDLE_MS - LOOK_MS);
  assert.deepEqual(told, ['a in']);
  pass(LOOK_MS);
  assert.deepEqual(told, ['a in', 'a cut']);
});

it('as many idle clients lose their places as requests wait, starting with those watched longest', (t) => {
  const { places, told, holder, seeker, pass } = placesOf(t, 4);
  for (const name of ['a', 'b', 'c', 'd']) places.enter(seeker(name));
  const gone = holder('gone', 10 * IDLE_MS);
  places.watch(gone);
  for (const one of [
    holder('busy', -Infinity),
    holder('a', IDLE_MS),
    holder('b', IDLE_MS),
    holder('c', IDLE_MS),
  ])
    places.watch(one);
  places.unwatch(gone);
  places.enter(seeker('e'));
  places.enter(seeker('f'));
  pass(LOOK_MS);
  assert.deepEqual(told.slice(4), ['a cut', 'b cut']);
});
