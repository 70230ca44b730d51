import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { bundle } from '../../../../sidecar/schemas/json-schema/bundle.js';
import { DIALECT_URIS } from '../../../../sidecar/schemas/json-schema/keywords.js';
import type { JsonObject, JsonValue } from '../../../../sidecar/shared/json/json.js';
import type { LinkedSchema } from '../../../../sidecar/schemas/json-schema/linker.js';
import { loopsOf } from '../../../../sidecar/schemas/json-schema/usability.js';
import { resolveWith } from '../../../../sidecar/schemas/json-schema/references.js';
import { createValidator } from '../../../../sidecar/schemas/json-schema/validator.js';
import { documents, schemaPairs } from './schema-arbitraries.js';
import { AJV_DIALECTS, type AjvDialect, isValid2020, verdictOf, type Verdict } from './verdicts.js';

const SHARED = 'https://example.com/shared.json';

describe('a bundle', () => {
  for (const dialect of AJV_DIALECTS) {
    it(`a bundle of a ${dialect} schema and its documents accepts what the schema with its documents accepts`, () => {
      fc.assert(
        fc.property(cases(dialect), fc.array(documents, { minLength: 20, maxLength: 20 }), (one, samples) => {
          const { schema, stored, linked } = one;
          const bundled = bundle(linked);
          const expected = verdictOf(dialect, schema, stored);
          const others = {
            bundle: verdictOf('2020-12', bundled),
            validator: verdictBy(linked),
            'validator of the bundle': verdictBy(resolveWith(bundled)),
          };
          for (const sample of samples) {
            const verdict = expected(sample);
            for (const [name, other] of Object.entries(others)) {
              const actual = other(sample);
              if (verdict !== undefined && actual !== undefined)
                assert.equal(
                  actual,
                  verdict,
                  JSON.stringify({ name, schema, stored: [...stored], sample, bundled }),
                );
            }
          }
        }),
        { numRuns: 150 },
      );
    });
  }

  it('a bundle is valid by the meta-schema of draft 2020-12, and the same when it is bundled again', () => {
    fc.assert(
      fc.property(fc.constantFrom(...AJV_DIALECTS).chain(cases), ({ linked }) => {
        const bundled = bundle(linked);
        assert.ok(isValid2020(bundled), JSON.stringify(bundled));
        assert.deepEqual(bundle(resolveWith(bundled)), bundled);
      }),
      { numRuns: 150 },
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
      return { schema, stored, linked: resolveWith(schema, stored) };
    })
    .filter(({ linked }) => loopsOf(linked).length === 0);
}

function verdictBy(linked: LinkedSchema): Verdict {
  const validate = createValidator(linked);
  return (document: JsonValue) => validate(document).length === 0;
}
