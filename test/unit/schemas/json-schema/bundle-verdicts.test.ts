import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { bundle } from '../../../../sidecar/schemas/json-schema/bundle.js';
import { DIALECT_URIS } from '../../../../sidecar/schemas/json-schema/keywords.js';
import type { JsonObject, JsonValue } from '../../../../sidecar/shared/json/json.js';
import { type LinkedSchema, resolveReferencesIn } from '../../../../sidecar/schemas/json-schema/linker.js';
import { loopsOf } from '../../../../sidecar/schemas/json-schema/usability.js';
import { documents, schemaPairs } from './schema-arbitraries.js';
import { acceptedBy, AJV_DIALECTS, type AjvDialect, isValid2020 } from './verdicts.js';
import { runs } from '../../../support/thoroughness.js';

const SHARED = 'https://example.com/shared.json';

describe('a bundle', () => {
  for (const dialect of AJV_DIALECTS) {
    it(`a bundle of a ${dialect} schema and its documents accepts the same values as the schema with its documents`, () => {
      fc.assert(
        fc.property(cases(dialect), fc.array(documents, { minLength: 20, maxLength: 20 }), (one, samples) => {
          const { schema, stored, linked } = one;
          const bundled = bundle(linked);
          const [plain, alone] = [acceptedBy(linked), acceptedBy(resolveReferencesIn(bundled))];
          for (const sample of samples)
            assert.equal(
              alone(sample),
              plain(sample),
              JSON.stringify({ schema, stored: [...stored], sample, bundled }),
            );
        }),
        { numRuns: runs(50) },
      );
    });
  }

  it('a bundle accepts the same values if members are called __proto__', () => {
    fc.assert(
      fc.property(cases('2020-12'), fc.array(documents, { minLength: 20, maxLength: 20 }), (one, samples) => {
        const [schema, stored] = [
          renamed(one.schema),
          new Map([...one.stored].map(([uri, held]) => [uri, renamed(held)])),
        ];
        const linked = resolveReferencesIn(schema, stored);
        const [plain, alone] = [acceptedBy(linked), acceptedBy(resolveReferencesIn(bundle(linked)))];
        for (const sample of samples.map(renamed))
          assert.equal(alone(sample), plain(sample), JSON.stringify({ schema, sample }));
      }),
      { numRuns: runs(50) },
    );
  });

  it('a bundle is valid by the meta-schema of draft 2020-12, and unchanged when bundled again', () => {
    fc.assert(
      fc.property(fc.constantFrom(...AJV_DIALECTS).chain(cases), ({ linked }) => {
        const bundled = bundle(linked);
        assert.ok(isValid2020(bundled), JSON.stringify(bundled));
        assert.deepEqual(bundle(resolveReferencesIn(bundled)), bundled);
      }),
      { numRuns: runs(50) },
    );
  });
});

function cases(
  dialect: AjvDialect,
): fc.Arbitrary<{ schema: JsonObject; stored: ReadonlyMap<string, JsonObject>; linked: LinkedSchema }> {
  const $schema = DIALECT_URIS[dialect];
  return schemaPairs(dialect, `${SHARED}#/definitions/d`)
    .map(({ root, definition }) => {
      const stored = new Map<string, JsonObject>([[SHARED, { $schema, definitions: { d: definition } }]]);
      const schema = { $schema, ...root };
      return { schema, stored, linked: resolveReferencesIn(schema, stored) };
    })
    .filter(({ linked }) => loopsOf(linked).length === 0);
}

/** A schema or a document in which everything called `a` is called `__proto__`. */
function renamed<Value extends JsonValue>(value: Value): Value {
  return JSON.parse(JSON.stringify(value).replaceAll('"a"', '"__proto__"')) as Value;
}
