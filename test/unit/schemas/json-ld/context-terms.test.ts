import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { contextMeaning } from '../../../../sidecar/schemas/json-ld/context-terms.js';
import { loaderOf } from './contexts.js';

const IRI = 'https://terms.example/t';
const meaning = async (definition: unknown, more: object = {}) =>
  (await contextMeaning({ '@version': 1.1, ...more, t: definition }, loaderOf())).terms.get('t');

describe('the meaning of a term', () => {
  for (const [what, definition, found] of [
    ['an IRI', IRI, IRI],
    ['a map of it alone', { '@id': IRI }, IRI],
    ['null', null, null],
    ['a keyword', '@type', '@type'],
    ['a type', { '@id': IRI, '@type': '@id' }, { '@id': IRI, '@type': '@id' }],
    ['a language', { '@id': IRI, '@language': 'de' }, { '@id': IRI, '@language': 'de' }],
    ['no language', { '@id': IRI, '@language': null }, { '@id': IRI, '@language': null }],
    ['a direction', { '@id': IRI, '@direction': 'rtl' }, { '@id': IRI, '@direction': 'rtl' }],
    ['a nest', { '@id': IRI, '@nest': '@nest' }, { '@id': IRI, '@nest': '@nest' }],
    ['a scoped context', { '@id': IRI, '@context': { a: IRI } }, { '@id': IRI, '@context': { a: IRI } }],
    ['a container', { '@id': IRI, '@container': '@list' }, { '@id': IRI, '@container': '@list' }],
    [
      'containers',
      { '@id': IRI, '@container': ['@graph', '@id'] },
      { '@id': IRI, '@container': ['@graph', '@id'] },
    ],
    [
      'an index',
      { '@id': IRI, '@container': '@index', '@index': IRI },
      { '@id': IRI, '@index': IRI, '@container': '@index' },
    ],
    ['a reversed property', { '@reverse': IRI }, { '@reverse': IRI }],
    ['a prefix', { '@id': IRI, '@prefix': true }, { '@id': IRI, '@prefix': true }],
    [
      'a prefix that says more',
      { '@id': 'https://terms.example/', '@type': '@id', '@prefix': true },
      { '@id': 'https://terms.example/', '@type': '@id', '@prefix': true },
    ],
    ['what looks like a prefix', 'https://terms.example/', 'https://terms.example/'],
    [
      'no prefix, though it looks like one',
      { '@id': 'https://terms.example/' },
      { '@id': 'https://terms.example/' },
    ],
  ] as const) {
    it(`the meaning of a term includes its whole definition: ${what}`, async () => {
      assert.deepEqual(await meaning(definition), found);
    });
  }

  it('the defaults of strings are those of the context, each independent of the others', async () => {
    const defaults = async (context: object) => (await contextMeaning(context, loaderOf())).defaults;
    assert.deepEqual(await defaults({ '@language': 'de' }), { '@language': 'de' });
    assert.deepEqual(await defaults({ '@direction': 'rtl' }), { '@direction': 'rtl' });
    assert.deepEqual(await defaults([{ '@language': 'de' }, { '@language': null }]), {});
  });
});
