import assert from 'node:assert/strict';
import { afterEach, it, type TestContext } from 'node:test';
import { writeNote } from '../../sidecar/jobs/capability-sync.js';
import { systemClock } from '../../sidecar/shared/clock.js';
import { closeOpened, order, purgesOf, turns } from '../support/opened-purges.js';

const SHARED = { DATABASE_URL: 'postgres://db/x' };

afterEach(closeOpened);

/** Replaces real pauses: short ones end at once, and longer ones only when they are aborted. */
function mockPauses(t: TestContext): Set<number> {
  const pauses = new Set<number>();
  t.mock.method(systemClock, 'sleep', async (ms: number, signal?: AbortSignal) => {
    pauses.add(ms);
    if (ms <= 1000) await turns();
    else
      await new Promise((_resolve, reject) =>
        signal?.addEventListener('abort', () => reject(new Error('ended')), { once: true }),
      );
  });
  return pauses;
}

async function settle(): Promise<void> {
  for (let round = 0; round < 5; round += 1) await turns();
}

it('facts learnt by another gateway are used for the same collection and logged, and proofs only if made after the start', async (t) => {
  mockPauses(t);
  const { purges, state, clock, told } = purgesOf(SHARED);
  const fact = (value: true | number, ageMs: number) => ({ value, atMs: clock.now() - ageMs });
  const entities = new Map([
    ['page-max', fact(20, 60_000)],
    ['honoured q', fact(true, 1)],
  ]);
  const temporal = new Map([['batch-max', fact(7, 60_000)]]);
  const note = () => ({
    writer: 'another',
    text: writeNote({ entities, temporal }, { leastMs: 0, mostMs: 0 }),
  });
  state.notes = [note()];
  purges.start();
  await settle();
  await clock.sleep(1000);
  entities.set('honoured type', fact(true, 999));
  state.notes = [note()];
  purges.onNotice({ what: 'learnt', writer: 'another' });
  await settle();
  const learnt = purges.capabilities();
  assert.deepEqual([...learnt.entities.keys()].toSorted(), ['honoured type', 'page-max']);
  assert.deepEqual([...learnt.temporal.keys()], ['batch-max']);
  assert.ok(told.some((line) => /^debug .*another process has learnt/.test(line)));
});

it('a gateway reads the notes of other gateways when one is written, and every five seconds on a shared database', async (t) => {
  const pauses = mockPauses(t);
  const { purges, state, given } = purgesOf(SHARED);
  await purges.service.submit(order());
  purges.start();
  await settle();
  const [[{ holder } = assert.fail()] = []] = given('take') as { holder: string }[][];
  const before = state.reads.length;
  purges.onNotice({ what: 'learnt', writer: holder });
  await settle();
  assert.equal(state.reads.length, before, 'its own note is no news');
  purges.onNotice({ what: 'learnt', writer: 'another' });
  await settle();
  assert.equal(state.reads.length, before + 1);
  assert.ok(pauses.has(5000));
  pauses.clear();
  const alone = purgesOf();
  alone.purges.start();
  await settle();
  assert.equal(alone.state.reads.length, 0);
  assert.equal(pauses.has(5000), false, 'nobody else writes notes');
});
