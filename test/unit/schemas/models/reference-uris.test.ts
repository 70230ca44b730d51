import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { referenceFileName } from '../../../../sidecar/schemas/models/model-documents.js';
import { referenceUri, urisNamedIn } from '../../../../sidecar/schemas/models/references.js';

const URI = 'https://schemas.example/a/common.json';

describe('URIs of reference documents', () => {
  it('URIs of reference documents are used in their normal form', () => {
    assert.equal(referenceUri('HTTPS://Schemas.example:443/a/../b'), 'https://schemas.example/b');
    assert.equal(referenceUri('urn:example:common'), 'urn:example:common');
  });
});

describe('the URIs that a document names', () => {
  it('the URIs that a document names are those of other documents, relative to its own URL', () => {
    const document = {
      $id: 'https://elsewhere.example/x.json',
      $ref: 'other.json#/definitions/a',
      definitions: {
        a: { $ref: '#/definitions/b' },
        b: { $ref: 'urn:example:more' },
        c: { allOf: [{ $dynamicRef: 'https://schemas.example/third.json#node' }] },
        d: { $ref: `${URI}#/definitions/a` },
      },
    };
    assert.deepEqual(
      [...urisNamedIn(document, URI)],
      ['https://schemas.example/a/other.json', 'urn:example:more', 'https://schemas.example/third.json'],
    );
  });

  it('the URIs that a document names respect the $id around a reference, and leave out its own parts', () => {
    const document = {
      $defs: {
        inner: { $id: '/b/inner.json', $ref: 'beside.json' },
        user: { $ref: 'https://schemas.example/b/inner.json' },
      },
    };
    assert.deepEqual([...urisNamedIn(document, URI)], ['https://schemas.example/b/beside.json']);
  });

  it('the URIs that a document names ignore values that are not references', () => {
    const document = { $ref: 1, properties: { $ref: { type: 'string' }, a: { $ref: 'http://[' } } };
    assert.deepEqual([...urisNamedIn(document, URI)], []);
  });
});

describe('file names of reference documents', () => {
  it('file names of reference documents differ if URIs end alike, and depend on nothing else', () => {
    const names = [URI, 'http://schemas.example/common.json'].map(referenceFileName);
    assert.equal(new Set(names).size, 2);
    for (const name of names) assert.match(name, /^common-[0-9a-f]{12}\.json$/);
    assert.equal(referenceFileName(URI), names[0]);
  });

  for (const uri of [
    'urn:example:common',
    'https://x.example/',
    'https://x.example/a%20b/?q=/../',
    'urn:x:é',
  ])
    it(`file names of reference documents are safe for ${uri}`, () => {
      assert.match(referenceFileName(uri), /^[A-Za-z0-9_-]+-[0-9a-f]{12}\.json$/);
    });
});
