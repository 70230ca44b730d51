import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { Slots, type SlotRequest, type SlotHolder } from '../../../sidecar/http/slots.js';
import { yieldToEventLoop } from '../../../sidecar/shared/event-loop.js';

const WAIT_MS = 10_000;
const IDLE_MS = 4000;
/** Time between two checks. */
const LOOK_MS = 1000;

/** Places on a clock that only the test moves, and the notices that requests got. */
function slotsOf(t: TestContext, max: number) {
  let nowMs = 50_000;
  t.mock.timers.enable({ apis: ['setInterval'] });
  t.mock.method(performance, 'now', () => nowMs);
  const told: string[] = [];
  const slots = new Slots({ max, waitMs: WAIT_MS, idleMs: IDLE_MS });
  const request = (name: string): SlotRequest => ({
    admit: () => told.push(`${name} in`),
    reject: () => told.push(`${name} away`),
  });
  /** A holder whose client has been idle for this long. */
  const holder = (name: string, idleMs: number): SlotHolder => ({
    idleSinceMs: nowMs - idleMs,
    abort: () => told.push(`${name} cut`),
  });
  /** Lets time pass, with every check. */
  const pass = (ms: number) => {
    for (let left = ms; left > 0; left -= LOOK_MS) {
      nowMs += LOOK_MS;
      t.mock.timers.tick(LOOK_MS);
    }
  };
  return { slots, told, request, holder, pass };
}

it('as many requests as there are slots are admitted at once, and the others in order as slots become free', async (t) => {
  const { slots, told, request } = slotsOf(t, 2);
  for (const name of ['a', 'b', 'c', 'd']) slots.acquire(request(name));
  assert.deepEqual(told, ['a in', 'b in']);
  slots.release();
  await yieldToEventLoop();
  assert.deepEqual(told, ['a in', 'b in', 'c in']);
  slots.release();
  await yieldToEventLoop();
  assert.deepEqual(told.at(-1), 'd in');
  // Both slots are still taken; then both are free again.
  slots.acquire(request('e'));
  assert.equal(told.length, 4);
  for (let times = 0; times < 3; times += 1) slots.release();
  await yieldToEventLoop();
  for (const name of ['f', 'g', 'h']) slots.acquire(request(name));
  assert.deepEqual(told.slice(4), ['e in', 'f in', 'g in']);
});

it('a request that gets the slot of another is admitted in a later turn, not during the end of the other', async (t) => {
  const { slots, told, request } = slotsOf(t, 1);
  slots.acquire(request('a'));
  slots.acquire(request('b'));
  slots.release();
  assert.deepEqual(told, ['a in']);
  await yieldToEventLoop();
  assert.deepEqual(told, ['a in', 'b in']);
});

it('a waiting request is turned away exactly when its time is over, and later ones keep waiting', (t) => {
  const { slots, told, request, pass } = slotsOf(t, 1);
  slots.acquire(request('a'));
  slots.acquire(request('b'));
  pass(2000);
  slots.acquire(request('c'));
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
  const { slots, told, request, pass } = slotsOf(t, 1);
  slots.acquire(request('a'));
  for (const name of ['b', 'c', 'd']) {
    slots.acquire(request(name));
    pass(WAIT_MS);
    assert.equal(told.at(-1), `${name} away`);
    pass(WAIT_MS);
  }
  assert.equal(told.length, 4);
});

it('a request that has given up waiting is neither admitted nor turned away', async (t) => {
  const { slots, told, request, pass } = slotsOf(t, 1);
  const [b, c] = [request('b'), request('c')];
  slots.acquire(request('a'));
  slots.acquire(b);
  slots.acquire(c);
  slots.cancel(b);
  slots.release();
  await yieldToEventLoop();
  pass(2 * WAIT_MS);
  assert.deepEqual(told, ['a in', 'c in']);
});

it('no timer runs if no request waits for a place', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  const slots = new Slots({ max: 1, waitMs: WAIT_MS, idleMs: IDLE_MS });
  const nobody = (): SlotRequest => ({ admit: () => undefined, reject: () => undefined });
  const waiting = nobody();
  slots.acquire(nobody());
  assert.equal(timers(), before);
  for (const end of [() => slots.release(), () => slots.cancel(waiting)]) {
    slots.acquire(waiting);
    assert.equal(timers(), before + 1);
    end();
    assert.equal(timers(), before);
    await yieldToEventLoop();
  }
});

it('an idle client keeps its place if no request waits for it', (t) => {
  const { slots, told, holder, request, pass } = slotsOf(t, 2);
  slots.acquire(request('a'));
  slots.watch(holder('a', 100 * IDLE_MS));
  pass(WAIT_MS);
  assert.deepEqual(told, ['a in']);
});

it('an idle client loses its place exactly when its time is over', (t) => {
  const { slots, told, holder, request, pass } = slotsOf(t, 1);
  slots.acquire(request('a'));
  slots.watch(holder('a', 0));
  slots.acquire(request('b'));
  pass(IDLE_MS - LOOK_MS);
  assert.deepEqual(told, ['a in']);
  pass(LOOK_MS);
  assert.deepEqual(told, ['a in', 'a cut']);
});

it('as many idle clients lose their slots as requests wait, starting with those watched longest', (t) => {
  const { slots, told, holder, request, pass } = slotsOf(t, 4);
  for (const name of ['a', 'b', 'c', 'd']) slots.acquire(request(name));
  const gone = holder('gone', 10 * IDLE_MS);
  slots.watch(gone);
  for (const one of [
    holder('busy', -Infinity),
    holder('a', IDLE_MS),
    holder('b', IDLE_MS),
    holder('c', IDLE_MS),
  ])
    slots.watch(one);
  slots.unwatch(gone);
  slots.acquire(request('e'));
  slots.acquire(request('f'));
  pass(LOOK_MS);
  assert.deepEqual(told.slice(4), ['a cut', 'b cut']);
});
