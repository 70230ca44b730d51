import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { coreContextUrl } from '../../../../sidecar/schemas/json-ld/core-context.js';
import { jsonLdTasks } from '../../../../sidecar/schemas/json-ld/tasks.js';
import {
  type ComparableTerm,
  comparableTerms,
  withoutCore,
} from '../../../../sidecar/schemas/json-ld/term-meanings.js';
import { contextMeaning } from '../../../../sidecar/schemas/json-ld/context-terms.js';
import { loaderOf } from './contexts.js';

async function termsOf(context: unknown): Promise<Readonly<Record<string, ComparableTerm>>> {
  const outcome = await jsonLdTasks.contextTerms({ text: JSON.stringify(context), supplied: [] });
  assert.ok('terms' in outcome, JSON.stringify(outcome));
  return comparableTerms({ terms: new Map(outcome.terms), defaults: outcome.defaults });
}

describe('the meanings of terms', () => {
  it('the meanings of terms are the same in every notation of a context', async () => {
    const iri = 'https://example.com/terms/speed';
    const spelt: readonly unknown[] = [
      { speed: iri },
      { speed: { '@id': iri } },
      { ex: 'https://example.com/terms/', speed: 'ex:speed' },
      { base: 'https://example.com/', ex: 'base:terms/', speed: { '@id': 'ex:speed' } },
      [{ speed: 'https://other.example/speed' }, { speed: iri }],
      [{ ex: 'https://example.com/terms/' }, { speed: 'ex:speed' }, { ex: 'https://other.example/' }],
      [{ '@vocab': 'https://example.com/terms/', speed: { '@id': 'speed' } }],
    ];
    for (const context of spelt)
      assert.deepEqual((await termsOf(context))['speed'], { iri }, JSON.stringify(context));
  });

  it('the meanings of terms differ by coercion, but not by the order of its members', async () => {
    const of = async (definition: object) =>
      (
        await termsOf({
          xsd: 'http://www.w3.org/2001/XMLSchema#',
          a: { '@id': 'https://x.example/a', ...definition },
        })
      )['a'];
    const list = await of({ '@type': 'xsd:date', '@container': ['@set', '@index'] });
    const same = { '@container': ['@index', '@set'], '@type': 'http://www.w3.org/2001/XMLSchema#date' };
    assert.deepEqual(list, await of(same));
    assert.notDeepEqual(list, await of({ '@container': '@set', '@type': 'xsd:date' }));
    for (const other of [{ '@type': '@id' }, { '@language': null }, { '@container': '@set' }])
      assert.notDeepEqual(await of(other), await of({}), JSON.stringify(other));
    const reversed = await termsOf({ a: { '@reverse': 'https://x.example/a' } });
    assert.equal(reversed['a']?.iri, (await of({}))?.iri);
    assert.notDeepEqual(reversed['a'], await of({}));
  });

  it('the meanings of terms say which can be prefixes, which is no coercion', async () => {
    const iri = 'https://x.example/';
    const of = async (definition: unknown) => (await termsOf({ a: definition }))['a'];
    assert.deepEqual(await of(iri), { iri, isPrefix: true });
    assert.deepEqual(await of({ '@id': iri, '@prefix': true }), { iri, isPrefix: true });
    assert.deepEqual(await of({ '@id': iri }), { iri });
    assert.deepEqual(await of(`${iri}a`), { iri: `${iri}a` });
    assert.deepEqual(await of({ '@id': `${iri}a`, '@prefix': true }), { iri: `${iri}a`, isPrefix: true });
  });

  it('the meanings of terms leave out the core context, and include removed terms', async () => {
    const found = await termsOf([
      { location: 'https://example.com/l', a: 'https://x.example/a' },
      { a: null },
    ]);
    assert.deepEqual(Object.keys(found), ['@language', '@direction', 'a']);
    assert.deepEqual(found['a'], { iri: 'nothing' });
    const core = coreContextUrl();
    assert.deepEqual(withoutCore(JSON.stringify({ '@context': [{ a: 'b:c' }, 'urn:x', core] })), [
      { a: 'b:c' },
      'urn:x',
    ]);
    assert.deepEqual(withoutCore(JSON.stringify({ '@context': { a: 'b:c' } })), [{ a: 'b:c' }]);
    assert.deepEqual(withoutCore(JSON.stringify({ '@context': core })), []);
  });

  it('the meanings of terms depend on the default language of strings', async () => {
    const [none, german] = [await termsOf({}), await termsOf({ '@language': 'de' })];
    assert.deepEqual([none['@language'], german['@language']], [{ iri: 'nothing' }, { iri: 'de' }]);
    assert.deepEqual(none['@direction'], german['@direction']);
    assert.deepEqual((await termsOf({ '@direction': 'rtl' }))['@direction'], { iri: 'rtl' });
  });
});

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
