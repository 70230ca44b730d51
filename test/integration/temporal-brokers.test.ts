import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import type { Behaviour } from '../../sidecar/embedded-broker/index.js';
import { stopAll } from '../support/gateway-harness.js';
import { deletesOf, hour, instancesOf, shownBy, startTemporal } from '../support/temporal-harness.js';
import { isThorough } from '../support/thoroughness.js';

after(stopAll);

const BEFORE = `type=Sensor&timerel=before&timeAt=${hour(8)}`;

for (const [parameter, query] of [
  ['type', `${BEFORE}&attrs=temperature`],
  ['attrs', `${BEFORE}&attrs=humidity`],
  ['q', `${BEFORE}&q=temperature>3`],
  ['datasetId', `${BEFORE}&datasetId=urn:ds:b`],
  ['attrs', 'type=Sensor&attrs=humidity'],
  ['datasetId', 'type=Sensor&datasetId=urn:ds:b'],
  ['q', 'type=Sensor&q=temperature>3'],
  ['timerel', BEFORE],
] as const) {
  it(`a temporal purge at a broker that ignores a filter deletes nothing and names the filter (${parameter}: ${query})`, async () => {
    const { broker, purge } = await startTemporal({ ignoreParameters: [parameter] });
    const before = instancesOf(broker);
    const refused = await purge(query);
    assert.equal(refused.status, 501, refused.text);
    assert.equal(refused.problem().type, 'urn:ngsi-ld-gateway:problem:filter-ignored');
    assert.equal(refused.problem()['parameter'], parameter);
    assert.deepEqual(deletesOf(broker), {});
    assert.deepEqual(instancesOf(broker), before);
  });
}

for (const [what, behaviour] of [
  ['no temporal data at all', { temporalStatus: 501 }],
  ['temporal queries only', { temporalWriteStatus: 501 }],
  ['temporal queries only (405)', { temporalWriteStatus: 405 }],
] as const) {
  for (const query of ['type=Sensor', 'type=Sensor&attrs=humidity', BEFORE]) {
    it(`a temporal purge at a broker without temporal writes passes on the broker's answer, and says what the broker lacks (${what}, ${query})`, async () => {
      const { broker, purge } = await startTemporal(behaviour);
      const before = instancesOf(broker);
      const refused = await purge(query);
      const status = 'temporalStatus' in behaviour ? 501 : behaviour.temporalWriteStatus;
      assert.equal(refused.status, status);
      assert.match(refused.problem().detail ?? '', /^The broker cannot (?:list|delete) .*does not implement/);
      assert.deepEqual(instancesOf(broker), before);
    });
  }
}

for (const [how, behaviour] of [
  ['refuses createdAt', { refusedTimeProperties: ['createdAt'] }],
  ['refuses createdAt and modifiedAt', { refusedTimeProperties: ['createdAt', 'modifiedAt'] }],
  ['shows nothing by createdAt', { timePropertiesMissing: ['createdAt'] }],
  ['shows nothing by createdAt, and gives no count', { timePropertiesMissing: ['createdAt'], noCount: true }],
] satisfies readonly [string, Partial<Behaviour>][]) {
  it(`a temporal purge without a time filter finds everything by another time property if the broker ${how}`, async () => {
    const { broker, purge } = await startTemporal(behaviour);
    // Some were observed before 1970, and would be missing from "everything since 1970".
    broker.temporal.seed(1, () => ({
      id: 'urn:ngsi-ld:Sensor:old',
      type: 'Sensor',
      temperature: { type: 'Property', value: 1, observedAt: '1911-01-01T00:00:00Z' },
    }));
    const dry = (await purge('type=Sensor&dryRun=true')).json() as { readonly matched: number };
    assert.equal(dry.matched, 7);
    const purged = await purge('type=Sensor');
    assert.deepEqual([purged.status, purged.headers.get('purge-deleted')], [204, '7']);
    assert.deepEqual(broker.temporal.ids(), [
      'urn:ngsi-ld:Meter:0',
      'urn:ngsi-ld:Meter:1',
      'urn:ngsi-ld:Meter:2',
    ]);
  });

  it(`a temporal purge without a time filter reports an item that cannot be deleted as failed, once, if the broker ${how}`, async () => {
    for (const [query, deleted, failed] of [
      ['type=Sensor&attrs=temperature', '5', '1'],
      ['type=Sensor', '5', '1'],
    ] as const) {
      const { broker, purge } = await startTemporal(behaviour);
      broker.behaviour.isLocked = (id) => id.endsWith(':1');
      broker.behaviour.isLockedInstance = (id, attribute) => id.endsWith(':2') && attribute === 'temperature';
      const answer = await purge(query);
      assert.deepEqual([answer.status, answer.headers.get('purge-failed')], [207, failed]);
      assert.equal(answer.headers.get('purge-deleted'), deleted);
      assert.equal(answer.headers.get('purge-matched'), '6');
    }
  });
}

it("a temporal purge passes on the broker's own message if the broker refuses every time property", async () => {
  const { purge } = await startTemporal({ refusedTimeProperties: ['createdAt', 'modifiedAt', 'observedAt'] });
  const refused = await purge('type=Sensor');
  assert.equal(refused.status, 400);
  assert.match(refused.text, /createdAt/);
});

it('a temporal purge by createdAt requests the times of instances', async () => {
  const query = 'type=Sensor&timerel=after&timeAt=2020-01-01T00:00:00Z&timeproperty=createdAt';
  const { broker, purge } = await startTemporal();
  assert.equal((await purge(query)).headers.get('purge-deleted'), '171');
  assert.ok(broker.requests.entries.some(({ search }) => search.includes('options=sysAttrs')));
});

it('a temporal purge by value deletes the shown instances, and reports attributes whose hidden instances may match', async () => {
  const { broker, purge } = await startTemporal({ silentInstanceLimit: 1 });
  const query = `type=Sensor&q=temperature>16&timerel=after&timeAt=${hour(2)}`;
  const before = instancesOf(broker);
  const shown = await shownBy(broker, query);
  const dry = (await purge(`${query}&dryRun=true`)).json() as Readonly<Record<string, unknown>>;
  assert.equal(dry['atLeast'], true);
  const answer = await purge(query);
  assert.equal(answer.status, 207);
  const gone = [...before].filter((key) => !instancesOf(broker).has(key));
  assert.ok(gone.length > 0 && gone.every((key) => shown.has(key)));
  const { errors } = answer.json() as {
    readonly errors: readonly { readonly error: { readonly type: string } }[];
  };
  assert.ok(errors.every(({ error }) => error.type === 'urn:ngsi-ld-gateway:problem:instances-out-of-sight'));
});

for (const [behaviour, length] of [
  [{}, 1100],
  [{ exclusiveBounds: true }, 300],
  [{ instancePageSize: 100 }, 300],
] as const) {
  it(`a temporal purge by value deletes all instances of an entity that has a matching one (${JSON.stringify(behaviour)})`, async () => {
    const { broker, purge } = await startTemporal(behaviour, { entities: 1 });
    broker.temporal.seed(1, () => ({
      id: 'urn:ngsi-ld:Big:1',
      type: 'Big',
      v: Array.from({ length }, (_, n) => ({ type: 'Property', value: n, observedAt: hour(n) })),
    }));
    const query = `type=Big&q=v==${length - 60}&timerel=before&timeAt=${hour(length - 50)}`;
    const dry = (await purge(`${query}&dryRun=true`)).json() as { readonly matched: number };
    const answer = await purge(query);
    assert.deepEqual(
      [answer.status, answer.headers.get('purge-deleted'), dry.matched],
      [204, String(length - 50), length - 50],
    );
  });
}

it('a temporal purge by value deletes more instances with the same time than a page holds', async () => {
  const { broker, purge } = await startTemporal({}, { entities: 1 });
  broker.temporal.seed(1, () => ({
    id: 'urn:ngsi-ld:Burst:1',
    type: 'Burst',
    v: Array.from({ length: 1100 }, (_, n) => ({ type: 'Property', value: n, observedAt: hour(1) })),
  }));
  const query = `type=Burst&q=v==3&timerel=after&timeAt=${hour(0)}`;
  const dry = (await purge(`${query}&dryRun=true&maxAffected=1200`)).json() as Readonly<
    Record<string, unknown>
  >;
  assert.deepEqual([dry['matched'], dry['atLeast']], [1100, undefined]);
  const answer = await purge(`${query}&maxAffected=1200`);
  assert.deepEqual([answer.status, answer.headers.get('purge-deleted')], [204, '1100']);
});

for (const behaviour of [{}, { instancePageSize: 5 }, { silentInstanceLimit: 5 }]) {
  it(`a temporal purge reports every instance as failed if deletes are confirmed but not executed (${JSON.stringify(behaviour)})`, async () => {
    const { broker, purge } = await startTemporal({ ...behaviour, isGhostInstance: () => true });
    const shown = await shownBy(broker, BEFORE);
    const answer = await purge(BEFORE);
    assert.equal(answer.status, 207);
    assert.equal(answer.headers.get('purge-failed'), String(shown.size));
    assert.equal(answer.headers.get('purge-deleted'), '0');
    assert.equal(answer.headers.get('purge-arrived'), null);
  });
}

for (const behaviour of isThorough
  ? [{}, { selectsIgnoringTime: true }, { instancePageSize: 100 }]
  : [{ instancePageSize: 100 }]) {
  it(`a temporal purge deletes histories of very different lengths, with pages that grow and shrink (${JSON.stringify(behaviour)})`, async () => {
    const { broker, purge } = await startTemporal(behaviour, { entities: 1 });
    const others = instancesOf(broker).size;
    const lengths = [0, 0, 0, 0, 0, 0, 0, 0, 0, 1200, 3, 3, 3, 3, 3];
    broker.temporal.seed(lengths.length, (index) => ({
      id: `urn:ngsi-ld:Probe:${index}`,
      type: 'Probe',
      // One instance lies outside the interval.
      level: Array.from({ length: (lengths[index] ?? 0) + 1 }, (_, n) => ({
        type: 'Property',
        value: n,
        observedAt: hour(n === 0 ? 9000 : n),
      })),
    }));
    const query = `type=Probe&timerel=before&timeAt=${hour(8000)}`;
    const body = (await purge(`${query}&dryRun=true`)).json() as { readonly matched: number };
    assert.equal(body.matched, 1215);
    const answer = await purge(query);
    assert.deepEqual([answer.status, answer.headers.get('purge-deleted')], [204, '1215']);
    assert.equal(instancesOf(broker).size, others + lengths.length);
  });
}

it('instances that keep arriving during a temporal purge are left after some passes, and counted as arrived', async () => {
  const { broker, purge } = await startTemporal();
  let n = 0;
  // For every deleted instance, another one is written.
  broker.behaviour.isGhostInstance = () => {
    n += 1;
    const value = n;
    broker.temporal.seed(1, () => ({
      id: 'urn:ngsi-ld:Sensor:0',
      type: 'Sensor',
      temperature: { type: 'Property', value, observedAt: hour(1) },
    }));
    return false;
  };
  const answer = await purge(BEFORE);
  assert.equal(answer.status, 204);
  assert.ok(Number(answer.headers.get('purge-arrived')) > 0);
  assert.ok(n < 12 * 72, `${n} deletes`);
});
