import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { MAX_EXAMPLES, type NewExamples } from '../../sidecar/store/records.js';
import { ALL, modelVersion, refuses, SETTINGS, type StoreTest } from './store-samples.js';
import { column } from './columns.js';

const KEY = { domain: 'energy', name: 'Meter' };
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');
const named = (...names: readonly string[]): NewExamples =>
  new Map(names.map((name) => [name, { text: `["${name}"]` }]));

/** What every store must guarantee for the examples of models. */
export function exampleContract(test: StoreTest): void {
  test('an example can be put, replaced and deleted by its ETag, the hash of its text, without changing the model', async (store) => {
    await store.domains.create({ name: 'energy' });
    const { model } = await store.models.create(KEY, SETTINGS, modelVersion('a'));
    const first = await store.examples.put(KEY, 'b.json', { text: '{"n":1}', form: 'keyvalues' }, 'absent');
    const content = { sha256: hashOf('{"n":1}'), size: 7 };
    assert.deepEqual(first, { example: { name: 'b.json', form: 'keyvalues', content }, isNew: true });
    await refuses(store, 'preconditionFailed', () =>
      store.examples.put(KEY, 'b.json', { text: '2' }, 'absent'),
    );
    await refuses(store, 'preconditionFailed', () =>
      store.examples.put(KEY, 'b.json', { text: '2' }, [hashOf('3')]),
    );
    const second = await store.examples.put(KEY, 'b.json', { text: '2' }, [content.sha256]);
    assert.deepEqual([second.isNew, second.example.form], [false, undefined]);
    assert.equal(await store.content(content.sha256), undefined, 'nothing names the text of before');
    await store.examples.put(KEY, 'a.jsonld', { text: '2' });
    assert.deepEqual(column((await store.examples.list(KEY, ALL)).items, 'name'), ['a.jsonld', 'b.json']);
    assert.deepEqual(await store.examples.list(KEY, { limit: 1, offset: 1 }), {
      items: [second.example],
      total: 2,
    });

    await refuses(store, 'preconditionFailed', () => store.examples.delete(KEY, 'b.json', [content.sha256]));
    await store.examples.delete(KEY, 'b.json', [hashOf('2')]);
    await refuses(store, 'notFound', () => store.examples.delete(KEY, 'b.json'), {
      resource: { kind: 'example', domain: 'energy', model: 'Meter', name: 'b.json' },
    });
    assert.equal(await store.content(hashOf('2')), '2', 'the other example has the same text');
    assert.deepEqual((await store.models.get(KEY)).model, model);
  });

  test('examples need an existing model, and text that not every database can store finds none', async (store) => {
    const get = (model = KEY, name = 'a.json') => store.examples.get(model, name);
    await refuses(store, 'notFound', () => get(), { resource: { kind: 'domain', name: 'energy' } });
    await store.domains.create({ name: 'energy' });
    for (const work of [
      get,
      () => store.examples.list(KEY, ALL),
      () => store.examples.put(KEY, 'a.json', { text: '1' }),
    ])
      await refuses(store, 'notFound', () => work(), { resource: { kind: 'model', ...KEY } });
    await store.models.create(KEY, SETTINGS, modelVersion('a'));
    await refuses(store, 'notFound', () => get(KEY, 'a\0'), {
      resource: { kind: 'example', domain: 'energy', model: 'Meter', name: 'a\0' },
    });
    await refuses(store, 'bodyInvalid', () => store.examples.put(KEY, 'a.json', { text: '"\0"' }));
  });

  test('a write of a model replaces all of its examples or none, and a text is removed with the last thing that names it', async (store) => {
    await store.domains.create({ name: 'energy' });
    const names = async () => column((await store.examples.list(KEY, ALL)).items, 'name');
    await store.models.create(KEY, SETTINGS, modelVersion('a'), named('a.json', 'b.json'));
    assert.deepEqual(await names(), ['a.json', 'b.json']);
    await store.models.update(KEY, { settings: SETTINGS, version: modelVersion('b') });
    assert.deepEqual(await names(), ['a.json', 'b.json'], 'they belong to no version');

    const update = { settings: SETTINGS, version: modelVersion('c'), examples: named('b.json', 'c.json') };
    await refuses(store, 'preconditionFailed', () => store.models.update(KEY, update, ['of another time']));
    assert.deepEqual(await names(), ['a.json', 'b.json']);
    const { model } = await store.models.update(KEY, update);
    assert.deepEqual(await names(), ['b.json', 'c.json']);
    assert.equal(await store.content(hashOf('["a.json"]')), undefined);
    const same = await store.models.update(KEY, { settings: SETTINGS, examples: named('c.json') });
    assert.deepEqual([same.model, await names()], [model, ['c.json']]);

    const schema = '["c.json"]';
    await store.models.create({ ...KEY, name: 'Same' }, SETTINGS, modelVersion('d', { schema }));
    await store.models.delete(KEY);
    assert.equal(await store.content(hashOf(schema)), schema, 'it is the schema of the other model');
    await store.domains.delete('energy', { cascade: true });
    assert.equal(await store.content(hashOf(schema)), undefined);
  });

  test('a model never has more than the maximum number of examples, whichever way they are written', async (store) => {
    await store.domains.create({ name: 'energy' });
    const many = (count: number) => named(...Array.from({ length: count }, (_, n) => `${n}.json`));
    await refuses(store, 'limitExceeded', () =>
      store.models.create(KEY, SETTINGS, modelVersion('a'), many(MAX_EXAMPLES + 1)),
    );
    await store.models.create(KEY, SETTINGS, modelVersion('a'), many(MAX_EXAMPLES));
    await refuses(store, 'limitExceeded', () => store.examples.put(KEY, 'one-more.json', { text: '1' }));
    assert.equal((await store.examples.put(KEY, '0.json', { text: '1' })).isNew, false);
    assert.equal((await store.examples.list(KEY, ALL)).total, MAX_EXAMPLES);
  });
}
