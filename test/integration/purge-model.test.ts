import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { BrokerFailedError, BrokerReplyError } from '../../sidecar/purge/errors.js';
import { purge, requestCounts } from '../support/purge-harness.js';
import { startStubBroker } from '../support/stub-broker.js';
import type { StubEntity } from '../support/stub-broker-filter.js';
import { exemplary, type Oddities } from '../support/stub-broker-oddities.js';
import { seededRandom } from '../support/stub-broker-state.js';
import { runs } from '../support/thoroughness.js';
import { unicodeText } from '../support/unicode-text.js';

const entity: fc.Arbitrary<StubEntity> = fc.record({
  id: fc.oneof(
    fc.nat(999).map((n) => `urn:ngsi-ld:Thing:${n}`),
    unicodeText({ minLength: 1, maxLength: 12 }).map((text) => `urn:${text}`),
  ),
  type: fc.constantFrom('Thing', 'Other'),
  n: fc.nat(20).map((value) => ({ type: 'Property', value })),
});

/** Oddities of brokers with which a purge can still be complete, in any combination. */
const oddities = fc.record(
  {
    pageMax: fc.constantFrom(1, 3, 7, 20, 1000),
    overPageMax: fc.constantFrom('clamped', '403', '400', '400-mute'),
    pick: fc.constantFrom('honoured', 'ignored', '400', '400-mute'),
    keyValues: fc.constantFrom('honoured', '400', '400-mute'),
    countParameter: fc.constantFrom('honoured', '400', '400-mute'),
    paging: fc.constantFrom('offset', 'whole-result', 'last-again'),
    shortPages: fc.boolean(),
    next: fc.constantFrom('never', 'right', 'always'),
    count: fc.constantFrom<Oddities['count']>(
      (total) => total,
      () => undefined,
      () => -2,
      () => 0,
      (total) => Math.floor(total / 2),
      (_total, page) => page,
    ),
    staleFor: fc.constantFrom(0, 0, 1, 2),
    batch: fc.constantFrom<Oddities['batch'][]>(
      'works',
      'works',
      'works',
      404,
      405,
      501,
      400,
      'idle-200',
      'idle-204',
      'idle-207',
    ),
    batchMaxIds: fc.constantFrom(1, 4, 15, Infinity),
    overBatchMax: fc.constantFrom(400, 413),
    badInBatch: fc.constantFrom<Oddities['badInBatch']>(
      () => false,
      (id) => id.endsWith('3'),
    ),
    missing: fc.constantFrom('207', '204', '404-errors', '404-entity-ids'),
    itemsWithoutStatus: fc.boolean(),
    silentItems: fc.boolean(),
    locked: fc.constantFrom<Oddities['locked']>(
      () => undefined,
      (id) => (id.endsWith('5') ? 409 : undefined),
    ),
    ghosts: fc.constantFrom<Oddities['ghosts']>(
      () => false,
      (id) => id.endsWith('6'),
    ),
  },
  { requiredKeys: [] },
);

const scenario = fc.record({
  entities: fc.uniqueArray(entity, { maxLength: 60, selector: ({ id }) => id }),
  oddities,
  least: fc.nat(20),
  pageSize: fc.constantFrom(2, 5, 20, 100),
  batchSize: fc.constantFrom(1, 3, 10, 500),
  concurrency: fc.constantFrom(1, 2, 4),
  faultShare: fc.constantFrom(0, 0, 0.1, 0.25),
  seed: fc.nat(1_000_000),
});

it('a purge at a broker with any combination of oddities deletes exactly the matches that can be deleted', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ entities, oddities: odd, least, seed, faultShare, ...limits }) => {
      const random = seededRandom(seed);
      const closers: (() => unknown)[] = [];
      const broker = await startStubBroker(
        { after: (close) => void closers.push(close as () => unknown) },
        {
          ...odd,
          entities,
          seed,
          fault: () =>
            random() < faultShare ? (random() < 0.5 ? { status: 503 } : 'reset-after') : undefined,
        },
      );
      try {
        const matching = entities.filter(
          ({ type, n }) => type === 'Thing' && (n as { value: number }).value >= least,
        );
        const { count, countParameter } = { ...exemplary, ...odd };
        if (matching.length === 0 && countParameter === 'honoured' && Number(count(0, 0)) < 0) {
          const { error } = await purge(broker, `type=Thing&q=n>=${least}`, { seed, limits });
          assert.ok(error instanceof BrokerFailedError, 'an empty list with such a count is a failed query');
          assert.equal(broker.entities.size, entities.length);
          return;
        }
        const { report, error } = await purge(broker, `type=Thing&q=n>=${least}`, { seed, limits });
        const spared = entities.filter((item) => !matching.includes(item)).map(({ id }) => id);
        for (const id of spared) assert.ok(broker.entities.has(id), `${id} did not match, and is gone`);
        // Without a fixed page order, stale lists may hide whether there are more matches; the
        // purge must report that.
        if (odd.paging !== undefined && odd.paging !== 'offset' && Number(odd.staleFor) > 0 && error) {
          assert.ok(error instanceof BrokerReplyError, 'lists that lag behind are said to be no proof');
          return;
        }
        assert.ok(report !== undefined, 'the purge has ended without a report');
        const { locked, ghosts } = { ...exemplary, ...odd };
        // Ids that no URL can contain can only be deleted by batch; without batches they are
        // reported.
        const left = [...broker.entities.keys()].sort();
        const stayed = left.filter((id) => !spared.includes(id));
        for (const { id } of matching) {
          if (locked(id) !== undefined || ghosts(id)) assert.ok(stayed.includes(id));
          else if (stayed.includes(id)) assert.match(id, /[\0-\x1f\x7f-\x9f./\\*\s;?#]|[^\x20-\x7e]/);
        }
        assert.deepEqual(report.errors.map(({ entityId }) => entityId).sort(), stayed);
        assert.equal(report.matched, matching.length);
        assert.equal(report.deleted, matching.length - stayed.length);
        const most = 250 + matching.length * 12;
        const sent = faultShare > 0 ? broker.requests.length / 3 : broker.requests.length;
        assert.ok(sent <= most, JSON.stringify(requestCounts(broker)));
      } finally {
        for (const close of closers) await close();
      }
    }),
    { numRuns: runs(50), seed: 20_260_101, endOnFailure: false },
  );
});
