import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../../../sidecar/shared/json/json.js';
import { validationTasks } from '../../../../sidecar/schemas/validation/tasks.js';
import type { Verdict } from './validating.js';
import { column } from '../../../support/columns.js';

const SCHEMA = '{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object"}';

/** This many models that no worker has seen before, and their schemas. */
function models(prefix: string, count: number) {
  const names = Array.from({ length: count }, (_, index) => `${prefix}${index}`);
  return {
    models: names.map((name) => ({ key: name, name, byType: { title: `City/${name}`, types: [name] } })),
    schemas: names.map((name) => [name, SCHEMA] as const),
  };
}

/** The models of these schemas by type, each known by its name. */
function modelsOf(schemas: Readonly<Record<string, JsonObject>>) {
  return {
    models: Object.entries(schemas).map(([name, schema]) => ({
      key: JSON.stringify(schema),
      name,
      byType: { title: `City/${name}`, types: [name] },
    })),
    schemas: Object.values(schemas).map(
      (schema) => [JSON.stringify(schema), JSON.stringify(schema)] as const,
    ),
  };
}

const number = (name: string) => ({ type: 'object', properties: { [name]: { type: 'number' } } });
const BY_TYPE = { A: number('a'), B: number('b') };

/** The types whose models a task needs. */
function typesOf(outcome: ReturnType<typeof validationTasks.validate>) {
  assert.ok('needs' in outcome && 'types' in outcome.needs, JSON.stringify(outcome));
  return outcome.needs.types;
}

describe('the types in a body', () => {
  const typesIn = (entities: readonly JsonObject[]) =>
    validationTasks.validate({ text: JSON.stringify(entities), models: [] });

  it('the types in a body are listed once for each set of types, with the first entity that has it', () => {
    const outcome = typesIn([
      { type: 'A' },
      { type: ['A', 'https://a.example/x#B'] },
      { type: ['https://a.example/x#B', 'A'] },
      { type: ['A', 'C'] },
      { type: ['A'] },
    ]);
    assert.deepEqual(typesOf(outcome), [
      { types: [{ type: 'A', localName: 'A' }], pointer: '/0' },
      {
        types: [
          { type: 'A', localName: 'A' },
          { type: 'https://a.example/x#B', localName: 'B' },
        ],
        pointer: '/1',
      },
      {
        types: [
          { type: 'A', localName: 'A' },
          { type: 'C', localName: 'C' },
        ],
        pointer: '/3',
      },
    ]);
  });

  it('entities without a type are refused, a hundred of them with their places', () => {
    for (const untyped of [{}, { type: '' }, { type: [] }, { type: 7 }, { type: [''] }, { type: null }]) {
      const outcome = typesIn([{ type: 'A' }, untyped]);
      assert.ok('refused' in outcome, JSON.stringify(untyped));
      assert.deepEqual(
        [outcome.refused.kind, column(outcome.refused.errors, 'pointer')],
        ['bodyInvalid', ['/1']],
      );
    }
    const outcome = typesIn(Array.from({ length: 101 }, () => ({})));
    assert.ok('refused' in outcome && outcome.refused.errors.length === 100);
  });

  it('the type of a Feature is that of the entity within, unless another form is given', () => {
    const feature = { type: 'Feature', id: 'urn:a:1', properties: { type: 'A' }, geometry: null };
    const of = (form?: 'keyvalues') =>
      validationTasks.validate({ text: JSON.stringify(feature), models: [], ...(form && { form }) });
    assert.deepEqual(typesOf(of()), [{ types: [{ type: 'A', localName: 'A' }], pointer: '' }]);
    assert.deepEqual(typesOf(of('keyvalues')), [
      { types: [{ type: 'Feature', localName: 'Feature' }], pointer: '' },
    ]);
  });
});

describe('bodies with known types', () => {
  it('a body is validated at once if the models of all its types are given, and otherwise returns its types', () => {
    const {
      models: [a, b],
      schemas,
    } = modelsOf(BY_TYPE);
    assert.ok(a !== undefined && b !== undefined);
    const text = JSON.stringify([
      { id: 'urn:a:1', type: 'A', a: 1 },
      { id: 'urn:b:1', type: ['B', 'Other'], b: 1 },
    ]);
    const run = (models: readonly (typeof a)[], unknownTypes: readonly string[]) =>
      validationTasks.validate({ text, models, schemas, unknownTypes });
    assert.ok('answer' in run([a, b], ['Other']));
    for (const outcome of [run([a, b], []), run([a], ['Other']), run([], [])])
      assert.deepEqual(column(typesOf(outcome), 'pointer'), ['/0', '/1']);
  });

  it('an entity is validated by the models of its own types even if others are given', () => {
    const { models, schemas } = modelsOf(BY_TYPE);
    const text = JSON.stringify({ id: 'urn:a:1', type: 'A', a: 1, b: 'x' });
    const outcome = validationTasks.validate({ text, models, schemas });
    assert.ok('answer' in outcome);
    assert.deepEqual((JSON.parse(outcome.answer) as Verdict).models, ['City/A']);
  });

  it('models of different names are distinguished even if they have the same schema', () => {
    const {
      models: [a],
      schemas,
    } = modelsOf(BY_TYPE);
    assert.ok(a !== undefined);
    validationTasks.compileModels({ models: [a], schemas });
    const { byType: _found, ...named } = a;
    const text = '{"id": "urn:a:1", "type": "A", "a": 1}';
    assert.ok('answer' in validationTasks.validate({ text, models: [named] }));
    const renamed = validationTasks.validate({ text, models: [{ ...named, name: 'Car' }] });
    assert.deepEqual(renamed, { needs: { schemas: [a.key] } });
  });
});

describe('models that are compiled for validations by type', () => {
  it('models that are compiled for validations by type are available to the next validation without their schemas', () => {
    const { models: two, schemas } = models('Two', 2);
    const text = '{"id": "urn:a:1", "type": "Two0"}';
    assert.deepEqual(validationTasks.validate({ text, models: two }), {
      needs: { schemas: ['Two0', 'Two1'] },
    });
    assert.deepEqual(validationTasks.compileModels({ models: two, schemas: schemas.slice(0, 1) }), {
      needs: ['Two1'],
    });
    assert.deepEqual(validationTasks.compileModels({ models: two, schemas }), { areKept: true });
    assert.ok('answer' in validationTasks.validate({ text, models: two }));
  });

  it('models that are compiled for validations by type are kept up to four mebibytes of schemas in total', () => {
    const large = (prefix: string, count: number) => {
      const { models: some, schemas } = models(prefix, count);
      return { models: some, schemas: schemas.map(([key, text]) => [key, text.padEnd(2 ** 20)] as const) };
    };
    assert.deepEqual(validationTasks.compileModels(large('Four', 4)), { areKept: true });
    assert.deepEqual(validationTasks.compileModels(large('Five', 5)), { areKept: false });
  });

  it('models that are compiled for validations by type are reported as not kept if there are too many', () => {
    const { models: many, schemas } = models('Many', 70);
    assert.deepEqual(validationTasks.compileModels({ models: many, schemas }), { areKept: false });
    const text = '{"id": "urn:a:1", "type": "Many0"}';
    assert.ok('answer' in validationTasks.validate({ text, models: many, schemas }));
  });
});
