import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject, JsonValue } from '../../sidecar/shared/json/json.js';
import { SchemaNotAcceptedError } from '../../sidecar/schemas/models/errors.js';
import { InUseError, NotFoundError } from '../../sidecar/store/errors.js';
import { COMMON, COMMON_URI } from '../unit/schemas/models/fixtures.js';
import { ALL, jsonOf, rejection, useRigs } from '../unit/schemas/models/harness.js';

describe('reference documents', () => {
  const rigOf = useRigs();

  it('reference documents come back as they were stored, under every spelling of their URI', async (t) => {
    const { service } = await rigOf(t);
    const put = await service.references.put('HTTPS://schemas.example:443/common.json', COMMON);
    assert.deepEqual(
      [put.outcome, put.reference.uri, put.reference.source],
      ['created', COMMON_URI, 'stored'],
    );
    const got = await service.references.get(COMMON_URI);
    assert.deepEqual(jsonOf(got), COMMON);
    assert.deepEqual(got.reference, put.reference);
    assert.deepEqual([got.etag, got.sha256], [put.reference.etag, put.reference.content.sha256]);
    assert.deepEqual((await service.store.references.list(ALL)).items, [put.reference]);
    await service.references.delete('https://schemas.example/./common.json');
    await rejection(service.references.get(COMMON_URI), NotFoundError);
  });

  it('reference documents stay while a model or another document refers to them', async (t) => {
    const { service } = await rigOf(t);
    await service.references.put(COMMON_URI, COMMON);
    await service.references.put('https://schemas.example/user.json', {
      $ref: 'common.json#/definitions/Commons',
    });
    const used = await rejection(service.references.delete(COMMON_URI), InUseError);
    assert.deepEqual(used.dependents, [{ kind: 'reference', uri: 'https://schemas.example/user.json' }]);
    const schema = { $ref: 'https://schemas.example/user.json' };
    await service.models.create('city', { name: 'Bench', schema });
    await rejection(service.references.delete('https://schemas.example/user.json'), InUseError);
    await service.store.models.delete({ domain: 'city', name: 'Bench' });
    await service.references.delete('https://schemas.example/user.json');
    await service.references.delete(COMMON_URI);
  });

  const refusals: readonly (readonly [string, JsonValue, string, string])[] = [
    ['an array', [], 'schemaInvalid', ''],
    ['a text', 'true', 'schemaInvalid', ''],
    [
      'another draft',
      { $schema: 'http://json-schema.org/draft-03/schema' },
      'schemaDialectUnsupported',
      '/$schema',
    ],
    ['too many levels', nested(5_000), 'schemaTooLarge', '/a'.repeat(256)],
    ['too many bytes', { a: 'x'.repeat(1_048_576) }, 'schemaTooLarge', ''],
  ];
  for (const [what, document, code, pointer] of refusals) {
    it(`reference documents are refused: ${what}`, async (t) => {
      const { service } = await rigOf(t);
      const refused = await rejection(service.references.put(COMMON_URI, document), SchemaNotAcceptedError);
      assert.deepEqual([refused.kind, refused.errors[0]?.pointer], [code, pointer]);
      assert.equal((await service.store.references.list(ALL)).total, 0);
    });
  }

  it('reference documents may hold parts that are broken, as long as no schema needs these', async (t) => {
    const { service } = await rigOf(t);
    const document = {
      definitions: { broken: { type: 'objekt', $ref: '#/nowhere' }, sound: { type: 'object' } },
    };
    await service.references.put(COMMON_URI, document);
    const schemaOf = (part: string) => ({ $ref: `${COMMON_URI}#/definitions/${part}` });
    await service.models.create('city', { name: 'Sound', schema: schemaOf('sound') });
    const creating = service.models.create('city', { name: 'Broken', schema: schemaOf('broken') });
    assert.equal((await rejection(creating, SchemaNotAcceptedError)).errors[0]?.pointer, '/schema/$ref');
  });
});

function nested(levels: number): JsonObject {
  let document: JsonObject = {};
  for (let level = 0; level < levels; level += 1) document = { a: document };
  return document;
}
