import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BrokerCapabilities } from '../../sidecar/purge/broker/index.js';
import { isProbe, purged, requestCounts, things } from '../support/purge-harness.js';
import { startStubBroker, type StubBrokerOptions } from '../support/stub-broker.js';
import type { StubRequest } from '../support/stub-broker-state.js';
import { isThorough } from '../support/thoroughness.js';

const PRESENT = 120;

/**
 * A purge that pursues new matches never ends; the timeout makes its test fail instead of blocking
 * the others.
 */
const ENDS = { timeout: 300_000 };

/** Adds matches after each request of a kind. */
function writer(kind: StubRequest['kind'], each: number): NonNullable<StubBrokerOptions['after']> {
  let born = 0;
  return (request, { entities }) => {
    if (request.kind !== kind || isProbe(request)) return;
    for (let n = 0; n < each; n++) {
      const id = `urn:ngsi-ld:Thing:late:${born++}`;
      entities.set(id, { id, type: 'Thing', n: { type: 'Property', value: 1 } });
    }
  };
}

const WRITERS = [
  ['query', 1],
  ['query', 5],
  ['batch', 1],
  ['batch', 5],
  ['single', 1],
  ['single', 2],
] as const;

for (const [kind, each] of WRITERS) {
  const oddities: Partial<StubBrokerOptions> = kind === 'single' ? { batch: 405 } : {};
  for (const pageSize of isThorough ? [5, 10, 100] : [10]) {
    it(
      `a purge while matches keep arriving deletes what existed before and ends: ${each} for each ${kind}, pages of ${pageSize}`,
      ENDS,
      async (t) => {
        const broker = await startStubBroker(t, {
          entities: things(PRESENT),
          ...oddities,
          after: writer(kind, each),
        });
        const report = await purged(broker, 'type=Thing', { limits: { pageSize }, signal: t.signal });
        assert.deepEqual(
          [...broker.entities.keys()].filter((id) => !id.includes('late')),
          [],
        );
        assert.equal(report.failed, 0);
        // Matches that arrive during the drain may be deleted with it and with one more sweep; the
        // others are left and reported.
        assert.ok(report.deleted <= PRESENT * 6, `${report.deleted} deleted`);
        assert.ok(
          broker.of('query').length <= Math.max(120, 1600 / pageSize),
          JSON.stringify(requestCounts(broker)),
        );
        if (kind !== 'query') assert.equal(report.arrived, broker.entities.size);
      },
    );

    // Other page sizes do the same with more work.
    if (pageSize !== 10) continue;

    it(
      `a purge while matches keep arriving ends even if the broker does not count: ${each} for each ${kind}, pages of ${pageSize}`,
      ENDS,
      async (t) => {
        const broker = await startStubBroker(t, {
          entities: things(PRESENT),
          count: () => undefined,
          ...oddities,
          after: writer(kind, each),
        });
        const report = await purged(broker, 'type=Thing', { limits: { pageSize }, signal: t.signal });
        assert.deepEqual(
          [...broker.entities.keys()].filter((id) => !id.includes('late')),
          [],
        );
        assert.equal(report.failed, 0);
        assert.ok(broker.of('query').length <= 1600, JSON.stringify(requestCounts(broker)));
        assert.ok(report.deleted <= PRESENT * 100, `${report.deleted} deleted`);
      },
    );
  }
}

it(
  'a purge with drop while matches keep arriving ends, and leaves attributes that arrive later',
  ENDS,
  async (t) => {
    for (const [kind, each, pageSize] of [
      ['query', 1, 20],
      ['query', 10, 10],
      ['attribute', 1, 20],
    ] as const) {
      const broker = await startStubBroker(t, { entities: things(PRESENT), after: writer(kind, each) });
      await purged(broker, 'type=Thing&drop=n', { limits: { pageSize }, signal: t.signal });
      const untouched = [...broker.entities.values()].filter(
        ({ id, n }) => n !== undefined && !id.includes('late'),
      );
      assert.deepEqual(untouched, []);
      assert.ok(broker.requests.length <= PRESENT * 12, JSON.stringify(requestCounts(broker)));
    }
  },
);

it(
  'a purge does not delete an entity again if it is recreated as soon as it is gone, and learns nothing from that',
  ENDS,
  async (t) => {
    const deletes = new Map<string, number>();
    const broker = await startStubBroker(t, {
      entities: things(30),
      after: ({ kind, id, ids }, { entities }) => {
        if (kind !== 'batch' && kind !== 'single') return;
        // Another client recreates each entity as soon as it is gone.
        for (const gone of id === undefined ? ids : [id]) {
          deletes.set(gone, (deletes.get(gone) ?? 0) + 1);
          entities.set(gone, { id: gone, type: 'Thing' });
        }
      },
    });
    const capabilities = new BrokerCapabilities({ now: () => 0, monotonicMs: () => 0 });
    const report = await purged(broker, 'type=Thing', { signal: t.signal, capabilities });
    assert.deepEqual([report.matched, report.deleted, report.failed, report.arrived], [30, 30, 0, 30]);
    assert.ok([...deletes.values()].every((times) => times === 1));
    assert.equal(capabilities.get('no-batch'), undefined);
  },
);
