import assert from 'node:assert/strict';
import fc from 'fast-check';
import { BrokerCapabilities } from '../../sidecar/purge/broker/index.js';
import { BrokerReplyError } from '../../sidecar/purge/errors.js';
import { TooManyMatchesError, RateLimiter } from '../../sidecar/purge/index.js';
import { createTestClock, purge } from './purge-harness.js';
import { seededRandom } from './stub-broker-state.js';
import { WritersBroker } from './writers-broker.js';

const chance = fc.constantFrom(0, 0, 0.1, 0.5, 1);
const rate = fc.constantFrom(undefined, 1, 3, 20, 100, 1000);

/** A purge, its concurrent writers, and the rates that it is given while it runs. */
const schedules = fc.record({
  entities: fc.integer({ min: 0, max: 120 }),
  hasBatches: fc.boolean(),
  byValue: fc.boolean(),
  showsTimes: fc.boolean(),
  requestMs: fc.constantFrom(1, 30, 400),
  deleteMs: fc.constantFrom(0, 5, 60),
  pageSize: fc.constantFrom(7, 40, 1000),
  batchSize: fc.constantFrom(5, 50, 500),
  concurrency: fc.integer({ min: 1, max: 4 }),
  /** The maximum beyond the matches at the start; undefined for no maximum. */
  spare: fc.option(fc.integer({ min: 0, max: 30 }), { nil: undefined }),
  rates: fc.array(rate, { minLength: 1, maxLength: 5 }),
  seed: fc.integer({ min: 1, max: 1_000_000 }),
  writers: fc.record({
    makesAgain: chance,
    changes: chance,
    deletes: chance,
    adds: chance,
    most: fc.constantFrom(1, 5, 50),
  }),
});

/**
 * Checking recreated entities takes so long that items reported missing are never tried again in
 * time.
 */
const NEVER_IN_TIME: typeof schedules extends fc.Arbitrary<infer Schedule> ? Schedule : never = {
  entities: 19,
  hasBatches: true,
  byValue: false,
  showsTimes: false,
  seed: 1,
  requestMs: 400,
  deleteMs: 60,
  pageSize: 7,
  batchSize: 5,
  concurrency: 2,
  spare: undefined,
  rates: [undefined],
  writers: { makesAgain: 1, changes: 0.5, deletes: 0.5, adds: 0, most: 5 },
};

/**
 * Checks random schedules of writers during purges. The deletes with an effect are at most the
 * maximum, and each is counted. None deletes an entity that had stopped matching for longer than
 * the documented window. Nothing is learnt about the broker's batches.
 */
export async function checkWritersBesidePurges(numRuns: number, seed: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(schedules, async (made) => {
      const clock = createTestClock();
      const broker = new WritersBroker({ ...made, clock, random: seededRandom(made.seed) });
      const capabilities = new BrokerCapabilities(clock);
      const [first, ...later] = made.rates;
      const rateLimiter = new RateLimiter(clock, first);
      const maxAffected = made.spare === undefined ? undefined : made.entities + made.spare;
      let told = 0;
      const { report, error, progress } = await purge(
        { url: new URL('http://broker') },
        made.byValue ? 'type=Thing&q=on==1' : 'type=Thing',
        {
          clock,
          client: broker,
          capabilities,
          rateLimiter,
          seed: made.seed,
          limits: {
            pageSize: made.pageSize,
            batchSize: made.batchSize,
            concurrency: made.concurrency,
            maxAffected,
          },
          onOutcome: (_item, outcome) => void (told += outcome === 'deleted' ? 1 : 0),
          onEvent: ({ type }) => {
            if (type === 'progress' && later.length > 0) rateLimiter.setRate(later.shift());
          },
        },
      );
      // Pages that writers keep moving may not show everything. Such a purge says so, and can be
      // repeated.
      const isKnown = error instanceof TooManyMatchesError || error instanceof BrokerReplyError;
      assert.ok(error === undefined || isKnown, String(error));
      const { deleted, matched } = report ?? progress;
      assert.equal(deleted, broker.effects.length, 'each delete with an effect is counted');
      assert.equal(told, broker.effects.length, 'and told once');
      assert.ok(broker.effects.length <= (maxAffected ?? Infinity), `${broker.effects.length} deleted`);
      assert.ok(matched <= (maxAffected ?? Infinity));
      // Two seconds, plus the duration of the listing and of the delete.
      const windowMs = 2000 + 2 * (made.requestMs + made.deleteMs * made.batchSize);
      const tooLate = made.byValue ? broker.effects.filter(({ unmatchedMs }) => unmatchedMs > windowMs) : [];
      assert.deepEqual(tooLate, []);
      if (made.hasBatches) assert.equal(capabilities.get('no-batch'), undefined);
    }),
    { numRuns, seed, endOnFailure: false, examples: [[NEVER_IN_TIME]] },
  );
}
