import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ModelLoader } from '../../../sidecar/write-checks/model-loader.js';
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
});
