import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { termMeanings } from '../../../../sidecar/schemas/json-ld/term-meanings.js';

describe('the meanings of terms', () => {
  it('the meanings of terms are the same however a context spells them', () => {
    const iri = 'https://example.com/terms/speed';
    const spelt: readonly unknown[] = [
      { speed: iri },
      { speed: { '@id': iri } },
      { ex: 'https://example.com/terms/', speed: 'ex:speed' },
      { base: 'https://example.com/', ex: 'base:terms/', speed: { '@id': 'ex:speed' } },
      [{ speed: 'https://other.example/speed' }, { speed: iri }],
      [{ '@vocab': 'https://example.com/terms/', speed: 'speed' }, 'https://other.example/context'],
    ];
    for (const context of spelt)
      assert.deepEqual(termMeanings({ '@context': context })['speed'], { iri }, JSON.stringify(context));
  });

  it('the meanings of terms tell one coercion from another, in whatever order its members come', () => {
    const of = (definition: object) =>
      termMeanings({
        '@context': { xsd: 'http://www.w3.org/2001/XMLSchema#', a: { '@id': 'x:a', ...definition } },
      })['a'];
    const list = of({ '@type': 'xsd:date', '@container': '@list' });
    assert.deepEqual(list, of({ '@container': '@list', '@type': 'http://www.w3.org/2001/XMLSchema#date' }));
    assert.notDeepEqual(list, of({ '@container': '@set', '@type': 'xsd:date' }));
    assert.notDeepEqual(of({ '@type': '@id' }), of({}));
  });

  it('the meanings of terms leave the core context out, and take the default vocabulary in', () => {
    const core = termMeanings({ '@context': [{ location: 'https://example.com/location' }] });
    assert.deepEqual(core, {});
    const [one, other] = ['https://a.example/', 'https://b.example/'].map((iri) =>
      termMeanings({ '@context': { '@vocab': iri } }),
    );
    assert.notDeepEqual(one, other);
  });

  it('the meanings of terms end on prefixes that go in a circle, and on what is no context', () => {
    assert.ok('a' in termMeanings({ '@context': { a: 'b:x', b: 'a:y' } }));
    for (const odd of [null, 7, [], {}, { '@context': null }, { '@context': [null, 3] }])
      assert.deepEqual(termMeanings(odd), {});
  });
});
