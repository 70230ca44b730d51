import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { goodBehaviour } from '../../sidecar/embedded-broker/behaviour.js';
import type { Behaviour, EmbeddedBroker } from '../../sidecar/embedded-broker/index.js';
import { send, sendJson, stopAll, type TestGateway } from '../support/gateway-harness.js';
import { systemClock, type Clock } from '../../sidecar/shared/clock.js';
import { hour, seedSensors, TEMPORAL } from '../support/temporal-harness.js';
import { ended, historiesOf, instancesIn, recordOf, restored, startArchiving } from '../support/undo.js';

/** Behaviours of brokers that make it hard to read a history. */
const BROKERS = {
  'shows all': {},
  'says what it leaves out': { instancePageSize: 17 },
  'leaves out instances silently': { silentInstanceLimit: 17 },
  'leaves out attributes': { instancesTogether: 17 },
  'selects entities whatever the interval': { selectsIgnoringTime: true, lastNBeforeTime: true },
} satisfies Readonly<Record<string, Partial<Behaviour>>>;

/**
 * The measurements of a sensor in one hour. Every tenth hour also has a status without observedAt,
 * and the last one a fault.
 */
function measuredAt(index: number, n: number) {
  return {
    id: `urn:ngsi-ld:Sensor:${String(index)}`,
    type: 'Sensor',
    temperature: {
      type: 'Property',
      value: n + index,
      observedAt: hour(n),
      ...(n % 4 === 3 ? { datasetId: 'urn:ds:b' } : {}),
    },
    ...(n % 10 === 0 ? { status: { type: 'Property', value: n } } : {}),
    ...(n === 29 ? { fault: { type: 'Property', value: n } } : {}),
  };
}

/** A clock that never returns the same time twice. */
function strictClock(): Clock {
  let last = 0;
  return { ...systemClock, now: () => (last = Math.max(last + 1, systemClock.now())) };
}

describe('undo of temporal purges', () => {
  let broker: EmbeddedBroker;
  let gateway: TestGateway;

  before(async () => {
    ({ broker, gateway } = await startArchiving({ clock: strictClock() }));
  });
  after(stopAll);

  const histories = () => instancesIn(historiesOf(broker));

  async function withSensors(behaviour: Partial<Behaviour>): Promise<void> {
    Object.assign(broker.behaviour, goodBehaviour());
    for (const id of broker.temporal.ids()) await send(broker.url, 'DELETE', `${TEMPORAL}/${id}`);
    for (let n = 0; n < 30; n += 1) broker.temporal.seed(3, (index) => measuredAt(index, n));
    Object.assign(broker.behaviour, behaviour);
  }

  async function purged(query: string) {
    const answer = await gateway.send('DELETE', `${TEMPORAL}?${query}`);
    assert.ok(answer.status < 300, answer.text);
    return recordOf(gateway, answer.headers.get('purge-id') ?? '');
  }

  it('a restore puts instances back into their history, with their datasets and times, and none twice', async () => {
    seedSensors(broker, { entities: 2, instances: 130 });
    const before = histories();
    const purge = await purged(`type=Sensor&timerel=before&timeAt=${hour(90)}&archive=required`);
    assert.ok(purge.deleted > 200);
    assert.equal(purge.archive?.entities, 2);
    const after = histories();
    assert.equal(after.length, before.length - purge.deleted);
    const dry = await restored(gateway, purge.id, { dryRun: true });
    assert.deepEqual([dry.matched, dry.restored, dry.alreadyThere], [purge.deleted, purge.deleted, 0]);
    const restore = await restored(gateway, purge.id);
    assert.deepEqual(
      [restore.state, restore.restored, restore.alreadyThere, restore.failed, restore.unknown],
      ['succeeded', purge.deleted, 0, 0, 0],
    );
    assert.match(restore.warnings.join(), /ids of the instances are new/);
    assert.deepEqual(histories(), before);
    const again = await restored(gateway, purge.id);
    assert.deepEqual([again.restored, again.alreadyThere], [0, purge.deleted]);
    assert.deepEqual(histories(), before);
  });

  it('rate and concurrency of a restore of histories can be changed while it runs', async () => {
    seedSensors(broker, { entities: 2, instances: 20 });
    const before = histories();
    const { id } = await purged(`type=Sensor&timerel=before&timeAt=${hour(15)}&archive=required`);
    const taken = await sendJson(gateway.url, 'POST', `/api/v2/purges/${id}/restore`, { maxPerSecond: 1 });
    const restore = (taken.json() as { readonly id: string }).id;
    for (const change of [{ maxPerSecond: 2, concurrency: 1 }, { maxPerSecond: null }]) {
      const answer = await sendJson(gateway.url, 'PATCH', `/api/v2/purges/${restore}`, change);
      assert.equal(answer.status, 200, answer.text);
    }
    await ended(gateway, restore);
    const { state, concurrency } = await recordOf(gateway, restore);
    assert.deepEqual([state, concurrency], ['succeeded', 1]);
    assert.deepEqual(histories(), before);
  });

  it("a restore creates no instance twice if the broker's answers get lost", async () => {
    await withSensors(BROKERS['shows all']);
    const before = histories();
    const purge = await purged(`type=Sensor&timerel=before&timeAt=${hour(20)}&archive=required`);
    Object.assign(broker.behaviour, {
      faultOn: ({ method }: { readonly method: string }) => method === 'POST',
      faultKinds: ['reset-after', '503'],
      failFirst: 4,
    });
    const restore = await restored(gateway, purge.id);
    assert.deepEqual([restore.state, restore.restored], ['succeeded', purge.deleted]);
    assert.deepEqual(histories(), before);
    Object.assign(broker.behaviour, goodBehaviour());
  });

  it('a restore recreates a history that has lost all its instances', async () => {
    await withSensors(BROKERS['shows all']);
    const before = histories();
    const purge = await purged('type=Sensor&timerel=after&timeAt=1970-01-01T00:00:00Z&archive=required');
    assert.ok(histories().every((instance) => /"(?:status|fault)"/.test(instance)));
    const restore = await restored(gateway, purge.id);
    assert.equal(restore.restored, purge.deleted);
    assert.deepEqual(histories(), before);
  });

  const deletes: readonly (readonly [query: string, unit: string, ...how: (keyof typeof BROKERS)[]])[] = [
    [
      'type=Sensor',
      'entities',
      'says what it leaves out',
      'leaves out instances silently',
      'leaves out attributes',
    ],
    ['type=Sensor&q=temperature>3', 'entities', 'selects entities whatever the interval'],
    ['type=Sensor&attrs=temperature,status', 'attributes', 'leaves out instances silently'],
    ['type=Sensor&attrs=temperature,fault', 'attributes', 'leaves out attributes'],
    ['type=Sensor&datasetId=urn:ds:b', 'datasets', 'shows all', 'says what it leaves out'],
    ['type=Sensor&datasetId=@none&attrs=temperature', 'datasets', 'says what it leaves out'],
  ];
  for (const [query, unit, ...brokers] of deletes)
    for (const how of brokers)
      it(`a restore restores everything that ${query} deletes at a broker that ${how}`, async () => {
        await withSensors(BROKERS[how]);
        const before = histories();
        const purge = await purged(`${query}&archive=required`);
        assert.deepEqual([purge.unit, purge.failed, purge.unknown], [unit, 0, 0]);
        const gone = before.length - histories().length;
        assert.ok(gone > 0);
        const restore = await restored(gateway, purge.id);
        const { state, alreadyThere, failed, unknown } = restore;
        assert.deepEqual(
          [state, restore.restored, alreadyThere, failed, unknown],
          ['succeeded', gone, 0, 0, 0],
        );
        assert.deepEqual(histories(), before);
        assert.match(restore.warnings.join(), /The scope of a history is not restored/);
        // Instances that were never observed cannot be queried by observedAt; a list by createdAt
        // shows them if the broker lists everything.
        if (how !== 'shows all') return;
        const again = await restored(gateway, purge.id);
        assert.deepEqual([again.restored, again.alreadyThere], [0, gone]);
      });

  it('with archive=required, a history stays if the broker hides some of its instances', async () => {
    await withSensors({ instancePageSize: 17 });
    broker.temporal.seed(1, (index) => ({
      ...measuredAt(index, 0),
      status: Array.from({ length: 20 }, (_, value) => ({ type: 'Property', value })),
    }));
    const purge = await purged('type=Sensor&archive=required');
    assert.deepEqual([purge.deleted, purge.failed, broker.temporal.ids().length], [2, 1, 1]);
    assert.match(JSON.stringify(purge.errors), /shows only some of its instances/);
  });

  it('with archive=required, a history that is too large to be archived as a whole stays, and the error gives the remedy', async () => {
    await withSensors({});
    const value = 'x'.repeat(1024 * 1024);
    broker.temporal.seed(1, (index) => ({
      ...measuredAt(index, 0),
      status: Array.from({ length: 13 }, (_, n) => ({ type: 'Property', value, observedAt: hour(n) })),
    }));
    const purge = await purged('type=Sensor&id=urn:ngsi-ld:Sensor:0&archive=required');
    assert.deepEqual([purge.deleted, purge.failed, broker.temporal.ids().length], [0, 1, 3]);
    assert.match(JSON.stringify(purge.errors), /too large to be archived as a whole.*with a time filter/);
  });

  it('histories that are selected by a value alone are archived, although the broker refuses ids alone', async () => {
    await withSensors({});
    const purge = await purged('q=temperature&archive=required');
    assert.deepEqual(
      [purge.deleted, purge.failed, purge.archive?.entities],
      [3, 0, 3],
      JSON.stringify(purge),
    );
    assert.equal((await restored(gateway, purge.id)).failed, 0);
  });

  it('with archive=required, histories with long ids are deleted at a broker that refuses long URLs', async () => {
    await withSensors({});
    const [count, letters] = [60, '\u6771'.repeat(150)];
    broker.temporal.seed(count, (index) => ({
      ...measuredAt(index, 0),
      id: `urn:ngsi-ld:Sensor:${letters}:${String(index)}`,
    }));
    const purge = await purged('type=Sensor&archive=required');
    assert.deepEqual(
      [purge.state, purge.deleted, purge.failed],
      ['succeeded', count + 3, 0],
      JSON.stringify(purge),
    );
    assert.equal((await restored(gateway, purge.id)).failed, 0);
  });

  const HIDING: Readonly<Record<string, Partial<Behaviour>>> = {
    'does not list by system times': { refusedTimeProperties: ['createdAt', 'modifiedAt'] },
    'does not keep system times': { timePropertiesMissing: ['createdAt', 'modifiedAt'] },
    'takes any time for observedAt': { ignoreParameters: ['timeproperty'] },
  };
  for (const [how, behaviour] of Object.entries(HIDING))
    for (const query of ['type=Sensor', 'type=Sensor&attrs=status,temperature'])
      it(`with archive=required, ${query} deletes nothing at a broker that ${how}, since it may hide instances`, async () => {
        await withSensors(behaviour);
        const before = histories();
        const purge = await purged(`${query}&archive=required`);
        assert.deepEqual([purge.deleted, purge.failed > 0], [0, true]);
        assert.match(JSON.stringify(purge.errors), /not-archived/);
        assert.deepEqual(histories(), before);
        const lost = await purged(`${query}&archive=best-effort`);
        assert.ok(lost.deleted > 0);
        assert.match(
          lost.warnings.join(),
          new RegExp(`^${String(lost.deleted)} of what was deleted could not be archived`),
        );
      });
});
