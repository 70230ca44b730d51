import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { decodeBody } from '../../../sidecar/http/api/body-parser.js';
import { RequestRefusedError } from '../../../sidecar/http/refused.js';
import { unicodeText } from '../../support/unicode-text.js';

it('decodeBody agrees with a fatal decoder of UTF-8 on any bytes', () => {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const texts = unicodeText().map((text) => Buffer.from(text));
  const marks = fc.constantFrom(Buffer.from([]), Buffer.from('\ufeff'), Buffer.from('\ufeff\ufeff'));
  const bytes = fc
    .tuple(
      marks,
      fc.oneof(
        texts,
        fc.uint8Array().map((array) => Buffer.from(array)),
      ),
    )
    .map((parts) => Buffer.concat(parts));
  fc.assert(
    fc.property(bytes, (body) => {
      let expected: string;
      try {
        expected = decoder.decode(body);
      } catch {
        assert.throws(() => decodeBody(body), RequestRefusedError);
        return;
      }
      assert.equal(decodeBody(body), expected);
    }),
  );
});
