import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Newcomers, nextTurn, OneATurn } from '../../../sidecar/shared/next-turn.js';

it('OneATurn lets simultaneous callers through in order, with other work between them', async () => {
  const large = new OneATurn();
  const seen: string[] = [];
  const others = (async () => {
    for (let turn = 0; turn < 5; turn += 1) {
      await nextTurn();
      seen.push('other');
    }
  })();
  const turns = ['a', 'b', 'c', 'd'].map(async (name) => {
    await large.turn();
    seen.push(name);
  });
  await Promise.all([...turns, others]);
  assert.deepEqual(
    seen.filter((name) => name !== 'other'),
    ['a', 'b', 'c', 'd'],
  );
  for (const [at, name] of seen.entries()) {
    if (at > 0 && name !== 'other') assert.equal(seen[at - 1], 'other', seen.join(' '));
  }
});

/** Calls `each` in every turn of the event loop from now on, until it answers false. */
async function everyTurn(each: () => boolean): Promise<void> {
  do await nextTurn();
  while (each());
}

it('newcomers that keep coming go first, and work goes on after the first turn without one', async () => {
  const newcomers = new Newcomers();
  let arrived = 0;
  const coming = everyTurn(() => {
    newcomers.note();
    arrived += 1;
    return arrived < 30;
  });
  newcomers.note();
  const large = new OneATurn(newcomers);
  await large.turn();
  assert.equal(arrived, 30);
  await coming;
  await large.turn();
  assert.equal(arrived, 30, 'nobody came, and nobody was waited for');
});

it('newcomers that never end hold work up for a hundred turns at most', async () => {
  const newcomers = new Newcomers();
  let isOver = false;
  let arrived = 0;
  const coming = everyTurn(() => {
    newcomers.note();
    arrived += 1;
    return !isOver;
  });
  for (let piece = 1; piece <= 3; piece += 1) {
    await newcomers.pass();
    assert.ok(arrived >= 99 * piece && arrived <= 101 * piece, String(arrived));
  }
  isOver = true;
  await coming;
});
