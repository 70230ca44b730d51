import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SchemaStore } from '../../sidecar/store/store.js';
import { TaskFailedError } from '../../sidecar/shared/workers/errors.js';
import { ALL, useRigs } from '../unit/schemas/models/harness.js';

/** A store as an older gateway has filled it: its models have no terms. */
function withoutTerms(store: SchemaStore): SchemaStore {
  const create: SchemaStore['models']['create'] = (key, settings, version) =>
    store.models.create(key, settings, { ...version, terms: undefined });
  return replacing(store, { models: replacing(store.models, { create }) });
}

/** The object with some members replaced; its methods keep their own `this`. */
function replacing<Target extends object>(target: Target, members: Partial<Target>): Target {
  return new Proxy(target, {
    get: (_, name) => {
      const value: unknown = Reflect.get(Object.hasOwn(members, name) ? members : target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

const SCHEMA = { properties: { type: { const: 'Seat' }, seats: { type: 'integer' } } };

describe('models of an older gateway', () => {
  const rigOf = useRigs();

  it('models of an older gateway are found by type and attribute with the first search, which reads each of them once', async (t) => {
    const { service, tasks } = await rigOf(t, { store: withoutTerms, cacheBytes: 0 });
    for (const name of ['Bench', 'Chair']) await service.models.create('city', { name, schema: SCHEMA });
    tasks.length = 0;
    for (let round = 0; round < 2; round += 1) {
      const { items, total } = await service.search.matching({ type: 'Seat', attribute: 'seats' }, ALL);
      assert.deepEqual([items.map(({ name }) => name), total], [['Bench', 'Chair'], 2]);
      assert.deepEqual(tasks, ['describeModel', 'describeModel']);
    }
    assert.equal((await service.search.ofType('Seat', 'city')).length, 2);
    assert.deepEqual(await service.search.ofType('Seat', 'country'), []);
  });

  it('a search ends also when models of an older gateway cannot be described', async (t) => {
    const { service } = await rigOf(t, { store: withoutTerms });
    await service.models.create('city', { name: 'Nul', schema: { properties: { type: { const: '\0' } } } });
    assert.deepEqual((await service.search.matching({ type: 'Nul' }, ALL)).items, []);
    assert.equal((await service.search.matching({ q: 'nul' }, ALL)).total, 1);
  });

  it('models of an older gateway that cannot be described do not hide others', async (t) => {
    let isFailing = false;
    const { service } = await rigOf(t, {
      store: withoutTerms,
      cacheBytes: 0,
      workers: (workers) => ({
        run: (kind, input, options) =>
          isFailing && kind === 'describeModel' && JSON.stringify(input).includes('Odd')
            ? Promise.reject(new TaskFailedError('deep', { cause: new RangeError('stack') }))
            : workers.run(kind, input, options),
      }),
    });
    await service.models.create('city', { name: 'Bench', schema: SCHEMA });
    await service.models.create('city', { name: 'Odd', schema: { ...SCHEMA, title: 'Odd' } });
    isFailing = true;
    const found = async (filter: object) =>
      (await service.search.matching(filter, ALL)).items.map(({ name }) => name);
    assert.deepEqual(await found({ type: 'Seat' }), ['Bench']);
    assert.deepEqual(await found({ q: 'odd' }), ['Odd']);
  });
});
