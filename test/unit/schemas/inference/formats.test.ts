import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { formatOf, hasUriFormat } from '../../../../sidecar/schemas/inference/shape.js';
import { words } from '../../../support/words.js';
import { INFERENCE_LIMITS } from '../../../../sidecar/schemas/inference/errors.js';
import { resolveReferencesIn } from '../../../../sidecar/schemas/json-schema/linker.js';
import { createValidator } from '../../../support/validator.js';

const RECOGNISED: Readonly<Record<string, readonly string[]>> = {
  'date-time': ['2024-02-29T10:00:00Z', '2024-02-29T10:00:00.123+02:00'],
  date: ['2024-02-29'],
  time: ['10:00:00Z', '10:00:00+01:00'],
  uuid: ['9830f692-7677-11e6-838b-4f9fb3dc5a4f', '9830F692-7677-11E6-838B-4F9FB3DC5A4F'],
  email: ['a.b@example.org'],
  ipv4: ['192.0.2.1'],
  ipv6: ['2001:db8::1', '::1', '::ffff:192.0.2.1', 'fe80::1'],
  uri: words(`
    https://example.org/ HTTP://example.org urn:ngsi-ld:Vehicle:A mailto:a@example.org
    urn:uuid:9830f692-7677-11e6-838b-4f9fb3dc5a4f mqtt://broker:1883/topic tel:+34123
    wss://a.example/x geo:52.5,13.4 did:example:123 data:text/plain,x DID:example:123 URN:a:b
  `),
};

describe('the format of a string', () => {
  it('each inferred format of a string is recognised', () => {
    for (const [format, texts] of Object.entries(RECOGNISED))
      for (const text of texts) assert.equal(formatOf(text), format, text);
  });

  it('a format is not inferred from strings that only resemble it, or are a URI by accident', () => {
    for (const text of [
      '',
      ' ',
      '2024-02-29 10:00:00Z',
      'note: this',
      'https://exa mple.org',
      ...words(`
        a 2024-02-30 2024-02-29T10:00:00 2024-13-01T00:00:00Z 2024-02-29T10:60:00Z 2024-02-29T10:00:00+02 20240229
        10:00 10:00:00 9830f692-7677 a@b @ 192.0.2 192.0.2.256 1.2.3.4.5 A:1 Mo-Fr:08:00 urn:x http://x:abc/
        C:\\temp 12:30:00 cafe:12 :
      `),
    ])
      assert.equal(formatOf(text), undefined, text);
  });

  it('the inferred format of a string is accepted by validation, whatever the string', () => {
    const validators = new Map(
      Object.keys(RECOGNISED).map((format) => [format, createValidator(resolveReferencesIn({ format }))]),
    );
    const near = fc
      .tuple(fc.constantFrom(...Object.values(RECOGNISED).flat()), fc.nat(60), fc.string({ maxLength: 2 }))
      .map(([text, at, put]) => text.slice(0, at) + put + text.slice(at + 1));
    fc.assert(
      fc.property(fc.oneof(near, fc.string()), (text) => {
        const format = formatOf(text);
        if (format !== undefined)
          assert.deepEqual(validators.get(format)?.(text), [], `${text} as ${format}`);
        if (hasUriFormat(text)) assert.deepEqual(validators.get('uri')?.(text), [], text);
      }),
      { numRuns: 1000 },
    );
  });

  it('the format of a long string is not determined', () => {
    const uri = 'https://example.org/'.padEnd(INFERENCE_LIMITS.formattedLength, 'a');
    assert.equal(formatOf(uri), 'uri');
    assert.equal(formatOf(`${uri}a`), undefined);
    assert.equal(hasUriFormat(uri), true);
    assert.equal(hasUriFormat(`${uri}a`), false);
  });
});
