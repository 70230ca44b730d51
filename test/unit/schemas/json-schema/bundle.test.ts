import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { bundle } from '../../../../sidecar/schemas/json-schema/bundle.js';
import { isObject, type JsonObject, type JsonValue, member } from '../../../../sidecar/shared/json/json.js';
import { resolveReferencesIn } from '../../../../sidecar/schemas/json-schema/linker.js';
import {
  COMMON,
  PARKING,
  PARKING_ENTITY,
  PARKING_MISTAKES,
  PLACES,
  SHARED_DOCUMENTS,
} from './city-models.js';
import { schemaPairs } from './schema-arbitraries.js';
import { acceptedBy, isValid2020, verdictOf } from './verdicts.js';

const DRAFT_07 = 'http://json-schema.org/draft-07/schema#';
const DRAFT_2020 = 'https://json-schema.org/draft/2020-12/schema';
const DRAFT_2019 = 'https://json-schema.org/draft/2019-09/schema';
const A = 'https://example.com/a.json';
const DEFINITION = '#/$defs/definition';

function bundledAndGiven(schema: JsonObject): readonly [JsonObject, JsonObject] {
  return [bundle(resolveReferencesIn(schema)), schema];
}

describe('the bundle of a model whose shared documents have the same $id', () => {
  const linked = resolveReferencesIn(PARKING, SHARED_DOCUMENTS);
  const bundled = bundle(linked);

  it('the bundle of documents with the same $id contains each under its URL, with the URL as $id', () => {
    const defs = objectIn(bundled, '$defs');
    assert.deepEqual(Object.keys(defs), [COMMON, PLACES]);
    for (const url of [COMMON, PLACES]) assert.equal(objectIn(defs, url)['$id'], url);
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

  it('the bundle of a model keeps the text of the schema, unknown keywords included', () => {
    const { $schema, $defs, ...rest } = bundled;
    const { $schema: written, ...model } = PARKING;
    assert.deepEqual([rest, $schema, isObject($defs)], [model, written, true]);
  });

  it('the bundle of a model keeps only the used parts of other documents, in place, with their annotations', () => {
    const defs = objectIn(bundled, '$defs');
    assert.deepEqual(defs[COMMON], withoutDraft(SHARED_DOCUMENTS.get(COMMON)));
    assert.deepEqual(Object.keys(objectIn(objectIn(defs, PLACES), 'definitions')), ['Opening']);
  });
});

describe('a bundle', () => {
  it('a schema of the current draft without references and identifiers is its own bundle', () => {
    fc.assert(
      fc.property(schemaPairs('2020-12', DEFINITION), ({ root, definition }) => {
        const rest = { ...root, $defs: { definition, unused: { title: 'a' } }, title: 'b', 'x-other': [1] };
        const schema = { $schema: DRAFT_2020, ...rest };
        const whole = JSON.stringify(bundle(resolveReferencesIn(schema)));
        // Without its draft, the schema is written anew.
        assert.equal(whole, JSON.stringify(bundle(resolveReferencesIn(rest))));
        if (!JSON.stringify(schema).includes('$ref')) assert.equal(whole, JSON.stringify(schema));
      }),
    );
    const own = {
      $schema: DRAFT_2020,
      properties: { a: { type: 'string' }, b: true },
      dependencies: { a: ['b'] },
    };
    assert.equal(bundle(resolveReferencesIn(own)), own);
    for (const identified of [{ $anchor: 'a' }, { $id: 'a' }, { $schema: DRAFT_2020 }, { $ref: '#' }])
      assert.notEqual(...bundledAndGiven({ $schema: DRAFT_2020, properties: { a: identified } }));
    assert.notEqual(...bundledAndGiven({ $schema: `${DRAFT_2020}#`, type: 'object' }));
  });

  it('a bundle refers to a schema without $id from within an absolute $id', () => {
    const $ref = 'schema:///schema.json#/$defs/text';
    const part = { $id: 'https://example.com/part', items: { $ref } };
    const bundled = bundle(
      resolveReferencesIn({ properties: { a: part }, $defs: { text: { type: 'string' } } }),
    );
    assert.deepEqual(objectIn(objectIn(bundled, 'properties'), 'a'), part);
    assert.deepEqual([{ a: ['text'] }, { a: [1] }].map(acceptedBy(resolveReferencesIn(bundled))), [
      true,
      false,
    ]);
  });

  it('a bundle keeps the path through unused schemas to used ones', () => {
    const definitions = Object.fromEntries(
      ['A', 'B'].map((name) => [
        name,
        {
          type: 'object',
          title: name,
          allOf: [false, { not: { properties: { x: { const: name }, y: true } } }],
        },
      ]),
    );
    const properties = Object.fromEntries(
      ['A', 'B'].map((name) => [name, { $ref: `${A}#/definitions/${name}/allOf/1/not/properties/x` }]),
    );
    const bundled = bundle(resolveReferencesIn({ properties }, new Map([[A, { definitions }]])));
    assert.deepEqual(objectIn(objectIn(bundled, '$defs'), A)['definitions'], {
      A: { title: 'A', allOf: [true, { not: { properties: { x: { const: 'A' } } } }] },
      B: { title: 'B', allOf: [true, { not: { properties: { x: { const: 'B' } } } }] },
    });
    assert.deepEqual([{ A: 'A', B: 'B' }, { A: 'B' }, { B: 'A' }].map(verdictOf(bundled)), [
      true,
      false,
      false,
    ]);
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
        first: { $ref: '#/properties/pair/prefixItems/0' },
        rest: { $ref: '#/properties/pair/items' },
        needs: { $ref: '#/dependentSchemas/b' },
        plain: { items: { type: 'string' } },
        alone: { $ref: '#/definitions/text', description: 'kept' },
      },
      dependentRequired: { a: ['b'] },
      dependentSchemas: { b: { required: ['c'] } },
      definitions: { text: { type: 'string' } },
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
    assert.deepEqual(bundled['$defs'], { '/components/schemas/A': { type: 'string' } });
    assert.equal(bundled['$ref'], '#/$defs/~1components~1schemas~1A');
    assert.equal(verdictOf(bundled)(1), false);
  });

  it('a bundle keeps nested resources under their absolute $id, unless a document of that URL is in it', () => {
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
    assert.match(JSON.stringify(alone), /"y":\{"\$ref":"https:\/\/example\.com\/b\.json#\/\$defs\/x"/);

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
    assert.deepEqual(objectIn(bundled, '$defs')[A], { title: 'mine' });
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

function withoutDraft(document: JsonObject | undefined): JsonObject {
  return Object.fromEntries(Object.entries(document ?? {}).filter(([name]) => name !== '$schema'));
}
