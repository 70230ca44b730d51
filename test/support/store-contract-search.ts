import assert from 'node:assert/strict';
import type { ModelFilter } from '../../sidecar/store/records.js';
import type { SqlStore } from '../../sidecar/store/sql-store.js';
import { ALL, modelVersion, SETTINGS, type StoreTest } from './store-samples.js';

const METER = { types: ['Meter', 'Device'], attributes: ['reading', 'kWh_100%'] };
const LAMP = { types: ['Lamp'], attributes: ['reading', 'Status'] };

async function filled(store: SqlStore): Promise<(filter: ModelFilter) => Promise<readonly string[]>> {
  for (const name of ['energy', 'city']) await store.domains.create({ name });
  const create = (domain: string, name: string, terms: typeof METER, description?: string) =>
    store.models.create({ domain, name }, { ...SETTINGS, description }, modelVersion(name, { terms }));
  await create('energy', 'Meter', METER, 'Counts Energy');
  await create('energy', 'Lamp', LAMP);
  await create('city', 'Lamp', { ...LAMP, attributes: ['colour'] });
  return async (filter) => {
    const { items, total } = await store.models.search(filter, ALL);
    assert.equal(items.length, total);
    return items.map(({ domain, name }) => `${domain}/${name}`);
  };
}

/** What every store must guarantee for finding models by their newest version. */
export function searchContract(test: StoreTest): void {
  test('models are found by type, attribute, domain, and combinations of these', async (store) => {
    const found = await filled(store);
    assert.deepEqual(await found({}), ['city/Lamp', 'energy/Lamp', 'energy/Meter']);
    assert.deepEqual(await found({ type: 'Lamp' }), ['city/Lamp', 'energy/Lamp']);
    assert.deepEqual(await found({ type: 'Device' }), ['energy/Meter']);
    assert.deepEqual(await found({ attribute: 'reading' }), ['energy/Lamp', 'energy/Meter']);
    assert.deepEqual(await found({ type: 'Lamp', attribute: 'reading' }), ['energy/Lamp']);
    assert.deepEqual(await found({ type: 'Lamp', domain: 'city' }), ['city/Lamp']);
    for (const none of [
      { type: 'lamp' },
      { type: 'reading' },
      { attribute: 'Lamp' },
      { domain: 'x' },
      { q: '\0' },
    ])
      assert.deepEqual(await found(none), []);
  });

  test('models are found by a part of name, description, type or attribute, taken literally and in any case', async (store) => {
    const found = await filled(store);
    assert.deepEqual(await found({ q: 'mete' }), ['energy/Meter']);
    assert.deepEqual(await found({ q: 'ENERGY' }), ['energy/Meter'], 'a description, not a domain');
    assert.deepEqual(await found({ q: 'evic' }), ['energy/Meter']);
    assert.deepEqual(await found({ q: 'status' }), ['energy/Lamp']);
    assert.deepEqual(await found({ q: '0%' }), ['energy/Meter']);
    assert.deepEqual(await found({ q: 'h_1' }), ['energy/Meter']);
    for (const q of ['r%g', 'read_ng', '!', "'", '%%']) assert.deepEqual(await found({ q }), [], q);
  });

  test('models are found in pages, with the total', async (store) => {
    await filled(store);
    const page = await store.models.search({}, { limit: 1, offset: 1 });
    assert.deepEqual([page.items.map(({ domain }) => domain), page.total], [['energy'], 3]);
  });

  test('models are found by their newest version, and not after they were deleted', async (store) => {
    const found = await filled(store);
    const key = { domain: 'energy', name: 'Meter' };
    const terms = { types: ['Meter'], attributes: ['power'] };
    await store.models.update(key, { settings: SETTINGS, version: modelVersion('2', { terms }) });
    assert.deepEqual(await found({ type: 'Device' }), []);
    assert.deepEqual(await found({ attribute: 'power' }), ['energy/Meter']);
    await store.models.update(key, { settings: { ...SETTINGS, description: 'now' } });
    assert.deepEqual(await found({ attribute: 'power' }), ['energy/Meter']);
    await store.models.delete(key);
    assert.deepEqual(await found({ attribute: 'power' }), []);
  });

  test('models are found by the current content of a draft, not by the replaced one', async (store) => {
    const found = await filled(store);
    const key = { domain: 'energy', name: 'Meter' };
    const replace = (tag: string, terms?: typeof METER) =>
      store.models.update(key, {
        settings: SETTINGS,
        replaces: true,
        version: modelVersion(tag, terms === undefined ? {} : { terms }),
      });
    await replace('a', { types: ['Meter'], attributes: ['power'] });
    assert.deepEqual(await found({ attribute: 'power' }), ['energy/Meter']);
    assert.deepEqual(await found({ type: 'Device' }), []);
    await replace('b');
    assert.deepEqual(await found({ attribute: 'power' }), []);
  });

  test('models are found by their other terms if some terms cannot be stored or are too long for an index', async (store) => {
    const found = await filled(store);
    const long = '\u{4e00}'.repeat(3000);
    const terms = { types: ['T', long], attributes: [long.slice(0, 513), long.slice(0, 512), 'a\0'] };
    await store.models.create({ domain: 'city', name: 'Long' }, SETTINGS, modelVersion('long', { terms }));
    assert.deepEqual(await found({ type: 'T' }), ['city/Long']);
    assert.deepEqual(await found({ attribute: long.slice(0, 512) }), ['city/Long']);
    for (const name of [long, long.slice(0, 513), 'a\0'])
      assert.deepEqual(await found({ attribute: name }), []);
  });
}
