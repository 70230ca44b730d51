import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BrokerFailedError } from '../../sidecar/purge/index.js';
import { createTestClock, isProbe, purge, purged, requestCounts, things } from '../support/purge-harness.js';
import { startStubBroker } from '../support/stub-broker.js';
import { seededRandom } from '../support/stub-broker-state.js';
import { column } from '../support/columns.js';

const CONTEXT_PROBLEM = { type: 'https://uri.etsi.org/ngsi-ld/errors/LdContextNotAvailable', title: 'x' };

it('a failed request of a purge is sent as often as the retry policy says, with growing pauses', async (t) => {
  const clock = createTestClock();
  const broker = await startStubBroker(t, { fault: () => ({ status: 500 }) });
  const { error } = await purge(broker, 'type=Thing', { clock });
  assert.ok(error instanceof BrokerFailedError);
  assert.equal(error.reason, 'attempts-used-up');
  assert.equal(broker.requests.length, 6);
  assert.equal(clock.sleeps.length, 5);
  clock.sleeps.forEach((ms, index) => assert.ok(ms >= 200 && ms <= 200 * 2 ** (index + 1), `${ms}`));
});

for (const status of [501, 505, 508, 510, 511]) {
  it(`a failed request of a purge is not retried after a permanent error: ${status}`, async (t) => {
    const broker = await startStubBroker(t, { fault: () => ({ status }) });
    await purge(broker, 'type=Thing');
    assert.equal(broker.requests.length, 1);
  });
}

it('a failed request of a purge waits for its Retry-After, and so do all other requests of the purge', async (t) => {
  for (const [value, least] of [
    ['7', 7000],
    [new Date(Date.UTC(2026, 0, 1, 0, 0, 20)).toUTCString(), 19_000],
  ] as const) {
    const clock = createTestClock();
    const arrivals: number[] = [];
    let throttled = 0;
    const broker = await startStubBroker(t, {
      entities: things(100),
      fault: ({ kind }) => {
        if (kind !== 'batch') return undefined;
        arrivals.push(clock.now());
        return throttled++ === 0 ? { status: 429, headers: { 'retry-after': value } } : undefined;
      },
    });
    await purged(broker, 'type=Thing', { clock, limits: { concurrency: 1, batchSize: 10 } });
    const [first = 0, second = 0] = arrivals;
    assert.ok(second - first >= least, `${second - first} ms`);
    assert.equal(broker.entities.size, 0);
  }
});

it('a purge ends at once if Retry-After is longer than it may wait, and passes Retry-After on', async (t) => {
  for (const kind of ['query', 'batch'] as const) {
    const broker = await startStubBroker(t, {
      entities: things(20),
      fault: (request) =>
        request.kind === kind ? { status: 429, headers: { 'retry-after': '61' } } : undefined,
    });
    const { error } = await purge(broker, 'type=Thing');
    assert.ok(error instanceof BrokerFailedError);
    assert.equal(error.reason, 'retry-after-too-long');
    assert.deepEqual([error.failure.status, error.failure.retryAfter], [429, '61']);
    assert.equal(broker.of(kind).length, 1);
  }
});

it('a failed request of a purge is repeated at most once if the @context cannot be loaded', async (t) => {
  for (const status of [503, 504]) {
    const answer = { status, body: CONTEXT_PROBLEM };
    const broker = await startStubBroker(t, { entities: things(5), fault: () => answer });
    const { error } = await purge(broker, 'type=Thing');
    assert.ok(error instanceof BrokerFailedError);
    assert.equal(error.failure.kind, 'context-unavailable');
    assert.equal(broker.requests.length, 2);
  }
});

it('a request of a purge that times out is retried', async (t) => {
  const options = { timeoutMs: 500, retry: { maxAttempts: 2 } };
  const silent = await startStubBroker(t, { fault: () => 'hang' });
  const { error } = await purge(silent, 'type=Thing', options);
  assert.ok(error instanceof BrokerFailedError);
  assert.equal(error.failure.kind, 'timeout');
  assert.equal(silent.requests.length, 2);

  const once = new Set<string>();
  const slow = await startStubBroker(t, {
    entities: things(20),
    fault: ({ target, method, body }) => {
      const key = `${method} ${target} ${body}`;
      if (once.has(key)) return undefined;
      once.add(key);
      return 'hang';
    },
  });
  assert.equal((await purged(slow, 'type=Thing', options)).deleted, 20);
});

it('a batch whose answer was lost counts as deleted once its entities are gone', async (t) => {
  let isFirst = true;
  const broker = await startStubBroker(t, {
    entities: things(20),
    fault: ({ kind }) => {
      if (kind !== 'batch' || !isFirst) return undefined;
      isFirst = false;
      return 'reset-after';
    },
  });
  const report = await purged(broker, 'type=Thing');
  assert.deepEqual([report.deleted, report.failed], [20, 0]);
});

it('the error of a purge names the unreachable broker, without its credentials', async () => {
  const url = new URL('http://user:secret@127.0.0.1:1/');
  const { error } = await purge({ url }, 'type=Thing');
  assert.ok(error instanceof BrokerFailedError);
  assert.equal(error.failure.kind, 'unreachable');
  assert.match(error.message, /The broker at http:\/\/127\.0\.0\.1:1\/ could not be reached/);
  assert.doesNotMatch(error.message, /user|secret/);
});

it('entities without remaining attempts get a final retry after the broker has recovered', async (t) => {
  const tries = new Map<string, number>();
  const broker = await startStubBroker(t, {
    entities: things(40),
    batch: 405,
    fault: ({ kind, id = '' }) => {
      if (kind !== 'single' || !id.endsWith('7')) return undefined;
      tries.set(id, (tries.get(id) ?? 0) + 1);
      return (tries.get(id) ?? 0) <= 6 ? { status: 503 } : undefined;
    },
  });
  const report = await purged(broker, 'type=Thing');
  assert.deepEqual([report.deleted, report.failed], [40, 0]);
  assert.equal(broker.entities.size, 0);
});

it('if the final retry fails as well, exactly those entities are reported, with their last failure', async (t) => {
  for (const share of [0.05, 0.2, 0.4]) {
    for (const seed of [1, 2, 3, 4]) {
      const random = seededRandom(seed);
      const poisoned = new Set(
        things(120)
          .filter(() => random() < share)
          .map(({ id }) => id),
      );
      const broker = await startStubBroker(t, {
        entities: things(120),
        batch: 405,
        fault: ({ kind, id = '' }) => (kind === 'single' && poisoned.has(id) ? { status: 503 } : undefined),
      });
      const report = await purged(broker, 'type=Thing');
      assert.deepEqual(report.errors.map(({ entityId }) => entityId).sort(), [...poisoned].sort());
      assert.equal(report.deleted, 120 - poisoned.size);
      assert.ok(report.errors.every(({ error }) => error.status === 503));
      assert.ok(broker.of('single').length <= 120 + 12 * poisoned.size);
    }
  }
});

it('entities without remaining attempts count as deleted if a delete worked although its answer was an error', async (t) => {
  const tries = new Map<string, number>();
  const broker = await startStubBroker(t, {
    entities: things(100),
    batch: 405,
    fault: ({ kind, id = '' }, { entities }) => {
      if (kind !== 'single' || Number(id.split(':').at(-1)) % 4 !== 0) return undefined;
      const nth = (tries.get(id) ?? 0) + 1;
      tries.set(id, nth);
      // This is in the second round, in which so many failures in a row end the deletes.
      if (nth > 6) entities.delete(id);
      return { status: 503 };
    },
  });
  const report = await purged(broker, 'type=Thing');
  const there = broker.entities.size;
  assert.ok(there > 0 && there < 25, `${there} are there`);
  const { matched, deleted, alreadyGone, failed, unknown } = report;
  assert.deepEqual(
    { matched, deleted, alreadyGone, failed, unknown },
    { matched: 100, deleted: 100 - there, alreadyGone: 0, failed: there, unknown: 0 },
  );
  assert.deepEqual(report.errors.map(({ entityId }) => entityId).sort(), [...broker.entities.keys()].sort());
});

it('an entity that makes its whole batch fail does not make the others in the batch fail', async (t) => {
  const answers = [{ status: 500 }, { status: 503 }, 'reset-before', 'hang'] as const;
  for (const answer of answers) {
    const broker = await startStubBroker(t, {
      entities: things(60),
      fault: ({ kind, ids, id }) => {
        const isPoisoned = [id, ...ids].includes('urn:ngsi-ld:Thing:7');
        return kind !== 'query' && isPoisoned ? answer : undefined;
      },
    });
    const report = await purged(broker, 'type=Thing', {
      limits: { batchSize: 30 },
      timeoutMs: answer === 'hang' ? 30 : 5000,
      retry: { maxAttempts: answer === 'hang' ? 2 : 6 },
    });
    assert.deepEqual([...broker.entities.keys()], ['urn:ngsi-ld:Thing:7']);
    assert.deepEqual(column(report.errors, 'entityId'), ['urn:ngsi-ld:Thing:7']);
    assert.deepEqual([report.deleted, report.failed], [59, 1]);
  }
});

for (const [name, oddities] of Object.entries({ batches: {}, 'single deletes': { batch: 405 as const } })) {
  it(`a broker that only answers with failures ends the purge after about twenty of them: ${name}`, async (t) => {
    const broker = await startStubBroker(t, {
      entities: things(500),
      ...oddities,
      fault: ({ kind }) =>
        kind === 'single' || (kind === 'batch' && name === 'batches') ? { status: 503 } : undefined,
    });
    const { error, progress } = await purge(broker, 'type=Thing');
    assert.ok(error instanceof BrokerFailedError);
    assert.equal(error.reason, 'nothing-but-failures');
    assert.ok(broker.requests.length <= 45, JSON.stringify(requestCounts(broker)));
    assert.equal(progress.deleted, 0);
    assert.equal(broker.entities.size, 500);
  });
}

it('a broker that from some point only answers with failures ends the purge, with its counts', async (t) => {
  for (const oddities of [{}, { batch: 405 as const }]) {
    let requests = 0;
    const broker = await startStubBroker(t, {
      entities: things(500),
      ...oddities,
      fault: () => (++requests > 12 ? { status: 503 } : undefined),
    });
    const { error, progress } = await purge(broker, 'type=Thing');
    assert.ok(error instanceof BrokerFailedError);
    assert.equal(progress.deleted, 500 - broker.entities.size);
    assert.ok(broker.requests.length <= 160, JSON.stringify(requestCounts(broker)));
  }
});

it('a broker that fails occasionally does not end the purge', async (t) => {
  let singles = 0;
  const broker = await startStubBroker(t, {
    entities: things(100),
    batch: 405,
    fault: (request) =>
      !isProbe(request) && request.kind === 'single' && ++singles % 2 !== 0 ? { status: 500 } : undefined,
  });
  const { report } = await purge(broker, 'type=Thing', { retry: { maxAttempts: 40 } });
  assert.equal(report?.deleted, 100);
});
