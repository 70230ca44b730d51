import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  type Needs,
  type ContextResults,
  type ContextResult,
} from '../../../../sidecar/schemas/json-ld/errors.js';
import { limitWarnings, runWithContexts, shortJson } from '../../../../sidecar/schemas/json-ld/outcomes.js';
import { column } from '../../../support/columns.js';

const FOUND: ContextResult = { sha256: 'x', text: '{}' };

/** A task that needs these URLs, one list after the other. */
function needing(...lists: readonly (readonly string[])[]) {
  return async (supplied: ContextResults): Promise<{ readonly had: readonly string[] } | Needs> => {
    const had = supplied.map(([url]) => url);
    const urls = lists.find((list) => list.some((url) => !had.includes(url)));
    return urls === undefined ? { had } : { needs: { urls } };
  };
}

describe('the warnings of an answer', () => {
  const warning = (n: number, pointer?: string) => ({
    code: 'w',
    detail: String(n),
    ...(pointer === undefined ? {} : { pointer }),
  });

  it('the warnings of an answer are one for each place, and all of those without a place', () => {
    const warnings = [warning(1, '/a'), warning(2), warning(3, '/a'), warning(4), warning(5, '/b')];
    assert.deepEqual(column(limitWarnings(warnings), 'detail'), ['1', '2', '4', '5']);
  });

  it('a value in a sentence is shortened to a hundred characters', () => {
    assert.equal(shortJson('x'.repeat(98)), JSON.stringify('x'.repeat(98)));
    assert.ok(shortJson('x'.repeat(99)).length <= 101);
    assert.equal(shortJson(undefined), 'nothing');
  });
});

describe('running a task with the contexts that it needs', () => {
  it('a task gets each context that it needs once, and runs with all of them', async () => {
    const rounds = fc.array(fc.array(fc.nat(9).map(String), { minLength: 1, maxLength: 12 }), {
      maxLength: 8,
    });
    await fc.assert(
      fc.asyncProperty(rounds, async (lists) => {
        const supplied: string[] = [];
        const outcome = await runWithContexts(needing(...lists), async (url) => {
          supplied.push(url);
          return FOUND;
        });
        assert.deepEqual(outcome, { had: supplied });
        assert.deepEqual(new Set(supplied), new Set(lists.flat()));
        assert.equal(new Set(supplied).size, supplied.length);
      }),
    );
  });

  for (const [what, lists, largest, isTaken] of [
    ['a hundred contexts at once', [100], 1, true],
    ['a hundred contexts in two rounds', [60, 40], 1, true],
    ['a hundred and one contexts in two rounds', [60, 41], 1, false],
    ['contexts in fifteen rounds', Array.from({ length: 15 }, () => 1), 1, true],
    ['contexts in sixteen rounds', Array.from({ length: 16 }, () => 1), 1, false],
    ['a hundred and one contexts at once', [101], 1, false],
    ['contexts of 16 Mi characters together', [2, 2], 4 * 1024 * 1024, true],
    ['contexts of more than 16 Mi characters together', [2, 2], 4 * 1024 * 1024 + 1, false],
  ] as const) {
    it(`a task is ${isTaken ? 'done' : 'refused'} with ${what}`, async () => {
      let next = 0;
      const rounds = lists.map((count) => Array.from({ length: count }, () => String((next += 1))));
      const found: ContextResult = { sha256: 'x', text: 'x'.repeat(largest) };
      let count = 0;
      const outcome = await runWithContexts(needing(...rounds), async () => {
        count += 1;
        return found;
      });
      assert.ok(count <= 100);
      if (isTaken) assert.deepEqual(outcome, { had: rounds.flat() });
      else assert.ok('refused' in outcome && outcome.refused.kind === 'limitExceeded');
    });
  }

  it('a task that requests a context again that it was given fails', async () => {
    const run = async () => ({ needs: { urls: ['a'] } });
    await assert.rejects(
      runWithContexts(run, async () => FOUND),
      /given/,
    );
  });

  it('a task gets its contexts a few at a time', async () => {
    let [now, most] = [0, 0];
    const urls = Array.from({ length: 50 }, (_, n) => String(n));
    await runWithContexts(needing(urls), async () => {
      now += 1;
      most = Math.max(most, now);
      await Promise.resolve();
      now -= 1;
      return FOUND;
    });
    assert.equal(most, 8);
  });
});
