import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { INFERENCE_LIMITS, SamplesRefusedError } from '../../../../sidecar/schemas/inference/errors.js';
import { inferSchema } from '../../../../sidecar/schemas/inference/tasks.js';
import { type JsonObject, type JsonValue, childAt, tokensOf } from '../../../../sidecar/shared/json/json.js';
import { SCHEMA_LIMITS } from '../../../../sidecar/schemas/json-schema/limits.js';
import { resolveReferencesIn } from '../../../../sidecar/schemas/json-schema/linker.js';
import { ROOT } from '../../../support/project.js';
import { usabilityFaults } from '../../../../sidecar/schemas/json-schema/usability.js';

const { names, levels, enumeratedValues, enumeratedLength } = INFERENCE_LIMITS;

describe('the limits of inference', () => {
  it('the limits of inference are those that docs/workbench.md names', () => {
    const page = readFileSync(join(ROOT, 'docs/workbench.md'), 'utf8').replaceAll(/\s+/g, ' ');
    for (const words of [
      `more than ${names} names`,
      `deeper than ${levels} levels`,
      `at most ${enumeratedValues} different values`,
    ])
      assert.ok(page.includes(words), words);
  });

  it('an inferred schema describes objects with a limited number of names; beyond it the names are data', () => {
    const full = at(inferSchema({ map: numbered(names) }), '/properties/map');
    assert.equal(Object.keys(at(full, '/properties')).length, names);

    const [first, second] = [numbered(names), { another: 'x', deep: { a: 1 } }];
    for (const samples of [[{ map: { ...first, ...second } }], [{ map: first }, { map: second }]]) {
      for (const order of [samples, samples.toReversed()])
        assert.deepEqual(at(inferSchema(order), '/properties/map'), { type: 'object' });
    }
    const withArrays = inferSchema([{ map: { ...first, ...second } }, { map: [1] }, { map: {} }]);
    assert.deepEqual(at(withArrays, '/properties/map'), {
      type: ['object', 'array'],
      items: { type: 'integer' },
    });
  });

  it('an inferred schema describes all attributes of samples, up to the limit of a schema', () => {
    const most = SCHEMA_LIMITS.subschemas - 1;
    const schema = inferSchema(numbered(most));
    assert.equal(Object.keys(at(schema, '/properties')).length, most);
    assert.deepEqual(usabilityFaults(resolveReferencesIn(schema)), []);
  });

  it('samples are refused with the name of the limit if their schema would have too many schemas', () => {
    for (const sample of [
      numbered(SCHEMA_LIMITS.subschemas),
      numbered(5 * SCHEMA_LIMITS.subschemas),
      numbered(SCHEMA_LIMITS.subschemas / names, () => numbered(names)),
    ]) {
      const refused = refusal(() => inferSchema(sample));
      assert.equal(refused.kind, 'limitExceeded');
      assert.ok(refused.message.includes(`more than ${SCHEMA_LIMITS.subschemas}`), refused.message);
    }
  });

  it('samples are refused if their schema would be too large a document', () => {
    const sample = { ['x'.repeat(SCHEMA_LIMITS.bytes)]: 1 };
    assert.throws(() => inferSchema(sample), new RegExp(`too complex: .*more than ${SCHEMA_LIMITS.bytes}`));
  });

  it('an inferred schema describes samples down to a level; deeper values are any array or object', () => {
    for (const [wrap, token, bare] of [
      [(inner: JsonValue) => ({ in: inner }), '/properties/in', { type: 'object' }],
      [(inner: JsonValue) => [inner], '/items', { type: 'array' }],
    ] as const) {
      for (const depth of [levels - 1, levels, 400]) {
        const deep = Array.from({ length: depth }).reduce<JsonValue>(wrap, { languageMap: { en: ['x'] } });
        const schema = inferSchema({ start: deep });
        assert.deepEqual(usabilityFaults(resolveReferencesIn(schema)), []);
        if (depth >= levels)
          assert.deepEqual(at(schema, `/properties/start${token.repeat(levels - 1)}`), bare);
      }
    }
  });

  it('an inferred schema lists a limited number of short strings; beyond it, any string is accepted from then on', () => {
    const words = (count: number) => Array.from({ length: count }, (_, index) => ({ word: `w${index}` }));
    const schemaOf = (samples: JsonValue) =>
      at(inferSchema(samples, { enumerates: true }), '/properties/word');
    const most = schemaOf(words(enumeratedValues));
    assert.deepEqual((most['enum'] as readonly JsonValue[]).length, enumeratedValues);
    assert.deepEqual(schemaOf(words(enumeratedValues + 1)), { type: 'string' });
    assert.deepEqual(schemaOf([{ word: 'x'.repeat(enumeratedLength) }])['enum'], [
      'x'.repeat(enumeratedLength),
    ]);
    assert.deepEqual(schemaOf([{ word: 'x'.repeat(enumeratedLength + 1) }, { word: 'y' }]), {
      type: 'string',
    });
  });
});

function refusal(infer: () => unknown): SamplesRefusedError {
  try {
    infer();
  } catch (error) {
    if (error instanceof SamplesRefusedError) return error;
    throw error;
  }
  assert.fail('nothing was refused');
}

function numbered(count: number, value: () => JsonValue = () => 1): JsonObject {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, value()]));
}

function at(schema: JsonObject, pointer: string): JsonObject {
  const found = tokensOf(pointer)?.reduce<JsonValue | undefined>(childAt, schema);
  assert.ok(typeof found === 'object' && found !== null && !Array.isArray(found), `nothing at ${pointer}`);
  return found as JsonObject;
}
