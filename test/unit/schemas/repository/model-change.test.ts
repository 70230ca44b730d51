import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { contextIn } from '../../../../sidecar/schemas/repository/context-names.js';
import { modelChangeOf } from '../../../../sidecar/schemas/repository/settings.js';

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
