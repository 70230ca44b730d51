import assert from 'node:assert/strict';
import type { NewWritePolicy } from '../../sidecar/store/policy-records.js';
import { ALL, type StoreTest } from './store-samples.js';

function policy(name: string, settings: Partial<NewWritePolicy['settings']> = {}): NewWritePolicy {
  const defaults = {
    priority: 0,
    mode: 'report',
    onUnjudged: 'accept',
    onFailure: 'accept',
    batch: 'all',
  } as const;
  return { name, caller: 'ada', settings: { ...defaults, ...settings } };
}

/** What every store must guarantee for write policies. */
export function writePolicyContract(test: StoreTest): void {
  test('a write policy is read as it was put, and the put reports whether it is new', async (store, clock) => {
    const { writePolicies } = store;
    const before = await store.revision();
    const made = await writePolicies.put(policy('cars', { types: ['Car', 'https://x/Ä'], tenant: '' }));
    assert.equal(made.isNew, true);
    assert.notEqual(await store.revision(), before, 'other processes notice it');
    const { etag, ...rest } = made.policy;
    assert.deepEqual(rest, {
      ...policy('cars', { types: ['Car', 'https://x/Ä'], tenant: '' }),
      createdAt: clock.time,
      modifiedAt: clock.time,
    });
    assert.deepEqual(await writePolicies.get('cars'), made.policy);
    clock.time += 1000;
    const again = await writePolicies.put(policy('cars', { mode: 'enforce' }));
    assert.equal(again.isNew, false);
    assert.notEqual(again.policy.etag, etag);
    assert.equal(again.policy.createdAt, made.policy.createdAt);
  });

  test('write policies are listed by code points', async ({ writePolicies }) => {
    for (const name of ['b', 'B', 'a', 'ä']) await writePolicies.put(policy(name));
    const { items, total } = await writePolicies.list({ limit: 3, offset: 1 });
    assert.deepEqual([items.map(({ name }) => name), total], [['a', 'b', 'ä'], 4]);
    assert.deepEqual((await writePolicies.list(ALL)).items[0]?.name, 'B');
  });

  test('a write of a write policy that expects another state changes nothing', async ({ writePolicies }) => {
    const { policy: made } = await writePolicies.put(policy('cars'), 'absent');
    const fails = { name: 'PreconditionFailedError' };
    await assert.rejects(writePolicies.put(policy('cars', { mode: 'off' }), 'absent'), fails);
    await assert.rejects(writePolicies.put(policy('cars', { mode: 'off' }), ['other']), fails);
    await assert.rejects(writePolicies.put(policy('new'), 'present'), fails);
    await assert.rejects(writePolicies.delete('cars', ['other']), fails);
    assert.deepEqual(await writePolicies.get('cars'), made);
    await writePolicies.put(policy('cars', { priority: 7 }), [made.etag]);
    await writePolicies.delete('cars');
    for (const name of ['cars', '\0', '\ud800'])
      await assert.rejects(writePolicies.get(name), { name: 'NotFoundError' });
    await assert.rejects(writePolicies.delete('cars'), { name: 'NotFoundError' });
    await assert.rejects(writePolicies.put(policy('\0')), { name: 'UnstorableTextError' });
  });
}
