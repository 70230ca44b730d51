import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { lossesOf } from '../../../../sidecar/schemas/json-ld/round-trip-losses.js';
import { CORE } from './contexts.js';
import { Desk, placesOf } from './desk.js';
import { runs } from '../../../support/thoroughness.js';
import { words } from '../../../support/words.js';

const EX = 'https://terms.example/';

const TERMS = {
  plain: `${EX}plain`,
  set: { '@id': `${EX}set`, '@container': '@set' },
  list: { '@id': `${EX}list`, '@container': '@list' },
  ref: { '@id': `${EX}ref`, '@type': '@id' },
  day: { '@id': `${EX}day`, '@type': 'http://www.w3.org/2001/XMLSchema#date' },
  json: { '@id': `${EX}json`, '@type': '@json' },
};

const scalar = fc.constantFrom<unknown>(
  null,
  true,
  0,
  -0,
  1.5,
  1e30,
  '',
  ...words('x ~ _:b @x plain urn:x:1 a:b 2026-11-22T06:00:00Z 2026-11-22T07:00:00.5Z'),
);

const LEAF = 'leaf';

const { shape } = fc.letrec<{ shape: unknown }>((tie) => ({
  shape: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.constantFrom<unknown>(LEAF, [LEAF], [LEAF, LEAF]),
    fc.array(tie('shape'), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom(...Object.keys(TERMS), 'id', 'type', 'value', 'object', 'coordinates', 'unknown'),
      tie('shape'),
      { maxKeys: 4, noNullPrototype: true },
    ),
  ),
}));

/** The shape with values at its leaves. */
function filled(shape: unknown, values: readonly unknown[]): unknown {
  let at = 0;
  const fill = (part: unknown): unknown => {
    if (part === LEAF) return values[(at += 1) % values.length];
    if (Array.isArray(part)) return part.map(fill);
    return Object.fromEntries(Object.entries(part as object).map(([name, item]) => [name, fill(item)]));
  };
  return fill(shape);
}

/** Entities of one shape, with different values. */
const entities = fc
  .tuple(
    fc.dictionary(fc.constantFrom(...Object.keys(TERMS)), shape, { minKeys: 1, maxKeys: 3 }),
    fc.array(fc.array(scalar, { minLength: 1, maxLength: 5 }), { minLength: 2, maxLength: 6 }),
  )
  .map(([members, fillings]) =>
    fillings.map((values, index) => ({
      id: `urn:x:${index}`,
      type: 'T',
      ...(filled(members, values) as object),
    })),
  );

describe('remembered round trips', () => {
  it('remembered round trips never change the warnings', async () => {
    await fc.assert(
      fc.asyncProperty(entities, async (alike) => {
        const busy = new Desk();
        for (const entity of alike) {
          const body = { document: { '@context': [TERMS, CORE], ...entity } };
          const [one, other] = [
            await busy.outcome('expandDocument', body),
            await new Desk().outcome('expandDocument', body),
          ];
          assert.deepEqual(one, other);
        }
      }),
      { numRuns: runs(30) },
    );
  });

  it('remembered round trips never show the values of another entity', async () => {
    const desk = new Desk();
    const warnings = async (number: number) => {
      const document = {
        '@context': [TERMS, CORE],
        id: 'urn:x:1',
        plain: [number],
        [`${EX}plain`]: number + 1,
      };
      return JSON.stringify((await desk.expand({ document })).warnings);
    };
    assert.match(await warnings(17), /17/);
    assert.doesNotMatch(await warnings(23), /17/);
  });

  it('remembered round trips are not used for a node of which a member is known to be dropped', async () => {
    const node = { '@context': TERMS, '@id': 'urn:x:1', unknown: [1], plain: [1] };
    // Within a JSON literal nothing is dropped, so the place of the one event is unknown.
    const literal = { '@context': TERMS, '@id': 'urn:x:2', json: { unknown: 1 } };
    const bodies = [{ document: [node] }, { document: [literal, node] }];
    const fresh = await Promise.all(bodies.map((body) => new Desk().expand(body)));
    assert.notDeepEqual(fresh[0]?.warnings, fresh[1]?.warnings);
    for (const order of [
      [0, 1],
      [1, 0],
    ]) {
      const desk = new Desk();
      for (const at of order) assert.deepEqual(await desk.expand(bodies[at] ?? {}), fresh[at]);
    }
  });
});

describe('the losses of members that come back under other names', () => {
  it('a dropped or null member is never matched with the new name of another member', () => {
    for (const [document, back] of [
      // Both names have the same ending.
      [{ xseats: 1, 'ex:seats': 2 }, { seats: 2 }],
      // The remaining member has the remaining name.
      [{ xseats: 1, alias: 2 }, { other: 2 }],
    ] as const) {
      assert.deepEqual(lossesOf(document, back, '', new Set(['/xseats'])), []);
      const withNull = { ...document, xseats: null };
      assert.deepEqual(placesOf(lossesOf(withNull, back, '/a', new Set())), [['null-lost', '/a/xseats']]);
    }
  });
});
