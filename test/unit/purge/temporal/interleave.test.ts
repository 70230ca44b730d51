import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { interleave } from '../../../../sidecar/purge/temporal/narrowed-queries.js';

/** Yields its values one after the other, and counts how many such sources run at a time. */
function sources(lists: readonly (readonly string[])[]) {
  const seen = { running: 0, most: 0 };
  async function* source(values: readonly string[]): AsyncGenerator<string, void> {
    seen.running += 1;
    seen.most = Math.max(seen.most, seen.running);
    for (const value of values) {
      await new Promise((resolve) => setImmediate(resolve));
      yield value;
    }
    seen.running -= 1;
  }
  return { seen, all: lists.map(source) };
}

async function collect(values: AsyncIterable<string>): Promise<string[]> {
  const found: string[] = [];
  for await (const value of values) found.push(value);
  return found;
}

describe('interleave', () => {
  it('interleave yields every value, each source in its order, and reads at most so many at a time', async () => {
    const lists = Array.from({ length: 7 }, (_, n) =>
      Array.from({ length: n }, (_value, index) => `${n}:${index}`),
    );
    const { seen, all } = sources(lists);
    const found = await collect(interleave(all, 3));
    assert.deepEqual([...found].sort(), lists.flat().sort());
    for (const list of lists) {
      assert.deepEqual(
        found.filter((value) => list.includes(value)),
        list,
      );
    }
    assert.equal(seen.most, 3);
  });

  it('interleave ends at once without sources', async () => {
    assert.deepEqual(await collect(interleave([], 3)), []);
  });

  it('interleave throws what a source throws, and leaves no other unhandled', async () => {
    async function* failing(): AsyncGenerator<string, void> {
      await Promise.resolve();
      yield* [];
      throw new Error('broken');
    }
    const { all } = sources([['a', 'b'], ['c']]);
    await assert.rejects(collect(interleave([...all, failing(), failing()], 4)), /broken/);
  });
});
