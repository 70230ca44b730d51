import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ImportPlan } from '../../../../sidecar/schemas/repository/import-plan.js';
import { type ImportStep, importSteps } from '../../../../sidecar/schemas/repository/import-order.js';

const own = (name: string, version?: number) =>
  `http://gateway.example/api/v2/contexts/${name}${version === undefined ? '' : `?version=${version}`}`;

const model = (name: string, more: object = {}) => ({
  path: `${name}/schema.json`,
  domain: 'City',
  name,
  versions: [],
  examples: [],
  ...more,
});

const context = (name: string) => ({ path: `${name}.jsonld`, name });

function stepsFor(plan: Partial<ImportPlan>, files: Readonly<Record<string, unknown>>) {
  const whole: ImportPlan = {
    domains: [],
    domainSettings: [],
    documents: [],
    contexts: [],
    contextVersions: new Map(),
    models: [],
    refused: [],
    ignored: 0,
    ...plan,
  };
  return importSteps(whole, (path) => JSON.stringify(files[path]));
}

const nameOf = (step: ImportStep) => (step.kind === 'context' ? step.context.name : step.model.name);
const names = (steps: readonly ImportStep[]) => steps.map(nameOf);

describe('the order of an import', () => {
  it('a context comes after those that it names, in any version of its own and through shared documents', () => {
    const url = 'https://a.example/dir/shared.jsonld';
    const steps = stepsFor(
      {
        contexts: ['a', 'b', 'c', 'd', 'e'].map(context),
        contextVersions: new Map([['a', [{ path: 'a.versions/1.jsonld', number: 1 }]]]),
        documents: [
          { path: 'shared.jsonld', url, mayReplace: true },
          { path: 'more.jsonld', url: 'https://a.example/dir/more.jsonld', mayReplace: true },
        ],
      },
      {
        'a.jsonld': { '@context': {} },
        'a.versions/1.jsonld': { '@context': own('b', 3) },
        'b.jsonld': { '@context': [url] },
        'c.jsonld': { '@context': { t: { '@id': 'urn:t', '@context': own('d') } } },
        'd.jsonld': { '@context': { '@import': own('e') } },
        'e.jsonld': { '@context': {} },
        'shared.jsonld': { '@context': 'more.jsonld' },
        'more.jsonld': { '@context': [own('c', 7)] },
      },
    );
    assert.deepEqual(names(steps), ['e', 'd', 'c', 'b', 'a']);
    const pins = Object.fromEntries(steps.map((step) => [nameOf(step), step.pins]));
    assert.deepEqual(pins, {
      a: [{ name: 'b', version: 3 }],
      b: [{ name: 'c', version: 7 }],
      c: [],
      d: [],
      e: [],
    });
    assert.deepEqual(names(steps.find((step) => nameOf(step) === 'b')?.needs ?? []), ['c']);
  });

  it('a model comes after its own context, those that its settings name, and the models whose contexts these are', () => {
    const steps = stepsFor(
      {
        contexts: [context('z')],
        models: [
          model('A', { settings: 'A/meta.json' }),
          model('B', { context: 'z.jsonld' }),
          model('C', { settings: 'C/meta.json' }),
          model('D'),
        ],
      },
      {
        'z.jsonld': { '@context': own('City~C') },
        'A/meta.json': { context: ['z', own('City~D', 2)] },
        'C/meta.json': { context: [own('Other~D')] },
      },
    );
    assert.deepEqual(names(steps), ['C', 'z', 'D', 'A', 'B']);
    const [a, b] = ['A', 'B'].map((name) => steps.find((step) => nameOf(step) === name));
    assert.deepEqual(names(a?.needs ?? []), ['z', 'D']);
    assert.deepEqual(a?.pins, [{ name: 'City~D', version: 2 }]);
    assert.deepEqual(names(b?.needs ?? []), ['z']);
  });

  it('contexts that name each other, or themselves, are stored once each', () => {
    const steps = stepsFor(
      { contexts: ['a', 'b', 'c'].map(context) },
      {
        'a.jsonld': { '@context': [own('a'), own('b')] },
        'b.jsonld': { '@context': own('c') },
        'c.jsonld': { '@context': own('a') },
      },
    );
    assert.deepEqual(names(steps), ['c', 'b', 'a']);
    assert.deepEqual(names(steps.find((step) => nameOf(step) === 'a')?.needs ?? []), ['b']);
  });
});
