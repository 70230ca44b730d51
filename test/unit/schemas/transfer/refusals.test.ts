import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SchemaNotAcceptedError } from '../../../../sidecar/schemas/service/errors.js';
import { refusalOf } from '../../../../sidecar/schemas/transfer/refusals.js';

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
