import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SchemaRefusedError } from '../../../../sidecar/schemas/json-schema/errors.js';
import type { JsonObject, JsonValue } from '../../../../sidecar/shared/json/json.js';
import { resolveReferencesIn } from '../../../../sidecar/schemas/json-schema/linker.js';
import { createValidator } from '../../../support/validator.js';
import { acceptedBy } from './verdicts.js';
import { faultsOfRefusal, refusalOf } from './refusal.js';
import { column } from '../../../support/columns.js';

const DANGLING = 'schemaReferenceDangling';
const A = 'https://example.com/schemas/a.json';
const B = 'https://example.com/schemas/b.json';

describe('references within a schema', () => {
  it('references to nothing are refused, each with its pointer', async () => {
    const schema = {
      properties: {
        a: { $ref: '#/$defs/none' },
        'b/c': { items: { $ref: '#none' } },
        d: { $ref: '#/properties/e/const/x' },
        e: { const: { x: 1 } },
        f: { $ref: '#/%zz' },
        g: { $ref: 'relative.json' },
        h: { $ref: '#/toString' },
      },
    };
    const faults = await faultsOfRefusal(() => resolveReferencesIn(schema), DANGLING);
    assert.deepEqual(
      column(faults, 'pointer'),
      ['a', 'b~1c/items', 'd', 'f', 'g', 'h'].map((name) => `/properties/${name}/$ref`),
    );
  });

  it('references are refused if several schemas have the name', async () => {
    const twice = { $defs: { a: { $anchor: 'x' }, b: { $anchor: 'x' } }, $ref: '#x' };
    assert.match(
      (await faultsOfRefusal(() => resolveReferencesIn(twice), DANGLING))[0]?.detail ?? '',
      /several/,
    );
    const ids = { $defs: { a: { $id: A }, b: { $id: A } }, $ref: A };
    assert.match(
      (await faultsOfRefusal(() => resolveReferencesIn(ids), DANGLING))[0]?.detail ?? '',
      /several/,
    );
  });

  it('$ref is only data in const, enum, default, examples and as the name of a property', () => {
    const reference = { $ref: '#/nowhere' };
    resolveReferencesIn({
      const: reference,
      enum: [reference],
      default: reference,
      examples: [reference],
      properties: { $ref: { type: 'string' }, $id: { type: 'string' } },
      'x-vendor': reference,
    });
  });

  it('references to hostile names lead to those names and to nothing inherited', async () => {
    const hostile = JSON.parse(
      '{"__proto__":{"type":"string"},"constructor":{"type":"number"}}',
    ) as JsonObject;
    const schema = {
      properties: { a: { $ref: '#/$defs/__proto__' }, b: { $ref: '#/$defs/constructor' } },
      $defs: hostile,
    };
    const isValid = validity(schema);
    assert.ok(isValid({ a: '', b: 1 }));
    assert.ok(!isValid({ a: 1 }));
    assert.ok(!isValid({ b: '' }));
    await faultsOfRefusal(() => resolveReferencesIn({ $ref: '#/$defs/valueOf', $defs: {} }), DANGLING);
    assert.equal(({} as Record<string, unknown>)['type'], undefined);
  });
});

describe('references to other documents', () => {
  it('references resolve against the URL of a document, whatever its $id', () => {
    const stored = new Map<string, JsonValue>([
      [A, { $id: 'https://elsewhere.example/x.json', definitions: { x: { $ref: 'b.json' } } }],
      [B, { $id: 'https://elsewhere.example/x.json', type: 'string' }],
    ]);
    const linked = resolveReferencesIn({ $ref: `${A}#/definitions/x` }, stored);
    assert.deepEqual([...linked.documents.keys()], [A, B]);
    assert.ok(createValidator(linked)(1).length > 0);
  });

  it('missing documents are all listed, with a pointer into the schema, including those that other documents name', async () => {
    const schema = {
      properties: {
        a: { $ref: 'https://example.com/none-1#/definitions/x' },
        b: { $ref: 'https://example.com/none-1#/definitions/y' },
        c: { $ref: 'https://example.com/none-2' },
        d: { $ref: `${A}#/definitions/x` },
        e: { $ref: `${A}#/definitions/gone` },
      },
    };
    const stored = new Map([[A, { definitions: { x: { $ref: 'none-3.json' } } }]]);
    const refusal = await refusalOf(() => resolveReferencesIn(schema, stored));
    assert.ok(refusal instanceof SchemaRefusedError);
    assert.deepEqual(refusal.missingUris, [
      'https://example.com/none-1',
      'https://example.com/none-2',
      'https://example.com/schemas/none-3.json',
    ]);
    assert.deepEqual(
      column(refusal.errors, 'pointer'),
      ['a', 'c', 'd', 'e'].map((name) => `/properties/${name}/$ref`),
    );
    assert.match(refusal.errors[2]?.detail ?? '', /a\.json#\/definitions\/x\/\$ref.*none-3\.json/);
  });

  it('references need only the part of a document that they reach', () => {
    const stored = new Map([
      [A, { definitions: { x: true, broken: { $ref: '#/nowhere' }, other: { $ref: B } } }],
    ]);
    resolveReferencesIn({ $ref: `${A}#/definitions/x` }, stored);
  });

  it('references to a document that is neither an object nor a boolean are refused', async () => {
    for (const document of [null, [], 'text', 7])
      await faultsOfRefusal(() => resolveReferencesIn({ $ref: A }, new Map([[A, document]])), DANGLING);
  });

  it('references to the URI of the schema itself lead to the schema, not to a stored document', () => {
    const schema = { $id: A, properties: { a: { $ref: B } }, required: ['a'] };
    const stored = new Map<string, JsonValue>([
      [A, { type: 'number' }],
      [B, { $ref: A }],
    ]);
    const linked = resolveReferencesIn(schema, stored);
    assert.deepEqual([...linked.documents.keys()], [B]);
    assert.ok(createValidator(linked)({ a: {} }).length > 0);
  });
});

function validity(schema: JsonObject): (value: JsonValue) => boolean {
  return acceptedBy(resolveReferencesIn(schema));
}
