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
import { columns } from './columns.js';

const KEY = { domain: 'energy', name: 'Meter' };
const COMMON = 'https://schemas.example/common.json';

/** What every store must guarantee for models, their versions and their generated contexts. */
export function modelContract(test: StoreTest): void {
  test('a new model has version 1 and a generated context', async (store, clock) => {
    await store.domains.create({ name: 'energy' });
    clock.time += 5;
    const settings = {
      description: 'd',
      contextBase: 'https://t.example/',
      compatibility: 'backward',
    } as const;
    const version = modelVersion('a', { description: 'first', metadata: { warnings: ['w', 1, null] } });
    const created = await store.models.create(KEY, settings, version);
    const { createdAt, modifiedAt, etag, ...model } = created.model;
    const unset = { ownContext: undefined, deprecatedAt: undefined, sunsetAt: undefined };
    assert.deepEqual(model, {
      ...KEY,
      ...settings,
      ...unset,
      ownCompatibility: 'backward',
      status: 'published',
      currentVersion: 1,
      contextName: 'energy~Meter',
    });
    assert.deepEqual([createdAt, modifiedAt], [clock.time, clock.time]);
    assert.match(etag, /^[\w-]{22}$/);
    assert.deepEqual(
      { ...created.version, schema: undefined, context: undefined },
      {
        number: 1,
        createdAt,
        description: 'first',
        metadata: version.metadata,
        references: [],
        schema: undefined,
        context: undefined,
      },
    );
    assert.equal(await store.content(created.version.schema.sha256), version.schema);

    const context = await store.contexts.get('energy~Meter');
    assert.deepEqual(
      [context.context.kind, context.context.currentVersion, context.version.content],
      ['generated', 1, created.version.context],
    );
    assert.equal(await store.content(context.version.content.sha256), version.context);
    assert.deepEqual(await store.models.get(KEY), created);
    assert.deepEqual((await store.models.list('energy', ALL)).items, [created.model]);
  });

  test('a model needs its domain, and a name that no other model or context has', async (store) => {
    await refuses(store, 'notFound', () => store.models.create(KEY, SETTINGS, modelVersion('a')), {
      resource: { kind: 'domain', name: 'energy' },
    });
    await store.domains.create({ name: 'energy' });
    await store.models.create(KEY, SETTINGS, modelVersion('a'));
    await refuses(store, 'alreadyExists', () => store.models.create(KEY, SETTINGS, modelVersion('b')), {
      resource: { kind: 'model', ...KEY },
    });
    await store.models.create({ domain: 'energy', name: 'meter' }, SETTINGS, modelVersion('a'));
    await store.contexts.create('energy~Plug', contextVersion('c'));
    const plug = { domain: 'energy', name: 'Plug' };
    await refuses(store, 'alreadyExists', () => store.models.create(plug, SETTINGS, modelVersion('d')), {
      resource: { kind: 'context', name: 'energy~Plug' },
    });
  });

  test('an update with a version adds the version and its context, and does not change the old one', async (store, clock) => {
    await store.domains.create({ name: 'energy' });
    const first = await store.models.create(KEY, SETTINGS, modelVersion('a'));
    const second = await store.models.update(KEY, { settings: SETTINGS, version: modelVersion('b') });
    assert.equal(second.model.currentVersion, 2);
    assert.equal(second.version.number, 2);
    assert.notEqual(second.model.etag, first.model.etag);
    assert.ok(second.model.modifiedAt > clock.time, 'later, though the clock stands still');
    assert.equal(second.model.createdAt, first.model.createdAt);

    assert.deepEqual((await store.models.get(KEY, 1)).version, first.version);
    for (const [number, tag] of [
      [1, 'a'],
      [2, 'b'],
    ] as const) {
      const texts = await store.models.texts(KEY, number);
      assert.deepEqual([texts.schema, texts.context], [modelVersion(tag).schema, modelVersion(tag).context]);
      const context = await store.contexts.get('energy~Meter', number);
      assert.deepEqual(context.version.content, texts.version.context);
      assert.equal(context.context.currentVersion, 2);
    }
    assert.deepEqual(await store.models.get(KEY), second);
  });

  test('an update can replace the version of a draft and its context, and removes both completely', async (store, clock) => {
    await store.domains.create({ name: 'energy' });
    const draft = { ...SETTINGS, status: 'draft' } as const;
    await store.contexts.create('used', contextVersion('u'));
    const first = await store.models.create(KEY, draft, modelVersion('a', { contexts: new Set(['used']) }));
    assert.equal(first.model.status, 'draft');
    clock.time += 5;
    const version = modelVersion('b');
    const second = await store.models.update(KEY, { settings: draft, version, replaces: true });
    assert.deepEqual([second.version.number, second.version.createdAt], [1, clock.time]);
    assert.notEqual(second.model.etag, first.model.etag);
    assert.deepEqual(await store.models.get(KEY), second);
    assert.deepEqual((await store.models.versions(KEY, ALL)).items, [second.version]);
    assert.equal(await store.content(second.version.schema.sha256), version.schema);
    for (const { sha256 } of [first.version.schema, first.version.context])
      assert.equal(await store.content(sha256), undefined);
    const context = await store.contexts.get('energy~Meter');
    assert.deepEqual([context.context.currentVersion, context.version.content], [1, second.version.context]);
    await store.contexts.delete('used');
    const same = await store.models.update(KEY, { settings: draft, version, replaces: true });
    assert.equal(await store.content(same.version.schema.sha256), version.schema);
  });

  test('a model keeps its own context, its deprecation and its sunset', async (store) => {
    await store.domains.create({ name: 'energy' });
    const [own, other] = ['{"a":"https://a.example/"}', '{"b":"https://b.example/"}'];
    const settings = {
      ...SETTINGS,
      ownContext: own,
      status: 'deprecated',
      deprecatedAt: 5,
      sunsetAt: 7,
    } as const;
    const { model } = await store.models.create(KEY, settings, modelVersion('a'));
    assert.deepEqual([model.status, model.deprecatedAt, model.sunsetAt], ['deprecated', 5, 7]);
    assert.equal(await store.content(model.ownContext?.sha256 ?? ''), own);
    assert.equal((await store.models.texts(KEY)).ownContext, own);
    assert.deepEqual((await store.models.update(KEY, { settings })).model, model, 'nothing changes');
    const changed = await store.models.update(KEY, { settings: { ...settings, ownContext: other } });
    assert.notEqual(changed.model.etag, model.etag);
    assert.equal((await store.models.texts(KEY)).ownContext, other);
    assert.equal(await store.content(model.ownContext?.sha256 ?? ''), undefined);
    const { model: plain } = await store.models.update(KEY, { settings: SETTINGS });
    assert.deepEqual(
      [plain.status, plain.deprecatedAt, plain.sunsetAt, plain.ownContext],
      ['published', undefined, undefined, undefined],
    );
    assert.equal(await store.content(changed.model.ownContext?.sha256 ?? ''), undefined);
    await store.models.update(KEY, { settings });
    await store.models.delete(KEY);
    assert.equal(await store.content(model.ownContext?.sha256 ?? ''), undefined);
  });

  test('the current versions of the models of a domain are listed by name', async (store) => {
    await assert.rejects(store.models.current('energy'), { kind: 'notFound' });
    await store.domains.create({ name: 'energy' });
    assert.deepEqual(await store.models.current('energy'), []);
    await store.models.create({ ...KEY, name: 'Plug' }, SETTINGS, modelVersion('a'));
    await store.models.create(KEY, SETTINGS, modelVersion('a'));
    const { version } = await store.models.update(KEY, { settings: SETTINGS, version: modelVersion('b') });
    const current = await store.models.current('energy');
    assert.deepEqual(columns(current, 'name', 'number'), [
      ['Meter', 2],
      ['Plug', 1],
    ]);
    assert.deepEqual(current[0], {
      name: 'Meter',
      number: 2,
      createdAt: version.createdAt,
      contextSha256: version.context.sha256,
    });
  });

  test('an update without a version changes only the settings, and an update without changes does nothing', async (store) => {
    await store.domains.create({ name: 'energy' });
    const created = await store.models.create(KEY, { ...SETTINGS, description: 'old' }, modelVersion('a'));
    const settings = { contextBase: 'https://b.example/', compatibility: 'backward' } as const;
    const updated = await store.models.update(KEY, { settings });
    assert.deepEqual(updated.version, created.version);
    assert.deepEqual(
      [updated.model.description, updated.model.contextBase, updated.model.compatibility],
      [undefined, 'https://b.example/', 'backward'],
    );
    assert.notEqual(updated.model.etag, created.model.etag);
    const domain = await store.domains.get('energy');
    assert.deepEqual(await store.models.update(KEY, { settings }), updated);
    assert.deepEqual(await store.domains.get('energy'), domain);
  });

  test('a model that is created again has another ETag if anything in it differs', async (store) => {
    await store.domains.create({ name: 'energy' });
    const { model } = await store.models.create(KEY, SETTINGS, modelVersion('a'));
    await store.models.delete(KEY);
    const again = await store.models.create(KEY, SETTINGS, modelVersion('b'));
    assert.notEqual(again.model.etag, model.etag);
  });

  test('a version whose sources are missing or changed is refused with the names of all of them', async (store) => {
    await store.domains.create({ name: 'energy' });
    const { sha256 } = (await store.references.put(reference(COMMON, '{"v":1}'))).reference.content;
    await store.references.put(reference('https://other.example/', '{"v":1}'));
    await store.contexts.create('known', contextVersion('k'));
    const version = modelVersion('a', {
      references: new Map([
        [COMMON, NO_CONTENT],
        ['https://gone.example/', sha256],
        ['https://other.example/', sha256],
      ]),
      contexts: new Set(['known', 'Known']),
    });
    const details = { references: [COMMON, 'https://gone.example/'], contexts: ['Known'] };
    await refuses(store, 'dependencyChanged', () => store.models.create(KEY, SETTINGS, version), details);
    await store.models.create(KEY, SETTINGS, modelVersion('a'));
    const update = () => store.models.update(KEY, { settings: SETTINGS, version });
    await refuses(store, 'dependencyChanged', update, details);
  });

  test('the error for a missing model names the domain, or else the model, or else the version', async (store) => {
    await store.domains.create({ name: 'energy' });
    const missing = (resource: object) => ({ kind: 'notFound', resource });
    const lost = { domain: 'lost', name: 'Meter' };
    for (const read of [
      () => store.models.get(lost),
      () => store.models.list('lost', ALL),
      () => store.models.update(lost, { settings: SETTINGS }),
      () => store.models.delete(lost),
    ])
      await assert.rejects(read, missing({ kind: 'domain', name: 'lost' }));
    for (const read of [
      () => store.models.get(KEY),
      () => store.models.texts(KEY),
      () => store.models.versions(KEY, ALL),
      () => store.models.delete(KEY),
    ])
      await assert.rejects(read, missing({ kind: 'model', ...KEY }));
    await store.models.create(KEY, SETTINGS, modelVersion('a'));
    for (const version of [0, 2, -1, 1.5, NaN, Infinity, 2 ** 60]) {
      const thing = { kind: 'model', ...KEY, version };
      await assert.rejects(store.models.get(KEY, version), missing(thing));
      await assert.rejects(store.models.texts(KEY, version), missing(thing));
    }
  });
}
