import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { NAMES, ordersOf, stateAfter, closeWorkers } from '../support/import-orders.js';

after(closeWorkers);

it('imports of five repositories have the same result in all 120 orders', async () => {
  const states = new Set<string>();
  for (const order of ordersOf(NAMES)) {
    states.add(await stateAfter(order));
    assert.equal(states.size, 1, order.join());
  }
});
