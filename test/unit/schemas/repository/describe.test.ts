import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeDocument } from '../../../../sidecar/schemas/repository/describe.js';
import { words } from '../../../support/words.js';

function factsOf(document: unknown) {
  const description = describeDocument(JSON.stringify(document));
  assert.ok('facts' in description);
  return description.facts;
}

describe('the kind of a document in a repository', () => {
  for (const [document, kind] of [
    [{ '@context': {} }, 'context'],
    [{ '@context': {}, other: 1 }, 'other'],
    [{ '@context': {}, properties: {} }, 'other'],
    ...['$schema', '$defs', 'definitions', 'properties', 'allOf', 'anyOf', 'oneOf', '$ref', '$anchor'].map(
      (keyword) => [{ [keyword]: {} }, 'schema'] as const,
    ),
    [{ type: 'object', required: [] }, 'schema'],
    [{ type: 'object' }, 'other'],
    [{ type: 'Lamp', required: [] }, 'other'],
    [{ required: [] }, 'other'],
    [{ 'https://a.example/x': 'x.json' }, 'urls'],
    [{ 'http://a.example/x': 'x.json', 'urn:x': 'y.json' }, 'urls'],
    [{ 'https://a.example/x': 'x.json', other: 'y.json' }, 'other'],
    [{ 'https://a.example/x': 1 }, 'other'],
    [{ 'ftp://a.example/x': 'x.json' }, 'other'],
    [{ 'xhttps://a.example/x': 'x.json' }, 'other'],
    [{ 'urn:': 'x.json' }, 'other'],
    [{}, 'other'],
    [[{ properties: {} }], 'other'],
    ['text', 'other'],
    [null, 'other'],
  ] as const) {
    it(`a document is of the kind ${kind}: ${JSON.stringify(document)}`, () => {
      assert.equal(factsOf(document).kind, kind);
    });
  }

  it('a schema describes entities if it describes a type, itself or in a part of allOf', () => {
    const typed = { properties: { type: {} } };
    for (const [schema, isEntity] of [
      [typed, true],
      [{ allOf: [{ $ref: 'a.json' }, typed] }, true],
      [{ allOf: [true, typed] }, true],
      [{ anyOf: [typed] }, false],
      [{ properties: { name: {} } }, false],
      [{ properties: ['type'] }, false],
      [{ '@context': {}, ...typed }, false],
    ] as const)
      assert.equal(factsOf(schema).isEntity, isEntity, JSON.stringify(schema));
  });

  it('a schema has its $id and its title if they are texts', () => {
    const { id, title } = factsOf({ $id: 'https://a.example/', title: 'Lamp', properties: {} });
    assert.deepEqual([id, title], ['https://a.example/', 'Lamp']);
    assert.deepEqual(
      Object.keys(factsOf({ $id: 1, title: {}, properties: {} })).sort(),
      words(`
      contexts innerIds isEntity kind references
    `),
    );
  });

  it('the references of a schema are those to other documents by any keyword, with the $ids around them', () => {
    const { references, innerIds } = factsOf({
      $id: 'https://a.example/root.json',
      $ref: 'a.json#/definitions/x',
      properties: {
        own: { $ref: '#/definitions/x' },
        dynamic: { $dynamicRef: 'b.json#x' },
        recursive: { $recursiveRef: 'c.json' },
        again: [{ $ref: 'a.json' }],
        inner: { $id: 'inner/', allOf: [{ $id: 'deeper/', $ref: 'd.json' }, { $ref: 'e.json' }] },
        anchor: { $id: '#anchor', $ref: 'f.json' },
        none: { $ref: 1 },
      },
    });
    const reference = (target: string, ...within: readonly string[]) => ({ target, within });
    assert.deepEqual(references, [
      ...['a.json', 'b.json', 'c.json'].map((target) => reference(target)),
      reference('d.json', 'inner/', 'deeper/'),
      reference('e.json', 'inner/'),
      reference('f.json'),
    ]);
    assert.deepEqual(innerIds, [reference('inner/'), reference('deeper/', 'inner/')]);
  });

  it('the same name below another $id is another reference, and below the same $id the same one', () => {
    const inner = ($id: string) => ({ $id, $ref: 'a.json', items: { $id: 'deeper/' } });
    const { references, innerIds } = factsOf({
      properties: { first: inner('x/'), second: inner('y/'), again: inner('x/'), outer: { $ref: 'a.json' } },
    });
    assert.deepEqual(
      references,
      [['x/'], ['y/'], []].map((within) => ({ target: 'a.json', within })),
    );
    assert.deepEqual(innerIds, [
      { target: 'x/', within: [] },
      { target: 'deeper/', within: ['x/'] },
      { target: 'y/', within: [] },
      { target: 'deeper/', within: ['y/'] },
    ]);
  });

  it('the references of a schema are a thousand at most', () => {
    const parts = Array.from({ length: 1001 }, (_, n) => ({ $ref: `${n}.json`, $id: `${n}/` }));
    const { references, innerIds } = factsOf({ allOf: parts });
    assert.deepEqual([references.length, innerIds.length], [1000, 1000]);
  });

  it('the contexts of a document are those that its @context names, or those of the items of an array', () => {
    const url = (n: number) => `https://a.example/${n}`;
    assert.deepEqual(factsOf({ '@context': [url(1), { '@import': url(2) }], type: 'Lamp' }).contexts, [
      url(1),
      url(2),
    ]);
    const items = [{ '@context': url(1) }, 'text', { id: 'x' }, { '@context': [url(2), url(1)] }];
    assert.deepEqual(factsOf(items).contexts, [url(1), url(2)]);
    assert.deepEqual(factsOf({ inner: { '@context': url(1) } }).contexts, []);
    const many = Array.from({ length: 1001 }, (_, n) => url(n));
    assert.equal(factsOf({ '@context': many }).contexts.length, 1000);
  });
});
