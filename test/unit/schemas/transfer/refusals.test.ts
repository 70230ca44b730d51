import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SchemaNotAcceptedError } from '../../../../sidecar/schemas/service/errors.js';
import { StoreUnavailableError } from '../../../../sidecar/schemas/store/errors.js';
import { refusalOf } from '../../../../sidecar/schemas/transfer/refusals.js';
import {
  TaskFailedError,
  TaskTooCostlyError,
  WorkersBusyError,
} from '../../../../sidecar/shared/workers/errors.js';

const reasonOf = (message: string, pointer: string, detail: string) =>
  refusalOf(new SchemaNotAcceptedError('SCHEMA_INVALID', message, [{ pointer, detail }]), '[]', '/schema')
    .reason;

describe('the reason of a refused file', () => {
  it('the reason of a refused file says once what is wrong with the whole', () => {
    const detail = 'must be a JSON object';
    assert.equal(reasonOf(`The schema ${detail}.`, '/schema', detail), 'The schema must be a JSON object.');
    assert.equal(reasonOf('It is refused.', '/schema', detail), `It is refused. ${detail}.`);
  });

  it('the reason of a refused file names the place of what is wrong within', () => {
    assert.equal(
      reasonOf('It is refused.', '/schema/type', 'is unknown'),
      'It is refused. /type: is unknown.',
    );
  });
});

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
