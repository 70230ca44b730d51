import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isLink, partsOf, probeOf, readProbe } from '../../../console/models/terms.js';

it('terms and the contexts that are named come in their order, so that the later one wins', () => {
  const parts = partsOf({
    '@context': [{ a: 'urn:a:1' }, 'https://example.org/c', { '@vocab': 'urn:v:' }],
  });
  assert.deepEqual(parts, [
    { terms: [{ term: 'a', coercion: undefined }] },
    { url: 'https://example.org/c' },
  ]);
});

it('a coercion is shown as the context defines it', () => {
  const [part] = partsOf({
    a: { '@id': 'urn:a:1', '@type': '@id' },
    b: { '@id': 'urn:a:2', '@type': 'xsd:int', '@container': ['@set', '@index'] },
    c: { '@id': 'urn:a:3' },
  });
  assert.ok(part !== undefined && 'terms' in part);
  assert.deepEqual(
    part.terms.map(({ coercion }) => coercion),
    ['@id', 'xsd:int, @set, @index', undefined],
  );
});

it('a value that is not a context has no terms', () => {
  for (const value of [null, 3, undefined, [], {}, { '@context': null }])
    assert.deepEqual(partsOf(value), []);
});

it('the IRI of each term is found in the expansion, wherever its value was moved', () => {
  const terms = ['a', 'b', 'c', 'd', '__proto__'].map((term) => ({ term, coercion: undefined }));
  const probe = probeOf(terms);
  const value = (term: string) => Object.entries(probe).find(([name]) => name === term)?.[1];
  const expanded = [
    {
      'urn:x:a': [{ '@value': value('a') }],
      'urn:x:b': [{ '@list': [{ '@id': value('b') }] }],
      '@type': [value('d')],
      'urn:x:proto': [{ '@value': value('__proto__') }],
      'urn:x:other': [{ '@value': 'something else' }],
    },
  ];
  assert.deepEqual(
    readProbe(terms, expanded).map(({ iri }) => iri),
    ['urn:x:a', 'urn:x:b', undefined, '@type', 'urn:x:proto'],
  );
});

it('only http and https become links', () => {
  assert.ok(isLink('https://example.org/a') && isLink('HTTP://example.org'));
  for (const iri of ['javascript:alert(1)', 'urn:a:b', 'data:text/html,x', ' https://example.org', ''])
    assert.ok(!isLink(iri), iri);
});
