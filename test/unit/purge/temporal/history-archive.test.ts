import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BrokerRefusedError } from '../../../../sidecar/purge/errors.js';
import type { PageQuery } from '../../../../sidecar/purge/listing/index.js';
import type { PurgeContext } from '../../../../sidecar/purge/run/index.js';
import { TemporalHistories } from '../../../../sidecar/purge/temporal/history-archive.js';
import { createInstanceGuard } from '../../../../sidecar/purge/temporal/instances.js';
import { parseTemporalPurgeQuery } from '../../../../sidecar/purge/temporal/query.js';

const ID = 'urn:ngsi-ld:Sensor:1';
const AT = '2025-01-01T00:00:00Z';
const TIMES = { observedAt: AT, createdAt: AT, modifiedAt: AT };
const ENTITY = {
  id: ID,
  type: 'Sensor',
  temperature: [{ type: 'Property', value: 1, ...TIMES, instanceId: 'urn:i:1' }],
};

/**
 * Histories at a broker that takes this long to return this many of them, with a clock of its own.
 *
 * @param matchesUntilMs when entities stop matching the `q` of the purge, which then has one
 * @param refused an id that the broker refuses in queries
 */
function archive(tookMs: (ids: number) => number, keepMs = 0, matchesUntilMs?: number, refused?: string) {
  const clock = { ms: 1000, monotonicMs: () => clock.ms };
  const page = async ({ selection, offset = 0 }: PageQuery) => {
    const ids = (selection.find(({ name }) => name === 'id')?.value ?? ID).split(',');
    if (refused !== undefined && ids.includes(refused))
      throw new BrokerRefusedError('list', { status: 400, title: 'Not a URI' });
    clock.ms += tookMs(ids.length);
    const matches = !selection.some(({ name }) => name === 'q') || clock.ms < (matchesUntilMs ?? 0);
    const isShown = offset === 0 && matches && !selection.some(({ value }) => value.startsWith('noSuch'));
    const found = isShown
      ? { ids, entities: ids.map((id) => ({ ...ENTITY, id })) }
      : { ids: [], entities: [] };
    return { ...found, isPartial: false, length: 100, atMs: clock.ms, tookMs: 0 };
  };
  const doubts: unknown[] = [];
  const context = {
    clock,
    lister: { page },
    selection: [
      { name: 'type', value: 'Sensor' },
      ...(matchesUntilMs === undefined ? [] : [{ name: 'q', value: 'temperature>0' }]),
    ],
    limits: { pageSize: 10, concurrency: 1 },
    paging: {},
    countsUnshown: false,
    requester: { waitBeforeCheck: async () => {} },
    proof: { prove: async () => {} },
    archiving: {
      doubt: (...doubt: readonly unknown[]) => doubts.push(doubt),
      keepEntities: async () => {
        clock.ms += keepMs;
      },
    },
  } as unknown as ConstructorParameters<typeof TemporalHistories>[0] & PurgeContext;
  const guard = createInstanceGuard(parseTemporalPurgeQuery('type=Sensor', 'allow'));
  return { histories: new TemporalHistories(context, guard), doubts };
}

it('the age of a history counts from its reading, however long its archive takes', async () => {
  const { histories } = archive(() => 0, 60_000);
  const { items, listed } = await histories.keep([{ entityId: ID }]);
  assert.deepEqual([items, listed.atMs], [[{ entityId: ID }], 1000]);
});

it('histories that take too long to read together are read one by one, each with its own ten seconds', async () => {
  const { histories, doubts } = archive((ids) => ids * 220);
  const both = [{ entityId: ID }, { entityId: 'urn:ngsi-ld:Sensor:2' }];
  const { items } = await histories.keep(both);
  assert.deepEqual([items, doubts], [both.slice(0, 1), []]);
  assert.equal(histories.most, 1);
});

it('more histories are read at once while the broker is quick, and fewer while it is slow', async () => {
  let ms = 10;
  const { histories } = archive(() => ms);
  assert.equal(histories.atOnce, 1);
  for (let n = 0; n < 3; n++) await histories.keep([{ entityId: ID }]);
  assert.equal(histories.atOnce, 8);
  ms = 400;
  await histories.keep([{ entityId: ID }]);
  assert.equal(histories.atOnce, 4);
});

it('an entity that stops matching while its history is read is not deleted', async () => {
  const stopping = archive(() => 500, 0, 2000);
  assert.deepEqual((await stopping.histories.keep([{ entityId: ID }])).items, []);
  const matching = archive(() => 500, 0, Infinity);
  assert.deepEqual((await matching.histories.keep([{ entityId: ID }])).items, [{ entityId: ID }]);
});

for (const matchesUntilMs of [undefined, Infinity])
  it(`an id that the broker refuses in queries does not prevent the archive of other histories${matchesUntilMs === undefined ? '' : ', selected by q'}`, async () => {
    const odd = 'urn:ngsi-ld:Sensor:has spaces';
    const { histories, doubts } = archive(() => 10, 0, matchesUntilMs, odd);
    const both = [{ entityId: odd }, { entityId: ID }];
    assert.deepEqual((await histories.keep(both)).items, both.slice(0, 1));
    assert.equal(doubts.length, 1);
    assert.match(JSON.stringify(doubts), /has spaces.*refuses to show it by its id/);
    assert.deepEqual((await histories.keep(both.slice(1))).items, both.slice(1));
    assert.equal(doubts.length, 1, 'the other one is archived');
  });
