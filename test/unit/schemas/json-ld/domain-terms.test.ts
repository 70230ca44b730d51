import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { CONTEXT_LIMITS } from '../../../../sidecar/schemas/json-ld/context-safety.js';
import { contextMeaning } from '../../../../sidecar/schemas/json-ld/context-terms.js';
import type { ContextTerms, TermMeaning } from '../../../../sidecar/schemas/json-ld/term-meanings.js';
import { DomainTermsBuilder, type ModelTerms } from '../../../../sidecar/schemas/json-ld/domain-terms.js';
import { loaderOf } from './contexts.js';
import { column, columns } from '../../../support/columns.js';

function modelOf(model: string, generated: Readonly<Record<string, string>>, own?: ContextTerms): ModelTerms {
  return { model, names: Object.keys(generated), generated: new Map(Object.entries(generated)), own };
}

function merged(...models: readonly ModelTerms[]) {
  const maker = new DomainTermsBuilder();
  for (const model of models) maker.add(model);
  return maker.result();
}

function ownOf(terms: Readonly<Record<string, TermMeaning | null>>): ContextTerms {
  return new Map(Object.entries(terms));
}

describe('the terms of a domain', () => {
  it('the terms of a domain leave out terms that models define differently, with a warning that names both', () => {
    const { terms, warnings } = merged(
      modelOf('Car', { speed: 'https://a/speed' }),
      modelOf('Bus', { speed: 'https://b/speed' }),
      modelOf('Tram', { speed: 'https://b/speed' }),
    );
    assert.deepEqual(terms, {});
    assert.deepEqual(warnings, [
      {
        code: 'ambiguous-term',
        term: 'speed',
        detail:
          'Models mean different things by "speed": https://a/speed (Car), https://b/speed (Bus, Tram); it is left out.',
        models: ['Car', 'Bus', 'Tram'],
      },
    ]);
  });

  it('the terms of a domain have no coercion if models give one meaning different coercions', () => {
    const own = ownOf({ owner: { '@id': 'https://t/owner', '@type': '@id' } });
    const { terms, warnings } = merged(
      modelOf('Car', { owner: 'https://g/owner' }, own),
      modelOf('Bus', { owner: 'https://t/owner' }),
    );
    assert.deepEqual(terms, { owner: 'https://t/owner' });
    assert.deepEqual(columns(warnings, 'code', 'term', 'models'), [
      ['coercion-left-out', 'owner', ['Car', 'Bus']],
    ]);
  });

  it('the terms of a domain leave out a property that only one of two models reverses', () => {
    const { terms, warnings } = merged(
      modelOf('Car', { owner: 'https://g/owner' }, ownOf({ owner: { '@reverse': 'https://t/owner' } })),
      modelOf('Bus', { owner: 'https://t/owner' }),
    );
    assert.deepEqual(terms, {});
    const detail =
      'Models mean different things by "owner": the reverse of https://t/owner (Car), https://t/owner (Bus); it is left out.';
    assert.deepEqual(warnings, [{ code: 'ambiguous-term', term: 'owner', detail, models: ['Car', 'Bus'] }]);
  });

  it('the terms of a domain prefer terms that a model uses to terms that contexts merely define', () => {
    const parking = ownOf({
      category: 'https://p/category',
      spot: 'https://p/spot',
      both: 'https://x/both',
      gone: null,
    });
    const weather = ownOf({ category: 'https://w/category', both: 'https://x/both', name: 'https://w/name' });
    const { terms, warnings } = merged(
      modelOf('Spot', { category: 'https://g/category' }, parking),
      modelOf('Weather', { gone: 'https://g/gone' }, weather),
    );
    assert.deepEqual(terms, {
      both: 'https://x/both',
      category: 'https://p/category',
      gone: 'https://g/gone',
      name: 'https://w/name',
      spot: 'https://p/spot',
    });
    assert.deepEqual(warnings, []);
  });

  const PLAIN: Readonly<Record<string, TermMeaning>> = {
    coerced: { '@id': 'https://a/coerced', '@type': 'https://a/Type' },
    ex: 'https://a/',
    list: { '@id': 'urn:a:list', '@container': '@list' },
    owner: { '@id': 'https://a/owner', '@type': '@id' },
    power: 'https://a/power',
  };
  const odd: Readonly<Record<string, TermMeaning>> = {
    'ex:speed': 'https://a/speed',
    'On/Off': 'https://a/On/Off',
    aliased: '@type',
    flagged: { '@id': 'https://a/x-', '@prefix': true },
    nested: { '@id': 'https://a/nested', '@nest': 'meta' },
    relative: 'terms/relative',
    reversed: { '@reverse': 'https://a/owns' },
    scoped: { '@id': 'https://a/scoped', '@context': { unit: 'ex:unit' } },
    sets: { '@id': 'https://a/sets', '@container': ['@index', '@set'] },
    text: { '@id': 'https://a/text', '@language': 'de' },
  };

  it('the terms of a domain are those with plain definitions; the others are left out with a warning', () => {
    const { terms, warnings } = merged(modelOf('Car', {}, ownOf({ ...PLAIN, ...odd })));
    assert.deepEqual(terms, PLAIN);
    const inOrder = Object.keys(odd).sort();
    assert.deepEqual(column(warnings, 'term'), inOrder);
    for (const { code, term = '', detail, models } of warnings) {
      assert.deepEqual([code, models], ['ambiguous-term', ['Car']]);
      const why = /[:/]/.test(term)
        ? `The name "${term}" has a colon or slash`
        : `The definition of "${term}" is not an absolute IRI with at most @type and one @container`;
      assert.equal(detail, `${why}; it is left out.`);
    }
  });

  it('the terms of a domain leave out a term that would be read as the prefix of an IRI', () => {
    const own = {
      urn: 'https://a/',
      tag: 'https://a/tag',
      https: 'https://a/https',
      list: PLAIN['list'] ?? '',
    };
    const { terms, warnings } = merged(
      modelOf('Car', { speed: 'tag:a:speed' }),
      modelOf('Bus', {}, ownOf(own)),
    );
    assert.deepEqual(Object.keys(terms), ['https', 'list', 'speed']);
    assert.deepEqual(column(warnings, 'term'), ['urn', 'tag']);
    assert.match(warnings[1]?.detail ?? '', /IRIs of other terms begin with "tag:"/);
  });

  it('the terms of a domain stay within the limits of a context by leaving out terms that no model uses', () => {
    const many = ownOf(
      Object.fromEntries(
        Array.from({ length: CONTEXT_LIMITS.terms }, (_, at) => [`t${at}`, `https://t/${at}`]),
      ),
    );
    const { terms, warnings } = merged(modelOf('Car', { Car: 'https://g/Car', t1: 'https://g/t1' }, many));
    assert.deepEqual(terms, { Car: 'https://g/Car', t1: 'https://t/1' });
    assert.deepEqual(columns(warnings, 'code', 'models'), [['unused-terms-left-out', ['Car']]]);
  });

  it('the terms of a domain reach exactly the limit of a context before unused terms are left out', () => {
    const own = (count: number) =>
      ownOf(Object.fromEntries(Array.from({ length: count }, (_, n) => [`own${n}`, `https://t/${n}`])));
    const used = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`used${n}`, `https://u/${n}`]));
    const fits = merged(modelOf('Car', used, own(CONTEXT_LIMITS.terms - 10)));
    assert.deepEqual([Object.keys(fits.terms).length, fits.warnings], [CONTEXT_LIMITS.terms, []]);
    const exceeds = merged(modelOf('Car', used, own(CONTEXT_LIMITS.terms - 9)), modelOf('Bus', {}));
    assert.equal(Object.keys(exceeds.terms).length, 10);
    assert.deepEqual(
      exceeds.warnings.map(({ code, models, detail }) => [code, models, detail.split(' ')[0]]),
      [['unused-terms-left-out', ['Car'], String(CONTEXT_LIMITS.terms - 9)]],
    );
  });

  it('a warning about a term of a domain names twenty models of a meaning, and the number of the others', () => {
    const detailFor = (count: number) => {
      const alike = Array.from({ length: count }, (_, n) => modelOf(`M${n}`, { speed: 'https://a/speed' }));
      return merged(...alike, modelOf('Bus', { speed: 'https://b/speed' })).warnings[0]?.detail ?? '';
    };
    assert.match(detailFor(20), /M19\)/);
    assert.match(detailFor(21), /M19, 1 more\)/);
  });

  it('the terms of a domain do not depend on the order of its models, and keep the IRI of each model', () => {
    const name = fc.constantFrom('a', 'b', 'c');
    const iri = fc.constantFrom('https://1/', 'https://2/');
    const own = fc.dictionary(name, fc.oneof(iri, fc.constant(null))).map(ownOf);
    const model = fc.record({ generated: fc.dictionary(name, iri), own: fc.option(own, { nil: undefined }) });
    fc.assert(
      fc.property(fc.array(model, { maxLength: 5 }), (given) => {
        const models = given.map((one, at) => modelOf(`M${at}`, one.generated, one.own));
        const { terms } = merged(...models);
        assert.deepEqual(merged(...models.toReversed()).terms, terms);
        for (const { names, generated, own } of models)
          for (const used of names)
            if (terms[used] !== undefined)
              assert.equal(terms[used], own?.has(used) === true ? own.get(used) : generated.get(used));
      }),
    );
  });
});

describe('the terms of a context', () => {
  it('the terms of a context are resolved through prefixes, overrides, imports, aliases and null', async () => {
    const other = 'https://contexts.example/other';
    const load = loaderOf({ [other]: { 'ex:x': 'https://ex/x', shared: 'https://other/shared' } });
    const context = [
      { ex: 'https://ex/', a: 'ex:a', gone: 'ex:gone', shared: 'ex:shared', kind: '@type' },
      other,
      { '@version': 1.1, when: { '@id': 'ex:when', '@type': 'ex:Date', '@container': '@set' }, gone: null },
      {
        part: { '@reverse': 'ex:part' },
        plain: { '@id': 'https://plain/' },
        pre: { '@id': 'https://pre', '@prefix': true },
      },
    ];
    const { terms } = await contextMeaning(context, load);
    assert.deepEqual(Object.fromEntries(terms), {
      a: 'https://ex/a',
      ex: 'https://ex/',
      'ex:x': 'https://ex/x',
      gone: null,
      kind: '@type',
      part: { '@reverse': 'https://ex/part' },
      plain: { '@id': 'https://plain/' },
      pre: { '@id': 'https://pre', '@prefix': true },
      shared: 'https://other/shared',
      when: { '@id': 'https://ex/when', '@type': 'https://ex/Date', '@container': '@set' },
    });
    const again = Object.fromEntries([...terms].filter(([, meaning]) => meaning !== null));
    assert.deepEqual(
      Object.fromEntries((await contextMeaning(again, loaderOf())).terms),
      again,
      'flat, it means the same',
    );
  });
});
