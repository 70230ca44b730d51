import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SchemaNotAcceptedError } from '../../../../sidecar/schemas/models/errors.js';
import type { ModelDescriptions } from '../../../../sidecar/schemas/models/model-descriptions.js';
import { ModelSearch, termsOf } from '../../../../sidecar/schemas/models/model-search.js';
import { NotFoundError, StoreUnavailableError } from '../../../../sidecar/store/errors.js';
import type { SchemaStore } from '../../../../sidecar/store/store.js';
import {
  TaskFailedError,
  TaskTooCostlyError,
  WorkersBusyError,
} from '../../../../sidecar/shared/workers/errors.js';

const PAGE = { limit: 10, offset: 0 };

/** A search over models without terms. @param failure what describing one fails with */
function searchOf(names: readonly string[], failure: (name: string) => Error | undefined = () => undefined) {
  const left = new Set(names);
  const described: string[] = [];
  const searches: unknown[] = [];
  const state = { revision: 1, keepsNothing: false };
  const store = {
    revision: () => Promise.resolve(String(state.revision)),
    models: {
      withoutTerms: (limit: number) =>
        Promise.resolve([...left].slice(0, limit).map((name) => ({ domain: 'City', name }))),
      get: ({ name }: { name: string }) => Promise.resolve({ version: { name } }),
      putTerms: ({ name }: { name: string }) => {
        if (!state.keepsNothing) left.delete(name);
        return Promise.resolve();
      },
      search: (filter: unknown, page: unknown) => {
        searches.push([filter, page]);
        return Promise.resolve({ items: [{ name: 'found' }], total: 1 });
      },
    },
  };
  const descriptions = {
    of: ({ name }: { name: string }) => {
      described.push(name);
      const error = failure(name);
      return error === undefined
        ? Promise.resolve({ types: undefined, attributes: [], names: [], bundled: '{}' })
        : Promise.reject(error);
    },
  };
  const search = new ModelSearch(
    store as unknown as SchemaStore,
    descriptions as unknown as ModelDescriptions,
  );
  return { search, described, searches, left, state };
}

const many = (count: number) => Array.from({ length: count }, (_, n) => `M${n}`);

describe('the search for models', () => {
  it('all models get their terms with the first search, each once, however many there are', async () => {
    const { search, described, left } = searchOf(many(250));
    await search.matching({}, PAGE);
    assert.deepEqual([described.length, new Set(described).size, left.size], [250, 250, 0]);
    await search.matching({}, PAGE);
    assert.equal(described.length, 250);
  });

  it('models that have nothing to be found by are described once in a look, and do not hide those behind them', async () => {
    const { search, described, state } = searchOf(many(250));
    state.keepsNothing = true;
    await search.matching({}, PAGE);
    assert.equal(new Set(described).size, 250);
    assert.equal(described.length, 250);
  });

  it('a model that cannot be described is given up until the next start, and does not hide others', async () => {
    for (const error of [
      new TaskTooCostlyError('time', 'late'),
      new TaskFailedError('broken'),
      new SchemaNotAcceptedError('SCHEMA_INVALID', 'It is refused.', [], []),
    ]) {
      const { search, described, left, state } = searchOf(many(150), (name) =>
        Number(name.slice(1)) < 120 ? error : undefined,
      );
      await search.matching({}, PAGE);
      assert.deepEqual([described.length, left.size], [150, 120]);
      state.revision += 1;
      await search.matching({}, PAGE);
      assert.equal(described.length, 150, 'those that were given up are not tried again');
    }
  });

  it('a model that was deleted meanwhile is passed over, and an outage fails the search', async () => {
    const gone = new NotFoundError({ kind: 'model', domain: 'City', name: 'M0' });
    const { search, left } = searchOf(many(3), (name) => (name === 'M0' ? gone : undefined));
    await search.matching({}, PAGE);
    assert.deepEqual([...left], ['M0']);
    for (const error of [new StoreUnavailableError('down'), new WorkersBusyError(1)]) {
      const away = searchOf(many(3), () => error);
      await assert.rejects(away.search.matching({}, PAGE), error);
      assert.deepEqual(away.searches, []);
    }
  });

  it('the models of a type are ten at most, looked up once for each type and domain until something is written', async () => {
    const { search, searches, state } = searchOf([]);
    for (const [type, domain] of [
      ['Lamp', undefined],
      ['Lamp', 'City'],
      ['Bench', 'City'],
      ['Lamp', 'City'],
    ] as const)
      assert.equal((await search.ofType(type, domain)).length, 1);
    const page = { limit: 10, offset: 0 };
    assert.deepEqual(searches, [
      [{ type: 'Lamp', domain: undefined }, page],
      [{ type: 'Lamp', domain: 'City' }, page],
      [{ type: 'Bench', domain: 'City' }, page],
    ]);
    state.revision += 1;
    await search.ofType('Lamp', 'City');
    assert.equal(searches.length, 4);
  });

  it('a model is found by its name as a type unless its schema lists others, and by its attributes', () => {
    const description = { bundled: '{}', names: [], attributes: [{ name: 'a' }, { name: 'b' }] } as never;
    const terms = (types: readonly string[] | undefined) =>
      termsOf('Lamp', { ...(description as object), types } as never);
    assert.deepEqual(terms(undefined), { types: ['Lamp'], attributes: ['a', 'b'] });
    assert.deepEqual(terms(['StreetLamp', 'Lantern']).types, ['StreetLamp', 'Lantern']);
  });
});
