import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createDocumentLoader } from '../../../../sidecar/schemas/json-ld/processor.js';
import { ContextInvalidError, ContextFailureError } from '../../../../sidecar/schemas/json-ld/errors.js';
import { parseContext } from '../../../../sidecar/schemas/json-ld/check-context.js';
import { CORE, loaderOf, pointersOf } from './contexts.js';

const TERMS = { Car: 'http://example.org/Car', speed: 'http://example.org/speed' };
const OTHER = 'http://contexts.example/other';
const stored = loaderOf({
  [OTHER]: { other: 'http://example.org/other' },
  'http://contexts.example/broken': { a: 5 },
  'http://contexts.example/scoped': {
    a: { '@id': 'http://example.org/a', '@context': 'http://nowhere.example/' },
  },
  'http://contexts.example/circle': ['http://contexts.example/back'],
  'http://contexts.example/back': 'http://contexts.example/circle',
});
const parse = async (submitted: unknown) => parseContext(submitted, { load: stored });

async function refusal(submitted: unknown, options = {}): Promise<ContextInvalidError> {
  try {
    await parseContext(submitted, { load: stored, ...options });
  } catch (error) {
    if (error instanceof ContextInvalidError) return error;
    throw error;
  }
  return assert.fail(`was accepted: ${JSON.stringify(submitted)}`);
}

describe('parsing a context: forms', () => {
  for (const [what, submitted, value] of [
    ['a map of terms', TERMS, TERMS],
    ['a wrapped map', { '@context': TERMS }, TERMS],
    ['an array of maps and URLs', [TERMS, OTHER, CORE], [TERMS, OTHER, CORE]],
    ['a wrapped array', { '@context': [OTHER, TERMS] }, [OTHER, TERMS]],
    ['a wrapped URL', { '@context': OTHER }, OTHER],
    ['a map without terms', {}, {}],
  ] as const) {
    it(`parsing a context accepts ${what}`, async () => {
      const copy = structuredClone(submitted);
      assert.deepEqual((await parse(submitted)).document, { '@context': value });
      assert.deepEqual(submitted, copy, 'what was submitted stays as it is');
    });
  }

  it('parsing a context lists the URLs that a context names, each once, those of imports and scoped contexts included', async () => {
    const scoped = { '@id': 'http://example.org/a', '@context': [OTHER, {}] };
    assert.deepEqual((await parse([CORE, OTHER, { a: scoped }, CORE])).urls, [CORE, OTHER]);
    assert.deepEqual((await parse({ '@import': OTHER })).urls, [OTHER]);
  });

  for (const [what, submitted, ...pointers] of [
    ['a number', 5, ''],
    ['null', null, ''],
    ['a wrapped null', { '@context': null }, '/@context'],
    ['an empty array', [], ''],
    ['null in an array', [TERMS, null], '/1'],
    ['an array in an array', [[TERMS]], '/0'],
    ['a wrapping inside', [{ '@context': TERMS }], '/0/@context'],
    ['members beside @context', { '@context': TERMS, name: 'x', 'a/b~': 1 }, '/name', '/a~1b~0'],
    ['URLs that are none', ['contexts/a', 'ftp://contexts.example/', TERMS], '/0', '/1'],
    ['a relative URL of a scoped context', { a: { '@id': 'http://a/', '@context': '..' } }, '/a/@context'],
  ] as const) {
    it(`parsing a context refuses ${what}`, async () => {
      assert.deepEqual(pointersOf(await refusal(submitted)), pointers);
    });
  }

  it('parsing a context points into the whole that was submitted', async () => {
    const error = await refusal({ '@context': [TERMS, { bad: 1 }] }, { pointer: '/@context' });
    assert.deepEqual(pointersOf(error), ['/@context/@context/1/bad']);
  });
});

describe('parsing a context: JSON-LD processing', () => {
  const good = { a: 'http://example.org/a', z: 'http://example.org/z' };
  for (const [what, bad, place, detail] of [
    ['a keyword as a term', { '@id': 'http://example.org/' }, '/@id', /Keywords/],
    ['an empty term', { '': 'http://example.org/' }, '/', /term/],
    ['a term that is no definition', { m: 5 }, '/m', /defined by an IRI/],
    [
      'an unknown member of a definition',
      { m: { '@id': 'http://m/', '@foo': 1 } },
      '/m',
      /defined by an IRI/,
    ],
    ['a relative IRI', { m: 'speed' }, '/m', /absolute IRI/],
    ['an IRI of another type', { m: { '@id': 5 } }, '/m', /absolute IRI/],
    ['a term in the form of another IRI', { 'b:c': 'http://example.org/' }, '/b:c', /absolute IRI/],
    ['a coercion to nothing', { m: { '@id': 'http://m/', '@type': 'nothing' } }, '/m', /@type/],
    ['an unknown container', { m: { '@id': 'http://m/', '@container': '@bag' } }, '/m', /@container/],
    ['a reversed term with @id', { m: { '@reverse': 'http://m/', '@id': 'http://n/' } }, '/m', /@reverse/],
    ['an alias of @context', { m: '@context' }, '/m', /alias/],
    [
      'an invalid scoped context',
      { m: { '@id': 'http://m/', '@context': { n: 5 } } },
      '/m/@context',
      /invalid/,
    ],
    ['a wrong @version', { '@version': '1.1' }, '/@version', /1\.1/],
    ['a wrong @base', { '@base': 5 }, '/@base', /@base/],
    ['a wrong @vocab', { '@vocab': 5 }, '/@vocab', /@vocab/],
    ['a wrong @language', { '@language': 5 }, '/@language', /@language/],
    ['a wrong @direction', { '@direction': 'up' }, '/@direction', /@direction/],
    ['a wrong @propagate', { '@propagate': 'no' }, '/@propagate', /@propagate/],
    ['a wrong @import', { '@import': 5 }, '/@import', /@import/],
    ['a wrong @prefix', { m: { '@id': 'http://m/', '@prefix': 1 } }, '/m', /@prefix/],
    ['a wrong @nest', { m: { '@id': 'http://m/', '@nest': '@id' } }, '/m', /@nest/],
  ] as const) {
    it(`parsing a context refuses ${what}, at the term at fault`, async () => {
      for (const [submitted, base] of [
        [{ ...good, ...bad }, ''],
        [[OTHER, good, { ...bad, ...good }, CORE], '/2'],
      ] as const) {
        const { errors } = await refusal(submitted);
        assert.deepEqual(
          errors.map(({ pointer }) => pointer),
          [base + place],
        );
        assert.match(errors[0]?.detail ?? '', detail);
      }
    });
  }

  it('parsing a context finds the one bad term among thousands', async () => {
    const terms = Array.from({ length: 3000 }, (_, index) => [`t${index}`, 'http://a/'] as const);
    const submitted = { ...Object.fromEntries(terms), t1234: { '@id': 'p:x', '@type': 5 }, p: 'http://p/' };
    assert.deepEqual(pointersOf(await refusal(submitted)), ['/t1234']);
  });

  it('parsing a context blames no term for a fault of a later one', async () => {
    const submitted = { a: 'p', b: 'p:b', p: 'http://p/', q: 5, z: 'http://z/' };
    assert.deepEqual(pointersOf(await refusal(submitted)), ['/q']);
  });

  it('parsing a context blames a prefix, not the terms that use it', async () => {
    const submitted = { a: 'p:a', b: 'p:b', p: { '@id': 'http://p/', '@container': 5 } };
    assert.deepEqual(pointersOf(await refusal(submitted)), ['/p']);
  });

  it('parsing a context refuses terms of the core context that come after it, as it is protected', async () => {
    const { errors } = await refusal([CORE, { a: 'http://a/', location: 'http://example.org/location' }]);
    assert.deepEqual(
      errors.map(({ pointer }) => pointer),
      ['/1/location'],
    );
    assert.match(errors[0]?.detail ?? '', /core context belongs last/);
  });

  it('parsing a context refuses terms that are protected against the core context', async () => {
    const protectedTerms = { '@protected': true, a: 'http://a/', location: 'http://example.org/location' };
    assert.deepEqual(pointersOf(await refusal(protectedTerms)), ['/location']);
    assert.deepEqual(pointersOf(await refusal([TERMS, protectedTerms])), ['/1/location']);
    await parse({ '@protected': true, a: 'http://a/', location: 'https://uri.etsi.org/ngsi-ld/location' });
  });
});

describe('parsing a context: other contexts', () => {
  it('parsing a context refuses URLs that cannot be loaded, all of them, with the reason', async () => {
    const load = createDocumentLoader({
      resolve: async (url) => {
        if (url.endsWith('slow'))
          throw new ContextFailureError(url, {
            kind: 'contextUnavailable',
            detail: `The context ${url} did not answer in time.`,
          });
        return undefined;
      },
    });
    const urls = ['http://a.example/slow', CORE, 'http://a.example/none'];
    const { errors } = await refusal(urls, { load });
    assert.deepEqual(errors, [
      { pointer: '/0', detail: 'The context http://a.example/slow did not answer in time.' },
      {
        pointer: '/2',
        detail: 'The context http://a.example/none is neither stored here nor from an allowed origin.',
      },
    ]);
  });

  it('parsing a context refuses broken contexts at their URL', async () => {
    for (const name of ['broken', 'scoped']) {
      const error = await refusal([TERMS, `http://contexts.example/${name}`]);
      assert.deepEqual(pointersOf(error), ['/1']);
      assert.ok(error.message.includes(name));
    }
  });

  it('parsing a context refuses circular inclusion and inclusion of itself, directly or by others', async () => {
    assert.deepEqual(pointersOf(await refusal([TERMS, 'http://contexts.example/circle'])), ['/1']);
    const own = { ownUrls: ['http://contexts.example/self'] };
    assert.deepEqual(pointersOf(await refusal(['http://contexts.example/self'], own)), ['/0']);
    const load = loaderOf({ [OTHER]: ['http://contexts.example/self'], 'http://contexts.example/self': {} });
    const { errors } = await refusal([TERMS, OTHER], { ...own, load });
    assert.deepEqual(
      errors.map(({ pointer }) => pointer),
      ['/1'],
    );
    assert.match(errors[0]?.detail ?? '', /includes itself/);
    await parseContext([TERMS, OTHER], { load });
  });

  it('parsing a context accepts as many others as allowed, unless their references are nested too deeply', async () => {
    const urlOf = (index: number) => `http://contexts.example/${index}`;
    const urls = Array.from({ length: 99 }, (_, index) => urlOf(index));
    const wide = createDocumentLoader({ resolve: async () => ({ '@context': { a: 'http://a/' } }) });
    await parseContext([...urls, TERMS], { load: wide });
    const chained = createDocumentLoader({
      resolve: async (url) => {
        const next = Number(url.split('/').at(-1)) + 1;
        return { '@context': next === 15 ? TERMS : urlOf(next) };
      },
    });
    await parseContext(urlOf(6), { load: chained });
    const { errors } = await refusal([TERMS, urlOf(0)], { load: chained });
    assert.deepEqual(
      errors.map(({ pointer }) => pointer),
      ['/1'],
    );
    assert.match(errors[0]?.detail ?? '', /10 deep/);
  });

  it('parsing a context refuses contexts that multiply each other, before they do', async () => {
    const load = createDocumentLoader({
      resolve: async (url) => {
        const next = Number(url.split('/').at(-1)) + 1;
        const others = Array.from({ length: 50 }, () => `http://contexts.example/${next}`);
        return { '@context': next === 8 ? TERMS : others };
      },
    });
    const { errors } = await refusal('http://contexts.example/0', { load });
    assert.match(errors[0]?.detail ?? '', /1000 maps/);
    await parseContext('http://contexts.example/6', { load });
  });

  it('parsing a context passes on errors that are not about the context, wherever they come from', async () => {
    const broken = new Error('database is locked');
    const load = createDocumentLoader({
      resolve: async (url) => {
        if (url === OTHER)
          return { '@context': { a: { '@id': 'http://a/', '@context': 'http://db.example/' } } };
        throw broken;
      },
    });
    await assert.rejects(parseContext(['http://db.example/'], { load }), broken);
    await assert.rejects(parseContext([OTHER], { load }), broken);
  });

  it('parsing a context does not change the documents that it loads', async () => {
    const document = { '@context': [{ a: 'http://a/' }, 'relative'] };
    const copy = structuredClone(document);
    const load = createDocumentLoader({
      resolve: async (url) => (url.endsWith('relative') ? { '@context': {} } : document),
    });
    await parseContext([OTHER], { load });
    assert.deepEqual(document, copy);
  });

  it('parsing a context notices that an imported context has changed since it was read', async () => {
    const submitted = { '@import': OTHER, mine: 'x:y' };
    await parse(submitted);
    const load = loaderOf({ [OTHER]: { bad: 5 } });
    assert.deepEqual(pointersOf(await refusal(submitted, { load })), ['/@import']);
  });
});
