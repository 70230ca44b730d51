import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { BrokerCapabilities } from '../../sidecar/purge/broker/index.js';
import { RateLimiter } from '../../sidecar/purge/index.js';
import { startTestBroker, stopAll } from '../support/gateway-harness.js';
import { createTestClock, purge, purged } from '../support/purge-harness.js';
import { seededRandom } from '../support/stub-broker-state.js';
import { WritersBroker } from '../support/writers-broker.js';

after(stopAll);

const vehicle = (n: number) => ({
  id: `urn:ngsi-ld:Vehicle:${String(n)}`,
  type: 'Vehicle',
  speed: { type: 'Property', value: n % 100 },
});

for (const [what, behindMs, seemsBehindMs = behindMs] of [
  ['in step with that of the gateway', 0],
  ['ten minutes behind', 600_000],
  ['an hour ahead according to a proxy', 0, -3_600_000],
] as const) {
  it(`entities recreated during a purge are not deleted again, within a maximum or without one (the clock of the broker is ${what})`, async () => {
    const clock = createTestClock(Date.now());
    const broker = await startTestBroker({ clock: { ...clock, now: () => clock.now() - behindMs } });
    broker.entities.seed(3000, vehicle);
    const capabilities = new BrokerCapabilities(clock);
    const outcomes: string[] = [];
    let isMadeAgain = false;
    const report = await purged({ url: new URL(broker.url) }, 'type=Vehicle', {
      clock,
      capabilities,
      brokerAheadMs: () => seemsBehindMs,
      rateLimiter: new RateLimiter(clock, 1000),
      limits: { maxAffected: 3000, batchSize: 500 },
      onOutcome: (_item, outcome) => outcomes.push(outcome),
      onEvent: ({ type, ...event }) => {
        if (type !== 'progress' || isMadeAgain || !('deleted' in event) || event.deleted < 1500) return;
        isMadeAgain = true;
        broker.entities.seed(1500, vehicle);
      },
    });
    const { matched, deleted, failed, arrived } = report;
    assert.deepEqual([matched, deleted, failed], [3000, 3000, 0]);
    assert.equal(outcomes.filter((outcome) => outcome === 'deleted').length, 3000);
    assert.equal(arrived, broker.entities.count());
    assert.equal(capabilities.get('no-batch'), undefined);
    // The next purge deletes them, in batches.
    const next = await purged({ url: new URL(broker.url) }, 'type=Vehicle', { clock, capabilities });
    assert.equal(next.deleted, arrived);
    assert.ok(next.requests < 80, `${String(next.requests)} requests`);
  });
}

it('entities recreated during a purge are not deleted again if the clock of the gateway was ahead and is put right meanwhile', async () => {
  const clock = createTestClock(Date.now());
  const broker = await startTestBroker({ clock: { ...clock, now: () => clock.monotonicMs() } });
  broker.entities.seed(3000, vehicle);
  clock.set(3_600_000);
  let isMadeAgain = false;
  const report = await purged({ url: new URL(broker.url) }, 'type=Vehicle', {
    clock,
    brokerAheadMs: () => clock.now() - clock.monotonicMs(),
    rateLimiter: new RateLimiter(clock, 1000),
    limits: { maxAffected: 3000, batchSize: 500 },
    onEvent: ({ type, ...event }) => {
      if (type !== 'progress' || isMadeAgain || !('deleted' in event) || event.deleted < 1500) return;
      isMadeAgain = true;
      clock.set(-3_600_000);
      broker.entities.seed(1500, vehicle);
    },
  });
  assert.deepEqual([report.deleted, report.arrived], [3000, broker.entities.count()]);
  assert.ok(broker.entities.count() > 1000, String(broker.entities.count()));
});

for (const hasBatches of [true, false]) {
  it(`a purge whose every listing takes seconds spends less than two thirds of its time listing (${hasBatches ? 'batches' : 'one by one'})`, async () => {
    const clock = createTestClock();
    const writers = { makesAgain: 0, changes: 0.05, deletes: 0, adds: 0, most: 5 };
    const broker = new WritersBroker({
      clock,
      entities: 3000,
      hasBatches,
      requestMs: 1,
      deleteMs: 30,
      listMs: 3,
      showsTimes: true,
      writers,
      random: seededRandom(1),
    });
    const startMs = clock.now();
    const { report, error } = await purge({ url: new URL('http://broker') }, 'type=Thing&q=on==1', {
      clock,
      client: broker,
      limits: { batchSize: 50 },
    });
    assert.equal(error, undefined);
    assert.equal(report?.deleted, broker.effects.length);
    const share = broker.listingMs / (clock.now() - startMs);
    assert.ok(share < 0.65, `${String(share)} of the time`);
    assert.ok(broker.effects.every(({ unmatchedMs }) => unmatchedMs <= 10_000));
  });
}

for (const hasBatches of [true, false]) {
  it(`a purge with a rate limit deletes nothing that stopped matching more than two seconds earlier (${hasBatches ? 'batches' : 'one by one'})`, async () => {
    const clock = createTestClock();
    const writers = { makesAgain: 0, changes: 0, deletes: 0, adds: 0, most: 1 };
    const broker = new WritersBroker({
      clock,
      entities: 1000,
      hasBatches,
      requestMs: 1,
      deleteMs: 0,
      showsTimes: true,
      writers,
      random: seededRandom(1),
    });
    const startMs = clock.now();
    let changedAtMs = Infinity;
    const { report, error } = await purge({ url: new URL('http://broker') }, 'type=Thing&q=on==1', {
      clock,
      client: broker,
      rateLimiter: new RateLimiter(clock, 20),
      onEvent: () => {
        if (clock.now() < startMs + 3000 || changedAtMs < Infinity) return;
        changedAtMs = clock.now();
        for (const life of broker.store.values()) {
          life.matches = false;
          life.matchedUntilMs = changedAtMs;
        }
      },
    });
    assert.equal(error, undefined);
    assert.ok(broker.effects.every(({ unmatchedMs }) => unmatchedMs <= 2000));
    assert.ok(broker.effects.length <= 20 + 5 * 20, `${String(broker.effects.length)} deleted`);
    assert.equal(report?.deleted, broker.effects.length);
    // An entity that stopped matching before its delete was sent is no match; refused batches count
    // as sent.
    if (hasBatches) assert.deepEqual([report.matched, report.alreadyGone], [report.deleted, 0]);
    assert.ok(broker.requests < 400, `${String(broker.requests)} requests`);
  });
}
