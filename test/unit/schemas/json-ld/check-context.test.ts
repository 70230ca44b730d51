import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkContext, contextTerms } from '../../../../sidecar/schemas/json-ld/check-context.js';
import { coreContextUrl } from '../../../../sidecar/schemas/json-ld/core-context.js';
import type { ContextInvalidError } from '../../../../sidecar/schemas/json-ld/errors.js';
import { pointersOf, CORE } from './contexts.js';
import { Desk } from './desk.js';

const A = 'https://contexts.example/a';
const B = 'https://contexts.example/b';
const TERMS = { seats: 'https://terms.example/seats' };

describe('checking a context in a worker', () => {
  it('checking a context in a worker uses the newest core context for every version, and requests none', async () => {
    const desk = new Desk({ [A]: coreContextUrl('1.3') });
    for (const context of [
      [TERMS, coreContextUrl('1.3')],
      [A, coreContextUrl('1.8')],
    ])
      await desk.check(context);
    assert.deepEqual(desk.asked, [A]);
  });

  it('checking a context in a worker gives the reason for each unavailable context', async () => {
    const desk = new Desk({ [B]: { hasOwnProperty: 'urn:x' } });
    await assert.rejects(desk.check([TERMS, A, B], '/@context'), (error) => {
      assert.deepEqual(pointersOf(error), ['/@context/1', '/@context/2']);
      const [first, second] = (error as ContextInvalidError).errors;
      assert.equal(first?.detail, `There is no ${A}.`);
      assert.match(second?.detail ?? '', /hasOwnProperty/);
      return true;
    });
  });

  it('a context that was found under another URL names others relative to that URL', async () => {
    const supplyOf = (context: unknown, documentUrl?: string) => ({
      sha256: JSON.stringify(context),
      text: JSON.stringify({ '@context': context }),
      ...(documentUrl === undefined ? {} : { documentUrl }),
    });
    const supplied = [
      [A, supplyOf(['part'], 'https://moved.example/dir/a')],
      ['https://moved.example/dir/part', supplyOf(TERMS)],
    ] as const;
    const checked = await checkContext({ text: JSON.stringify(A), pointer: '', supplied });
    assert.deepEqual(checked, { checked: { urls: [A], warnings: [] } });
    const terms = await contextTerms({ text: JSON.stringify([A]), supplied });
    assert.deepEqual(terms, { terms: Object.entries(TERMS), defaults: {} });
  });
});

const OTHER = 'http://contexts.example/other';

async function warningsOf(submitted: unknown): Promise<readonly string[]> {
  const { warnings } = await new Desk({ [OTHER]: {} }).check(submitted);
  return warnings.map(({ code, pointer }) => `${code} ${pointer}`);
}

describe('the warnings of a context', () => {
  it('a flat map, or a copy of core terms, with the core context last has no warnings', async () => {
    const terms = {
      Car: 'http://example.org/Car',
      ex: 'http://example.org/',
      speed: 'ex:speed',
      id: '@id',
      type: '@type',
      location: 'https://uri.etsi.org/ngsi-ld/location',
      description: 'http://purl.org/dc/terms/description',
      coordinates: { '@container': '@list', '@id': 'https://purl.org/geojson/vocab#coordinates' },
      'ngsi-ld': 'https://uri.etsi.org/ngsi-ld/',
      observedAt: { '@id': 'ngsi-ld:observedAt', '@type': 'https://uri.etsi.org/ngsi-ld/DateTime' },
    };
    assert.deepEqual(await warningsOf(terms), []);
    assert.deepEqual(await warningsOf([terms, CORE]), []);
    assert.deepEqual(await warningsOf({ ...terms, '@language': null }), []);
  });

  for (const [what, submitted, ...warnings] of [
    ['coercions of type', { a: { '@id': 'http://a/', '@type': '@id' } }, 'coercion /a'],
    ['coercions of containers', { a: { '@id': 'http://a/', '@container': '@list' } }, 'coercion /a'],
    [
      'coercions without an IRI',
      { '@vocab': 'http://v/', a: { '@type': '@id' } },
      'vocab /@vocab',
      'coercion /a',
    ],
    ['core terms that mean something else', { location: 'http://a/location' }, 'core-term /location'],
    ['core terms by a prefix', { ex: 'http://a/', title: 'ex:title' }, 'core-term /title'],
    ['core terms that mean nothing', { location: null }, 'core-term /location', 'no-iri /location'],
    ['terms that mean nothing', { a: null, b: { '@id': null } }, 'no-iri /a', 'no-iri /b'],
    ['terms in the opposite direction', { a: { '@reverse': 'http://a/a' } }, 'no-iri /a'],
    ['aliases of keywords, and blank nodes', { a: '@id', b: '_:b' }, 'no-iri /a', 'no-iri /b'],
    ['@vocab', [{ '@vocab': 'http://v/' }], 'vocab /0/@vocab'],
    [
      'a language or direction of all texts',
      { '@language': 'de', '@direction': 'rtl' },
      'coercion /@language',
      'coercion /@direction',
    ],
    ['names like keywords', { '@foo': 'http://a/' }, 'reserved-term /@foo'],
    ['scoped contexts', { a: { '@id': 'http://a/', '@context': {} } }, 'scoped-context /a'],
    ['the core context before the end', [CORE, { a: 'http://a/' }], 'core-context-not-last /0'],
    [
      'terms that are no prefixes',
      { ex: 'http://example.org/ns', a: 'ex:a', o: { '@id': 'http://o/' }, b: { '@id': 'o:b' } },
      'undefined-prefix /a',
      'undefined-prefix /b',
    ],
    ['prefixes that are not defined', { a: 'ex:a', 'b:c': null }, 'undefined-prefix /a', 'no-iri /b:c'],
  ] as const) {
    it(`the warnings of a context name ${what}`, async () => {
      assert.deepEqual(await warningsOf(submitted), warnings);
    });
  }

  it('the warnings of a context ignore prefixes that another map or another context may define', async () => {
    assert.deepEqual(await warningsOf([{ ex: 'http://example.org/' }, { a: 'ex:a' }]), []);
    const explicit = { o: { '@id': 'http://o', '@prefix': true }, p: 'o:p/', a: 'o:a', b: 'p:b' };
    assert.deepEqual(await warningsOf(explicit), []);
    assert.deepEqual(await warningsOf([OTHER, { a: 'ex:a' }]), []);
    assert.deepEqual(await warningsOf([{ a: 'urn:a:b' }, { b: 'HTTP://a/', c: 'tag:a,2024:c' }]), []);
  });

  it('the warnings of a context have pointers into the submitted document', async () => {
    const submitted = { '@context': [{ 'a/b': null }] };
    assert.deepEqual(await warningsOf(submitted), ['no-iri /@context/0/a~1b']);
  });
});
