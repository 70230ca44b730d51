import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { coreContextUrl } from '../../../../sidecar/schemas/json-ld/core-context.js';
import { jsonLdTasks } from '../../../../sidecar/schemas/json-ld/tasks.js';
import {
  type ComparableTerm,
  comparableTerms,
  withoutCore,
} from '../../../../sidecar/schemas/json-ld/term-meanings.js';

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
