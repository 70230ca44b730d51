import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { createTestClock, purge, type PurgeOutcome } from '../support/purge-harness.js';
import { MishapBroker, type Mishap } from '../support/mishap-broker.js';
import { seededRandom } from '../support/stub-broker-state.js';
import { runs } from '../support/thoroughness.js';

const MISHAPS: readonly Mishap[] = [
  ...(['refused', 'reset-before', 'reset-after', 'timeout-before', 'timeout-after'] as const),
  ...(['500-before', '500-after', '500-halfway', '502-before', '502-after', '503-before'] as const),
  ...(['503-after', 'items-500-after', '429', '429-wait', '503-wait', 'all-missing', 'rival'] as const),
  ...(['rival', 'restart'] as const),
];

/**
 * The first requests, and most others, succeed; a purge that cannot begin has nothing to report.
 */
const mishaps = fc
  .tuple(
    fc.integer({ min: 2, max: 8 }),
    fc.integer({ min: 1, max: 8 }),
    fc.array(fc.constantFrom(...MISHAPS), { maxLength: 25 }),
  )
  .map(([calm, apart, bad]): readonly Mishap[] => [
    ...Array.from({ length: calm }, () => 'none' as const),
    ...bad.flatMap((mishap, index) => (index % apart === 0 ? (['none', mishap] as const) : [mishap])),
  ]);

/** Requests that mostly succeed, with the given mishaps among them. */
const rowOf = (...happening: readonly Mishap[]) =>
  fc.array(fc.constantFrom<Mishap[]>('none', 'none', 'none', ...happening), { maxLength: 50 });

const settings = {
  entities: fc.integer({ min: 1, max: 40 }),
  restartMs: fc.constantFrom(500, 5000, 40_000),
  hasBatches: fc.boolean(),
  drop: fc.boolean(),
  pageSize: fc.constantFrom(3, 10, 100),
  batchSize: fc.constantFrom(2, 10, 50),
  concurrency: fc.constantFrom(1, 2, 5),
  maxAttempts: fc.constantFrom(1, 3, 6),
  awayMs: fc.constantFrom(0, 10_000, 30_000),
  seed: fc.nat(1_000_000),
};
const anything = fc.record({ ...settings, mishaps, dies: fc.boolean() });
type Scenario = typeof anything extends fc.Arbitrary<infer Value> ? Value : never;

async function suffered(made: Scenario): Promise<{ broker: MishapBroker; outcome: PurgeOutcome }> {
  const { seed, drop, maxAttempts, awayMs, pageSize, batchSize, concurrency } = made;
  const clock = createTestClock();
  const broker = new MishapBroker({ ...made, clock, random: seededRandom(seed) });
  const outcome = await purge(
    { url: new URL('http://unused.invalid') },
    `type=Thing${drop ? '&drop=a' : ''}`,
    {
      client: broker,
      clock,
      seed,
      limits: { pageSize, batchSize, concurrency },
      retry: { maxAttempts, awayMs },
    },
  );
  return { broker, outcome };
}

it('a purge accounts for every item despite any sequence of mishaps, and never reports an existing one as deleted', async () => {
  await fc.assert(
    fc.asyncProperty(anything, async (made) => {
      const { broker, outcome } = await suffered(made);
      assert.equal(broker.inFlight, 0, 'a purge waits for its deletes');
      const { matched, deleted, alreadyGone, failed, unknown } = outcome.report ?? outcome.progress;
      const [ours, rivals] = [broker.deletedHere.size, broker.deletedByRival.size];
      // A false answer is detected by a later query, for which a purge that ends early has no time.
      const lies = outcome.report === undefined && made.mishaps.includes('all-missing');
      const told = deleted + alreadyGone + failed + unknown;
      assert.ok(outcome.report === undefined ? told <= matched : told === matched);
      assert.ok(ours <= deleted + unknown, `${ours} deleted, ${deleted} + ${unknown} told`);
      assert.ok(deleted + alreadyGone <= ours + rivals || lies);
      assert.ok(alreadyGone <= rivals || lies);

      const isThere = (entityId: string) =>
        made.drop ? broker.store.get(entityId)?.has('a') === true : broker.store.has(entityId);
      for (const entityId of outcome.report?.success ?? []) assert.ok(!isThere(entityId), entityId);
      for (const { entityId, error } of outcome.report?.errors ?? [])
        assert.ok(isThere(entityId) || error.type.endsWith(':outcome-unknown'), entityId);
      if (outcome.report !== undefined && unknown === 0 && failed === 0)
        assert.deepEqual([...broker.store.keys()].filter(isThere), []);
    }),
    { numRuns: runs(130), seed: 20_260_102, endOnFailure: false },
  );
});

it('a purge distinguishes its own deletes from those of other clients if every delete is answered', async () => {
  const clear = fc.record({ ...settings, mishaps: rowOf('rival', 'rival', '429'), dies: fc.constant(false) });
  await fc.assert(
    fc.asyncProperty(clear, async (made) => {
      const { broker, outcome } = await suffered({ ...made, maxAttempts: 6 });
      const { deleted, alreadyGone, unknown } = outcome.report ?? outcome.progress;
      assert.equal(deleted, broker.deletedHere.size);
      assert.equal(alreadyGone, broker.deletedByRival.size);
      assert.equal(unknown, 0);
    }),
    { numRuns: runs(50), seed: 20_260_103, endOnFailure: false },
  );
});

it('a purge never exceeds its concurrency, and never sends before a Retry-After has passed, despite any mishaps', async () => {
  const throttled = rowOf('429-wait', '429-wait', '503-wait', '429', 'reset-after', 'restart');
  const busy = fc.record({ ...settings, mishaps: fc.oneof(throttled, mishaps), dies: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(busy, async (made) => {
      const { broker, outcome } = await suffered(made);
      assert.ok(broker.peak <= made.concurrency, `${broker.peak} deletes at a time`);
      assert.equal(broker.tooSoon, 0);
      assert.equal((outcome.report ?? outcome.progress).requests, broker.received);
    }),
    { numRuns: runs(130), seed: 20_260_104, endOnFailure: false },
  );
});
