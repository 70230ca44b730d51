import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { byTypeTasks } from '../../../../sidecar/schemas/validation/by-type-tasks.js';

const SCHEMA = '{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object"}';

/** So many models that no worker has met before, and their schemas. */
function models(prefix: string, count: number) {
  const names = Array.from({ length: count }, (_, index) => `${prefix}${index}`);
  return {
    models: names.map((name) => ({ key: name, name, title: `City/${name}`, types: [name] })),
    schemas: names.map((name) => [name, SCHEMA] as const),
  };
}

describe('models that are compiled for validations by type', () => {
  it('models that are compiled for validations by type are there for the next validation without their schemas', () => {
    const { models: two, schemas } = models('Two', 2);
    const text = '{"id": "urn:a:1", "type": "Two0"}';
    assert.deepEqual(byTypeTasks.validateByType({ text, models: two }), { needs: ['Two0', 'Two1'] });
    assert.deepEqual(byTypeTasks.prepareByType({ models: two, schemas: schemas.slice(0, 1) }), {
      needs: ['Two1'],
    });
    assert.deepEqual(byTypeTasks.prepareByType({ models: two, schemas }), { areKept: true });
    assert.ok('answer' in byTypeTasks.validateByType({ text, models: two }));
  });

  it('models that are compiled for validations by type, and too many to be kept together, are said to be so', () => {
    const { models: many, schemas } = models('Many', 70);
    assert.deepEqual(byTypeTasks.prepareByType({ models: many, schemas }), { areKept: false });
    const text = '{"id": "urn:a:1", "type": "Many0"}';
    assert.ok('answer' in byTypeTasks.validateByType({ text, models: many, schemas }));
  });
});
