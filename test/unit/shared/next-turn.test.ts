import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nextTurn, OneATurn } from '../../../sidecar/shared/next-turn.js';

describe('one a turn', () => {
  it('OneATurn lets simultaneous callers through in order, with other work in between', async () => {
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
});
