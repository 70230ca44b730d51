import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { inferSchema, type InferSchemaOptions } from '../../../../sidecar/schemas/inference/tasks.js';
import { compareSchemas } from '../../../../sidecar/schemas/json-schema/change-report.js';
import {
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  objectOf,
} from '../../../../sidecar/shared/json/json.js';
import { resolveReferencesIn } from '../../../../sidecar/schemas/json-schema/linker.js';
import { usabilityFaults } from '../../../../sidecar/schemas/json-schema/usability.js';
import { createValidator } from '../../../support/validator.js';
import { sampleLists } from './sample-arbitraries.js';
import { runs } from '../../../support/thoroughness.js';
import { reversed } from '../../../support/json-values.js';

/** With and without a model; samples for a model have its type if they have any. */
const options: fc.Arbitrary<InferSchemaOptions> = fc.record(
  { enumerates: fc.boolean(), model: fc.constant('Vehicle') },
  { requiredKeys: ['enumerates'] },
);

describe('the schema inferred from any samples', () => {
  it('the schema inferred from any samples accepts each of them', () => {
    fc.assert(
      fc.property(sampleLists, options, (any, how) => {
        const samples = fitted(any, how);
        assertAccepts(inferSchema(samples, how), samples);
      }),
    );
  });

  it('the schema inferred from any samples is the same in any order of samples and members, however often they are repeated', () => {
    const reordered = sampleLists.chain((samples) =>
      fc.tuple(
        fc.constant(samples),
        fc.shuffledSubarray([...samples, ...samples], { minLength: 2 * samples.length }),
      ),
    );
    fc.assert(
      fc.property(reordered, options, ([samples, others], how) => {
        const expected = JSON.stringify(inferSchema(fitted(samples, how), how));
        assert.equal(
          JSON.stringify(
            inferSchema(
              fitted(
                others.map((one) => reversed(one)),
                how,
              ),
              how,
            ),
          ),
          expected,
        );
      }),
    );
  });

  it('the schema inferred from more samples is a compatible change, unless an array was empty', () => {
    fc.assert(
      fc.property(sampleLists, sampleLists, options, (few, more, how) => {
        // Validators ignore a description of `__proto__`, and reports know this.
        const text = JSON.stringify([few, more]);
        // Like the items of an empty array, the languages of an empty map are unknown.
        fc.pre(!text.includes('__proto__') && !text.includes('"languageMap":{}'));
        fc.pre(!hasEmpty(few) && !hasEmpty(more));
        const { overall, differences } = compareSchemas(
          inferSchema(fitted(few, how), how),
          inferSchema(fitted([...few, ...more], how), how),
        );
        assert.equal(overall, 'compatible', JSON.stringify(differences));
      }),
    );
  });

  it('the schema inferred from any samples can become a model unchanged', () => {
    fc.assert(
      fc.property(sampleLists, options, (samples, how) => {
        const schema = JSON.parse(JSON.stringify(inferSchema(fitted(samples, how), how))) as JsonObject;
        assert.deepEqual(usabilityFaults(resolveReferencesIn(schema)), []);
      }),
      { numRuns: runs(15) },
    );
  });
});

function fitted(samples: readonly JsonObject[], { model }: InferSchemaOptions): readonly JsonObject[] {
  if (model === undefined) return samples;
  return samples.map((sample) =>
    objectOf(
      Object.entries(sample).flatMap(([name, value]): (readonly [string, JsonValue])[] => {
        if (name !== 'type') return [[name, value]];
        if (typeof value === 'object') return isArray(value) ? [[name, ['Other', model]]] : [];
        return [[name, model]];
      }),
    ),
  );
}

function assertAccepts(schema: JsonObject, documents: readonly JsonValue[]): void {
  const validate = createValidator(resolveReferencesIn(schema));
  for (const document of documents) {
    const faults = validate(document);
    assert.deepEqual(faults, [], `${JSON.stringify(schema)} refuses ${JSON.stringify(document)}`);
  }
}

function hasEmpty(value: JsonValue): boolean {
  if (isArray(value)) return value.length === 0 || value.some(hasEmpty);
  return isObject(value) && Object.values(value).some(hasEmpty);
}
