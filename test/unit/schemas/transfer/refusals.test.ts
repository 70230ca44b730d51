import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StoreUnavailableError } from '../../../../sidecar/schemas/store/errors.js';
import { refusalOf } from '../../../../sidecar/schemas/transfer/refusals.js';
import {
  TaskFailedError,
  TaskTooCostlyError,
  WorkersBusyError,
} from '../../../../sidecar/shared/workers/errors.js';

describe('the refusal of an imported file', () => {
  for (const error of [
    new StoreUnavailableError('The database is away.'),
    new WorkersBusyError(100),
    new TaskFailedError('The workers are being closed.'),
    new TypeError('A fault of ours.'),
  ]) {
    it(`an imported file is not blamed for what is not its fault, and the import fails: ${error.name}`, () => {
      assert.throws(() => refusalOf(error, '{}', ''), error);
    });
  }

  it('an imported file that takes too much is refused, and the import goes on', () => {
    const { status, reason } = refusalOf(new TaskTooCostlyError('time', 'It takes too long'), '{}', '');
    assert.deepEqual([status, reason], ['refused', 'It takes too long.']);
  });
});
