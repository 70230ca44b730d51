import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DIALECT_URIS, dialectOf } from '../../../../sidecar/schemas/json-schema/keywords.js';
import { resolveWith } from '../../../../sidecar/schemas/json-schema/linker.js';
import type { JsonObject } from '../../../../sidecar/shared/json/json.js';
import { faultsOfRefusal, refusalOf } from './refusal.js';
import { column } from '../../../support/columns.js';

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
    const linked = resolveWith(
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
    const schema = {
      $schema: own,
      properties: { n: { minimum: 5 } },
    };

    it('a schema whose meta-schema requires an unknown vocabulary, or is missing, is refused at $schema', async () => {
      const unknown = metaSchema({ 'https://v.example/x': true });
      const another = { $schema: 'https://meta.example/third' };
      for (const documents of [new Map(), new Map([[own, unknown]]), new Map([[own, another]])]) {
        const refusal = await refusalOf(() => resolveWith(schema, documents));
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
    const [fault] = await faultsOfRefusal(() => resolveWith(schema, stored), 'schemaDialectUnsupported');
    assert.equal(fault?.pointer, '/properties/a/$ref');
    assert.match(fault.detail, /https:\/\/example\.com\/a#\/\$schema/);
  });
});
