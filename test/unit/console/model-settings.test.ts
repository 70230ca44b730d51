import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Model } from '../../../console/models/models-api.js';
import { changedSettings, formOfModel } from '../../../console/models/model-settings.js';

const MODEL: Model = {
  domain: 'D',
  name: 'Car',
  compatibility: 'none',
  status: 'published',
  version: 2,
  contextName: 'D~Car',
  createdAt: '2026-01-01T00:00:00Z',
  modifiedAt: '2026-01-01T00:00:00Z',
  dialect: '2020-12',
  schema: {},
  references: [],
  warnings: [],
  description: 'A car',
  context: { speed: 'urn:x:speed' },
  sunset: '2027-01-01T00:00:00.000Z',
};

it('a form without changes sends nothing', () => {
  assert.equal(changedSettings(formOfModel(MODEL), MODEL), undefined);
});

it('only changed fields are sent, and emptied ones are removed', () => {
  const form = { ...formOfModel(MODEL), description: ' ', status: 'deprecated' } as const;
  assert.deepEqual(changedSettings(form, MODEL), { description: null, status: 'deprecated' });
  const other = { ...formOfModel(MODEL), sunset: '', contextBase: 'https://example.org/' };
  assert.deepEqual(changedSettings(other, MODEL), { sunset: null, contextBase: 'https://example.org/' });
});

it('the own context of a model is a name, a URL, JSON, or removed', () => {
  const withContext = (context: string) => changedSettings({ ...formOfModel(MODEL), context }, MODEL);
  assert.deepEqual(withContext('official'), { context: 'official' });
  assert.deepEqual(withContext(' ["official", {"a": "urn:a:b"}]'), {
    context: ['official', { a: 'urn:a:b' }],
  });
  assert.deepEqual(withContext(''), { context: null });
  assert.throws(() => withContext('{"a"'), SyntaxError);
});

it('the compatibility of a model is its own, or that of its domain', () => {
  const form = formOfModel(MODEL);
  assert.deepEqual(changedSettings({ ...form, compatibility: 'full' }, MODEL), { compatibility: 'full' });
  assert.deepEqual(changedSettings({ ...form, compatibility: 'domain' }, MODEL), { compatibility: null });
});
