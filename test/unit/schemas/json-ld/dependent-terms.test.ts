import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CONTEXT_LIMITS } from '../../../../sidecar/schemas/json-ld/context-safety.js';
import { contextMeaning } from '../../../../sidecar/schemas/json-ld/context-terms.js';
import { DomainTermsBuilder } from '../../../../sidecar/schemas/json-ld/domain-terms.js';
import type { TermMeaning } from '../../../../sidecar/schemas/json-ld/term-meanings.js';
import { CORE, loaderOf } from './contexts.js';

type Context = Readonly<Record<string, unknown>>;

/** The terms of a domain whose models have these contexts of their own; they are valid for a processor. */
async function domainOf(attributes: Readonly<Record<string, string>>, ...contexts: readonly Context[]) {
  const maker = new DomainTermsBuilder();
  maker.add({
    model: 'Tram',
    names: Object.keys(attributes),
    generated: new Map(Object.entries(attributes)),
    own: undefined,
  });
  for (const [at, context] of contexts.entries()) {
    const { terms: own } = await contextMeaning(structuredClone(context), loaderOf());
    maker.add({ model: `M${at}`, names: [], generated: new Map(), own });
  }
  const { terms, warnings } = maker.result();
  await contextMeaning([structuredClone(terms), CORE], loaderOf());
  return { terms, warnings };
}

const AT = 'https://a/speed';
const REFERENCE = { '@type': '@id' };

const leftOut: Readonly<
  Record<string, readonly [term: string, readonly Context[], attributes?: Readonly<Record<string, string>>]>
> = {
  'is a compact IRI whose prefix is no prefix for other terms': [
    'ex:speed',
    [{ ex: { '@id': 'https://a/x', ...REFERENCE }, 'ex:speed': REFERENCE }],
  ],
  'is a compact IRI whose prefix loses its flag': [
    'ex:speed',
    [{ ex: { '@id': 'https://a/x-', '@prefix': true }, 'ex:speed': REFERENCE }, { ex: 'https://a/x-' }],
  ],
  'is an IRI whose scheme is an attribute of another model': [
    'https://a/speed',
    [{ [AT]: REFERENCE }],
    { https: 'https://b/https' },
  ],
  'has an IRI whose scheme is a prefix of another model': [
    'speed',
    [{ speed: 'urn:speed' }, { urn: 'https://b/' }],
  ],
  'is coerced to an IRI whose scheme is a prefix of another model': [
    'speed',
    [{ speed: { '@id': AT, '@type': 'urn:speed' } }, { urn: 'https://b/' }],
  ],
  'has a scoped name that needs a default vocabulary': [
    'speed',
    [{ '@vocab': 'https://v/', speed: { '@id': AT, '@context': { unit: REFERENCE } } }],
  ],
  'has a scoped relative IRI that needs a default vocabulary': [
    'speed',
    [{ '@vocab': 'https://v/', speed: { '@id': AT, '@context': { unit: 'units' } } }],
  ],
  'has a scoped relative type that needs a default vocabulary': [
    'speed',
    [{ '@vocab': 'https://v/', speed: { '@id': AT, '@context': { unit: { '@id': AT, '@type': 'U' } } } }],
  ],
  'has a scoped context that needs a term after it': [
    'speed',
    [{ unit: 'https://a/unit', speed: { '@id': AT, '@context': { units: 'unit' } } }],
  ],
  'has a scoped prefix that is an attribute of another model': [
    'speed',
    [{ ex: 'https://a/', speed: { '@id': AT, '@context': { unit: 'ex:unit' } } }],
    { ex: 'https://b/ex' },
  ],
  'has a scoped prefix that an attribute of another model has as its IRI': [
    'speed',
    [{ ex: 'https://a/', speed: { '@id': AT, '@context': { unit: 'ex:unit' } } }, { ex: 'https://b/' }],
    { ex: 'https://b/' },
  ],
  'has a scoped IRI whose scheme is a prefix of another model': [
    'speed',
    [{ speed: { '@id': AT, '@context': { unit: 'ex:unit' } } }, { ex: 'https://b/' }],
  ],
  'has a scoped IRI whose scheme becomes a prefix': [
    'speed',
    [
      { ex: { '@id': 'https://a/', ...REFERENCE }, speed: { '@id': AT, '@context': { unit: 'ex:unit' } } },
      { ex: 'https://a/' },
    ],
  ],
  'has a scoped prefix that only a deeper context defines': [
    'speed',
    [
      {
        ex: 'https://a/',
        speed: {
          '@id': AT,
          '@context': { unit: 'ex:unit', in: { '@id': AT, '@context': { ex: 'https://c/' } } },
        },
      },
      { ex: 'https://b/' },
    ],
  ],
};

const kept: Readonly<Record<string, readonly [term: string, ...contexts: readonly Context[]]>> = {
  'is a reversed compact IRI': [
    'ex:owner',
    { ex: 'https://a/', 'ex:owner': { '@reverse': 'ex:owns' } },
    { ex: 'https://b/' },
  ],
  'ends in a colon': ['foo:', { 'foo:': 'https://a/foo' }],
  'has a scoped language that is the name of an ambiguous term': [
    'speed',
    { de: 'https://a/de', speed: { '@id': AT, '@context': { '@language': 'de', '@direction': 'ltr' } } },
    { de: 'https://b/de' },
  ],
  'has a scoped context with its own vocabulary': [
    'speed',
    { speed: { '@id': AT, '@context': { '@vocab': 'https://v/', unit: REFERENCE, units: 'u' } } },
  ],
  'has a scoped context after null': [
    'speed',
    { ex: 'https://a/', speed: { '@id': AT, '@context': [null, { unit: 'ex:unit' }] } },
    { ex: 'https://b/' },
  ],
  'has a scoped context that needs a term before it': [
    'speed',
    { base: 'https://a/', speed: { '@id': AT, '@context': { unit: 'base', in: { '@id': 'unit' } } } },
  ],
  'has a scoped prefix that models mean alike': [
    'speed',
    { ex: 'https://a/', speed: { '@id': AT, '@context': { unit: 'ex:unit', 'ex:in': REFERENCE } } },
    { ex: 'https://a/' },
  ],
};

describe('terms that depend on others', () => {
  for (const [what, [term, contexts, attributes = {}]] of Object.entries(leftOut))
    it(`the terms of a domain are valid, and leave out a term that ${what}`, async () => {
      const { terms, warnings } = await domainOf(attributes, ...contexts);
      assert.equal(Object.hasOwn(terms, term), false);
      assert.equal(warnings.at(-1)?.term, term);
    });

  for (const [what, [term, ...contexts]] of Object.entries(kept))
    it(`the terms of a domain are valid, and keep a term that ${what}`, async () => {
      const { terms } = await domainOf({}, ...contexts);
      assert.equal(Object.hasOwn(terms, term), true);
    });

  it('the terms of a domain leave out a chain of as many terms as a context may have', () => {
    const chain = Array.from({ length: CONTEXT_LIMITS.terms - 1 }, (_, at) => {
      const name = (n: number) => `t${String(n).padStart(5, '0')}`;
      return [name(at), { '@id': `https://a/${at}`, '@nest': name(at + 1) }] as const;
    });
    const end = chain.at(-1)?.[1]['@nest'] ?? '';
    const maker = new DomainTermsBuilder();
    const others = { names: [], generated: new Map<string, string>() };
    maker.add({ ...others, model: 'Car', own: new Map<string, TermMeaning>([...chain, [end, '@nest']]) });
    maker.add({ ...others, model: 'Bus', own: new Map([[end, 'https://b/end']]) });
    const { terms, warnings } = maker.result();
    assert.deepEqual([terms, warnings.length], [{}, CONTEXT_LIMITS.terms]);
  });
});
