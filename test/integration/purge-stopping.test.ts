import assert from 'node:assert/strict';
import { it } from 'node:test';
import { PurgeStoppedError } from '../../sidecar/purge/index.js';
import { purge, things } from '../support/purge-harness.js';
import { startStubBroker, type StubBrokerOptions } from '../support/stub-broker.js';
import type { StubRequest } from '../support/stub-broker-state.js';

/** Runs a purge that is stopped once the broker has handled the nth request of a kind. */
async function stopAt(
  t: Parameters<typeof startStubBroker>[0],
  kind: StubRequest['kind'],
  nth: number,
  options: StubBrokerOptions = {},
  query = 'type=Thing',
) {
  const controller = new AbortController();
  let seen = 0;
  let requestsAtStop = 0;
  const broker = await startStubBroker(t, {
    entities: things(300),
    ...options,
    after: (request, self) => {
      if (request.kind !== kind || ++seen !== nth) return;
      requestsAtStop = self.requests.length;
      controller.abort();
    },
  });
  const outcome = await purge(broker, query, { signal: controller.signal, limits: { batchSize: 10 } });
  return { ...outcome, broker, later: broker.requests.length - requestsAtStop };
}

for (const [kind, nth, options] of [
  ['query', 1, {}],
  ['query', 3, {}],
  ['batch', 1, {}],
  ['batch', 5, {}],
  ['single', 1, { batch: 405 }],
  ['single', 30, { batch: 405 }],
] as const) {
  it(`a purge that is stopped sends nothing new, and reports exactly what it deleted: at ${kind} ${nth}`, async (t) => {
    const { error, progress, broker, later } = await stopAt(t, kind, nth, options);
    assert.ok(error instanceof PurgeStoppedError, String(error));
    // Requests in flight at the signal may still arrive, but no more than the concurrency allows.
    assert.ok(later <= 4, `${later} requests after the stop`);
    assert.equal(progress.deleted, 300 - broker.entities.size);
    // An aborted query was sent but never arrived.
    const cutOff = progress.requests - broker.requests.length;
    assert.ok(cutOff === 0 || (cutOff === 1 && kind === 'query'), `${cutOff} requests never arrived`);
  });
}

it('a purge that is stopped reports the finished part of a batch', async (t) => {
  const some = (ids: readonly string[]) => ids.filter((id) => !id.endsWith('7'));
  const { error, progress, broker } = await stopAt(t, 'batch', 1, {
    fault: ({ kind, ids }, { entities }) => {
      if (kind !== 'batch') return undefined;
      for (const id of some(ids)) entities.delete(id);
      return undefined;
    },
    // The remaining entities fail temporarily, so that the purge would wait and retry them.
    locked: () => 503,
    missing: '204',
  });
  assert.ok(error instanceof PurgeStoppedError);
  assert.equal(progress.deleted, 300 - broker.entities.size);
  assert.ok(progress.deleted > 0);
});

it('a purge that is stopped while waiting for a retry ends at once', async (t) => {
  const controller = new AbortController();
  const broker = await startStubBroker(t, {
    fault: () => ({ status: 503, headers: { 'retry-after': '50' } }),
  });
  const sleeping = {
    now: () => 0,
    monotonicMs: () => 0,
    sleep: async (_ms: number, signal?: AbortSignal) => {
      const aborted = new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(new Error('aborted')));
      });
      controller.abort();
      await aborted;
    },
  };
  const { error } = await purge(broker, 'type=Thing', { signal: controller.signal, clock: sleeping });
  assert.ok(error instanceof PurgeStoppedError);
  assert.equal(broker.requests.length, 1);
});

it('a purge that is stopped aborts a hanging query, but waits for a delete already sent', async (t) => {
  const controller = new AbortController();
  const hanging = await startStubBroker(t, {
    fault: () => {
      controller.abort();
      return 'hang';
    },
  });
  const first = await purge(hanging, 'type=Thing', { signal: controller.signal });
  assert.ok(first.error instanceof PurgeStoppedError);

  const stopper = new AbortController();
  const broker = await startStubBroker(t, {
    entities: things(5),
    fault: ({ kind }) => {
      if (kind === 'batch') stopper.abort();
      return undefined;
    },
  });
  const { error, progress } = await purge(broker, 'type=Thing', { signal: stopper.signal });
  assert.ok(error instanceof PurgeStoppedError);
  assert.equal(progress.deleted, 5);
  assert.equal(broker.entities.size, 0);
});

it('a purge that was stopped before it began sends nothing', async (t) => {
  const broker = await startStubBroker(t, { entities: things(5) });
  const { error, progress } = await purge(broker, 'type=Thing', { signal: AbortSignal.abort() });
  assert.ok(error instanceof PurgeStoppedError);
  assert.equal(broker.requests.length, 0);
  assert.equal(progress.hasBegun, false);
});

it('a purge with drop can be stopped between two attributes', async (t) => {
  const { error, progress, broker, later } = await stopAt(t, 'attribute', 20, {}, 'type=Thing&drop=n');
  assert.ok(error instanceof PurgeStoppedError);
  assert.ok(later <= 4);
  const cleaned = [...broker.entities.values()].filter(({ n }) => n === undefined).length;
  assert.equal(progress.deleted, cleaned);
});

it('a purge stops when its consumer stops reading', async (t) => {
  const broker = await startStubBroker(t, { entities: things(300) });
  const { error } = await purge(broker, 'type=Thing', {
    limits: { batchSize: 10 },
    onEvent: ({ type }) => {
      if (type === 'progress') throw new Error('gone');
    },
  });
  assert.match(String(error), /gone/);
  const after = broker.requests.length;
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(broker.requests.length, after);
  assert.ok(broker.entities.size > 200);
});
