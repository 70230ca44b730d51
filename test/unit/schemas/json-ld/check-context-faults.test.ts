import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ContextInvalidError } from '../../../../sidecar/schemas/json-ld/errors.js';
import { CORE, pointersOf } from './contexts.js';
import { Desk } from './desk.js';
import { column } from '../../../support/columns.js';
import { CONTEXT_LIMITS, limitFaults } from '../../../../sidecar/schemas/json-ld/context-safety.js';
import { runs } from '../../../support/thoroughness.js';
import { words } from '../../../support/words.js';

const TERMS = { Car: 'http://example.org/Car', speed: 'http://example.org/speed' };
const OTHER = 'http://contexts.example/other';
const CONTEXTS = {
  [OTHER]: { other: 'http://example.org/other' },
  'http://contexts.example/broken': { a: 5 },
  'http://contexts.example/scoped': {
    a: { '@id': 'http://example.org/a', '@context': 'http://nowhere.example/' },
  },
  'http://contexts.example/circle': ['http://contexts.example/back'],
  'http://contexts.example/back': 'http://contexts.example/circle',
};

const check = (submitted: unknown) => new Desk(CONTEXTS).check(submitted);

async function refusal(submitted: unknown, contexts = CONTEXTS, pointer = ''): Promise<ContextInvalidError> {
  try {
    await new Desk(contexts).check(submitted, pointer);
  } catch (error) {
    if (error instanceof ContextInvalidError) return error;
    throw error;
  }
  return assert.fail(`was accepted: ${JSON.stringify(submitted)}`);
}

describe('checking a context: forms', () => {
  for (const [what, submitted] of [
    ['a map of terms', TERMS],
    ['a wrapped map', { '@context': TERMS }],
    ['an array of maps and URLs', [TERMS, OTHER, CORE]],
    ['a wrapped array', { '@context': [OTHER, TERMS] }],
    ['a wrapped URL', { '@context': OTHER }],
    ['a map without terms', {}],
  ] as const) {
    it(`checking a context accepts ${what}`, async () => {
      await new Desk(CONTEXTS).check(submitted);
    });
  }

  it('checking a context lists the URLs that a context names, each once, including those of imports and scoped contexts', async () => {
    const scoped = { '@id': 'http://example.org/a', '@context': [OTHER, {}] };
    const parse = (submitted: unknown) => new Desk(CONTEXTS).check(submitted);
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
    it(`checking a context refuses ${what}`, async () => {
      assert.deepEqual(pointersOf(await refusal(submitted)), pointers);
    });
  }

  it('checking a context points into the whole submitted document', async () => {
    const error = await refusal({ '@context': [TERMS, { bad: 1 }] }, CONTEXTS, '/@context');
    assert.deepEqual(pointersOf(error), ['/@context/@context/1/bad']);
  });
});

describe('checking a context: JSON-LD processing', () => {
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
    it(`checking a context refuses ${what}, at the term at fault`, async () => {
      for (const [submitted, base] of [
        [{ ...good, ...bad }, ''],
        [[OTHER, good, { ...bad, ...good }, CORE], '/2'],
      ] as const) {
        const { errors } = await refusal(submitted);
        assert.deepEqual(column(errors, 'pointer'), [base + place]);
        assert.match(errors[0]?.detail ?? '', detail);
      }
    });
  }

  it('checking a context finds the one bad term among thousands', async () => {
    const terms = Array.from({ length: 3000 }, (_, index) => [`t${index}`, 'http://a/'] as const);
    const submitted = { ...Object.fromEntries(terms), t1234: { '@id': 'p:x', '@type': 5 }, p: 'http://p/' };
    assert.deepEqual(pointersOf(await refusal(submitted)), ['/t1234']);
  });

  it('checking a context does not blame a term for a fault of a later one', async () => {
    const submitted = { a: 'p', b: 'p:b', p: 'http://p/', q: 5, z: 'http://z/' };
    assert.deepEqual(pointersOf(await refusal(submitted)), ['/q']);
  });

  it('checking a context blames a prefix, not the terms that use it', async () => {
    const submitted = { a: 'p:a', b: 'p:b', p: { '@id': 'http://p/', '@container': 5 } };
    assert.deepEqual(pointersOf(await refusal(submitted)), ['/p']);
  });

  it('checking a context refuses terms of the core context that come after it, because it is protected', async () => {
    const { errors } = await refusal([CORE, { a: 'http://a/', location: 'http://example.org/location' }]);
    assert.deepEqual(column(errors, 'pointer'), ['/1/location']);
    assert.match(errors[0]?.detail ?? '', /core context belongs last/);
  });

  it('checking a context refuses terms that are protected against the core context', async () => {
    const protectedTerms = { '@protected': true, a: 'http://a/', location: 'http://example.org/location' };
    assert.deepEqual(pointersOf(await refusal(protectedTerms)), ['/location']);
    assert.deepEqual(pointersOf(await refusal([TERMS, protectedTerms])), ['/1/location']);
    await new Desk().check({
      '@protected': true,
      a: 'http://a/',
      location: 'https://uri.etsi.org/ngsi-ld/location',
    });
  });
});

describe('checking a context: other contexts', () => {
  it('checking a context refuses broken contexts at their URL', async () => {
    for (const name of ['broken', 'scoped']) {
      const error = await refusal([TERMS, `http://contexts.example/${name}`]);
      assert.deepEqual(pointersOf(error), ['/1']);
      assert.ok(error.message.includes(name));
    }
  });

  it('checking a context refuses contexts that include each other', async () => {
    assert.deepEqual(pointersOf(await refusal([TERMS, 'http://contexts.example/circle'])), ['/1']);
  });

  it('checking a context accepts as many others as allowed, unless their references are nested too deeply', async () => {
    const urlOf = (index: number) => `http://contexts.example/${index}`;
    const urls = Array.from({ length: 99 }, (_, index) => urlOf(index));
    const wide = Object.fromEntries(urls.map((url) => [url, { a: 'http://a/' }]));
    await new Desk(wide).check([...urls, TERMS]);
    const chain = Array.from({ length: 15 }, (_, index) => [
      urlOf(index),
      index === 14 ? TERMS : urlOf(index + 1),
    ]);
    const chained = Object.fromEntries(chain) as typeof CONTEXTS;
    await new Desk(chained).check(urlOf(6));
    const { errors } = await refusal([TERMS, urlOf(0)], chained);
    assert.deepEqual(column(errors, 'pointer'), ['/1']);
    assert.match(errors[0]?.detail ?? '', /10 deep/);
  });

  it('checking a context refuses contexts that multiply each other, before processing them', async () => {
    const urlOf = (index: number) => `http://contexts.example/${index}`;
    const levels = Array.from({ length: 8 }, (_, index) => [
      urlOf(index),
      index === 7 ? TERMS : Array.from({ length: 50 }, () => urlOf(index + 1)),
    ]);
    const contexts = Object.fromEntries(levels) as typeof CONTEXTS;
    const { errors } = await refusal(urlOf(0), contexts);
    assert.match(errors[0]?.detail ?? '', /1000 maps/);
    await new Desk(contexts).check(urlOf(6));
  });
});

/** As many prefixes as may lead to each other. */
const CHAIN = { a: 'http://a/', b: 'a:b/', c: 'b:c/', d: 'c:d/', e: 'd:e/' };

describe('checking a context: limits', () => {
  const manyTerms = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`t${index}`, 'http://example.org/']));

  it('checking a context accepts contexts at the limits', async () => {
    await check(manyTerms(CONTEXT_LIMITS.terms));
    await check(Array.from({ length: CONTEXT_LIMITS.contexts }, () => ({})));
    await check({ a: 'http://a/', b: 'a:b/', c: 'b:c/', d: 'c:d/', e: 'd:e/' });
    await check({ a: `http://a/${'a'.repeat(CONTEXT_LIMITS.textCharacters - 9)}` });
  });

  const nested = (depth: number) => {
    let context: unknown = {};
    for (let at = 0; at < depth; at += 1) context = { a: { '@id': 'http://a/', '@context': context } };
    return context;
  };
  /** Maps in each other. */
  const levels = (count: number): unknown =>
    Array.from({ length: count }).reduce<unknown>((inner) => ({ a: inner }), 1);
  for (const [what, submitted, pointer] of [
    ['too many terms', manyTerms(CONTEXT_LIMITS.terms + 1), ''],
    ['too many terms in several maps', [manyTerms(CONTEXT_LIMITS.terms), { last: 'http://a/' }], ''],
    ['too many contexts', Array.from({ length: CONTEXT_LIMITS.contexts + 1 }, () => ({})), ''],
    ['too many scoped contexts', { a: { '@context': Array.from({ length: 100 }, () => ({})) } }, ''],
    ['too long a name', { ['a'.repeat(CONTEXT_LIMITS.textCharacters + 1)]: 'http://a/' }, ''],
    ['a long chain of types', { ...CHAIN, f: { '@id': 'http://f/', '@type': 'e' } }, '/f'],
    ['a long chain of reversed terms', { ...CHAIN, f: { '@reverse': 'e:x' } }, '/f'],
    ['a long chain of compact terms', { ...CHAIN, 'e:f': { '@id': 'e:f' } }, '/e:f'],
    ['too long an IRI', { a: `http://a/${'a'.repeat(CONTEXT_LIMITS.textCharacters)}` }, '/a'],
    ['too much text', Array.from({ length: 99 }, () => ({ a: { '@id': 'x'.repeat(11_000) } })), ''],
    ['nesting', nested(11), '/a/@context'.repeat(10)],
    ['a long chain of prefixes', { a: 'http://a/', b: 'a:b', c: 'b:c', d: 'c:d', e: 'd:e', f: 'e:f' }, '/f'],
    ['a circle of prefixes', { x: 'http://x/', a: 'b:x', b: 'a:x' }, '/a'],
    [
      'names that processors stumble over',
      JSON.parse('{"__proto__": "http://a/", "hasOwnProperty": null}') as unknown,
      '/__proto__',
    ],
  ] as const) {
    it(`checking a context refuses ${what}`, async () => {
      assert.equal(pointersOf(await refusal(submitted))[0], pointer);
    });
  }

  it('nesting that would exhaust the stack is refused as too deep', () => {
    assert.equal(limitFaults(nested(100_000))[0]?.pointer, '/a/@context'.repeat(10));
  });

  it('a context may have exactly as many characters, maps, names and levels as the limits allow, and not one more', () => {
    const pad = (characters: number) => {
      const context = Array.from({ length: 99 }, () => ({ a: 'x'.repeat(2000), b: {} }));
      const left = characters - JSON.stringify([...context, { a: '', c: [] }]).length;
      const parts = Array.from({ length: Math.ceil(left / 2000) }, () => 'x'.repeat(1997));
      const last = { a: '', c: parts };
      const size = () => JSON.stringify([...context, last]).length;
      last.a = 'x'.repeat(2000);
      while (size() > characters) parts.pop();
      for (let missing = characters - size(); missing > 0; missing = characters - size())
        parts.push('x'.repeat(Math.max(0, Math.min(1997, missing - 3))));
      return [...context, last];
    };
    for (const [fits, exceeds] of [
      [pad(CONTEXT_LIMITS.characters), pad(CONTEXT_LIMITS.characters + 1)],
      [
        { a: { '@context': Array.from({ length: 99 }, () => ({})) } },
        { a: { '@context': Array.from({ length: 100 }, () => ({})) } },
      ],
      [
        { ['a'.repeat(CONTEXT_LIMITS.textCharacters)]: 'x' },
        { ['a'.repeat(CONTEXT_LIMITS.textCharacters + 1)]: 'x' },
      ],
      [levels(CONTEXT_LIMITS.depth), levels(CONTEXT_LIMITS.depth + 1)],
    ] as const) {
      assert.deepEqual(limitFaults(fits), []);
      assert.equal(limitFaults(exceeds).length, 1);
    }
  });

  it('checking a context reports only a few faults, however many there are', async () => {
    const many = Array.from({ length: 50_000 }, (_, index) => [`m${index}`, {}] as const);
    for (const submitted of [
      many.map(() => 1),
      many.map(() => []),
      [many.map(() => null)],
      { '@context': {}, ...Object.fromEntries(many) },
      { a: { '@context': many.map(() => 5) } },
    ]) {
      assert.ok((await refusal(submitted)).errors.length <= 20);
    }
  });

  it('checking a context returns a context or pointers to the faults, whatever the input', async () => {
    const names = fc.constantFrom(...words('a b @id @type @context @vocab @import __proto__ a:b'), CORE);
    const leaf = fc.oneof(names, fc.constantFrom(null, 1, true, 'http://a/', 'a:x', OTHER, '@id', ''));
    const anything = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(names, tie('value'), { maxKeys: 4 }),
      ),
    })).value;
    await fc.assert(
      fc.asyncProperty(anything, async (submitted) => {
        try {
          await check(submitted);
        } catch (error) {
          assert.ok(pointersOf(error).every((pointer) => pointer === '' || pointer.startsWith('/')));
        }
      }),
      { numRuns: runs(100) },
    );
  });
});
