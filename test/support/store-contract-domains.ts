import assert from 'node:assert/strict';
import { ALL, modelVersion, refuses, SETTINGS, type StoreTest } from './store-samples.js';
import { column, columns } from './columns.js';

const METER = { domain: 'energy', name: 'Meter' };
const PLUG = { domain: 'energy', name: 'Plug' };

/** What every store must guarantee for domains. */
export function domainContract(test: StoreTest): void {
  test('a domain is read as it was created', async (store, clock) => {
    const created = await store.domains.create({ name: 'energy', description: 'Meters and such' });
    assert.deepEqual(created, {
      name: 'energy',
      description: 'Meters and such',
      compatibility: 'none',
      createdAt: clock.time,
      modifiedAt: clock.time,
      etag: created.etag,
    });
    assert.match(created.etag, /^[\w-]{22}$/);
    assert.deepEqual(await store.domains.get('energy'), created);
    assert.equal((await store.domains.create({ name: 'water' })).description, undefined);
  });

  test('domains are listed by code points, in pages, with the total', async (store) => {
    const names = ['b', 'a', 'B', 'a.b', 'a-b', 'a_b', '\uffee', '😀', 'ab'];
    for (const name of names) await store.domains.create({ name });
    const sorted = ['B', 'a', 'a-b', 'a.b', 'a_b', 'ab', 'b', '\uffee', '😀'];
    const pages = [0, 4, 8, 12].map((offset) => store.domains.list({ limit: 4, offset }));
    const read = await Promise.all(pages);
    assert.deepEqual(
      read.map(({ items }) => items.map(({ name }) => name)),
      [sorted.slice(0, 4), sorted.slice(4, 8), sorted.slice(8), []],
    );
    assert.deepEqual(column(read, 'total'), [9, 9, 9, 9]);
    assert.deepEqual(await store.domains.list({ limit: 0, offset: 0 }), { items: [], total: 9 });
  });

  test('domains are listed with the number of their models, and with the same ETags as single domains', async (store) => {
    for (const name of ['empty', 'energy', 'water']) await store.domains.create({ name });
    await store.models.create(METER, SETTINGS, modelVersion('a'));
    await store.models.update(METER, { settings: SETTINGS, version: modelVersion('b') });
    await store.models.create(PLUG, SETTINGS, modelVersion('c'));
    await store.models.create({ domain: 'water', name: 'Pump' }, SETTINGS, modelVersion('d'));
    const counts = { empty: 0, energy: 2, water: 1 };
    const listed = await Promise.all(
      Object.entries(counts).map(async ([name, models]) => ({ ...(await store.domains.get(name)), models })),
    );
    assert.deepEqual((await store.domains.list(ALL)).items, listed);
    await store.models.delete(PLUG);
    const { items } = await store.domains.list({ limit: 1, offset: 1 });
    assert.deepEqual(columns(items, 'name', 'models'), [['energy', 1]]);
  });

  test('each change of a model modifies its domain, even if the clock stands still or goes back', async (store, clock) => {
    const etags = [(await store.domains.create({ name: 'energy' })).etag];
    await store.domains.create({ name: 'water' });
    const water = await store.domains.get('water');
    const changes: readonly (() => Promise<unknown>)[] = [
      () => store.models.create(METER, SETTINGS, modelVersion('a')),
      () => store.models.update(METER, { settings: { compatibility: 'backward' } }),
      () => store.models.delete(METER),
    ];
    let last = clock.time;
    for (const change of changes) {
      await change();
      const { etag, modifiedAt, createdAt } = await store.domains.get('energy');
      etags.push(etag);
      assert.ok(modifiedAt > last && createdAt === 1_700_000_000_000);
      last = modifiedAt;
      clock.time -= 1000;
    }
    assert.equal(new Set(etags).size, 4);
    assert.deepEqual(await store.domains.get('water'), water);
  });

  test("a change of a domain's settings also applies to its models without a compatibility of their own", async (store, clock) => {
    const made = await store.domains.create({ name: 'energy', compatibility: 'forward' });
    await store.models.create(METER, {}, modelVersion('a'));
    await store.models.create(PLUG, { compatibility: 'none' }, modelVersion('b'));
    const read = async () => {
      const [meter, plug] = [await store.models.get(METER), await store.models.get(PLUG)];
      return [meter.model, plug.model] as const;
    };
    const [meter, plug] = await read();
    assert.deepEqual([meter.compatibility, meter.ownCompatibility], ['forward', undefined]);
    assert.deepEqual([plug.compatibility, plug.ownCompatibility], ['none', 'none']);
    clock.time += 5;
    const updated = await store.domains.update('energy', { description: 'd', compatibility: 'full' });
    assert.deepEqual([updated.description, updated.compatibility], ['d', 'full']);
    assert.ok(updated.modifiedAt > made.modifiedAt);
    const [after, other] = await read();
    assert.deepEqual([after.compatibility, after.ownCompatibility], ['full', undefined]);
    assert.notEqual(after.etag, meter.etag);
    assert.deepEqual(other, plug);
    assert.deepEqual(
      await store.domains.update('energy', { description: 'd', compatibility: 'full' }),
      updated,
    );
    await refuses(store, 'preconditionFailed', () =>
      store.domains.update('energy', { compatibility: 'none' }, [made.etag]),
    );
    await assert.rejects(store.domains.update('water', { compatibility: 'none' }), { kind: 'notFound' });
    for (const compatibility of ['none', 'backward', 'forward', 'full', undefined] as const) {
      const { model } = await store.models.update(METER, { settings: { compatibility } });
      assert.deepEqual(
        [model.compatibility, model.ownCompatibility],
        [compatibility ?? 'full', compatibility],
      );
    }
  });

  test('a delete of a domain checks the expected ETags before anything else', async (store) => {
    const { etag } = await store.domains.create({ name: 'energy' });
    await store.models.create(METER, SETTINGS, modelVersion('a'));
    const now = (await store.domains.get('energy')).etag;
    const stale = () => store.domains.delete('energy', { cascade: true, ifMatch: [etag, 'other'] });
    await refuses(store, 'preconditionFailed', stale, { etag: now });
    await refuses(store, 'preconditionFailed', () => store.domains.delete('energy', { ifMatch: [] }));
    await store.domains.delete('energy', { cascade: true, ifMatch: ['other', now] });
    await assert.rejects(store.domains.delete('energy', { ifMatch: [now] }), { kind: 'notFound' });
  });

  test('an error names at most 100 dependents, and gives the number of all', async (store) => {
    await store.domains.create({ name: 'energy' });
    for (let n = 0; n < 103; n++)
      await store.models.create({ domain: 'energy', name: `M${n}` }, SETTINGS, modelVersion('a'));
    await assert.rejects(
      store.domains.delete('energy'),
      (error: Error & { dependents?: unknown[]; total?: number }) => {
        assert.equal(error.dependents?.length, 100);
        assert.equal(error.total, 103);
        return error.message.endsWith('and 98 more.');
      },
    );
  });
}
