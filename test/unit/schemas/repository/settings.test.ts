import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ModelTexts } from '../../../../sidecar/store/records.js';
import {
  domainSettingsIn,
  settingsFault,
  settingsIn,
  settingsOf,
  modelChangeOf,
} from '../../../../sidecar/schemas/repository/settings.js';
import { contextIn } from '../../../../sidecar/schemas/repository/context-names.js';

const DEPRECATED_AT = Date.UTC(2026, 0, 31, 1, 2, 3);
const SUNSET_AT = Date.UTC(2027, 11, 31, 4, 5, 6);

/** A model with every setting. */
const FULL = {
  model: {
    description: 'A lamp.',
    contextBase: 'https://terms.example/',
    compatibility: 'full',
    ownCompatibility: 'backward',
    status: 'deprecated',
    deprecatedAt: DEPRECATED_AT,
    sunsetAt: SUNSET_AT,
  },
  ownContext: '{"lit":"https://terms.example/lit"}',
} as unknown as ModelTexts;

const WRITTEN = {
  description: 'A lamp.',
  contextBase: 'https://terms.example/',
  compatibility: 'backward',
  status: 'deprecated',
  deprecatedAt: '2026-01-31T01:02:03.000Z',
  sunset: '2027-12-31T04:05:06.000Z',
  context: { lit: 'https://terms.example/lit' },
};

describe('the settings of an exported model', () => {
  it('the settings of an exported model are all of its own, and an import restores each', () => {
    assert.deepEqual(settingsOf(FULL), WRITTEN);
    assert.equal(settingsFault(JSON.stringify(WRITTEN)), undefined);
    assert.deepEqual(settingsIn(JSON.stringify(WRITTEN)), { ...WRITTEN, deprecatedAt: DEPRECATED_AT });
    const inherited = { model: { compatibility: 'full', status: 'draft' } } as unknown as ModelTexts;
    assert.deepEqual(settingsOf(inherited), { status: 'draft' });
  });

  it('omitted or null settings of an exported model are removed, except its status and its time of deprecation', () => {
    const removed = {
      description: null,
      contextBase: null,
      compatibility: null,
      sunset: null,
      context: null,
    };
    assert.deepEqual(settingsIn('{}'), removed);
    const nulls = JSON.stringify({ ...removed, status: null, deprecatedAt: null });
    assert.equal(settingsFault(nulls), undefined);
    assert.deepEqual(settingsIn(nulls), removed);
  });

  for (const [name, right, wrong, wanted] of [
    ['description', ['', 'x'.repeat(4000)], ['x'.repeat(4001), 1], 'a text of at most 4000 characters'],
    ['contextBase', ['https://a.example/'], [1, {}], 'an IRI'],
    [
      'compatibility',
      ['none', 'backward', 'forward', 'full'],
      ['None', '', true, ['none']],
      'none, backward, forward or full',
    ],
    ['status', ['draft', 'published', 'deprecated'], ['retired', 1], 'draft, published or deprecated'],
    ['deprecatedAt', ['2026-01-31T00:00:00Z'], ['yesterday', 1_700_000_000_000], 'a date and time'],
    ['sunset', ['2026-01-31T00:00:00Z'], [1, {}], 'a date and time'],
    ['context', [[], {}, 'https://a.example/', 1], [], ''],
  ] as const) {
    it(`the setting ${name} of an exported model is refused if the service would not accept it`, () => {
      for (const value of right) assert.equal(settingsFault(JSON.stringify({ [name]: value })), undefined);
      for (const value of wrong)
        assert.equal(
          settingsFault(JSON.stringify({ [name]: value })),
          `Its setting ${name} (meta.json) must be ${wanted}.`,
        );
    });
  }

  it('the settings of an exported model are an object', () => {
    for (const text of ['[]', 'null', '"x"', '1'])
      assert.equal(settingsFault(text), 'Its settings (meta.json) must be an object.');
  });
});

describe('the settings of an exported domain', () => {
  it('the settings of an exported domain are restored, or refused with the faulty member', () => {
    const read = (value: unknown) => domainSettingsIn(JSON.stringify(value));
    const full = { description: 'All', compatibility: 'full' };
    assert.deepEqual(read(full), { settings: full });
    assert.deepEqual(read({ description: null, compatibility: null }), {
      settings: { description: undefined, compatibility: undefined },
    });
    assert.deepEqual(read([]), { fault: 'The settings of a domain must be an object.' });
    assert.deepEqual(read({ description: 'x'.repeat(4001) }), {
      fault: 'Its member description must be a text of at most 4000 characters.',
    });
    assert.deepEqual(read({ description: 'All', compatibility: 'some' }), {
      fault: 'Its member compatibility must be none, backward, forward or full.',
    });
    // Settings that only models have are ignored.
    assert.deepEqual(read({ status: 1 }), { settings: { description: undefined, compatibility: undefined } });
  });
});

const textOf = (schema: object) => JSON.stringify(schema);

describe('the change of a model by an import', () => {
  it('a new imported model has the description of its schema if the text is not too long', () => {
    const described = (description: unknown, isThere: boolean) =>
      modelChangeOf({ schema: textOf({ description }) }, isThere).description;
    assert.equal(described('A lamp.', false), 'A lamp.');
    assert.equal(described('A lamp.', true), undefined);
    assert.equal(described('x'.repeat(4000), false), 'x'.repeat(4000));
    assert.equal(described('x'.repeat(4001), false), undefined);
    assert.equal(described({ en: 'A lamp.' }, false), undefined);
  });

  it('an imported model gets the $id and the context that it needs, and nothing else', () => {
    const schema = { $id: 'lamp.json', type: 'object' };
    assert.deepEqual(modelChangeOf({ schema: textOf(schema) }, false), { schema });
    assert.deepEqual(
      modelChangeOf({ schema: textOf(schema), id: 'https://a.example/lamp.json', context: 'terms' }, false),
      { schema: { ...schema, $id: 'https://a.example/lamp.json' }, context: 'terms' },
    );
  });

  it('an imported model with settings has exactly these, and neither the description of its schema nor a nearby context', () => {
    const schema = { description: 'Of the schema.' };
    const change = modelChangeOf({ schema: textOf(schema), settings: '{}', context: 'terms' }, false);
    assert.deepEqual(change, {
      schema,
      description: null,
      contextBase: null,
      compatibility: null,
      sunset: null,
      context: null,
    });
  });
});

describe('the context in a file', () => {
  it('the context in a file is its @context, or the whole content if that is not an object', () => {
    assert.deepEqual(contextIn('{"@context": {"a": "urn:a"}, "b": 1}'), { a: 'urn:a' });
    assert.deepEqual(contextIn('["https://a.example/"]'), ['https://a.example/']);
    assert.equal(contextIn('{"a": "urn:a"}'), null);
  });

  it('the context in a file has its relative names resolved against a base, if there is one', () => {
    const text = '{"@context": ["base.jsonld", {"a": {"@id": "urn:a", "@context": "in.jsonld"}}]}';
    assert.deepEqual(contextIn(text, 'https://a.example/x/context.jsonld'), [
      'https://a.example/x/base.jsonld',
      { a: { '@id': 'urn:a', '@context': 'https://a.example/x/in.jsonld' } },
    ]);
    assert.deepEqual(contextIn(text), (JSON.parse(text) as { '@context': unknown })['@context']);
  });
});
