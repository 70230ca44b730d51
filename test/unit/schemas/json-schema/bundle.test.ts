import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bundle } from '../../../../sidecar/schemas/json-schema/flatten.js';
import { isObject, type JsonObject, type JsonValue, member } from '../../../../sidecar/shared/json/json.js';
import { resolveReferencesIn } from '../../../../sidecar/schemas/json-schema/linker.js';
import { PARKING, PARKING_ENTITY, PARKING_MISTAKES, SHARED_DOCUMENTS } from './city-models.js';
import { acceptedBy, isValid2020, verdictOf } from './verdicts.js';

const DRAFT_07 = 'http://json-schema.org/draft-07/schema#';
const DRAFT_2019 = 'https://json-schema.org/draft/2019-09/schema';
const A = 'https://example.com/a.json';

describe('the bundle of a model whose shared documents have the same $id', () => {
  const linked = resolveReferencesIn(PARKING, SHARED_DOCUMENTS);
  const bundled = bundle(linked);

  it('the bundle names the definitions of other documents, keeps the $id, and says the draft', () => {
    const names = ['Entity-Commons', 'Place-Commons', 'Opening', 'Identifier', 'location'];
    assert.deepEqual(Object.keys(objectIn(bundled, '$defs')), names);
    assert.equal(bundled['$id'], PARKING['$id']);
    assert.equal(bundled['$schema'], 'https://json-schema.org/draft/2020-12/schema');
  });

  it('the bundle of documents with the same $id is valid, and accepts what the model accepts', () => {
    assert.ok(isValid2020(bundled));
    const verdicts = [verdictOf(bundled), acceptedBy(linked), acceptedBy(resolveReferencesIn(bundled))];
    for (const verdict of verdicts) {
      assert.equal(verdict(PARKING_ENTITY), true);
      for (const mistake of PARKING_MISTAKES)
        assert.equal(verdict({ ...PARKING_ENTITY, ...mistake }), false, JSON.stringify(mistake));
    }
  });

  it('the bundle of a model keeps unknown keywords', () => {
    assert.equal(bundled['$schemaVersion'], PARKING['$schemaVersion']);
  });
});

describe('a bundle', () => {
  it('a bundle keeps the definitions of the schema in their places, used or not', () => {
    const stored = new Map<string, JsonValue>([[A, { definitions: { text: { type: 'number' } } }]]);
    for (const keyword of ['$defs', 'definitions']) {
      const schema: JsonObject = {
        properties: { a: { $ref: `${A}#/definitions/text` }, b: { $ref: `#/${keyword}/text` } },
        [keyword]: { text: { type: 'string' }, unused: { minimum: 1 } },
      };
      assert.deepEqual(bundle(resolveReferencesIn(schema, stored)), {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        properties: { a: { $ref: `#/${keyword}/text-2` }, b: { $ref: `#/${keyword}/text` } },
        [keyword]: { text: { type: 'string' }, unused: { minimum: 1 }, 'text-2': { type: 'number' } },
      });
    }
  });

  it('a bundle refers to a schema without $id from within an absolute $id', () => {
    const $ref = 'schema:///schema.json#/$defs/text';
    const part = { $id: 'https://example.com/part', items: { $ref } };
    const bundled = bundle(
      resolveReferencesIn({ properties: { a: part }, $defs: { text: { type: 'string' } } }),
    );
    assert.deepEqual(bundled['properties'], { a: { items: { $ref: '#/$defs/text' } } });
  });

  it('a bundle of draft-07 has the keywords of 2020-12, and references that follow moved schemas', () => {
    const schema: JsonObject = {
      $schema: DRAFT_07,
      properties: {
        pair: { items: [{ type: 'string' }, { type: 'number' }], additionalItems: { type: 'null' } },
        first: { $ref: '#/properties/pair/items/0' },
        rest: { $ref: '#/properties/pair/additionalItems' },
        needs: { $ref: '#/dependencies/b' },
        plain: {
          items: { type: 'string' },
          additionalItems: false,
          prefixItems: [false],
          unevaluatedItems: false,
        },
        alone: { $ref: '#/definitions/text', type: 'null', description: 'kept' },
      },
      dependencies: { a: ['b'], b: { required: ['c'] } },
      definitions: { text: { type: 'string' } },
    };
    const bundled = bundle(resolveReferencesIn(schema));
    assert.deepEqual(bundled, {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      properties: {
        pair: { prefixItems: [{ type: 'string' }, { type: 'number' }], items: { type: 'null' } },
        first: { $ref: '#/definitions/0' },
        rest: { $ref: '#/definitions/additionalItems' },
        needs: { $ref: '#/definitions/b' },
        plain: { items: { type: 'string' } },
        alone: { $ref: '#/definitions/text', description: 'kept' },
      },
      dependentRequired: { a: ['b'] },
      dependentSchemas: { b: { required: ['c'] } },
      definitions: {
        text: { type: 'string' },
        0: { type: 'string' },
        additionalItems: { type: 'null' },
        b: { required: ['c'] },
      },
    });
  });

  it('a bundle replaces an empty list of items by the keyword for all further items', () => {
    for (const $schema of [DRAFT_07, DRAFT_2019]) {
      const properties = { a: { items: [] }, b: { items: [], additionalItems: false } };
      const bundled = bundle(resolveReferencesIn({ $schema, properties }));
      assert.ok(isValid2020(bundled));
      assert.deepEqual(bundled['properties'], { a: {}, b: { items: false } });
    }
  });

  it('a bundle gives schemas below unknown keywords a place in $defs', () => {
    const schema = { $ref: '#/components/schemas/A', components: { schemas: { A: { type: 'string' } } } };
    const bundled = bundle(resolveReferencesIn(schema));
    assert.deepEqual(bundled['$defs'], { A: { type: 'string' } });
    assert.equal(bundled['$ref'], '#/$defs/A');
    assert.equal(verdictOf(bundled)(1), false);
  });

  it('a bundle tells a nested resource from a document of the same URL', () => {
    const nested = { $id: 'b.json', type: 'string', $defs: { x: { type: 'number' } } };
    const stored = new Map<string, JsonValue>([
      [A, { $defs: { b: nested, y: { $ref: 'b.json#/$defs/x' } } }],
      ['https://example.com/b.json', { type: 'boolean' }],
    ]);
    const alone = bundle(
      resolveReferencesIn(
        { properties: { b: { $ref: `${A}#/$defs/b` }, y: { $ref: `${A}#/$defs/y` } } },
        stored,
      ),
    );
    assert.equal(verdictOf(alone)({ b: 'text', y: 1 }), true);
    assert.equal(verdictOf(alone)({ y: 'text' }), false);

    const references = [{ $ref: `${A}#/$defs/b` }, { $ref: 'https://example.com/b.json' }] as const;
    for (const [text, flag] of [['x', 'y'] as const, ['y', 'x'] as const]) {
      // In either order of encountering them.
      const properties = Object.fromEntries(
        [text, flag].sort().map((name) => [name, references[name === text ? 0 : 1]]),
      );
      const verdict = verdictOf(bundle(resolveReferencesIn({ properties }, stored)));
      assert.deepEqual(
        [{ [text]: 'text', [flag]: true }, { [text]: true }, { [flag]: 'text' }].map(verdict),
        [true, false, false],
      );
    }
  });

  it('a bundle drops a nested $id that is relative to nothing', () => {
    const bundled = bundle(
      resolveReferencesIn({ properties: { a: { $id: 'a.json', type: 'string' }, b: { $ref: 'a.json' } } }),
    );
    assert.ok(!JSON.stringify(bundled).includes('$id'), JSON.stringify(bundled));
    assert.deepEqual([{ b: 'text' }, { b: 1 }].map(verdictOf(bundled)), [true, false]);
  });

  it('a bundle overwrites nothing in the $defs of the schema', () => {
    const stored = new Map([[A, { type: 'string' }]]);
    const schema = {
      $defs: { [A]: { title: 'mine' } },
      properties: { x: { $ref: A }, y: { $ref: `#/$defs/${A.replaceAll('/', '~1')}` } },
    };
    const bundled = bundle(resolveReferencesIn(schema, stored));
    assert.equal(verdictOf(bundled)({ x: 1 }), false);
    assert.equal(verdictOf(bundled)({ y: 1 }), true);
  });
});

describe('dynamic references', () => {
  const tree = {
    $id: 'https://example.com/tree',
    $dynamicAnchor: 'node',
    type: 'object',
    properties: { data: true, children: { type: 'array', items: { $dynamicRef: '#node' } } },
  };
  const stored = new Map<string, JsonObject>([['https://example.com/tree', tree]]);
  it('dynamic references become plain references if they have a single meaning', () => {
    const bundled = bundle(resolveReferencesIn({ $ref: 'https://example.com/tree' }, stored));
    assert.doesNotMatch(JSON.stringify(bundled), /dynamic/);
    assert.equal(verdictOf(bundled)({ children: [1] }), false);
  });

  it('dynamic references keep the relative $ids on which they depend, wherever the schema itself is', () => {
    const base = {
      $id: 'base',
      properties: { held: { $dynamicRef: '#held' } },
      $defs: { held: { $dynamicAnchor: 'held', type: 'string' } },
    };
    const $defs = { number: { $dynamicAnchor: 'held', type: 'number' }, base };
    for (const at of [{}, { $id: 'models/root.json' }, { $id: 'https://example.com/models/root.json' }]) {
      const bundled = bundle(resolveReferencesIn({ ...at, $ref: 'base', $defs }));
      assert.deepEqual(bundle(resolveReferencesIn(bundled)), bundled);
      for (const accepts of [
        acceptedBy(resolveReferencesIn({ ...at, $ref: 'base', $defs })),
        acceptedBy(resolveReferencesIn(bundled)),
      ])
        assert.deepEqual(
          [{ held: 1 }, { held: 'text' }].map(accepts),
          [true, false],
          JSON.stringify(bundled),
        );
    }
  });
});

function objectIn(object: JsonObject, name: string): JsonObject {
  const held = member(object, name);
  assert.ok(isObject(held), name);
  return held;
}
