import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import {
  createBrokerClient,
  type BrokerClient,
  BrokerUnreachableError,
} from '../../sidecar/purge/broker/index.js';
import { BrokerFailedError, PurgeStoppedError, type PurgeEvent } from '../../sidecar/purge/index.js';
import { isLook, startKilledBroker } from '../support/killed-broker.js';
import { createTestClock, purge, purged, things, type PurgeOptions } from '../support/purge-harness.js';
import {
  startStubBroker,
  type Fault,
  type StubBroker,
  type StubBrokerOptions,
} from '../support/stub-broker.js';
import type { StubRequest } from '../support/stub-broker-state.js';
import { column } from '../support/columns.js';

const LIMITS = { pageSize: 1000, batchSize: 500, concurrency: 3 };

/** Whether a request is the query that checks whether a broker is back. */
const isOutageProbe = ({ kind, query }: StubRequest) =>
  kind === 'query' && query.get('limit') === '1' && !query.has('count') && query.get('type') === 'Thing';

/** Starts a broker that is killed at its nth delete, and answers with `says` from then on. */
async function startMortal(
  t: TestContext,
  { nth, downMs, says = 'reset-before', ...options }: Partial<StubBrokerOptions> & Mortality,
) {
  const clock = createTestClock();
  const arrivals: { readonly atMs: number; readonly request: StubRequest }[] = [];
  let deletes = 0;
  let downUntilMs = 0;
  const broker = await startStubBroker(t, {
    entities: things(4000),
    ...options,
    fault: (request) => {
      if (request.kind !== 'query' && ++deletes === nth) downUntilMs = clock.now() + downMs;
      if (clock.now() >= downUntilMs) return undefined;
      arrivals.push({ atMs: clock.now(), request });
      return says;
    },
  });
  return { broker, clock, arrivals };
}
interface Mortality {
  readonly nth: number;
  readonly downMs: number;
  readonly says?: Fault;
}

/**
 * Starts a broker that refuses new connections for 5 s from its third batch on; that batch is still
 * answered.
 */
async function startRefusing(t: TestContext) {
  const clock = createTestClock();
  const broker = await startStubBroker(t, { entities: things(100) });
  const real = createBrokerClient({ brokerUrl: broker.url, timeoutMs: 120_000 });
  const down = { untilMs: 0, refused: 0 };
  let batches = 0;
  const client: BrokerClient = {
    close: () => real.close(),
    send: async (request) => {
      if (clock.now() < down.untilMs) {
        down.refused += 1;
        throw new BrokerUnreachableError('refused', false);
      }
      if (request.method === 'POST' && ++batches === 3) down.untilMs = clock.now() + 5000;
      return real.send(request);
    },
  };
  return { client, clock, down };
}

for (const says of ['reset-before', { status: 502 }, { status: 503 }, { status: 504 }] as const) {
  for (const maxAttempts of [1, 6]) {
    const name = typeof says === 'string' ? says : says.status;
    it(`a purge waits for a broker that restarts, and then continues: ${name}, ${maxAttempts} tries`, async (t) => {
      for (const oddities of [{}, { batch: 405, entities: things(200) }] as const) {
        const { broker, clock, arrivals } = await startMortal(t, { nth: 3, downMs: 5000, says, ...oddities });
        const events: PurgeEvent[] = [];
        const report = await purged(broker, 'type=Thing', {
          clock,
          limits: LIMITS,
          retry: { maxAttempts },
          onEvent: (event) => events.push(event),
        });
        assert.deepEqual([report.deleted, report.failed, report.unknown], [report.matched, 0, 0]);
        assert.equal(broker.entities.size, 0);
        assert.ok(arrivals.length > 0);
        const told = events.filter(({ type }) => type.startsWith('broker-'));
        assert.deepEqual(column(told, 'type'), ['broker-away', 'broker-back']);
      }
    });
  }
}

it('a broker that restarts during a purge receives one probe at a time, each after a longer pause', async (t) => {
  const { broker, clock, arrivals } = await startMortal(t, { nth: 3, downMs: 20_000 });
  await purged(broker, 'type=Thing', { clock, limits: LIMITS });
  const waiting = arrivals.filter(({ request }) => !isOutageProbe(request));
  // Requests that were in flight when the broker died: deletes, and two pages.
  assert.ok(waiting.length <= LIMITS.concurrency + 2, `${waiting.length} others`);
  const probes = arrivals.filter(({ request }) => isOutageProbe(request)).map(({ atMs }) => atMs);
  assert.ok(probes.length >= 4 && probes.length <= 12, `${probes.length} probes`);
  probes.reduce((before, atMs) => {
    assert.ok(atMs - before >= 200, `${atMs - before} ms between two probes`);
    return atMs;
  }, 0);
});

it('an outage does not end a purge with more deletes in flight than the allowed number of failures in a row', async (t) => {
  let deletes = 0;
  const broker = await startStubBroker(t, {
    entities: things(200),
    batch: 405,
    // All deletes in flight fail at once, and only once.
    fault: ({ kind }) => (kind === 'single' && ++deletes > 50 && deletes <= 90 ? 'reset-before' : undefined),
  });
  const report = await purged(broker, 'type=Thing', { limits: { concurrency: 40 } });
  assert.deepEqual([report.deleted, broker.entities.size], [200, 0]);
});

it('a broker that restarts during a purge receives no request before its Retry-After has passed', async (t) => {
  const says = { status: 503, headers: { 'retry-after': '7' } };
  const { broker, clock, arrivals } = await startMortal(t, { nth: 2, downMs: 12_000, says });
  const report = await purged(broker, 'type=Thing', { clock, limits: { ...LIMITS, concurrency: 1 } });
  assert.equal(report.deleted, 4000);
  const times = [...new Set(arrivals.map(({ atMs }) => atMs))];
  times.reduce((before, atMs) => {
    assert.ok(atMs - before >= 7000, `${atMs - before} ms`);
    return atMs;
  });
});

it('a broker that refuses new connections during a purge may still answer requests in flight', async (t) => {
  const { client, clock, down } = await startRefusing(t);
  const report = await purged({ url: new URL('http://unused.invalid') }, 'type=Thing', {
    client,
    clock,
    limits: { ...LIMITS, batchSize: 10, pageSize: 100 },
    retry: { maxAttempts: 2 },
  });
  assert.deepEqual([report.deleted, report.failed], [100, 0]);
  assert.ok(down.refused <= 16, `${down.refused} requests refused`);
});

it('a broker that crashes on one batch of a purge does not affect other entities', async (t) => {
  const clock = createTestClock();
  let downUntilMs = 0;
  const broker = await startStubBroker(t, {
    entities: things(60),
    fault: ({ kind, id = '', ids }) => {
      const kills = kind !== 'query' && [id, ...ids].includes('urn:ngsi-ld:Thing:7');
      if (kills) downUntilMs = clock.now() + 1000;
      return clock.now() < downUntilMs ? 'reset-before' : undefined;
    },
  });
  const report = await purged(broker, 'type=Thing', { clock, limits: { batchSize: 30 } });
  assert.deepEqual([report.deleted, report.failed, report.unknown], [59, 1, 0]);
  assert.deepEqual([...broker.entities.keys()], ['urn:ngsi-ld:Thing:7']);
  assert.ok(broker.requests.length <= 250, `${broker.requests.length} requests`);
});

it('a broker that fails on only some requests is recognised with one probe, and they are retried by the retry policy', async (t) => {
  const bad = 'urn:ngsi-ld:Thing:7';
  const clock = createTestClock();
  const broker = await startStubBroker(t, {
    entities: things(20),
    batch: 405,
    fault: ({ id }) => (id === bad ? { status: 503 } : undefined),
  });
  const events: PurgeEvent[] = [];
  const report = await purged(broker, 'type=Thing', {
    clock,
    limits: { concurrency: 1 },
    onEvent: (event) => events.push(event),
  });
  assert.deepEqual([report.deleted, report.failed], [19, 1]);
  // Six attempts take longer than the list stays fresh.
  const tries = broker.of('single').filter(({ id }) => id === bad).length;
  assert.ok(tries >= 12 && tries <= 60, `${tries} tries`);
  assert.ok(!events.some(({ type }) => type === 'broker-away'));
});

const purgeKilled = async (broker: StubBroker, options: PurgeOptions = {}) =>
  purge(broker, 'type=Thing', { limits: LIMITS, ...options });

it('a purge whose broker stays unavailable ends after BROKER_AWAY_MS, with the unknown items counted', async (t) => {
  const { broker, unanswered } = await startKilledBroker(t, { entities: things(4000) });
  const clock = createTestClock();
  const startMs = clock.now();
  const { error, progress } = await purgeKilled(broker, { clock });
  assert.ok(error instanceof BrokerFailedError);
  assert.equal(error.reason, 'away-too-long');
  assert.equal(error.failure.kind, 'unreachable');
  assert.equal(unanswered.size, 1500);
  const { deleted, alreadyGone, failed, unknown } = progress;
  assert.deepEqual(
    { deleted, alreadyGone, failed, unknown },
    { deleted: 4000 - 1500 - broker.entities.size, alreadyGone: 0, failed: 0, unknown: 1500 },
  );
  const waitedMs = clock.now() - startMs;
  assert.ok(waitedMs >= 30_000 && waitedMs <= 31_000, `${waitedMs} ms`);
  assert.ok(broker.requests.length <= 30, `${broker.requests.length} requests`);
});

it("a purge does not wait for its broker if BROKER_AWAY_MS is 0, or before the broker's first answer", async (t) => {
  const clock = createTestClock();
  const { broker, unanswered } = await startKilledBroker(t, { entities: things(4000) });
  const { error, progress } = await purgeKilled(broker, { clock, retry: { awayMs: 0 } });
  assert.ok(error instanceof BrokerFailedError);
  assert.ok(unanswered.size >= 1500);
  assert.equal(progress.unknown, unanswered.size);
  assert.ok(clock.now() - createTestClock().now() < 30_000);

  const dead = await startStubBroker(t, { fault: () => 'reset-before' });
  const never = await purgeKilled(dead);
  assert.ok(never.error instanceof BrokerFailedError);
  assert.deepEqual([never.error.reason, dead.requests.length], ['attempts-used-up', 6]);
});

it('a purge that is stopped does not wait for its broker', async (t) => {
  const controller = new AbortController();
  const { broker, unanswered } = await startKilledBroker(t, { entities: things(4000) });
  const { error, progress } = await purgeKilled(broker, {
    signal: controller.signal,
    onEvent: ({ type }) => {
      if (type === 'broker-away') controller.abort();
    },
  });
  assert.ok(error instanceof PurgeStoppedError);
  assert.equal(progress.unknown, unanswered.size);
  assert.equal(broker.requests.filter(isLook).length, 0);
  assert.ok(broker.requests.filter(isOutageProbe).length <= 2);
});

const noWait = { retry: { maxAttempts: 2, awayMs: 0 } };

for (const carriesOut of [true, false]) {
  it(`a broker that comes back at the end of a purge is queried once, by id, for deletes without an answer: ${carriesOut ? '' : 'not '}done`, async (t) => {
    const { broker, unanswered } = await startKilledBroker(t, {
      entities: things(2000),
      carriesOut,
      look: undefined,
    });
    const { error, progress } = await purgeKilled(broker, noWait);
    assert.ok(error instanceof BrokerFailedError);
    assert.deepEqual([progress.deleted, progress.unknown], [2000 - broker.entities.size, 0]);
    assert.equal([...unanswered].filter((id) => !broker.entities.has(id)).length, carriesOut ? 1500 : 0);
    const looks = broker.requests.filter(isLook);
    const portions = Math.ceil(unanswered.size / 100);
    assert.ok(looks.length >= portions && looks.length <= 2 * portions, `${looks.length} looks`);
    for (const { target } of looks) assert.ok(target.length < 8000);
    const last = broker.requests.slice(broker.requests.indexOf(looks[0] as StubRequest));
    assert.ok(last.every(isLook), 'nothing else is sent');
  });
}

for (const [name, look] of [
  ['lists other entities', { status: 200, body: [{ id: 'urn:ngsi-ld:Thing:999999' }] }],
  ['counts more than it lists', { status: 200, headers: { 'ngsild-results-count': '243228753' }, body: [] }],
  ['fails', { status: 500 }],
  ['refuses', { status: 400, body: { title: 'id not supported' } }],
  ['sends what is not JSON', { status: 200, body: '<html>' }],
] as const) {
  it(`a broker that comes back at the end of a purge is not trusted if it ${name}: unclear items stay unclear`, async (t) => {
    const { broker, unanswered } = await startKilledBroker(t, { entities: things(2000), look });
    const { error, progress } = await purgeKilled(broker, noWait);
    assert.ok(error instanceof BrokerFailedError);
    assert.ok(unanswered.size >= 1500);
    assert.equal(progress.unknown, unanswered.size);
  });
}

it('a broker that comes back at the end of a purge is not queried before its Retry-After has passed', async (t) => {
  const throttled = { status: 429, headers: { 'retry-after': '3600' } };
  const lost = new Set<string>();
  const broker = await startStubBroker(t, {
    entities: things(1000),
    fault: ({ kind, ids }) => {
      if (kind !== 'batch') return undefined;
      if (lost.size > 0) return throttled;
      for (const id of ids) lost.add(id);
      return 'reset-after';
    },
  });
  const { error, progress } = await purge(broker, 'type=Thing', { limits: { ...LIMITS, concurrency: 1 } });
  assert.ok(error instanceof BrokerFailedError);
  assert.equal(error.reason, 'retry-after-too-long');
  assert.deepEqual([progress.deleted, progress.unknown], [0, lost.size]);
  assert.equal(broker.requests.filter(isLook).length, 0);
});
