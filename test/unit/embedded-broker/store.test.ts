import fc from 'fast-check';
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { EntityStore } from '../../../sidecar/embedded-broker/store.js';
import { findPage } from '../../../sidecar/embedded-broker/page.js';

const content = (id: string, ...types: string[]) => ({ id, types, scopes: [], attributes: [] });
const ids = (store: EntityStore, type?: string) => [...store.list(type).keys()];

/** The expected behaviour of a store, written in the simplest and slowest way. */
class Model {
  entities: { id: string; types: string[] }[] = [];

  idsOf(type?: string): string[] {
    return this.entities
      .filter(({ types }) => type === undefined || types.includes(type))
      .map(({ id }) => id);
  }
}

const id = fc.integer({ min: 0, max: 12 }).map(String);
const types = fc.uniqueArray(fc.constantFrom('A', 'B', 'C'), { minLength: 1 });
const command = fc.oneof(
  fc.record({ kind: fc.constant('create' as const), id, types }),
  fc.record({ kind: fc.constant('delete' as const), id }),
  fc.record({ kind: fc.constant('retype' as const), id, types }),
);

it('lists and counts of the entity store agree with a simple implementation after any changes', () => {
  fc.assert(
    fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
      const store = new EntityStore();
      const model = new Model();
      for (const step of commands) {
        const known = model.entities.find((entity) => entity.id === step.id);
        if (step.kind === 'create') {
          assert.equal(store.create(content(step.id, ...step.types), 0) === undefined, known !== undefined);
          if (known === undefined) model.entities.push({ id: step.id, types: step.types });
        } else if (step.kind === 'delete') {
          assert.equal(store.delete(step.id), known !== undefined);
          model.entities = model.entities.filter((entity) => entity !== known);
        } else {
          const entity = store.get(step.id);
          if (entity !== undefined) store.setTypes(entity, step.types);
          if (known !== undefined) known.types = step.types;
        }
        for (const type of [undefined, 'A', 'B', 'C']) {
          assert.deepEqual(ids(store, type), model.idsOf(type));
          assert.equal(store.list(type).size, model.idsOf(type).length);
        }
        assert.equal(store.size, model.entities.length);
        assert.deepEqual(
          [...store.types()].sort(),
          ['A', 'B', 'C'].filter((type) => model.idsOf(type).length > 0),
        );
      }
    }),
    { numRuns: 60 },
  );
});

it('deleting ten thousand entities from the front keeps the order of the others', () => {
  const store = new EntityStore();
  for (let index = 0; index < 10_000; index += 1) store.create(content(String(index), 'A'), 0);
  store.delete('7777');
  const drained: string[] = [];
  for (;;) {
    const page = findPage(
      store,
      { ids: undefined, type: 'A', filters: [] },
      { limit: 70, offset: 0, count: true },
    );
    assert.equal(page.total, store.size);
    if (page.entities.length === 0) break;
    for (const entity of page.entities) {
      drained.push(entity.id);
      store.delete(entity.id);
    }
  }
  assert.deepEqual(
    drained,
    Array.from({ length: 10_000 }, (_, index) => String(index)).filter((each) => each !== '7777'),
  );
});

it('pages with a filter say whether more entities follow, and count only on request', () => {
  const store = new EntityStore();
  for (let index = 0; index < 10; index += 1) store.create(content(String(index), 'A'), 0);
  const query = {
    ids: undefined,
    type: 'A',
    filters: [({ id: each }: { id: string }) => Number(each) % 2 === 0],
  };
  const page = (limit: number, offset: number, count: boolean) => {
    const found = findPage(store, query, { limit, offset, count });
    return [found.entities.map((entity) => entity.id).join(''), found.hasMore, found.total];
  };
  assert.deepEqual(page(2, 0, false), ['02', true, undefined]);
  assert.deepEqual(page(2, 2, true), ['46', true, 5]);
  assert.deepEqual(page(2, 4, true), ['8', false, 5]);
  assert.deepEqual(page(3, 2, false), ['468', false, undefined]);
  assert.deepEqual(page(0, 0, true), ['', true, 5]);
  assert.deepEqual(page(2, 9, true), ['', false, 5]);
});
