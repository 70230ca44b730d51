import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { LockQueue } from '../../../sidecar/store/sqlite-session.js';
import { handClock } from '../../support/store-samples.js';
import { words } from '../../support/words.js';

const WRITE = { inTurn: true };

/** A queue, and work that fails with a code until the test says otherwise. */
function queueOf(code = 'SQLITE_BUSY') {
  const clock = handClock();
  const state = { fails: true, attempts: 0 };
  const work = (result: string) => () => {
    state.attempts += 1;
    if (state.fails) throw new Database.SqliteError(code, code);
    return result;
  };
  return { queue: new LockQueue(clock), clock, state, work };
}

for (const code of [
  'SQLITE_BUSY',
  'SQLITE_BUSY_SNAPSHOT',
  'SQLITE_LOCKED',
  'SQLITE_LOCKED_SHAREDCACHE',
  'SQLITE_PROTOCOL',
])
  it(`work that fails with ${code} waits, and is done once the error no longer occurs`, async () => {
    for (const inTurn of [true, false]) {
      const { queue, state, work } = queueOf(code);
      const done = queue.run(work('done'), { inTurn });
      await turn();
      await turn();
      state.fails = false;
      assert.equal(await done, 'done');
      assert.equal(queue.waits.count, 1);
    }
  });

for (const code of words(`
    SQLITE_FULL SQLITE_READONLY SQLITE_IOERR_WRITE SQLITE_CORRUPT SQLITE_ERROR
  `))
  it(`work that fails with ${code} fails at once, and is not counted as waiting`, async () => {
    const { queue, clock, state, work } = queueOf(code);
    const startedMs = clock.now();
    await assert.rejects(queue.run(work('done'), WRITE), { code });
    assert.deepEqual([state.attempts, clock.now() - startedMs, queue.waits.count], [1, 0, 0]);
  });

it('work that arrives while the lock is held is counted as waiting for it', async () => {
  const { queue, state, work, clock } = queueOf();
  const first = queue.run(work('first'), WRITE);
  while (state.attempts < 3) await turn();
  const second = queue.run(work('second'), WRITE);
  const sinceMs = clock.now();
  state.fails = false;
  assert.deepEqual(await Promise.all([first, second]), ['first', 'second']);
  assert.equal(queue.waits.count, 2);
  assert.ok(queue.waits.ms >= clock.now() - sinceMs);
});

it('work gives up after its own time limit, with the error of the lock', async () => {
  const { queue, clock, work } = queueOf();
  const startedMs = clock.now();
  await assert.rejects(queue.run(work('done'), { inTurn: true, waitMs: 1000 }), { code: 'SQLITE_BUSY' });
  const waitedMs = clock.now() - startedMs;
  assert.ok(waitedMs >= 1000 && waitedMs < 1100, String(waitedMs));
  assert.equal(queue.waits.ms, waitedMs);
});

it('work that fails in the queue for another reason passes its error on, and does not stop the following work', async () => {
  const { queue, state, work } = queueOf();
  const first = queue.run(work('first'), WRITE);
  const failure = new Error('refused');
  const second = queue.run(() => {
    throw failure;
  }, WRITE);
  const third = queue.run(work('third'), WRITE);
  state.fails = false;
  await assert.rejects(second, failure);
  assert.deepEqual(await Promise.all([first, third]), ['first', 'third']);
});
