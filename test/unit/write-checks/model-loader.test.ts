import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ModelLoader } from '../../../sidecar/write-checks/model-loader.js';
import { StoreUnavailableError } from '../../../sidecar/store/index.js';
import { BASE_URL, useRigs } from '../schemas/models/harness.js';

describe('the models for a write', () => {
  const rig = useRigs();
  const CITY = 'https://city.example/';

  it('an own context that many models share is processed once after each change of the store', async (t) => {
    const { service, tasks } = await rig(t);
    const place = { baseUrl: '', isOwnName: () => false };
    const loader = new ModelLoader(service, place);
    await service.contexts.create('shared', { Auto: `${CITY}Car` }, { baseUrl: BASE_URL });
    for (const name of ['Car', 'Bus', 'Tram', 'Bike'])
      await service.models.put(
        { domain: 'city', name },
        { schema: { properties: { type: { const: name === 'Car' ? 'Auto' : name } } }, context: 'shared' },
        { baseUrl: BASE_URL },
      );
    const type = { written: 'x:Car', iri: `${CITY}Car` };
    const counts: number[] = [];
    for (const stamp of ['1', '2', '2']) {
      const before = tasks.length;
      const [found] = await loader.modelsOfTypes([type], stamp);
      assert.deepEqual(
        found?.[1].map(({ title }) => title),
        ['city/Car'],
      );
      counts.push(tasks.slice(before).filter((kind) => kind === 'contextTerms').length);
    }
    // The worker asks for the context that is named, and is run again.
    assert.deepEqual(counts, [2, 2, 0]);
  });

  it('the models of a type are looked up once after each change of the store, however many writes ask for them', async (t) => {
    const { service } = await rig(t);
    const loader = new ModelLoader(service, { baseUrl: '', isOwnName: () => false });
    await service.models.put(
      { domain: 'city', name: 'Car' },
      { schema: { type: 'object' } },
      { baseUrl: BASE_URL },
    );
    const search = t.mock.method(service.store.models, 'search');
    const type = { written: 'Car', iri: `${CITY}Car` };
    const ask = async (stamp: string) => loader.modelsOfTypes([type], stamp);
    const searches = async (work: () => Promise<unknown>) => {
      const before = search.mock.callCount();
      await work();
      return search.mock.callCount() - before;
    };
    const once = await searches(() => ask('1'));
    assert.ok(once > 0);
    assert.equal(await searches(() => Promise.all([ask('1'), ask('1')])), 0, 'they are remembered');
    assert.equal(
      await searches(() => Promise.all([ask('2'), ask('2'), ask('2')])),
      once,
      'all wait for one search',
    );
    const [found] = await ask('2');
    assert.deepEqual(
      found?.[1].map(({ title }) => title),
      ['city/Car'],
    );
  });

  it('the models of a type are looked up again after the store was unavailable', async (t) => {
    const { service } = await rig(t);
    const loader = new ModelLoader(service, { baseUrl: '', isOwnName: () => false });
    const search = t.mock.method(service.store.models, 'search');
    search.mock.mockImplementationOnce(() => Promise.reject(new StoreUnavailableError('away')));
    const types = [{ written: 'Car', iri: `${CITY}Car` }];
    await assert.rejects(loader.modelsOfTypes(types, '1'), StoreUnavailableError);
    assert.deepEqual(await loader.modelsOfTypes(types, '1'), [[`${CITY}Car`, []]]);
  });
});
