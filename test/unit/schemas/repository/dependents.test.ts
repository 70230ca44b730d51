import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NotFoundError, StoreUnavailableError } from '../../../../sidecar/store/errors.js';
import type { SchemaService } from '../../../../sidecar/schemas/models/index.js';
import { changeByContexts, updateDependents } from '../../../../sidecar/schemas/repository/dependents.js';
import { TaskTooCostlyError } from '../../../../sidecar/shared/workers/errors.js';
import { invalidMember } from '../../../../sidecar/schemas/models/errors.js';

const KEY = { domain: 'Traffic', name: 'Car' };
const OPTIONS = { before: new Map([['terms', '{}']]), baseUrl: 'http://gateway.example' };

const failing = (error: Error) =>
  changeByContexts(KEY, OPTIONS, {
    byContexts: () => Promise.reject(error),
  } as unknown as SchemaService['comparison']);

describe('what changed contexts mean for a model', () => {
  it('a model that cannot be compared with its contexts before is reported as not proven to be the same', async () => {
    const { overall, differences } = await failing(new TaskTooCostlyError('time', 'It took too long.'));
    assert.equal(overall, 'narrowing');
    assert.deepEqual(
      differences.map(({ reason }) => reason),
      ['unproven'],
    );
  });

  it('a model that was deleted during an import has no change, and an outage of the store is not hidden', async () => {
    const missing = await failing(new NotFoundError({ kind: 'model', ...KEY }));
    assert.deepEqual(missing.differences, []);
    await assert.rejects(failing(new StoreUnavailableError('down')), { kind: 'storeUnavailable' });
  });
});

describe('the models that an import reaches', () => {
  const key = (name: string) => ({ domain: 'Traffic', name });
  const report = (overall: string, count: number) => ({
    overall,
    differences: Array.from({ length: count }, (_, n) => ({ pointer: `/${overall}/${n}` })),
  });

  function schemasOf(outdated: Readonly<Record<string, readonly string[]>>, more: object = {}) {
    const updates: unknown[] = [];
    const schemas = {
      references: {
        outdatedModels: (uri: string) => Promise.resolve((outdated[uri] ?? []).map(key)),
      },
      store: {
        models: { texts: ({ name }: { name: string }) => Promise.resolve({ schema: `{"title":"${name}"}` }) },
      },
      models: {
        put: ({ name }: { name: string }, change: unknown, options: object) => {
          updates.push([name, change, options]);
          if (name === 'Refused') return Promise.reject(invalidMember('name', 'must be another one'));
          const isSame = name === 'Same';
          return Promise.resolve({
            outcome: isSame ? 'unchanged' : 'version',
            change: isSame ? report('compatible', 0) : report('narrowing', 1),
          });
        },
      },
      comparison: { byContexts: () => Promise.resolve(report('compatible', 0)) },
      contexts: {
        document: (name: string) => Promise.reject(new NotFoundError({ kind: 'context', name })),
        followers: () => Promise.resolve([]),
      },
      ...more,
    };
    return { schemas: schemas as unknown as Parameters<typeof updateDependents>[1], updates };
  }

  const AT = { dryRun: false, baseUrl: 'http://gateway.example' };

  it('a model is updated once for all documents that it was made with, in the order of names, but for those of the import', async () => {
    const { schemas, updates } = schemasOf({ a: ['Car', 'Bus'], b: ['Bus', 'Same', 'Refused', 'Own'] });
    const dependents = await updateDependents(['a', 'b'], schemas, {
      ...AT,
      ...{ dryRun: true, except: new Set(['Traffic/Own']) },
    });
    assert.deepEqual(
      dependents.map(({ model, status, change }) => [model, status, change]),
      [
        ['Bus', 'updated', 'narrowing'],
        ['Car', 'updated', 'narrowing'],
        ['Refused', 'refused', undefined],
        ['Same', 'unchanged', undefined],
      ],
    );
    assert.deepEqual(updates[0], [
      'Bus',
      { schema: { title: 'Bus' } },
      { expected: 'present', dryRun: true, baseUrl: AT.baseUrl, contextsBefore: undefined },
    ]);
  });

  it('no further model is updated when the client has left', async () => {
    const leaving = new AbortController();
    const { schemas, updates } = schemasOf(
      { a: ['Bus', 'Car'] },
      {
        store: {
          models: {
            texts: () => {
              leaving.abort(new Error('gone'));
              return Promise.resolve({ schema: '{}' });
            },
          },
        },
      },
    );
    await assert.rejects(updateDependents(['a'], schemas, { ...AT, signal: leaving.signal }), /gone/);
    assert.equal(updates.length, 1);
  });
});
