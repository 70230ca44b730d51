import assert from 'node:assert/strict';
import { it } from 'node:test';
import { systemClock } from '../../../sidecar/shared/clock.js';
import { StoreUnavailableError } from '../../../sidecar/store/index.js';
import { SqliteStore } from '../../../sidecar/store/sqlite-store.js';
import { PolicyCache, WritePolicyService } from '../../../sidecar/write-checks/index.js';

const ENFORCED = {
  priority: 0,
  mode: 'enforce',
  onUnjudged: 'accept',
  onFailure: 'refuse',
  batch: 'all',
} as const;

it('there are at most 500 policies, each of which can be replaced', async () => {
  const store = await SqliteStore.open(':memory:', systemClock);
  const service = new WritePolicyService({
    store: store.writePolicies,
    modelStore: store.models,
    models: { modelsOfTypes: async () => [] },
    cache: new PolicyCache({ store, policies: store.writePolicies, clock: systemClock }),
    checks: { writesSeen: 1, startedAt: 0 },
    knowsCallers: true,
  });
  for (let n = 1; n <= 500; n += 1)
    await store.writePolicies.put({ name: `p${n}`, settings: ENFORCED, caller: 'ada' });
  await assert.rejects(service.put('another', ENFORCED, 'ada'), /already 500 policies/);
  assert.equal((await service.put('p7', ENFORCED, 'ada')).isNew, false);
  await store.close();
});

it('a policy whose models cannot be looked up is stored with a warning', async () => {
  const store = await SqliteStore.open(':memory:', systemClock);
  const fails = async () => Promise.reject(new StoreUnavailableError('The database is away.'));
  const service = new WritePolicyService({
    store: store.writePolicies,
    modelStore: { get: fails },
    models: { modelsOfTypes: fails },
    cache: new PolicyCache({ store, policies: store.writePolicies, clock: systemClock }),
    checks: { writesSeen: 1, startedAt: 0 },
    knowsCallers: true,
  });
  for (const settings of [{ types: ['Car'] }, { model: 'D/Car@1' }]) {
    const { policy, warnings } = await service.put('p', { ...ENFORCED, ...settings }, 'anonymous');
    assert.deepEqual((await service.get('p')).settings, policy.settings);
    assert.match(warnings.join(), /^It could not be checked whether there is a model for its entities/);
  }
  await store.close();
});
