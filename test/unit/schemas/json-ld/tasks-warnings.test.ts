import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { droppedLists } from '../../../../sidecar/schemas/json-ld/dropped-lists.js';
import { CORE } from './contexts.js';
import { Desk, placesOf } from './desk.js';
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

describe('warnings of dropped lists', () => {
  const context = { l: { '@id': `${EX}l`, '@container': '@list' }, p: `${EX}p` };
  const list = (...items: readonly unknown[]) => ({
    '@list': items.map((one) => (typeof one === 'object' ? one : { '@value': one })),
  });

  it('a list that compaction drops is reported with its property and place, and refused if nothing may be dropped', async () => {
    const document = [{ '@id': 'urn:x:1', [`${EX}l`]: [list(1, 2), list(3)] }];
    const { result, warnings } = await desk.compact({ document, context });
    assert.deepEqual((result as { l: unknown }).l, [3]);
    assert.deepEqual(placesOf(warnings), [['dropped-list', `/document/0/${EX.replaceAll('/', '~1')}l`]]);
    assert.match(warnings[0]?.detail ?? '', /1 of the 2 lists of "https:\/\/terms\.example\/l"/);
    const { kind } = await desk.refused('compactDocument', { document, context, safe: true });
    assert.equal(kind, 'dataDropped');
  });

  it('a list under another term with the same meaning is reported if compaction drops it', async () => {
    const both = { ...context, m: { '@id': `${EX}l`, '@container': '@list' } };
    const document = { '@context': both, l: [1], m: [2] };
    assert.deepEqual(placesOf((await desk.compact({ document })).warnings), [['dropped-list']]);
  });

  it('lists do not matter if the result cannot be expanded again', async () => {
    const document = [{ [`${EX}p`]: [list(1), list(2)], [`${EX}t`]: [{ '@value': 5 }] }];
    const texts = { ...context, t: { '@id': `${EX}t`, '@container': '@language' } };
    const { result, warnings } = await desk.compact({ document, context: texts });
    assert.deepEqual([(result as { t: unknown }).t, warnings], [{ '@none': 5 }, []]);
  });

  it('lists that the result has are not reported, nor what looks like lists in JSON', async () => {
    const literal = { '@type': '@json', '@value': { [`${EX}l`]: [{ '@list': [] }, { '@list': [] }] } };
    for (const values of [
      { [`${EX}l`]: [list(list(1), list(2))] },
      { [`${EX}l`]: [list(1), { '@value': 2 }] },
      { [`${EX}p`]: [list(1), list(2)] },
      { [`${EX}l`]: [list(1)], [`${EX}p`]: [{ [`${EX}l`]: [list(2)] }] },
      { [`${EX}p`]: [literal] },
    ])
      assert.deepEqual((await desk.compact({ document: [values], context })).warnings, []);
  });
});

it('a document without several lists of a property is not expanded a second time to look for dropped lists', async () => {
  const list = (...items: readonly object[]) => ({ '@list': items });
  const ring = [1, 2, 3].map((number) => list({ '@value': number }, { '@value': 0 }));
  const polygon = { '@type': [`${EX}Polygon`], [`${EX}coordinates`]: [list(list(...ring), list(...ring))] };
  const again = () => assert.fail('expanded again');
  assert.deepEqual(await droppedLists({}, [polygon, { [`${EX}l`]: [list({ '@value': 1 })] }], again), []);
});

describe('warnings of flattened arrays', () => {
  const context = [
    { list: { '@id': `${EX}list`, '@container': '@list' }, json: { '@id': `${EX}json`, '@type': '@json' } },
    CORE,
  ];

  it('arrays in an array are reported where expansion makes one array of them, and nowhere else', async () => {
    const polygon = {
      type: 'Polygon',
      coordinates: [
        [
          [1, 2],
          [3, 4],
          [5, 6],
          [1, 2],
        ],
      ],
    };
    for (const [members, expected] of [
      [
        {
          a: {
            type: 'Property',
            value: [
              [1, 2],
              [3, 4],
            ],
          },
        },
        [['array-flattened', '/document/a/value']],
      ],
      [
        { a: [1, [2, [3]]], b: [[]] },
        [
          ['array-flattened', '/document/a'],
          ['array-flattened', '/document/b'],
        ],
      ],
      [{ location: { type: 'GeoProperty', value: polygon } }, []],
      [{ a: { type: 'JsonProperty', json: { b: [null, [[]], ['x']] } } }, []],
      [{ a: { type: 'ListProperty', valueList: [['x'], []] } }, []],
      [{ a: [null, 1], b: ['x'], c: [] }, []],
      // The place is not known, because other arrays stay.
      [{ a: [[1]], location: { type: 'GeoProperty', value: polygon } }, [['array-flattened']]],
    ] as const)
      for (const task of ['expand', 'compact'] as const) {
        const { warnings } = await desk[task]({ document: entity(members) });
        assert.deepEqual(placesOf(warnings), expected, JSON.stringify(members));
      }
  });

  it('arrays in what is dropped are not reported as flattened', async () => {
    const document = { '@context': { p: `${EX}p` }, p: 1, lost: [[1]] };
    assert.deepEqual(await warnedOf(document), [['dropped-member', '/document/lost']]);
    const list = await warnedOf({ '@context': { p: `${EX}p` }, '@list': [[1]] });
    assert.deepEqual(new Set(list.flat()), new Set(['dropped-value']));
  });

  it('flattened arrays are reported exactly if a member has arrays in an array that its term does not keep', async () => {
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom<unknown>(true, 1.5, 'a'),
        fc.array(tie('value'), { maxLength: 3 }),
      ),
    }));
    const isNested = (one: unknown) => Array.isArray(one) && one.some((item) => Array.isArray(item));
    await fc.assert(
      fc.asyncProperty(fc.record({ a: value, list: value, json: value }), async (members) => {
        const warnings = await warnedOf(entity(members), context);
        assert.equal(warnings.length > 0, isNested(members.a), JSON.stringify([members, warnings]));
      }),
      { numRuns: runs(70) },
    );
  });
});
