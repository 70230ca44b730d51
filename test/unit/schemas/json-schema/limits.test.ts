import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject, JsonValue } from '../../../../sidecar/shared/json/json.js';
import { SCHEMA_LIMITS } from '../../../../sidecar/schemas/json-schema/limits.js';
import { resolveReferencesIn } from '../../../../sidecar/schemas/json-schema/linker.js';
import { faultsOfRefusal } from './refusal.js';

const CODE = 'schemaTooLarge';

describe('the limits of schemas', () => {
  it('the limits of schemas apply at exactly the stated numbers', async () => {
    const sized = (bytes: number) => ({ title: 'a'.repeat(bytes - Buffer.byteLength('{"title":""}')) });
    const escaped = (bytes: number) => {
      const title = '\u0001'.repeat(Math.floor((bytes - '{"title":""}'.length) / 6));
      return { title: title + 'a'.repeat(bytes - Buffer.byteLength(JSON.stringify({ title }))) };
    };
    const nested = (levels: number) => ({
      const: Array.from({ length: levels - 2 }).reduce<JsonValue>((inner) => [inner], []),
    });
    const pattern = (length: number) => ({ pattern: 'a'.repeat(length) });
    const second = (length: number) => ({ patternProperties: { b: true, ['a'.repeat(length)]: true } });
    for (const [limit, schemaOf] of [
      [SCHEMA_LIMITS.bytes, sized],
      [SCHEMA_LIMITS.bytes, escaped],
      [SCHEMA_LIMITS.nesting, nested],
      [SCHEMA_LIMITS.patternLength, pattern],
      [SCHEMA_LIMITS.patternLength, second],
    ] as const) {
      resolveReferencesIn(schemaOf(limit));
      await faultsOfRefusal(() => resolveReferencesIn(schemaOf(limit + 1)), CODE);
    }
  });

  it('the limits of schemas include missing documents, and those that other documents name', async () => {
    const first = 'https://example.com/first';
    // The document that names another is read once the others are known to be missing.
    const referring = (count: number) => ({
      allOf: [...Array.from({ length: count - 2 }, (_, index) => `https://example.com/${index}`), first].map(
        ($ref) => ({ $ref }),
      ),
    });
    const stored = new Map([[first, { $ref: 'https://example.com/last' }]]);
    const most = SCHEMA_LIMITS.documents;
    await faultsOfRefusal(() => resolveReferencesIn(referring(most), stored), 'schemaReferenceDangling');
    await faultsOfRefusal(() => resolveReferencesIn(referring(most + 1), stored), CODE);
  });

  it('the depth of nested schemas is limited, whatever the keyword', async () => {
    const keywords: readonly ((inner: JsonObject) => JsonObject)[] = [
      (inner) => ({ properties: { a: inner } }),
      (inner) => ({ items: inner }),
      (inner) => ({ allOf: [inner] }),
      (inner) => ({ $defs: { a: inner } }),
    ];
    for (const wrap of keywords) {
      resolveReferencesIn(nested(SCHEMA_LIMITS.depth, wrap));
      const [fault] = await faultsOfRefusal(
        () => resolveReferencesIn(nested(SCHEMA_LIMITS.depth + 1, wrap)),
        CODE,
      );
      assert.match(fault?.detail ?? '', /nested more than/);
      assert.ok((fault?.pointer.split('/').length ?? 0) > SCHEMA_LIMITS.depth);
    }
  });

  it('the limits of schemas apply to JSON of any depth, without a stack overflow', async () => {
    const deep = nested(100_000, (inner) => ({ properties: { a: inner } }));
    const [fault] = await faultsOfRefusal(() => resolveReferencesIn(deep), CODE);
    assert.match(fault?.pointer ?? '', /^(?:\/properties\/a){128}$/);
    const list = Array.from({ length: 100_000 }).reduce<JsonValue>((inner) => [inner], 1);
    await faultsOfRefusal(() => resolveReferencesIn({ const: list }), CODE);
  });

  it('the number of used schemas is limited, including those of other documents', async () => {
    const properties = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, true]));
    resolveReferencesIn({ properties: properties(SCHEMA_LIMITS.subschemas - 1) });
    await faultsOfRefusal(
      () => resolveReferencesIn({ properties: properties(SCHEMA_LIMITS.subschemas) }),
      CODE,
    );
    await faultsOfRefusal(() => resolveReferencesIn({ properties: properties(3000) }), CODE);

    const half = properties(SCHEMA_LIMITS.subschemas / 2);
    const stored = new Map([['https://example.com/a', { properties: half }]]);
    const [fault] = await faultsOfRefusal(
      () => resolveReferencesIn({ properties: half, $ref: 'https://example.com/a' }, stored),
      CODE,
    );
    assert.equal(fault?.pointer, '/$ref');
  });

  it('the limits of schemas do not include unused schemas of other documents', () => {
    const definitions = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`d${index}`, {}]));
    const stored = new Map([['https://example.com/a', { definitions }]]);
    assert.equal(
      resolveReferencesIn({ $ref: 'https://example.com/a#/definitions/d7' }, stored).positions.size,
      2,
    );
  });

  it('an exceeded limit is reported with its place, and that of another document at the reference', async () => {
    const [uri, long] = ['https://example.com/a', 'a'.repeat(SCHEMA_LIMITS.patternLength + 1)];
    const large = { description: 'ü'.repeat(SCHEMA_LIMITS.bytes / 2) };
    const references = Array.from({ length: SCHEMA_LIMITS.documents + 1 }, (_, index) => ({
      $ref: `https://example.com/${index}`,
    }));
    for (const [schema, pointer] of [
      [large, ''],
      [{ $ref: uri }, '/$ref'],
      [{ properties: { a: { pattern: long } } }, '/properties/a/pattern'],
      [{ patternProperties: { [long]: true } }, `/patternProperties/${long}`],
      [{ allOf: references }, `/allOf/${SCHEMA_LIMITS.documents}/$ref`],
    ] satisfies [JsonObject, string][]) {
      const [fault] = await faultsOfRefusal(() => resolveReferencesIn(schema, new Map([[uri, large]])), CODE);
      assert.equal(fault?.pointer, pointer);
    }
  });
});

function nested(depth: number, wrap: (inner: JsonObject) => JsonObject): JsonObject {
  return Array.from({ length: depth }).reduce<JsonObject>(wrap, {});
}
