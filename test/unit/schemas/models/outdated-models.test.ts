import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Contents } from '../../../../sidecar/schemas/models/contents.js';
import { References } from '../../../../sidecar/schemas/models/references.js';
import { NotFoundError } from '../../../../sidecar/store/errors.js';
import type { SchemaStore } from '../../../../sidecar/store/store.js';

const DOCUMENT = 'https://stored.example/x';
const OTHER_DOCUMENT = 'https://other.example/x';

describe('the models that were made with an earlier document', () => {
  it('a model is outdated when its current version has another text of this very document, on every page', async () => {
    const pinned = (uri: string, sha256: string) => ({ version: { references: [{ uri, sha256 }] } });
    const models: Readonly<Record<string, object>> = {
      old: pinned(DOCUMENT, 'before'),
      current: pinned(DOCUMENT, 'now'),
      otherDocument: pinned(OTHER_DOCUMENT, 'before'),
      last: pinned(DOCUMENT, 'before'),
    };
    const filler = Array.from({ length: 1000 }, (_, n) => ({ kind: 'context', name: `c${n}`, version: 1 }));
    const keyOf = (name: string) => ({ kind: 'model', domain: 'City', name, version: 1 });
    const all = [...['old', 'current', 'otherDocument', 'gone'].map(keyOf), ...filler, keyOf('last')];
    const pages: unknown[] = [];
    const store = {
      references: {
        spellings: () => Promise.resolve([]),
        get: () => Promise.resolve({ content: { sha256: 'now' } }),
        dependents: (_uri: string, { limit, offset }: { limit: number; offset: number }) => {
          pages.push([limit, offset]);
          return Promise.resolve({ items: all.slice(offset, offset + limit), total: all.length });
        },
      },
      models: {
        get: ({ name }: { name: string }) =>
          models[name] === undefined
            ? Promise.reject(new NotFoundError({ kind: 'model', domain: 'City', name }))
            : Promise.resolve(models[name]),
      },
    } as unknown as SchemaStore;
    const references = new References(store, undefined as unknown as Contents);
    assert.deepEqual(
      (await references.outdatedModels(DOCUMENT)).map(({ name }) => name),
      ['old', 'last'],
    );
    assert.deepEqual(pages, [
      [1000, 0],
      [1000, 1000],
    ]);
  });
});
