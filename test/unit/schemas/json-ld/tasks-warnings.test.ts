import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { CORE } from './contexts.js';
import { bare, Desk, placesOf } from './desk.js';
import { runs } from '../../../support/thoroughness.js';

const EX = 'https://terms.example/';
const desk = new Desk();

function entity(members: object): object {
  return { '@context': CORE, id: 'urn:x:1', type: 'T', ...members };
}

async function warnedOf(document: object, context?: unknown): Promise<ReturnType<typeof placesOf>> {
  return placesOf((await desk.expand({ document, ...(context === undefined ? {} : { context }) })).warnings);
}

describe('warnings of dropped data', () => {
  it('warnings of dropped data name each dropped place, and nothing inside it', async () => {
    const document = [
      { '@context': { p: `${EX}p` }, p: { lost: { p: null, lost: 1 } }, lost: [1] },
      {
        '@context': { p: `${EX}p` },
        '@id': 'a/b',
        '@type': ['T', `${EX}U`],
        p: [{ lost: 1 }],
        '@strange': 1,
      },
    ];
    const { warnings } = await desk.expand({ document });
    assert.deepEqual(
      new Set(placesOf(warnings).map((place) => place.join(' '))),
      new Set([
        'dropped-member /document/0/lost',
        'dropped-member /document/0/p/lost',
        'dropped-member /document/1/p/0/lost',
        'dropped-member /document/1/@strange',
        'relative-id /document/1/@id',
        'relative-type /document/1/@type/0',
        // An object of which nothing is left comes back as an object.
        'array-of-one /document/1/p',
      ]),
    );
    assert.ok(warnings.some(({ detail }) => detail.includes('"lost"')));
    assert.deepEqual(placesOf((await desk.compact({ document, context: {} })).warnings).length, 6);
  });

  it('warnings of dropped data name no place if only some of the values are dropped', async () => {
    const q = { '@id': `${EX}q`, '@context': { mine: `${EX}mine` } };
    const document = { '@context': { q, p: `${EX}p` }, q: { mine: 1 }, p: { mine: 2 } };
    assert.deepEqual(await warnedOf(document), [['dropped-member']]);
  });

  it('warnings of dropped data end at a hundred, and state the number of the others', async () => {
    const lost = Object.fromEntries(Array.from({ length: 250 }, (_, n) => [`lost${n}`, n]));
    const { warnings } = await desk.expand({ document: { '@context': { p: `${EX}p` }, p: 1, ...lost } });
    assert.equal(warnings.length, 101);
    assert.match(warnings.at(-1)?.detail ?? '', /150/);
  });

  it('warnings of dropped data report documents of which nothing is left', async () => {
    for (const document of [{ '@id': 'urn:x:1' }, { '@context': {} }, [5, 'text']]) {
      const { result, warnings } = await desk.expand({ document });
      assert.deepEqual(result, []);
      assert.equal(warnings[0]?.code, 'dropped-value');
    }
  });
});

describe('warnings of lossy compaction', () => {
  it('warnings of lossy compaction name nulls, arrays of one item, and nested arrays, each at its place', async () => {
    for (const [members, expected] of [
      [{ a: null }, [['null-lost', '/document/a']]],
      [{ a: [1, null, 2] }, [['null-lost', '/document/a/1']]],
      [{ a: [null] }, [['null-lost', '/document/a/0']]],
      [{ a: ['x'] }, [['array-of-one', '/document/a']]],
      [{ type: ['T'] }, [['array-of-one', '/document/type']]],
      [
        { a: [{ b: ['x'], c: { d: null } }] },
        [
          ['array-of-one', '/document/a'],
          ['array-of-one', '/document/a/0/b'],
          ['null-lost', '/document/a/0/c/d'],
        ],
      ],
      [{ a: [1, [2, 3]] }, [['array-flattened', '/document/a']]],
      [{ a: [[1]] }, [['array-flattened', '/document/a']]],
      [{ a: { '@value': null } }, [['dropped-value', '/document/a/@value']]],
      [{ a: [], b: [1, 2], c: {}, d: [{}, {}] }, []],
      [
        {
          location: {
            type: 'GeoProperty',
            value: {
              type: 'Polygon',
              coordinates: [
                [
                  [1, 2],
                  [3, 4],
                ],
              ],
            },
          },
        },
        [],
      ],
      [{ a: { type: 'JsonProperty', json: { b: [null, [[]], ['x']] } } }, []],
      // The package takes the items of such an array one by one.
      [{ a: { type: 'JsonProperty', json: [null, ['x']] } }, [['array-flattened', '/document/a/json']]],
      [{ a: { type: 'ListProperty', valueList: [['x'], []] } }, []],
    ] as const)
      assert.deepEqual(await warnedOf(entity(members)), expected, JSON.stringify(members));
  });

  it('warnings of lossy compaction are reported as missing if the document is too large', async () => {
    const text = 'x'.repeat(600_000);
    assert.deepEqual(await warnedOf(entity({ a: [text] })), [['not-compared']]);
    const { warnings } = await desk.compact({
      document: entity({ a: { type: 'JsonProperty', json: text } }),
    });
    assert.deepEqual(placesOf(warnings), [['not-compared']]);
    assert.deepEqual(await warnedOf(entity({ a: text })), []);
  });

  it('warnings of lossy compaction are the same for the next entity, unless it differs in what may be lost', async () => {
    const fresh = new Desk({ 'https://contexts.example/a': { a: `${EX}a` } });
    const warned = async (a: unknown, id = 'urn:x:1', b: unknown = { c: 1 }) => {
      const document = { '@context': ['https://contexts.example/a', CORE], id, type: 'T', a, b };
      return placesOf((await fresh.expand({ document })).warnings);
    };
    const one = [['array-of-one', '/document/a']];
    for (const id of ['urn:x:1', 'urn:x:2']) assert.deepEqual(await warned(['x'], id), one);
    assert.deepEqual(await warned(['x'], 'urn:x:1', null), [...one, ['null-lost', '/document/b']]);
    assert.deepEqual(await warned([]), []);
    assert.deepEqual(await warned(['x', null]), [['null-lost', '/document/a/1'], ...one]);
    fresh.set('https://contexts.example/a', { a: { '@id': `${EX}a`, '@container': '@set' } });
    assert.deepEqual(await warned(['x']), []);
  });

  it('warnings of lossy compaction find the place by the new name of a member', async () => {
    const document = { '@context': CORE, '@id': 'urn:x:1', '@type': ['T'], [`${EX}a`]: ['x'], b: null };
    assert.deepEqual(await warnedOf(document), [
      ['array-of-one', '/document/@type'],
      ['array-of-one', `/document/${EX.replaceAll('/', '~1')}a`],
      ['null-lost', '/document/b'],
    ]);
  });

  it('warnings of lossy compaction consider types, members with one meaning, and reversed members', async () => {
    const wood = { '@id': `${EX}wood`, '@container': '@set' };
    const scoped = { Bench: { '@id': `${EX}Bench`, '@context': { wood } }, B: `${EX}B`, type: '@type' };
    assert.deepEqual(await warnedOf({ '@context': scoped, type: ['Bench', 'B'], wood: ['oak'] }), []);
    const twice = { '@context': { a: `${EX}a` }, a: ['x'], [`${EX}a`]: { '@id': 'urn:x:2', [`${EX}b`]: 1 } };
    assert.equal(
      (await warnedOf(twice)).some(([code]) => code === 'array-of-one'),
      false,
    );
    const reversed = { a: `${EX}a`, r: { '@reverse': `${EX}r` } };
    const document = { '@context': reversed, '@id': 'urn:x:1', a: ['x'], r: { '@id': 'urn:x:2', a: 1 } };
    assert.deepEqual(await warnedOf(document), [['array-of-one', '/document/a']]);
  });

  it('warnings of lossy compaction point into items of arrays and of graphs, each with its own context', async () => {
    const set = { a: { '@id': `${EX}a`, '@container': '@set' } };
    assert.deepEqual(
      await warnedOf([entity({ a: ['x'] }), { '@context': set, a: ['x'] }, entity({ a: 1 })]),
      [['array-of-one', '/document/0/a']],
    );
    const graph = {
      '@context': CORE,
      '@graph': [
        { id: 'urn:x:1', a: ['x'] },
        { id: 'urn:x:2', a: [null] },
      ],
    };
    assert.deepEqual(await warnedOf(graph), [
      ['array-of-one', '/document/@graph/0/a'],
      ['null-lost', '/document/@graph/1/a/0'],
    ]);
    assert.deepEqual(await warnedOf({ id: 'urn:x:1', a: ['x'] }, CORE), [['array-of-one', '/document/a']]);
  });

  it('warnings of lossy compaction appear exactly if the document does not come back unchanged', async () => {
    const alone = bare();
    const scalar = fc.constantFrom<unknown>(null, true, 0, 1.5, 'a', 'b');
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        scalar,
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value'), {
          maxKeys: 3,
          noNullPrototype: true,
        }),
      ),
    }));
    const members = fc.dictionary(fc.constantFrom('a', 'b', 'json'), value, {
      maxKeys: 3,
      noNullPrototype: true,
    });
    await fc.assert(
      fc.asyncProperty(members, async (some) => {
        const document = entity(some);
        const back = await alone.compact(document, CORE);
        const warnings = await warnedOf(document);
        let isSame = true;
        try {
          assert.deepEqual(back, document);
        } catch {
          isSame = false;
        }
        assert.equal(warnings.length === 0, isSame, JSON.stringify([warnings, back]));
        for (const [, pointer] of warnings) assert.ok(pointer?.startsWith('/document/'));
      }),
      { numRuns: runs(70) },
    );
  });

  it('warnings of lossy compaction report a result that contains less than the document', async () => {
    const input = { [`${EX}p`]: [{ '@graph': [{ [`${EX}q`]: [{ '@value': 'x' }] }], '@index': 'lost' }] };
    const context = { p: { '@id': `${EX}p`, '@container': '@graph' } };
    const { warnings } = await desk.compact({ document: [input], context });
    assert.deepEqual(placesOf(warnings), [['compaction-lossy']]);
    assert.ok(warnings[0]?.detail.includes(`${EX}p`));
    const lists = { [`${EX}p`]: [{ '@list': [1] }, { '@list': [2] }] };
    const listed = { p: { '@id': `${EX}p`, '@container': '@list' } };
    assert.deepEqual(placesOf((await desk.compact({ document: lists, context: listed })).warnings), [
      ['compaction-lossy'],
    ]);
    const keeping = { p: { '@id': `${EX}p`, '@container': ['@graph', '@index'] } };
    assert.deepEqual((await desk.compact({ document: [input], context: keeping })).warnings, []);
  });

  it('warnings of lossy compaction are found within lists and lists of lists', async () => {
    const inner = { [`${EX}p`]: [{ '@graph': [{ [`${EX}q`]: [{ '@value': 'x' }] }], '@index': 'lost' }] };
    const context = {
      p: { '@id': `${EX}p`, '@container': '@graph' },
      l: { '@id': `${EX}l`, '@container': '@list' },
    };
    for (const items of [[inner], [{ '@value': 1 }, inner], [{ '@list': [inner] }]]) {
      const { warnings } = await desk.compact({
        document: [{ [`${EX}l`]: [{ '@list': items }] }],
        context,
      });
      assert.deepEqual(placesOf(warnings), [['compaction-lossy']], JSON.stringify(items));
    }
  });

  it('warnings of lossy compaction report values that a term which is an IRI reads differently', async () => {
    const date = 'http://purl.org/dc/terms/date';
    const compacted = (definition: object, value: unknown) =>
      desk.compact({ document: { '@id': 'urn:x:1', [date]: value }, context: { [date]: definition } });
    for (const [definition, value] of [
      [{ '@type': 'http://www.w3.org/2001/XMLSchema#dateTime' }, 'today'],
      [{ '@type': '@id' }, 'urn:x:2'],
      [{ '@container': '@list' }, [1, 2]],
    ] as const)
      assert.deepEqual(placesOf((await compacted(definition, value)).warnings), [['compaction-lossy']]);
    assert.deepEqual((await compacted({ '@id': date }, 'today')).warnings, []);
  });

  it('a large document whose names no context defines has no warnings of lossy compaction', async () => {
    const date = 'http://purl.org/dc/terms/date';
    const warningsBy = async (context: object) => {
      const document = { '@id': 'urn:x:1', [date]: 'x'.repeat(600_000) };
      return (await desk.compact({ document, context })).warnings;
    };
    assert.deepEqual(await warningsBy({ other: 'http://purl.org/dc/terms/other' }), []);
    assert.equal((await warningsBy({ [date]: { '@id': date, '@type': '@id' } })).length, 1);
  });

  it('warnings of lossy compaction report arrays that a document loses by its own context, named or not', async () => {
    const document = entity({ a: [1], b: { type: 'Property', value: [[1], [2]] }, c: [1, 2] });
    const places = [
      ['array-of-one', '/document/a'],
      ['array-flattened', '/document/b/value'],
    ];
    for (const context of [{}, { context: (document as Record<string, unknown>)['@context'] }])
      assert.deepEqual(placesOf((await desk.compact({ document, ...context })).warnings), places);
  });

  it('warnings of lossy compaction report nulls of a compacted document, but not those of JSON literals', async () => {
    const lost = await desk.compact({ document: entity({ a: null, b: [1, null] }) });
    assert.deepEqual(placesOf(lost.warnings), [
      ['null-lost', '/document/a'],
      ['null-lost', '/document/b/1'],
      ['array-of-one', '/document/b'],
    ]);
    const kept = await desk.compact({ document: entity({ a: { type: 'JsonProperty', json: null } }) });
    assert.deepEqual(kept.warnings, []);
  });
});
