import assert from 'node:assert/strict';
import { it } from 'node:test';
import { PendingConnections, yieldToEventLoop, TurnQueue } from '../../../sidecar/shared/event-loop.js';

it('TurnQueue lets simultaneous callers through in order, with other work between them', async () => {
  const large = new TurnQueue();
  const seen: string[] = [];
  const others = (async () => {
    for (let turn = 0; turn < 5; turn += 1) {
      await yieldToEventLoop();
      seen.push('other');
    }
  })();
  const turns = ['a', 'b', 'c', 'd'].map(async (name) => {
    await large.nextTurn();
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

/** Calls `each` in every turn of the event loop from now on, until it returns false. */
async function everyTurn(each: () => boolean): Promise<void> {
  do await yieldToEventLoop();
  while (each());
}

it('newConnections that keep coming go first, and work continues after the first turn without one', async () => {
  const newConnections = new PendingConnections();
  let arrived = 0;
  const coming = everyTurn(() => {
    newConnections.recordConnection();
    arrived += 1;
    return arrived < 30;
  });
  newConnections.recordConnection();
  const large = new TurnQueue(newConnections);
  await large.nextTurn();
  assert.equal(arrived, 30);
  await coming;
  await large.nextTurn();
  assert.equal(arrived, 30, 'nobody came, and nobody was waited for');
});

it('newConnections that never end delay work by a hundred turns at most', async () => {
  const newConnections = new PendingConnections();
  let isOver = false;
  let arrived = 0;
  const coming = everyTurn(() => {
    newConnections.recordConnection();
    arrived += 1;
    return !isOver;
  });
  for (let piece = 1; piece <= 3; piece += 1) {
    await newConnections.acceptPending();
    assert.ok(arrived >= 99 * piece && arrived <= 101 * piece, String(arrived));
  }
  isOver = true;
  await coming;
});
