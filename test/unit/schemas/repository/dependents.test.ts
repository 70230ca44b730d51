import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NotFoundError, StoreUnavailableError } from '../../../../sidecar/store/errors.js';
import type { SchemaService } from '../../../../sidecar/schemas/models/index.js';
import { changeByContexts } from '../../../../sidecar/schemas/repository/dependents.js';
import { TaskTooCostlyError } from '../../../../sidecar/shared/workers/errors.js';
import { column } from '../../../support/columns.js';

const KEY = { domain: 'Traffic', name: 'Car' };
const OPTIONS = { before: new Map([['terms', '{}']]), baseUrl: 'http://gateway.example' };

const failing = (error: Error) =>
  changeByContexts(KEY, OPTIONS, {
    byContexts: () => Promise.reject(error),
  } as unknown as SchemaService['comparison']);

describe('the effect of changed contexts on a model', () => {
  it('a model that cannot be compared with its earlier contexts is reported as unproven', async () => {
    const { overall, differences } = await failing(new TaskTooCostlyError('time', 'It took too long.'));
    assert.equal(overall, 'narrowing');
    assert.deepEqual(column(differences, 'reason'), ['unproven']);
  });

  it('a model that was deleted during an import has no change, and an outage of the store is not hidden', async () => {
    const missing = await failing(new NotFoundError({ kind: 'model', ...KEY }));
    assert.deepEqual(missing.differences, []);
    await assert.rejects(failing(new StoreUnavailableError('down')), { kind: 'storeUnavailable' });
  });
});
