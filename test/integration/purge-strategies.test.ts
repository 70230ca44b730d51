import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BrokerRefusedError, QueryRefusedError, TooManyMatchesError } from '../../sidecar/purge/index.js';
import { purge, purged, things } from '../support/purge-harness.js';
import { startStubBroker, type StubBroker } from '../support/stub-broker.js';

it('strategy single sends no batch, even if deletes fail', async (t) => {
  const broker = await startStubBroker(t, {
    entities: things(60),
    fault: ({ kind, id = '' }) => (kind === 'single' && id.endsWith('7') ? { status: 500 } : undefined),
  });
  const report = await purged(broker, 'type=Thing', { limits: { strategy: 'single' } });
  assert.deepEqual([report.deleted, report.failed], [54, 6]);
  assert.equal(broker.of('batch').length, 0);
});

it('strategy batch sends no single delete, and ends if the broker has no batch delete', async (t) => {
  for (const status of [404, 405, 501] as const) {
    const broker = await startStubBroker(t, { entities: things(60), batch: status });
    const { error } = await purge(broker, 'type=Thing', { limits: { strategy: 'batch' } });
    assert.ok(error instanceof BrokerRefusedError);
    assert.equal(error.problem.status, status);
    assert.equal(broker.of('single').length, 0);
    assert.equal(broker.entities.size, 60);
  }
});

it('strategy batch reports entities that a batch of one cannot delete', async (t) => {
  const broker = await startStubBroker(t, { entities: things(60), badInBatch: (id) => id.endsWith('7') });
  const report = await purged(broker, 'type=Thing', { limits: { strategy: 'batch' } });
  assert.deepEqual([report.deleted, report.failed], [54, 6]);
  assert.deepEqual(report.errors.map(({ entityId }) => entityId).sort(), [...broker.entities.keys()].sort());
  assert.ok(report.errors.every(({ error }) => error.status === 400));
  assert.equal(broker.of('single').length, 0);
});

it('strategy batch retries by batch the entities that were reported as deleted but are still listed', async (t) => {
  const broker = await startStubBroker(t, { entities: things(30), ghosts: (id) => id.endsWith('7') });
  const report = await purged(broker, 'type=Thing', { limits: { strategy: 'batch' } });
  assert.deepEqual([report.deleted, report.failed], [27, 3]);
  assert.equal(broker.of('single').length, 0);
});

describe('strategy batch after a lost answer', () => {
  const limits = { strategy: 'batch', batchSize: 20 } as const;
  /** The bare 404 of a broker to a batch of which no entity exists. */
  const bareNotFound = (ids: readonly string[], { entities }: StubBroker) =>
    ids.some((id) => entities.has(id)) ? undefined : { status: 404 };

  it('strategy batch counts entities that are gone as deleted if the repeated batch is answered with a bare 404', async (t) => {
    for (const losses of [1, 3]) {
      let batches = 0;
      const broker = await startStubBroker(t, {
        entities: things(60),
        fault: ({ kind, ids }, stub) => {
          if (kind !== 'batch') return undefined;
          const missing = bareNotFound(ids, stub);
          return missing ?? (++batches <= losses ? 'reset-after' : undefined);
        },
      });
      const report = await purged(broker, 'type=Thing', { limits });
      assert.deepEqual(
        [report.matched, report.deleted, report.alreadyGone, report.failed, report.unknown],
        [60, 60, 0, 0, 0],
      );
      assert.deepEqual([broker.of('single').length, broker.entities.size], [0, 0]);
    }
  });

  it('strategy batch counts nothing as deleted if the bare 404 means that the broker has no batch delete', async (t) => {
    let batches = 0;
    const broker = await startStubBroker(t, {
      entities: things(10),
      batch: 404,
      fault: ({ kind }) => (kind === 'batch' && ++batches === 1 ? 'reset-before' : undefined),
    });
    const { error, progress } = await purge(broker, 'type=Thing', { limits });
    assert.ok(error instanceof BrokerRefusedError);
    assert.deepEqual([progress.deleted, progress.alreadyGone, progress.unknown], [0, 0, 0]);
    assert.deepEqual([broker.of('single').length, broker.entities.size], [0, 10]);
  });

  it('strategy batch deletes by batch the entities that remain after a lost answer', async (t) => {
    let batches = 0;
    const broker = await startStubBroker(t, {
      entities: things(20),
      fault: ({ kind, ids }, { entities }) => {
        if (kind !== 'batch' || ++batches > 2) return undefined;
        // Half of the batch is deleted before the answer is lost; the repeat meets a server that is
        // still starting.
        if (batches === 1) for (const id of ids.slice(10)) entities.delete(id);
        return batches === 1 ? 'reset-before' : { status: 404 };
      },
    });
    const report = await purged(broker, 'type=Thing', { limits });
    assert.deepEqual([report.matched, report.deleted, report.failed, report.unknown], [20, 20, 0, 0]);
    assert.deepEqual([broker.of('single').length, broker.entities.size], [0, 0]);
  });
});

describe('strategy native', () => {
  const limits = { strategy: 'native' } as const;

  it("strategy native repeats the broker's own purge until nothing matches, however few entities each deletes", async (t) => {
    const broker = await startStubBroker(t, {
      entities: [...things(130), ...things(5, 'Other')],
      nativePage: 20,
    });
    const report = await purged(broker, 'type=Thing&q=n>=0', { limits });
    assert.deepEqual([report.matched, report.deleted, report.failed], [130, 130, 0]);
    assert.equal(broker.of('collection').length, 7);
    assert.equal(broker.entities.size, 5);
    for (const { query } of broker.of('collection')) assert.deepEqual([...query.keys()], ['type', 'q']);
  });

  it('strategy native sends no purge if nothing matches, in a dry run, or above the maximum', async (t) => {
    const broker = await startStubBroker(t, { entities: things(30) });
    await purged(broker, 'type=Nothing', { limits });
    assert.equal((await purged(broker, 'type=Thing&dryRun=true', { limits })).matched, 30);
    const { error } = await purge(broker, 'type=Thing&maxAffected=29', {
      limits: { ...limits, maxAffected: 29 },
    });
    assert.ok(error instanceof TooManyMatchesError);
    assert.equal(broker.of('collection').length, 0);
  });

  it("strategy native refuses filters that the standard's operation does not have", async (t) => {
    const broker = await startStubBroker(t, { entities: things(30) });
    for (const parameter of ['attrs', 'expandValues', 'jsonKeys']) {
      const { error } = await purge(broker, `type=Thing&${parameter}=n`, { limits });
      assert.ok(error instanceof QueryRefusedError);
      assert.equal(error.parameter, parameter);
    }
    assert.equal(broker.requests.length, 0);
    const { error } = await purge(broker, 'type=Thing&q=n&idPattern=x&scopeQ=/a&local=true&csf=n', {
      limits,
    });
    assert.equal(error, undefined);
  });

  it('strategy native refuses to apply a plan, since the broker could delete other entities', async (t) => {
    const broker = await startStubBroker(t, { entities: things(30) });
    const { error } = await purge(broker, 'type=Thing', { limits, plan: new Set(['urn:ngsi-ld:Thing:1']) });
    assert.ok(error instanceof QueryRefusedError, String(error));
    assert.deepEqual([error.parameter, broker.entities.size], ['plan', 30]);
  });

  it('strategies other than native never send a DELETE of the collection', async (t) => {
    for (const strategy of ['auto', 'batch', 'single'] as const) {
      for (const query of ['type=Thing', 'type=Thing&drop=n', 'type=Thing&dryRun=true']) {
        const broker = await startStubBroker(t, { entities: things(30) });
        await purged(broker, query, { limits: { strategy } });
        assert.equal(broker.of('collection').length, 0);
      }
    }
  });
});
