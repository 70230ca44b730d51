import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ContextSupply } from '../../../../sidecar/schemas/models/context-supply.js';
import {
  exchanged,
  ModelComparison,
  UNCHANGED,
} from '../../../../sidecar/schemas/models/model-comparison.js';
import type { ServiceWorkers } from '../../../../sidecar/schemas/models/model-tasks.js';
import {
  TaskFailedError,
  TaskTooCostlyError,
  WorkersBusyError,
} from '../../../../sidecar/shared/workers/errors.js';

const BASE_URL = 'http://gateway.example';
const OPTIONS = { baseUrl: BASE_URL };

type Parts = ConstructorParameters<typeof ModelComparison>[0];

const contextOf = (...parts: readonly unknown[]) => JSON.stringify({ '@context': parts });
const version = (context: string, bundled = '{}') => ({ bundled, context });

/** A supply that takes what a context says, and the text of the context `base`, for what its terms mean. */
function partsOf(answer: (text: string, base: string) => object | Error = (text) => ({ text })) {
  const supplies: unknown[] = [];
  const contextSupply = {
    termsOf: async (text: string, baseUrl: string, instead?: ReadonlyMap<string, string>) => {
      supplies.push([baseUrl, instead]);
      const base = instead?.get('base') ?? 'stored';
      const found = answer(text, base);
      if (found instanceof Error) throw found;
      return 'text' in found ? { terms: [['t', `urn:${text} ${base}`]], defaults: {} } : found;
    },
  } as unknown as ContextSupply;
  return { comparison: new ModelComparison({ contextSupply } as unknown as Parts), supplies };
}

describe('two versions of a model that are compared', () => {
  it('versions of one context are compared without it, unless contexts have changed meanwhile', async () => {
    const { comparison, supplies } = partsOf();
    const one = version(contextOf({ a: 'urn:a' }));
    const { input, unknown } = await comparison.versions('Lamp', one, one, OPTIONS);
    assert.deepEqual(
      [input, unknown, supplies],
      [{ before: '{}', after: '{}', entityType: 'Lamp' }, undefined, []],
    );
    for (const [before, after] of [
      [new Map([['base', 'old']]), undefined],
      [undefined, new Map([['base', 'new']])],
    ] as const) {
      const compared = await comparison.versions('Lamp', one, one, {
        ...{ ...OPTIONS, contextsBefore: before, contextsAfter: after },
      });
      const { terms } = compared.input;
      assert.match(terms?.before['t']?.iri ?? '', before === undefined ? / stored$/ : / old$/);
      assert.match(terms?.after['t']?.iri ?? '', after === undefined ? / stored$/ : / new$/);
    }
    assert.deepEqual(supplies.at(-1), [BASE_URL, new Map([['base', 'new']])]);
  });

  it('terms that are not known make the change unproven, but where they were not known before either', async () => {
    const failing = (fails: (text: string, base: string) => boolean) =>
      partsOf((text, base) =>
        fails(text, base) ? { failed: `fails at http://gateway.invalid/api/v2/contexts/x` } : { text },
      ).comparison;
    const [one, other] = [version(contextOf({ a: 'urn:a' })), version(contextOf({ b: 'urn:b' }))];
    const reason = `fails at ${BASE_URL}/api/v2/contexts/x`;
    for (const fails of [
      (text: string) => text.includes('urn:a'),
      (text: string) => text.includes('urn:b'),
      () => true,
    ]) {
      const compared = await failing(fails).versions('Lamp', one, other, OPTIONS);
      assert.deepEqual([compared.unknown, compared.input.terms], [reason, undefined]);
    }
    const contextsBefore = new Map([['base', 'old']]);
    const always = await failing(() => true).versions('Lamp', one, one, { ...OPTIONS, contextsBefore });
    assert.deepEqual([always.unknown, always.input.terms], [undefined, undefined]);
    const now = await failing((_text, base) => base === 'stored').versions('Lamp', one, one, {
      ...{ ...OPTIONS, contextsBefore },
    });
    assert.equal(now.unknown, reason);
    const { comparison } = partsOf((_text, base) => ({ failed: `fails with ${base}` }));
    const otherwise = await comparison.versions('Lamp', one, one, { ...OPTIONS, contextsBefore });
    assert.equal(otherwise.unknown, 'fails with old');
  });

  it('a context that takes too much to process is not known, and an outage is not hidden', async () => {
    const [one, other] = [version(contextOf({ a: 'urn:a' })), version(contextOf({ b: 'urn:b' }))];
    for (const bound of ['time', 'memory'] as const) {
      const { comparison } = partsOf(() => new TaskTooCostlyError(bound, 'too much'));
      const { unknown } = await comparison.versions('Lamp', one, other, OPTIONS);
      assert.equal(unknown, `processing a context takes too much ${bound}`);
    }
    const busy = new WorkersBusyError(1);
    const { comparison } = partsOf(() => busy);
    await assert.rejects(comparison.versions('Lamp', one, other, OPTIONS), busy);
  });

  it('two versions that are exchanged are compared the other way round, with their terms', () => {
    const terms = { before: { a: { iri: 'urn:a' } }, after: { b: { iri: 'urn:b' } } };
    const input = { before: 'one', after: 'two', entityType: 'Lamp' };
    assert.deepEqual(exchanged({ input: { ...input, terms }, unknown: 'x' }), {
      input: {
        ...{ before: 'two', after: 'one', entityType: 'Lamp' },
        terms: { before: terms.after, after: terms.before },
      },
      unknown: 'x',
    });
    assert.equal('terms' in exchanged({ input, unknown: undefined }).input, false);
  });
});

describe('what changes between two versions', () => {
  const difference = { pointer: '/a', class: 'breaking', reason: 'removed', detail: 'gone' };
  const report = { overall: 'breaking', differences: [difference] };
  const input = { before: '{"n":1}', after: '{"n":2}', entityType: 'Lamp' };

  /** Workers of which each comparison ends with the next of these. */
  function comparisonWith(...outcomes: readonly unknown[]) {
    const runs: unknown[] = [];
    const left = [...outcomes];
    const workers = {
      run: (_kind: string, given: { withWitnesses?: boolean }) => {
        runs.push(given.withWitnesses ?? false);
        const outcome = left.shift();
        return outcome instanceof Error ? Promise.reject(outcome) : Promise.resolve(outcome);
      },
    } as unknown as ServiceWorkers;
    return { comparison: new ModelComparison({ workers } as unknown as Parts), runs };
  }

  const late = new TaskTooCostlyError('time', 'late');
  const deep = new TaskFailedError('failed', { cause: new RangeError('too deep') });

  it('schemas that are the same are not compared, unless their terms are', async () => {
    const { comparison, runs } = comparisonWith(report);
    const same = { ...input, after: input.before };
    assert.deepEqual(await comparison.between({ input: same, unknown: undefined }), UNCHANGED);
    assert.deepEqual(runs, []);
    const terms = { before: {}, after: {} };
    await comparison.between({ input: { ...same, terms }, unknown: undefined });
    assert.deepEqual(runs, [true]);
  });

  it('a comparison that takes too much is made again without witnesses, and then counts as narrowing', async () => {
    for (const error of [late, deep]) {
      const again = comparisonWith(error, report);
      assert.deepEqual(await again.comparison.between({ input, unknown: undefined }), report);
      assert.deepEqual(again.runs, [true, false]);
      const never = comparisonWith(error, error);
      const { overall, differences } = await never.comparison.between({ input, unknown: undefined });
      assert.deepEqual([overall, differences.map(({ reason }) => reason)], ['narrowing', ['unproven']]);
    }
    const broken = new TaskFailedError('closed');
    await assert.rejects(comparisonWith(broken).comparison.between({ input, unknown: undefined }), broken);
  });

  it('terms that are not known come first among the differences, with the reason', async () => {
    const { comparison } = comparisonWith(report);
    const { overall, differences } = await comparison.between({ input, unknown: 'it is away' });
    assert.equal(overall, 'breaking');
    assert.deepEqual(
      differences.map(({ reason, detail }) => [reason, detail]),
      [
        ['unproven', 'what the terms mean cannot be compared: it is away'],
        ['removed', 'gone'],
      ],
    );
    const same = { ...input, after: input.before };
    assert.equal((await comparison.between({ input: same, unknown: 'x' })).overall, 'narrowing');
  });
});

describe('the difference of two stored versions', () => {
  it('the difference of two stored versions is between those that are named, or the current one and the one before', async () => {
    const asked: (number | undefined)[] = [];
    const given = new Map<string, readonly string[]>();
    const diff = async (range: { from?: number; to?: number }, current = 5, count = 0) => {
      asked.length = 0;
      const parts = {
        store: {
          models: {
            texts: (_key: unknown, number = current) => {
              asked.push(number);
              return Promise.resolve({ version: { number }, schema: `{"n":${number}}`, context: '{}' });
            },
          },
        },
        descriptions: {
          of: ({ number }: { number: number }) => Promise.resolve({ bundled: String(number) }),
        },
        contextSupply: {},
        workers: {
          run: (kind: string, { before, after }: { before: string; after: string }) => {
            given.set(kind, [before, after]);
            return Promise.resolve(
              kind === 'changedPointers'
                ? Array.from({ length: count }, (_, n) => ({ pointer: `/${n}` }))
                : { overall: 'compatible', differences: [{ before, after }] },
            );
          },
        },
      };
      return new ModelComparison(parts as unknown as Parts).diff({ domain: 'City', name: 'Lamp' }, range);
    };
    for (const [range, from, to] of [
      [{}, 4, 5],
      [{ to: 3 }, 2, 3],
      [{ to: 1 }, 1, 1],
      [{ from: 1 }, 1, 5],
      [{ from: 4, to: 2 }, 4, 2],
    ] as const) {
      const found = await diff(range);
      assert.deepEqual([found.from, found.to], [from, to]);
      // The schemas are as they were given, and what is compared is self-contained.
      assert.deepEqual(given.get('changedPointers'), [`{"n":${from}}`, `{"n":${to}}`]);
      if (from !== to)
        assert.deepEqual(found.change.differences, [{ before: String(from), after: String(to) }]);
    }
    for (const [count, listed] of [
      [1000, 1000],
      [1001, 1000],
    ] as const) {
      const { pointers, pointersTotal } = await diff({}, 5, count);
      assert.deepEqual([pointers.length, pointersTotal], [listed, count]);
    }
  });
});
