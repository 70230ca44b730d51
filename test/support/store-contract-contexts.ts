import assert from 'node:assert/strict';
import {
  ALL,
  contextVersion,
  modelVersion,
  NO_CONTENT,
  reference,
  refuses,
  SETTINGS,
  type StoreTest,
} from './store-samples.js';
import { column, columns } from './columns.js';

const KEY = { domain: 'energy', name: 'Meter' };

/** What every store must guarantee for contexts. */
export function contextContract(test: StoreTest): void {
  test('a custom context is read as it was created, and its versions never change', async (store, clock) => {
    const first = await store.contexts.create('city', contextVersion('a'));
    const { etag, ...context } = first.context;
    assert.deepEqual(context, {
      name: 'city',
      kind: 'custom',
      currentVersion: 1,
      createdAt: clock.time,
      modifiedAt: clock.time,
    });
    const second = await store.contexts.update('city', contextVersion('b'));
    assert.equal(second.context.currentVersion, 2);
    assert.notEqual(second.context.etag, etag);
    assert.ok(second.context.modifiedAt > clock.time);
    assert.deepEqual((await store.contexts.get('city', 1)).version, first.version);
    assert.deepEqual(await store.contexts.get('city'), second);
    assert.equal(await store.content(first.version.content.sha256), contextVersion('a').text);
    assert.equal(await store.content(second.version.content.sha256), contextVersion('b').text);
  });

  test('an update of a context with the current text does nothing; one with an older text makes a version', async (store) => {
    await store.contexts.create('city', contextVersion('a'));
    const second = await store.contexts.update('city', contextVersion('b'));
    assert.deepEqual(await store.contexts.update('city', contextVersion('b')), second);
    assert.equal((await store.contexts.update('city', contextVersion('a'))).version.number, 3);
  });

  test('custom and generated contexts are listed together, and a name is used only once', async (store) => {
    await store.contexts.create('zoo', contextVersion('a'));
    await store.domains.create({ name: 'energy' });
    await store.models.create(KEY, SETTINGS, modelVersion('a'));
    await store.contexts.create('alpha', contextVersion('a'));
    const { items, total } = await store.contexts.list(ALL);
    assert.deepEqual(columns(items, 'name', 'kind'), [
      ['alpha', 'custom'],
      ['energy', 'domain'],
      ['energy~Meter', 'generated'],
      ['zoo', 'custom'],
    ]);
    assert.equal(total, 4);
    assert.deepEqual((await store.contexts.list({ limit: 1, offset: 1 })).items, [items[1]]);
    for (const name of ['zoo', 'energy~Meter'])
      await refuses(store, 'alreadyExists', () => store.contexts.create(name, contextVersion('b')), {
        resource: { kind: 'context', name },
      });
  });

  test('a generated context changes only with its model', async (store) => {
    await store.domains.create({ name: 'energy' });
    await store.models.create(KEY, SETTINGS, modelVersion('a'));
    const name = 'energy~Meter';
    await refuses(store, 'readOnly', () => store.contexts.update(name, contextVersion('b')));
    await refuses(store, 'readOnly', () => store.contexts.delete(name));
    const before = (await store.contexts.get(name)).context;
    await store.models.update(KEY, { settings: SETTINGS, version: modelVersion('b') });
    const after = (await store.contexts.get(name)).context;
    assert.equal(after.currentVersion, 2);
    assert.notEqual(after.etag, before.etag);
  });

  test('a context that any version of another context or a model uses cannot be deleted', async (store) => {
    await store.contexts.create('base', contextVersion('a'));
    await store.contexts.create('city', contextVersion('b', 'base'));
    await store.contexts.update('city', contextVersion('c', 'base'));
    await store.contexts.update('city', contextVersion('d'));
    await store.contexts.update('base', contextVersion('e', 'base'));
    await store.domains.create({ name: 'energy' });
    await store.models.create(KEY, SETTINGS, modelVersion('a', { contexts: new Set(['base']) }));
    const dependents = [
      { kind: 'context', name: 'city', version: 2 },
      { kind: 'model', ...KEY, version: 1 },
    ];
    assert.deepEqual(await store.contexts.dependents('base', ALL), { items: dependents, total: 2 });
    assert.deepEqual(await store.contexts.dependents('base', { limit: 1, offset: 1 }), {
      items: dependents.slice(1),
      total: 2,
    });
    assert.deepEqual(await store.contexts.dependents('city', ALL), { items: [], total: 0 });
    await refuses(store, 'inUse', () => store.contexts.delete('base'), {
      resource: { kind: 'context', name: 'base' },
      dependents,
    });
    await store.models.delete(KEY);
    await store.contexts.delete('city');
    await store.contexts.delete('base');
    const { items } = await store.contexts.list(ALL);
    assert.deepEqual(column(items, 'name'), ['energy']);
  });

  test('a domain and a custom context cannot have the same name, and the context of a domain is read-only', async (store) => {
    await store.domains.create({ name: 'energy' });
    await store.contexts.create('city', contextVersion('a'));
    await refuses(store, 'alreadyExists', () => store.contexts.create('energy', contextVersion('a')), {
      resource: { kind: 'domain', name: 'energy' },
    });
    await refuses(store, 'alreadyExists', () => store.domains.create({ name: 'city' }), {
      resource: { kind: 'context', name: 'city' },
    });
    const name = { contextName: 'energy' };
    await refuses(store, 'readOnly', () => store.contexts.delete('energy'), name);
    const update = () => store.contexts.update('energy', contextVersion('a'));
    await refuses(store, 'readOnly', update, name);
    await refuses(store, 'notFound', () => store.contexts.get('energy'));
  });

  test('a document that a context was made from is kept as long as that version of the context', async (store) => {
    const { content } = (await store.references.put(reference('u:doc', '{}'))).reference;
    const made = new Map([['u:doc', content.sha256]]);
    await store.domains.create({ name: 'energy' });
    await store.models.create(KEY, SETTINGS, modelVersion('a', { contextReferences: made }));
    await store.contexts.create('city', { ...contextVersion('a'), references: made });
    await store.contexts.update('city', contextVersion('b'));
    const dependents = [
      { kind: 'context', name: 'city', version: 1 },
      { kind: 'model', ...KEY, version: 1 },
    ];
    await refuses(store, 'inUse', () => store.references.delete('u:doc'), { dependents });
    const later = (await store.references.put(reference('u:later', '{}'))).reference.content;
    const references = new Map([['u:later', later.sha256]]);
    await store.contexts.update('city', { ...contextVersion('later'), references });
    await refuses(store, 'inUse', () => store.references.delete('u:later'), {
      dependents: [{ kind: 'context', name: 'city', version: 3 }],
    });
    const both = { contextReferences: made, references: made };
    await store.models.update(KEY, { settings: SETTINGS, version: modelVersion('b', both) });
    const { items } = await store.references.dependents('u:doc', ALL);
    assert.equal(items.filter(({ kind }) => kind === 'model').length, 1, 'named once');
    const lost = new Map([['u:doc', NO_CONTENT]]);
    const changed = { references: ['u:doc'], contexts: [] };
    for (const write of [
      () => store.contexts.update('city', { ...contextVersion('c'), references: lost }),
      () =>
        store.models.update(KEY, {
          settings: SETTINGS,
          version: modelVersion('c', { contextReferences: lost }),
        }),
    ])
      await refuses(store, 'dependencyChanged', write, changed);
    await store.models.delete(KEY);
    await store.contexts.delete('city');
    await store.references.delete('u:doc');
  });

  test('the error for a missing context names the context, or else the version', async (store) => {
    const missing = (resource: object) => ({ kind: 'notFound', resource });
    await assert.rejects(store.contexts.get('city'), missing({ kind: 'context', name: 'city' }));
    await assert.rejects(store.contexts.dependents('city', ALL), missing({ kind: 'context', name: 'city' }));
    await assert.rejects(
      store.contexts.update('city', contextVersion('a')),
      missing({ kind: 'context', name: 'city' }),
    );
    await store.contexts.create('city', contextVersion('a'));
    await assert.rejects(store.contexts.get('City'), missing({ kind: 'context', name: 'City' }));
    for (const version of [0, 2, 1.5, NaN])
      await assert.rejects(
        store.contexts.get('city', version),
        missing({ kind: 'context', name: 'city', version }),
      );
  });
}
