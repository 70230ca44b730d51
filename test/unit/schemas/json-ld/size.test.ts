import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { isLarger } from '../../../../sidecar/schemas/json-ld/document-survey.js';

describe('the size of a value', () => {
  it('the size of a value is about that of its JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const { length } = JSON.stringify(value);
        // Escapes and long numbers are not considered; short ones and separators are counted generously.
        assert.ok(!isLarger(value, 6 * length + 10));
        assert.ok(isLarger(value, length / 10 - 1));
      }),
    );
  });

  it('the size of a value that is too large is found without visiting all of the value', () => {
    const value = [
      'x'.repeat(100),
      {
        get never(): never {
          throw new Error('was looked at');
        },
      },
    ];
    assert.ok(isLarger(value, 50));
  });
});
