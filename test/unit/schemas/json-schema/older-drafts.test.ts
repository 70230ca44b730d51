import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bundle } from '../../../../sidecar/schemas/json-schema/bundle.js';
import { DIALECT_URIS } from '../../../../sidecar/schemas/json-schema/keywords.js';
import { resolveWith } from '../../../../sidecar/schemas/json-schema/linker.js';
import { faultsOf, usabilityFaults } from '../../../../sidecar/schemas/json-schema/usability.js';
import { createValidator } from '../../../../sidecar/schemas/json-schema/validator.js';
import type { JsonObject, JsonValue } from '../../../../sidecar/shared/json/json.js';
import { isValid2020 } from './verdicts.js';
import { column } from '../../../support/columns.js';

const DRAFT_04 = DIALECT_URIS['draft-04'];
const OLDER = ['draft-04', 'draft-06', 'draft-07'] as const;

const bundled = (schema: JsonObject) => {
  const found = bundle(resolveWith(schema));
  assert.ok(isValid2020(found), JSON.stringify(found));
  return found;
};
const isValid = (schema: JsonObject, value: JsonValue) =>
  createValidator(resolveWith(schema))(value).length === 0;

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
    assert.deepEqual(usabilityFaults(resolveWith({ $schema: DRAFT_04, const: 1, if: 'text' })), []);
  });

  it('a schema that draft-04 does not allow is refused with the place', () => {
    const pointers = (schema: JsonObject) =>
      column(faultsOf(resolveWith({ $schema: DRAFT_04, ...schema })), 'pointer');
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
