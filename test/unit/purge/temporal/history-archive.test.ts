import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { PageQuery } from '../../../../sidecar/purge/listing/index.js';
import type { PurgeContext } from '../../../../sidecar/purge/run/index.js';
import { TemporalHistories } from '../../../../sidecar/purge/temporal/history-archive.js';
import { createInstanceGuard } from '../../../../sidecar/purge/temporal/instances.js';
import { parseTemporalPurgeQuery } from '../../../../sidecar/purge/temporal/query.js';

const ID = 'urn:ngsi-ld:Sensor:1';
const AT = '2025-01-01T00:00:00Z';
const TIMES = { observedAt: AT, createdAt: AT, modifiedAt: AT };
const ENTITY = {
  ...{ id: ID, type: 'Sensor' },
  temperature: [{ type: 'Property', value: 1, ...TIMES, instanceId: 'urn:i:1' }],
};

it('a history is as old as its reading, however long its archive takes', async () => {
  const clock = { ms: 1000, now: () => clock.ms };
  const page = async ({ selection, offset = 0 }: PageQuery) => {
    const isShown = offset === 0 && !selection.some(({ value }) => value.startsWith('noSuch'));
    const found = isShown ? { ids: [ID], entities: [ENTITY] } : { ids: [], entities: [] };
    return { ...found, isPartial: false, length: 100, atMs: clock.ms, tookMs: 0 };
  };
  const context = {
    ...{ clock, lister: { page }, selection: [{ name: 'type', value: 'Sensor' }] },
    limits: { pageSize: 10, concurrency: 1 },
    ...{ paging: {}, countsUnshown: false, requester: { waitBefore: async () => {} } },
    proveFilters: async () => {},
    archiving: {
      keepEntities: async () => {
        clock.ms += 60_000;
      },
    },
  } as unknown as ConstructorParameters<typeof TemporalHistories>[0] & PurgeContext;
  const guard = createInstanceGuard(parseTemporalPurgeQuery('type=Sensor', 'allow'));
  const { items, listed } = await new TemporalHistories(context, guard).keep([{ entityId: ID }]);
  assert.deepEqual([items, listed.atMs], [[{ entityId: ID }], 1000]);
});
