import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  type Needs,
  type Supplied,
  type Supply,
} from '../../../../sidecar/schemas/json-ld/supplied-contexts.js';
import { runWithContexts } from '../../../../sidecar/schemas/json-ld/outcomes.js';

const FOUND: Supply = { sha256: 'x', text: '{}' };

/** A task that needs these URLs, one list after the other. */
function needing(...lists: readonly (readonly string[])[]) {
  return async (supplied: Supplied): Promise<{ readonly had: readonly string[] } | Needs> => {
    const had = supplied.map(([url]) => url);
    const urls = lists.find((list) => list.some((url) => !had.includes(url)));
    return urls === undefined ? { had } : { needs: { urls } };
  };
}

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

  it('a task with contexts passes on failures, and throws what the supply or the task throws', async () => {
    const failure: Supply = { failure: { code: 'CONTEXT_FETCH_FAILED', detail: 'gone' } };
    const run = async (supplied: Supplied) =>
      supplied.length === 0 ? { needs: { urls: ['a'] } } : { supplied };
    assert.deepEqual(await runWithContexts(run, async () => failure), { supplied: [['a', failure]] });
    const broken = new Error('broken');
    await assert.rejects(
      runWithContexts(run, () => Promise.reject(broken)),
      broken,
    );
    await assert.rejects(
      runWithContexts(
        () => Promise.reject(broken),
        async () => FOUND,
      ),
      broken,
    );
  });

  it('a task that needs too many contexts, too much of them or too long a chain is refused', async () => {
    const urls = Array.from({ length: 101 }, (_, n) => String(n));
    const large: Supply = { sha256: 'x', text: 'x'.repeat(9 * 1024 * 1024) };
    for (const [run, found] of [
      [needing(urls), FOUND],
      [needing(...urls.map((url) => [url])), FOUND],
      [needing(['a', 'b']), large],
    ] as const) {
      let count = 0;
      const outcome = await runWithContexts(run, async () => {
        count += 1;
        return found;
      });
      assert.ok('refused' in outcome);
      assert.equal(outcome.refused.code, 'LIMIT_EXCEEDED');
      assert.ok(count <= 100);
    }
  });

  it('a task that asks again for a context that it was given ends', async () => {
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
