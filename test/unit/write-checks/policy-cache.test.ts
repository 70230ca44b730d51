import assert from 'node:assert/strict';
import { it } from 'node:test';
import { StoreUnavailableError } from '../../../sidecar/store/errors.js';
import type { WritePolicies, WritePolicy } from '../../../sidecar/store/index.js';
import { PolicyCache } from '../../../sidecar/write-checks/index.js';

it('policies are those after the last change, whenever and however an earlier read ends', async () => {
  const listOf = (...items: readonly WritePolicy[]) => ({ items, total: items.length });
  const policy = { name: 'p' } as WritePolicy;
  type List = ReturnType<typeof listOf>;
  const turn = async () => new Promise((resolve) => setImmediate(resolve));
  for (const endOfFirst of ['before', 'after', 'failed']) {
    const lists: PromiseWithResolvers<List>[] = [];
    const cache = new PolicyCache({
      store: { revision: async () => String(lists.length) },
      policies: {
        list: async () => {
          const list = Promise.withResolvers<List>();
          lists.push(list);
          return list.promise;
        },
      } as Partial<WritePolicies> as WritePolicies,
      clock: { monotonicMs: () => 0 },
    });
    void cache.current();
    await turn();
    cache.invalidate();
    if (endOfFirst === 'before') lists[0]?.resolve(listOf());
    if (endOfFirst === 'failed') lists[0]?.reject(new StoreUnavailableError('away'));
    await turn();
    const current = cache.current();
    await turn();
    lists[1]?.resolve(listOf(policy));
    await turn();
    if (endOfFirst === 'after') lists[0]?.resolve(listOf());
    await turn();
    assert.deepEqual((await current)?.policies, [policy], endOfFirst);
    assert.deepEqual(cache.cached?.policies, [policy], endOfFirst);
  }
});
