import assert from 'node:assert/strict';
import { it } from 'node:test';
import { checkPurges, FLAWS, HONEST } from '../../../support/query-shapes.js';

it('a purge of any shape deletes exactly its matches at a broker that applies every filter', async () => {
  const { done } = await checkPurges(HONEST, 1, 60);
  assert.ok(done >= 45, String(done));
});

for (const flaw of FLAWS) {
  it(`a purge of any shape deletes nothing outside its query at a broker that drops or misreads in one shape: ${flaw.name}`, async () => {
    await checkPurges(flaw, 2, 15);
  });
}
