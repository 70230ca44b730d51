import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { costing } from '../../../../sidecar/schemas/json-schema/schema-work.js';
import { TaskTooCostlyError, WorkersBusyError } from '../../../../sidecar/shared/workers/errors.js';
import { refusalOf } from './refusal.js';

describe('work on schemas', () => {
  it('work on a schema that takes too much is the fault of the schema, and says of what', async () => {
    for (const bound of ['time', 'memory'] as const) {
      const cause = new TaskTooCostlyError(bound, 'It was ended.');
      const refusal = await refusalOf(() => costing(Promise.reject(cause)));
      const detail = `processing the schema takes too much ${bound}`;
      assert.deepEqual(
        ['kind' in refusal && refusal.kind, refusal.message, refusal.errors, refusal.cause],
        ['schemaTooCostly', `The schema is refused: ${detail}.`, [{ pointer: '', detail }], cause],
      );
    }
  });

  it('work on a schema that fails for another reason is not blamed on the schema', async () => {
    const busy = new WorkersBusyError(3);
    await assert.rejects(costing(Promise.reject(busy)), (error) => error === busy);
    assert.equal(await costing(Promise.resolve(7)), 7);
  });
});
