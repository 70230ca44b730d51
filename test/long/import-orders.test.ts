import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { NAMES, ordersOf, stateAfter, closeWorkers } from '../support/import-orders.js';

after(closeWorkers);

describe('imports of several repositories', () => {
  it('imports of five repositories have the same result in each of their 120 orders', async () => {
    const states = new Set<string>();
    for (const order of ordersOf(NAMES)) {
      states.add(await stateAfter(order));
      assert.equal(states.size, 1, order.join());
    }
  });
});
