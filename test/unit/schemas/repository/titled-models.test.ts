import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { byPath } from '../../../../sidecar/schemas/repository/collector.js';
import { describeDocument } from '../../../../sidecar/schemas/repository/describe.js';
import { discover } from '../../../../sidecar/schemas/repository/discover.js';
import type { ImportPlan, OnlyModel } from '../../../../sidecar/schemas/repository/import-plan.js';

/** What becomes of documents by their paths, in a domain D. */
function planOf(files: Readonly<Record<string, object>>, only?: OnlyModel): ImportPlan {
  const described = Object.entries(files).map(([path, document]) => {
    const text = JSON.stringify(document);
    const description = describeDocument(text);
    assert.ok('facts' in description);
    return { path, sha256: createHash('sha256').update(text).digest('hex'), facts: description.facts };
  });
  return discover(described.sort(byPath), { domain: 'D', ...(only === undefined ? {} : { only }) });
}

const entity = (title: string, ...refs: readonly string[]) => ({
  title,
  properties: { type: { const: title } },
  allOf: refs.map(($ref) => ({ $ref })),
});

const part = (...refs: readonly string[]) => ({ definitions: {}, allOf: refs.map(($ref) => ({ $ref })) });

const modelsOf = ({ models }: ImportPlan) => models.map(({ name, id }) => ({ name, id }));
const documentsOf = ({ documents }: ImportPlan) => documents.map(({ path, url }) => ({ path, url }));

const at = (path: string) => `https://repository.invalid/D/${path}`;

describe('models that are named by their titles', () => {
  it('a model that is named by its title has its relative $refs followed, and what these name', () => {
    const plan = planOf({
      'models/tram.json': entity('Tram', '../parts/wheel.json#/definitions/a'),
      'parts/wheel.json': part('tyre.json'),
      'parts/tyre.json': part(),
    });
    assert.deepEqual(modelsOf(plan), [{ name: 'Tram', id: at('models/tram.json') }]);
    assert.deepEqual(
      documentsOf(plan),
      ['parts/tyre.json', 'parts/wheel.json'].map((path) => ({ path, url: at(path) })),
    );
    assert.equal(plan.ignored, 0);
  });

  it('a model that is named by its title gets an $id only where a relative $ref needs one', () => {
    const url = 'https://a.example/parts/wheel.json';
    const plan = planOf({
      'bus.json': entity('Bus'),
      'car.json': entity('Car', url),
      'tram.json': { ...entity('Tram', 'wheel.json'), $id: 'https://a.example/parts/tram.json' },
      'wheel.json': { ...part(), $id: url },
    });
    assert.deepEqual(
      modelsOf(plan),
      ['Bus', 'Car', 'Tram'].map((name) => ({ name, id: undefined })),
    );
    assert.deepEqual(documentsOf(plan), [{ path: 'wheel.json', url }]);
  });

  it('a schema with a title that a model names by a relative $ref is a document, and no model', () => {
    const plan = planOf({ 'tram.json': entity('Tram', 'vehicle.json'), 'vehicle.json': entity('Vehicle') });
    assert.deepEqual(modelsOf(plan), [{ name: 'Tram', id: at('tram.json') }]);
    assert.deepEqual(documentsOf(plan), [{ path: 'vehicle.json', url: at('vehicle.json') }]);
  });

  it('a document with a title is followed by its URL, also where what names it comes later', () => {
    const plan = planOf({
      'Car/schema.json': entity('Car', '../vehicle.json'),
      'axle.json': part(),
      'vehicle.json': entity('Vehicle', 'axle.json'),
    });
    assert.deepEqual(modelsOf(plan), [{ name: 'Car', id: at('Car/schema.json') }]);
    assert.deepEqual(
      documentsOf(plan).map(({ path }) => path),
      ['axle.json', 'vehicle.json'],
    );
  });

  it('the one model that is looked for has its relative $refs followed, whatever it is called', () => {
    const files = {
      'any.json': { properties: {}, allOf: [{ $ref: 'axle.json' }] },
      'axle.json': part(),
      'tram.json': entity('Tram', 'any.json'),
    };
    const plan = planOf(files, { path: 'any.json', name: 'Any' });
    assert.deepEqual(modelsOf(plan), [{ name: 'Any', id: at('any.json') }]);
    assert.deepEqual(
      documentsOf(plan).filter(({ path }) => path === 'axle.json'),
      [{ path: 'axle.json', url: at('axle.json') }],
    );
  });
});
