import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ImportPlan, OnlyModel } from '../../../../sidecar/schemas/repository/import-plan.js';
import { type Files, planOf } from './planning.js';
import { column } from '../../../support/columns.js';

const plan = (files: Files, only?: OnlyModel) =>
  planOf(files, { domain: 'D', ...(only === undefined ? {} : { only }) });

const entity = (title: string, ...refs: readonly string[]) => ({
  title,
  properties: { type: { const: title } },
  allOf: refs.map(($ref) => ({ $ref })),
});

const part = (...refs: readonly string[]) => ({ definitions: {}, allOf: refs.map(($ref) => ({ $ref })) });

const modelsOf = ({ models }: ImportPlan) => models.map(({ name, id }) => ({ name, id }));
const documentsOf = ({ documents }: ImportPlan) => documents.map(({ path, url }) => ({ path, url }));

const at = (path: string) => `https://repository.invalid/D/${path}`;

describe('models named by their titles', () => {
  it('the relative $refs of a model that is named by its title are resolved, and those of the documents they name', () => {
    const found = plan({
      'models/tram.json': entity('Tram', '../parts/wheel.json#/definitions/a'),
      'parts/wheel.json': part('tyre.json'),
      'parts/tyre.json': part(),
    });
    assert.deepEqual(modelsOf(found), [{ name: 'Tram', id: at('models/tram.json') }]);
    assert.deepEqual(
      documentsOf(found),
      ['parts/tyre.json', 'parts/wheel.json'].map((path) => ({ path, url: at(path) })),
    );
    assert.equal(found.ignored, 0);
  });

  it('a model that is named by its title gets an $id only if a relative $ref needs one', () => {
    const url = 'https://a.example/parts/wheel.json';
    const found = plan({
      'bus.json': entity('Bus'),
      'car.json': entity('Car', url),
      'tram.json': { ...entity('Tram', 'wheel.json'), $id: 'https://a.example/parts/tram.json' },
      'wheel.json': { ...part(), $id: url },
    });
    assert.deepEqual(
      modelsOf(found),
      ['Bus', 'Car', 'Tram'].map((name) => ({ name, id: undefined })),
    );
    assert.deepEqual(documentsOf(found), [{ path: 'wheel.json', url }]);
  });

  it('a model in a folder keeps its name if other schemas have it as their title, such as old ones', () => {
    const files = {
      'Tram/schema.json': entity('Tram'),
      'Tram/schema-2024.json': entity('Tram'),
      'old/tram.json': entity('Tram'),
    };
    const found = plan(files);
    assert.deepEqual(column(found.models, 'path'), ['Tram/schema.json']);
    assert.deepEqual(column(found.refused, 'path').sort(), ['Tram/schema-2024.json', 'old/tram.json']);
    assert.match(
      column(found.refused, 'reason').join(),
      /Tram\/schema.json is also named Tram;.* folder has this name/,
    );
    const unclear = plan({ ...files, 'all/Tram/schema.json': entity('Tram') });
    assert.deepEqual([unclear.models, unclear.refused.length], [[], 4]);
  });

  it('a schema with a title that a model names by a relative $ref is a document, and not a model', () => {
    const found = plan({ 'tram.json': entity('Tram', 'vehicle.json'), 'vehicle.json': entity('Vehicle') });
    assert.deepEqual(modelsOf(found), [{ name: 'Tram', id: at('tram.json') }]);
    assert.deepEqual(documentsOf(found), [{ path: 'vehicle.json', url: at('vehicle.json') }]);
  });

  it('a document with a title is found by its URL, even if the schema that names it comes later', () => {
    const found = plan({
      'Car/schema.json': entity('Car', '../vehicle.json'),
      'axle.json': part(),
      'vehicle.json': entity('Vehicle', 'axle.json'),
    });
    assert.deepEqual(modelsOf(found), [{ name: 'Car', id: at('Car/schema.json') }]);
    assert.deepEqual(column(documentsOf(found), 'path'), ['axle.json', 'vehicle.json']);
  });

  it('the model being searched for has its relative $refs resolved, whatever its name', () => {
    const files = {
      'any.json': { properties: {}, allOf: [{ $ref: 'axle.json' }] },
      'axle.json': part(),
      'tram.json': entity('Tram', 'any.json'),
    };
    const found = plan(files, { path: 'any.json', name: 'Any' });
    assert.deepEqual(modelsOf(found), [{ name: 'Any', id: at('any.json') }]);
    assert.deepEqual(
      documentsOf(found).filter(({ path }) => path === 'axle.json'),
      [{ path: 'axle.json', url: at('axle.json') }],
    );
  });
});
