import assert from 'node:assert/strict';
import { it } from 'node:test';
import { checkPurges, FLAWS, HONEST } from '../support/query-shapes.js';

it('a purge deletes exactly its matches at a broker that applies every filter, for 1000 query shapes', async () => {
  for (let seed = 1; seed <= 10; seed += 1) assert.ok((await checkPurges(HONEST, seed, 100)).done >= 70);
});

for (const flaw of FLAWS) {
  it(`a purge deletes nothing outside its query for 450 query shapes, whatever was proven before, at a broker that misreads: ${flaw.name}`, async () => {
    let refused = 0;
    for (let seed = 1; seed <= 9; seed += 1) refused += (await checkPurges(flaw, seed, 50)).refused;
    assert.ok(flaw.isBearable === true || refused > 0, 'the flaw never showed');
  });
}
