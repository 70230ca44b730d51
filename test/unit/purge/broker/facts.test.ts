import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import {
  DISTRUSTED,
  isFact,
  isFresh,
  isProof,
  mergeFacts,
  type Fact,
  type Facts,
  type FactValue,
} from '../../../../sidecar/purge/broker/capabilities.js';
import { FACT_TTL_MS } from '../../../../sidecar/purge/broker/index.js';

const NOW = 10 * FACT_TTL_MS;
const ALWAYS = { nowMs: NOW, proofsAfterMs: -Infinity };

const factsOf = (facts: Readonly<Record<string, readonly [FactValue, number]>>): Facts =>
  new Map(Object.entries(facts).map(([name, [value, ageMs]]) => [name, { value, atMs: NOW - ageMs }]));

/** The values by name, with their ages. */
const plain = (facts: Facts) =>
  Object.fromEntries([...facts].map(([name, { value, atMs }]) => [name, [value, NOW - atMs]]));

const merge = (mine: Parameters<typeof factsOf>[0], theirs: Parameters<typeof factsOf>[0], when = ALWAYS) =>
  plain(mergeFacts(factsOf(mine), factsOf(theirs), when));

it('merging keeps the smaller page and the smaller batch, each with its own age', () => {
  assert.deepEqual(merge({ 'page-max': [500, 1], 'batch-max': [20, 2] }, { 'page-max': [100, 50] }), {
    'page-max': [100, 50],
    'batch-max': [20, 2],
  });
  for (const name of ['page-max', 'batch-max']) {
    const least = { [name]: [100, 50] as const };
    assert.deepEqual(merge(least, { [name]: [500, 1] }), least);
    assert.deepEqual(merge({ [name]: [500, 1] }, least), least);
  }
});

it('merging keeps the larger accepted page, the newer path and the younger of two equal facts', () => {
  const one = { 'page pick': [500, 9], 'collection-end': ['/', 9], 'no-count': [true, 5] } as const;
  const other = { 'page pick': [100, 1], 'collection-end': ['', 1], 'no-count': [true, 2] } as const;
  const both = { 'page pick': [500, 9], 'collection-end': ['', 1], 'no-count': [true, 2] };
  assert.deepEqual(merge(one, other), both);
  assert.deepEqual(merge(other, one), both);
});

it('a proof that is older than a contradiction by either process does not count', () => {
  const proofs = { 'honoured q': [true, 10], 'honoured type': [true, 3] } as const;
  const seen = { [DISTRUSTED]: [true, 5] } as const;
  const left = { [DISTRUSTED]: [true, 5], 'honoured type': [true, 3] };
  assert.deepEqual(merge(proofs, seen), left);
  assert.deepEqual(merge(seen, proofs), left);
  assert.deepEqual(merge({}, { ...proofs, ...seen }), left);
  // In the same millisecond, either may have been first.
  assert.deepEqual(merge({ [DISTRUSTED]: [true, 3] }, proofs), { [DISTRUSTED]: [true, 3] });
});

it('proofs from before a moment are left out, and restrictions from before it are kept', () => {
  const theirs = { 'honoured q': [true, 10], 'honoured type': [true, 3], 'no-batch': [true, 20] } as const;
  assert.deepEqual(merge({ 'honoured attrs': [true, 30] }, theirs, { nowMs: NOW, proofsAfterMs: NOW - 10 }), {
    'honoured attrs': [true, 30],
    'honoured type': [true, 3],
    'no-batch': [true, 20],
  });
});

it('sidecars ignore shared facts that are an hour old or from the future', () => {
  const outdated = {
    'honoured q': [true, FACT_TTL_MS],
    'page-max': [1, FACT_TTL_MS],
    'no-count': [true, -1],
  } as const;
  assert.deepEqual(merge(outdated, {}), {});
  assert.deepEqual(merge({}, outdated), {});
  assert.deepEqual(merge({ 'page-max': [500, 0] }, outdated), { 'page-max': [500, 0] });
  assert.deepEqual(merge({}, { [DISTRUSTED]: [true, FACT_TTL_MS], 'honoured q': [true, FACT_TTL_MS - 1] }), {
    'honoured q': [true, FACT_TTL_MS - 1],
  });
});

it('a fact of another process counts only if its kind is known and its value is of that kind', () => {
  const isFactOf = (text: string) => {
    const end = text.lastIndexOf(' ');
    return isFact(text.slice(0, end), JSON.parse(text.slice(end + 1)));
  };
  for (const text of [
    ...['page-max 100', 'batch-max 1', 'no-count true', 'collection-end ""', 'refused pick true'],
    ...['page none 5', 'honoured q beside id true'],
  ])
    assert.equal(isFactOf(text), true, text);
  for (const text of [
    ...['page-max 0', 'page-max 1.5', 'page-max "100"', 'batch-max 1e999', 'no-count false', 'no-count 1'],
    ...[
      'collection-end "//"',
      'honoured q "yes"',
      'honoured true',
      'page-max x 5',
      'honouredq true',
      ' true',
    ],
    ...['  q true', '__proto__ true', 'constructor q true', `honoured ${'q'.repeat(100)} true`],
  ])
    assert.equal(isFactOf(text), false, text);
});

const SAMPLES: readonly (readonly [string, readonly FactValue[]])[] = [
  ['page-max', [1, 100, 500]],
  ['no-count', [true]],
  [DISTRUSTED, [true]],
  ['collection-end', ['', '/']],
  ['page pick', [1, 100, 500]],
  ['honoured q', [true]],
  ['honoured type', [true]],
];

const anyFact = (values: readonly FactValue[]): fc.Arbitrary<Fact | undefined> =>
  fc.option(
    fc.record(
      {
        value: fc.constantFrom(...values),
        atMs: fc.oneof(
          fc.integer({ min: NOW - 5, max: NOW + 1 }),
          fc.integer({ min: NOW - FACT_TTL_MS - 2, max: NOW - FACT_TTL_MS + 2 }),
        ),
      },
      { noNullPrototype: true },
    ),
    { nil: undefined },
  );

const anyFacts: fc.Arbitrary<Facts> = fc
  .tuple(...SAMPLES.map(([, values]) => anyFact(values)))
  .map((all) => new Map(SAMPLES.flatMap(([name], index) => (all[index] ? [[name, all[index]]] : []))));

it('restrictions of both processes apply, and no fact is invented or becomes younger', () => {
  fc.assert(
    fc.property(anyFacts, anyFacts, (mine, theirs) => {
      const merged = mergeFacts(mine, theirs, ALWAYS);
      for (const [name, fact] of merged) {
        assert.ok(isFresh(fact, NOW));
        const found = [mine.get(name), theirs.get(name)];
        assert.ok(found.some((one) => one?.value === fact.value && one.atMs === fact.atMs));
      }
      for (const facts of [mine, theirs]) {
        for (const [name, fact] of facts) {
          if (!isFresh(fact, NOW) || isProof(name)) continue;
          const kept = merged.get(name);
          assert.ok(kept !== undefined && kept.value <= fact.value, name);
        }
      }
    }),
  );
});

it('a proof counts only if neither process has seen the broker ignore a filter since', () => {
  fc.assert(
    fc.property(anyFacts, anyFacts, fc.integer({ min: NOW - 5, max: NOW }), (mine, theirs, proofsAfterMs) => {
      const merged = mergeFacts(mine, theirs, { nowMs: NOW, proofsAfterMs });
      const seen = theirs.get(DISTRUSTED);
      for (const [name, fact] of merged) {
        if (!isProof(name)) continue;
        if (seen !== undefined && isFresh(seen, NOW)) assert.ok(fact.atMs > seen.atMs);
        if (mine.get(name) === fact) continue;
        assert.ok(fact.atMs > proofsAfterMs);
        const own = mine.get(DISTRUSTED);
        if (own !== undefined && isFresh(own, NOW)) assert.ok(fact.atMs > own.atMs);
      }
    }),
  );
});

it('merging the same facts again changes nothing, and two processes prove the same filters in either order', () => {
  fc.assert(
    fc.property(anyFacts, anyFacts, anyFacts, (mine, one, other) => {
      const once = mergeFacts(mine, one, ALWAYS);
      assert.deepEqual(mergeFacts(once, one, ALWAYS), once);
      const honoured = (facts: Facts) =>
        [...facts.keys()].filter((name) => name.startsWith('honoured')).sort();
      const twice = mergeFacts(once, other, ALWAYS);
      assert.deepEqual(honoured(twice), honoured(mergeFacts(mergeFacts(mine, other, ALWAYS), one, ALWAYS)));
    }),
  );
});
