import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { writeNote } from '../../sidecar/jobs/note-exchange.js';
import { systemClock } from '../../sidecar/shared/clock.js';
import { closeOpened, order, purgesOf, turns } from '../support/opened-purges.js';

const SHARED = { DATABASE_URL: 'postgres://db/x' };

afterEach(closeOpened);

it('facts learnt by another gateway are used for the same collection and logged, and proofs only if made after the start', async (t) => {
  let processMs = 100_000;
  t.mock.method(performance, 'now', () => processMs);
  const { purges, state, clock, told } = purgesOf(SHARED);
  processMs += 500;
  const fact = (value: true | number, ageMs: number) => ({ value, atMs: clock.now() - ageMs });
  const learnt = {
    entities: new Map([
      ['page-max', fact(20, 60_000)],
      ['honoured q', fact(true, 501)],
      ['honoured type', fact(true, 499)],
    ]),
    temporal: new Map([['batch-max', fact(7, 60_000)]]),
  };
  state.notes = [{ writer: 'another', text: writeNote(learnt, { leastMs: 0, mostMs: 0 }) }];
  purges.start();
  await turns();
  const { entities, temporal } = purges.learnt();
  assert.deepEqual([...entities.keys()].toSorted(), ['honoured type', 'page-max']);
  assert.deepEqual([...temporal.keys()], ['batch-max']);
  assert.ok(told.some((line) => /^debug .*another process has learnt/.test(line)));
});

it('a gateway reads the notes of other gateways when one is written, and every five seconds on a shared database', async (t) => {
  const pauses = new Set<number>();
  t.mock.method(systemClock, 'sleep', async (ms: number, signal?: AbortSignal) => {
    pauses.add(ms);
    if (ms <= 1000) await turns();
    else
      await new Promise((_resolve, reject) =>
        signal?.addEventListener('abort', () => reject(new Error('ended')), { once: true }),
      );
  });
  const settle = async () => {
    for (let round = 0; round < 5; round += 1) await turns();
  };
  const { purges, state, given } = purgesOf(SHARED);
  await purges.service.submit(order());
  purges.start();
  await settle();
  const [[{ holder } = assert.fail()] = []] = given('take') as { holder: string }[][];
  const before = state.reads.length;
  purges.noticed({ what: 'learnt', writer: holder });
  await settle();
  assert.equal(state.reads.length, before, 'its own note is no news');
  purges.noticed({ what: 'learnt', writer: 'another' });
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
