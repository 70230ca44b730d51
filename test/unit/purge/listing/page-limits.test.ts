import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { BrokerCapabilities } from '../../../../sidecar/purge/broker/index.js';
import { entities } from '../../../../sidecar/purge/listing/index.js';
import { PageSize, Trial } from '../../../../sidecar/purge/listing/page-limits.js';

/** Feeds full pages to a page size until it settles, and returns the requested sizes. */
function sizesAt(
  msOf: (size: number) => number,
  { start = 1000, most = 10_000, charsEach = 50 } = {},
): readonly number[] {
  const size = new PageSize(start, most);
  const asked = [size.size];
  for (let pages = 0; !size.isSettled; pages++) {
    assert.ok(pages < 20, 'the size never settles');
    size.note({ limit: size.size, ms: msOf(size.size), length: size.size * charsEach });
    asked.push(size.size);
  }
  return asked;
}

/** The maximum time that a larger page may take for each entity, relative to a smaller one. */
const SHARE = 0.8;

it('PageSize grows to the largest page if a page takes the same time whatever its size', () => {
  assert.deepEqual(
    sizesAt(() => 5),
    [1000, 4000, 10_000, 10_000],
  );
});

it('PageSize returns to its start if larger pages take as long for each entity', () => {
  assert.deepEqual(
    sizesAt((size) => size / 100),
    [1000, 4000, 1000],
  );
});

it('PageSize keeps a larger size that takes exactly the maximum share of the time', () => {
  for (const [share, isWorthIt] of [
    [SHARE - 0.01, true],
    [SHARE, true],
    [SHARE + 0.01, false],
  ] as const) {
    const sizes = sizesAt((size) => (size === 1000 ? 10 : (10 * size * share) / 1000), { most: 2000 });
    assert.equal(sizes.at(-1), isWorthIt ? 2000 : 1000, String(share));
  }
});

it('PageSize keeps the last size that saved time', () => {
  assert.deepEqual(
    sizesAt((size) => (size > 4000 ? size : 5)),
    [1000, 4000, 10_000, 4000],
  );
});

it('PageSize requests no page that would take more than a second, or contain more than two megabytes', () => {
  assert.equal(sizesAt(() => 600).at(-1), 1000);
  assert.deepEqual(
    sizesAt(() => 5, { charsEach: 500 }),
    [1000, 4000, 4000],
  );
  assert.equal(sizesAt(() => 5, { charsEach: 3000 }).at(-1), 1000);
});

it('PageSize learns nothing from pages of another size', () => {
  const size = new PageSize(100, 1000);
  size.note({ limit: 20, ms: 1, length: 10 });
  assert.equal(size.size, 100);
});

it('PageSize gives up a size that was good before if the broker refuses it later', () => {
  const size = new PageSize(1000, 4000);
  for (const limit of [1000, 4000]) size.note({ limit, ms: 5, length: 10 });
  assert.deepEqual([size.size, size.isSettled], [4000, true]);
  size.refuse();
  assert.deepEqual([size.size, size.isSettled], [1000, true]);
});

it('PageSize goes down one step if several pages of a size are refused at once', () => {
  const size = new PageSize(100, 1600);
  for (const limit of [100, 400]) size.note({ limit, ms: 5, length: 10 });
  assert.equal(size.size, 1600);
  for (const limit of [1000, 1000, 1000]) size.refuse(limit);
  assert.equal(size.size, 400);
  size.refuse(400);
  size.refuse(400);
  assert.equal(size.size, 100);
});

it('PageSize never requests a size again that was refused, except for its start', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: 12 }), (refusals) => {
      const size = new PageSize(10, 100_000);
      for (const isRefused of refusals) {
        const limit = size.size;
        if (isRefused) size.refuse();
        else size.note({ limit, ms: 5, length: 10 });
        assert.ok(!isRefused || limit === 10 || size.size < limit);
      }
    }),
  );
});

it('PageSize stays between start and maximum, and settles, however long the pages take', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5000 }),
      fc.integer({ min: 1, max: 100_000 }),
      fc.array(fc.record({ ms: fc.nat(5000), length: fc.nat(10_000_000) }), {
        minLength: 20,
        maxLength: 20,
      }),
      (start, most, pages) => {
        const size = new PageSize(start, most);
        for (const { ms, length } of pages) {
          assert.ok(size.size >= start && size.size <= Math.max(start, most));
          size.note({ limit: size.size, ms, length });
        }
        assert.ok(size.isSettled);
      },
    ),
  );
});

const query = { selection: [{ name: 'type', value: 'T' }], count: true };
const tried = { query, limit: 200, projection: 'pick' } as const;
const unasked = async () => assert.fail('nothing has to be asked');

/** A trial of one page, and its known facts. */
function trialOf(capabilities: BrokerCapabilities) {
  const trial = new Trial(capabilities, entities('ids'));
  return {
    trial,
    seen: () => [trial.pageSizeMax, trial.projectionFor(query), trial.asksCount(query)],
    refuse: async () => {
      for (const title of ['pick is unknown', 'count is unknown'])
        assert.ok(await trial.adapt(tried, { status: 400, title }, unasked));
    },
  };
}

it('a fact learnt while a page is refused applies to this page only until it is kept', async () => {
  const capabilities = new BrokerCapabilities({ now: () => 0, monotonicMs: () => 0 });
  capabilities.learn('page-max', 200);
  const [one, other] = [trialOf(capabilities), trialOf(capabilities)];
  one.trial.limitPages(100);
  one.trial.limitPages(150);
  await one.refuse();
  assert.deepEqual(one.seen(), [100, 'key-values', false]);
  assert.deepEqual(other.seen(), [200, 'pick', true]);
  assert.equal(capabilities.facts().size, 1);
  one.trial.keep();
  assert.deepEqual(other.seen(), [100, 'key-values', false]);
});

it('a page that learnt nothing keeps nothing, and a page never widens newer restrictions', async () => {
  const capabilities = new BrokerCapabilities({ now: () => 0, monotonicMs: () => 0 });
  trialOf(capabilities).trial.keep();
  assert.equal(capabilities.facts().size, 0);
  const { trial, refuse } = trialOf(capabilities);
  trial.limitPages(500);
  await refuse();
  capabilities.learn('page-max', 50);
  capabilities.learn('refused key-values', true);
  capabilities.learn('no-count', true);
  trial.keep();
  assert.equal(capabilities.get('page-max'), 50);
  assert.ok(capabilities.get('refused key-values') === true && capabilities.get('refused pick') === true);
  assert.equal(capabilities.get('no-count'), true);
});
