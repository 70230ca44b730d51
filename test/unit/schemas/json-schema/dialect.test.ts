import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DIALECT_URIS, dialectOf } from '../../../../sidecar/schemas/json-schema/keywords.js';
import { resolveReferencesIn } from '../../../../sidecar/schemas/json-schema/linker.js';
import type { JsonObject, JsonValue } from '../../../../sidecar/shared/json/json.js';
import { faultsOfRefusal, refusalOf } from './refusal.js';
import { column } from '../../../support/columns.js';
import { bundle } from '../../../../sidecar/schemas/json-schema/bundle.js';
import { faultsOf, usabilityFaults } from '../../../../sidecar/schemas/json-schema/usability.js';
import { createValidator } from '../../../support/validator.js';
import { isValid2020 } from './verdicts.js';

describe('the draft of a schema', () => {
  it('the draft of a schema is that of $schema, with or without an empty fragment, by http or https, and 2020-12 by default', () => {
    for (const [$schema, dialect] of [
      ['http://json-schema.org/draft-07/schema#', 'draft-07'],
      ['http://json-schema.org/draft-07/schema', 'draft-07'],
      ['https://json-schema.org/draft-07/schema#', 'draft-07'],
      ['https://json-schema.org/draft/2019-09/schema', '2019-09'],
      ['https://json-schema.org/draft/2019-09/schema#', '2019-09'],
      ['https://json-schema.org/draft/2020-12/schema', '2020-12'],
      ['https://json-schema.org/draft/2020-12/schema#', '2020-12'],
      ['http://json-schema.org/draft-06/schema#', 'draft-06'],
      ['http://json-schema.org/draft-04/schema#', 'draft-04'],
      ['http://json-schema.org/draft-04/schema', 'draft-04'],
      ['http://json-schema.org/schema#', 'draft-07'],
      ['http://json-schema.org/schema', 'draft-07'],
    ] as const)
      assert.equal(dialectOf({ $schema }), dialect, $schema);
    assert.equal(dialectOf({}), '2020-12');
  });

  it('an unsupported draft of a schema is refused with a list of the supported ones', async () => {
    for (const $schema of [
      'http://json-schema.org/draft-03/schema#',
      'https://example.com/own-dialect',
      'constructor',
      7,
      null,
    ]) {
      const refusal = await refusalOf(() => dialectOf({ $schema }));
      assert.equal('kind' in refusal && refusal.kind, 'schemaDialectUnsupported');
      assert.deepEqual(column(refusal.errors, 'pointer'), ['/$schema']);
      for (const supported of ['draft-04', 'draft-06', 'draft-07', '2019-09', '2020-12'])
        assert.match(refusal.message, new RegExp(supported));
    }
  });

  it('a referenced document without $schema has the draft of the schema that refers to it', () => {
    const $schema = 'http://json-schema.org/draft-07/schema#';
    const linked = resolveReferencesIn(
      { $schema, $ref: 'https://example.com/a' },
      new Map([['https://example.com/a', { items: [true] }]]),
    );
    assert.deepEqual(column([...linked.documents.values()], 'dialect'), ['draft-07']);
  });

  describe('a custom meta-schema', () => {
    const own = 'https://meta.example/own';
    const metaSchema = ($vocabulary: Readonly<Record<string, boolean>>): JsonObject => ({
      $schema: DIALECT_URIS['2020-12'],
      $vocabulary,
    });
    const schema = { $schema: own, properties: { n: { minimum: 5 } } };

    it('a schema whose meta-schema requires an unknown vocabulary, or is missing, is refused at $schema', async () => {
      const unknown = metaSchema({ 'https://v.example/x': true });
      const another = { $schema: 'https://meta.example/third' };
      for (const documents of [new Map(), new Map([[own, unknown]]), new Map([[own, another]])]) {
        const refusal = await refusalOf(() => resolveReferencesIn(schema, documents));
        assert.equal('kind' in refusal && refusal.kind, 'schemaDialectUnsupported');
        assert.deepEqual(column(refusal.errors, 'pointer'), ['/$schema']);
      }
    });
  });

  it('an unsupported draft of a referenced document is refused at the reference', async () => {
    const schema = { properties: { a: { $ref: 'https://example.com/a' } } };
    const stored = new Map([
      ['https://example.com/a', { $schema: 'http://json-schema.org/draft-03/schema#' }],
    ]);
    const [fault] = await faultsOfRefusal(
      () => resolveReferencesIn(schema, stored),
      'schemaDialectUnsupported',
    );
    assert.equal(fault?.pointer, '/properties/a/$ref');
    assert.match(fault.detail, /https:\/\/example\.com\/a#\/\$schema/);
  });
});

const DRAFT_04 = DIALECT_URIS['draft-04'];
const OLDER = ['draft-04', 'draft-06', 'draft-07'] as const;

const bundled = (schema: JsonObject) => {
  const found = bundle(resolveReferencesIn(schema));
  assert.ok(isValid2020(found), JSON.stringify(found));
  return found;
};
const isValid = (schema: JsonObject, value: JsonValue) =>
  createValidator(resolveReferencesIn(schema))(value).length === 0;

describe('schemas of draft-04', () => {
  it('a bound of draft-04 is excluded by the keyword next to it, and bundled as the bound of later drafts', () => {
    const schema = {
      $schema: DRAFT_04,
      properties: {
        above: { minimum: 1, exclusiveMinimum: true },
        below: { maximum: 9007199254740991, exclusiveMaximum: true },
        within: { minimum: 1, maximum: 3, exclusiveMinimum: false, exclusiveMaximum: false },
      },
    };
    assert.deepEqual(bundled(schema)['properties'], {
      above: { exclusiveMinimum: 1 },
      below: { exclusiveMaximum: 9007199254740991 },
      within: { minimum: 1, maximum: 3 },
    });
    for (const [document, verdict] of [
      [{ above: 1 }, false],
      [{ above: 1.1 }, true],
      [{ below: 9007199254740991 }, false],
      [{ within: 1 }, true],
      [{ within: 3 }, true],
      [{ within: 4 }, false],
    ] as const)
      assert.equal(isValid(schema, document), verdict, JSON.stringify(document));
  });

  it('schemas of draft-04 are named by id, to which references are relative', () => {
    const schema = {
      $schema: DRAFT_04,
      id: 'https://models.example/car.json#',
      $id: 'https://models.example/elsewhere.json',
      allOf: [{ $ref: 'https://models.example/car.json#/definitions/name' }, { $ref: '#wheels' }],
      definitions: { name: { required: ['name'] }, wheels: { id: '#wheels', required: ['wheels'] } },
      properties: { id: { type: 'string' } },
    };
    assert.equal(bundled(schema)['$id'], 'https://models.example/car.json');
    assert.ok(isValid(schema, { name: 'a', wheels: 4, id: 'x' }));
    for (const document of [{ name: 'a' }, { wheels: 4 }, { name: 'a', wheels: 4, id: 1 }])
      assert.ok(!isValid(schema, document));
  });

  it('keywords that came after a draft mean nothing in it, whatever their content', () => {
    const later = { const: 1, contains: false, propertyNames: false, if: true, then: false };
    assert.ok(isValid({ $schema: DRAFT_04, ...later }, [2]));
    assert.ok(isValid({ $schema: DIALECT_URIS['draft-06'], if: true, then: false }, 1));
    assert.ok(!isValid({ $schema: DIALECT_URIS['draft-06'], const: 1 }, 2));
    assert.deepEqual(usabilityFaults(resolveReferencesIn({ $schema: DRAFT_04, const: 1, if: 'text' })), []);
  });

  it('a schema that draft-04 does not allow is refused with the place', () => {
    const pointers = (schema: JsonObject) =>
      column(faultsOf(resolveReferencesIn({ $schema: DRAFT_04, ...schema })), 'pointer');
    assert.deepEqual(pointers({ minimum: 1, exclusiveMinimum: true }), []);
    assert.deepEqual(pointers({ exclusiveMinimum: 1, minimum: 0 }), ['/exclusiveMinimum']);
    assert.deepEqual(pointers({ properties: { a: { required: true } } }), ['/properties/a/required']);
    assert.deepEqual(pointers({ exclusiveMaximum: true }), ['']);
  });
});

describe('bundles of older drafts', () => {
  it('a text in place of a keyword of a later draft does not spoil a bundle', () => {
    for (const dialect of OLDER) {
      const schema = {
        $schema: DIALECT_URIS[dialect],
        $defs: 'a text',
        deprecated: 'since 2020',
        definitions: { a: { $defs: { b: 'a text', c: { type: 'string' } }, deprecated: true } },
        properties: { a: { $ref: '#/definitions/a' } },
      };
      const { $schema, ...rest } = bundled(schema);
      assert.equal($schema, DIALECT_URIS['2020-12']);
      assert.deepEqual(rest, {
        definitions: { a: { $defs: { c: { type: 'string' } }, deprecated: true } },
        properties: { a: { $ref: '#/definitions/a' } },
      });
    }
  });
});
