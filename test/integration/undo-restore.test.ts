import assert from 'node:assert/strict';
import { copyFile, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { EmbeddedBroker } from '../../sidecar/embedded-broker/index.js';
import { sendJson, stopAll, type TestGateway } from '../support/gateway-harness.js';
import {
  ended,
  entitiesOf,
  everyKind,
  purged,
  type PurgeRecord,
  recordOf,
  restored,
  startArchiving,
  withoutSystemTimes,
} from '../support/undo.js';
import { untilTrue } from '../support/waiting.js';

describe('a restore', () => {
  let folder: string;
  let broker: EmbeddedBroker;
  let gateway: TestGateway;

  before(async () => {
    ({ folder, broker, gateway } = await startArchiving());
  });
  after(stopAll);

  /** Replaces the cars by that many new ones. */
  async function withCars(count: number): Promise<readonly object[]> {
    await gateway.purge('type=Car');
    broker.entities.seed(count, everyKind);
    return entitiesOf(broker, 'type=Car');
  }

  const counts = ({ state, matched, restored: done, alreadyThere, failed, unknown }: PurgeRecord) => ({
    state,
    matched,
    restored: done,
    alreadyThere,
    failed,
    unknown,
  });

  it('a restore uses the tenant and service path of its purge, and its record says so', async () => {
    const there = { 'fiware-service': 'city', 'fiware-servicepath': '/parks' };
    broker.entities.seed(2, everyKind, 'city');
    const purge = await gateway.purge('type=Car&archive=required', there);
    const of = purge.headers.get('purge-id') ?? '';
    const { tenant, fiware, ...restore } = await restored(gateway, of);
    assert.deepEqual(counts(restore), {
      state: 'succeeded',
      matched: 2,
      restored: 2,
      alreadyThere: 0,
      failed: 0,
      unknown: 0,
    });
    assert.deepEqual([tenant, fiware], ['city', { service: 'city', servicePath: '/parks' }]);
    assert.equal(broker.entities.count('city'), 2);
  });

  it('every request of a restore names its tenant in each header in which the purge did', async () => {
    broker.entities.seed(2, everyKind, 'city');
    const both = { 'ngsild-tenant': 'city', 'fiware-service': 'city' };
    const purge = await gateway.purge('type=Car&archive=required', both);
    broker.requests.clear();
    await restored(gateway, purge.headers.get('purge-id') ?? '');
    const named = broker.requests.entries.map(({ headers }) => [
      headers['ngsild-tenant'],
      headers['fiware-service'],
    ]);
    assert.ok(named.length > 0);
    for (const tenants of named) assert.deepEqual(tenants, ['city', 'city']);
  });

  it('a restore restores every kind of attribute, and reports what it cannot restore', async () => {
    const cars = await withCars(234);
    const purge = await purged(gateway, 'type=Car&archive=required');
    assert.deepEqual(await entitiesOf(broker, 'type=Car'), []);
    const restore = await restored(gateway, purge.id);
    assert.deepEqual(counts(restore), {
      state: 'succeeded',
      matched: 234,
      restored: 234,
      alreadyThere: 0,
      failed: 0,
      unknown: 0,
    });
    assert.deepEqual([restore.target, restore.restoreOf], ['restore', purge.id]);
    assert.match(restore.warnings.join(), /createdAt and modifiedAt are new/);
    assert.deepEqual(withoutSystemTimes(await entitiesOf(broker, 'type=Car')), withoutSystemTimes(cars));
    const listed = (await gateway.send('GET', '/api/v2/purges?limit=2')).json() as PurgeRecord[];
    assert.deepEqual(
      listed.map(({ id }) => id),
      [restore.id, purge.id],
    );
  });

  it('a restore never overwrites: existing entities are left, counted and listed', async () => {
    await withCars(30);
    const purge = await purged(gateway, 'type=Car&archive=required');
    broker.entities.seed(3, (index) => ({
      id: everyKind(index).id,
      type: 'Car',
      speed: { type: 'Property', value: 'new' },
    }));
    const dry = await restored(gateway, purge.id, { dryRun: true });
    assert.deepEqual(counts(dry), {
      state: 'succeeded',
      matched: 30,
      restored: 27,
      alreadyThere: 3,
      failed: 0,
      unknown: 0,
    });
    assert.equal(dry.different, 3);
    assert.equal((await entitiesOf(broker, 'type=Car')).length, 3);
    const restore = await restored(gateway, purge.id);
    assert.deepEqual([restore.restored, restore.alreadyThere, restore.sample?.length], [27, 3, 3]);
    const [one] = await entitiesOf(broker, `type=Car&id=${everyKind(0).id}`);
    assert.deepEqual((one as { speed: { value: unknown } }).speed.value, 'new');
    const again = await restored(gateway, purge.id, { dryRun: true });
    assert.deepEqual([again.restored, again.alreadyThere, again.different], [0, 30, 3]);
  });

  it('an id that no URL can contain stops neither the archive of a purge nor a restore', async () => {
    await withCars(2);
    const odd = 'urn:ngsi-ld:Car:half\ud800';
    broker.entities.seed(1, (index) => ({ ...everyKind(index), id: odd }));
    const asked = await gateway.purge('type=Car&attrs=speed&archive=required');
    // Without `attrs`, this entity cannot be read, so it is not archived, and stays.
    assert.equal(asked.status, 207);
    assert.deepEqual(
      (asked.json() as { errors: { entityId: string }[] }).errors.map(({ entityId }) => entityId),
      [odd],
    );
    const purge = await purged(gateway, 'type=Car&archive=required');
    const { state, restored: done } = await restored(gateway, purge.id);
    assert.deepEqual([state, done], ['succeeded', 1]);
  });

  it('a restore with ids restores only these entities, and reports ids that the archive does not have', async () => {
    await withCars(10);
    const purge = await purged(gateway, 'type=Car&archive=required');
    const ids = [everyKind(3).id, everyKind(7).id, 'urn:ngsi-ld:Car:nothere'];
    const restore = await restored(gateway, purge.id, { ids });
    assert.deepEqual(counts(restore), {
      state: 'partial',
      matched: 2,
      restored: 2,
      alreadyThere: 0,
      failed: 0,
      unknown: 0,
    });
    assert.equal((await entitiesOf(broker, 'type=Car')).length, 2);
    assert.match(restore.warnings.join(), /does not contain 1 of the ids: "urn:ngsi-ld:Car:nothere"/);
  });

  for (const removal of ['drop=speed,owner', 'keep=name'])
    it(`a restore of a purge with ${removal} restores what was removed, without overwriting existing attributes`, async () => {
      const cars = await withCars(25);
      const purge = await purged(gateway, `type=Car&${removal}&archive=required`);
      const again = await gateway.sendJson('POST', `/ngsi-ld/v1/entities/${everyKind(0).id}/attrs`, {
        speed: { type: 'Property', value: 'new' },
      });
      assert.equal(again.status, 204);
      await gateway.send('DELETE', `/ngsi-ld/v1/entities/${everyKind(1).id}`);
      const perEntity = purge.deleted / 25;
      const dry = await restored(gateway, purge.id, { dryRun: true });
      assert.deepEqual(
        [dry.state, dry.restored, dry.failed],
        ['partial', purge.deleted - perEntity, perEntity],
      );
      assert.match(JSON.stringify(dry.errors), /no longer exists/);
      const restore = await restored(gateway, purge.id);
      // Nothing can be appended to one of the entities. Another one lacks a dataset of speed next
      // to an existing one: this broker leaves the attribute unchanged.
      const failed = perEntity + 1;
      assert.deepEqual(counts(restore), {
        state: 'partial',
        matched: purge.deleted,
        restored: purge.deleted - failed,
        alreadyThere: 0,
        failed,
        unknown: 0,
      });
      const after = await entitiesOf(broker, 'type=Car');
      assert.deepEqual(
        withoutSystemTimes(after.slice(1)),
        withoutSystemTimes([...cars.slice(0, 1), ...cars.slice(2)].slice(1)),
      );
      assert.match(JSON.stringify(restore.errors), /no longer exists/);
      assert.match(JSON.stringify(after[0]), /"value":"new"/);
      const twice = await restored(gateway, purge.id);
      assert.deepEqual([twice.restored, twice.alreadyThere], [0, purge.deleted - failed]);
    });

  it('a restore is refused if the purge has no archive', async () => {
    await withCars(1);
    const purge = await purged(gateway, 'type=Car');
    for (const id of [purge.id, 'nothing', '00000000-0000-0000-0000-000000000000']) {
      const answer = await gateway.sendJson('POST', `/api/v2/purges/${id}/restore`, {});
      assert.equal(answer.status, 404, id);
    }
  });

  it('a restore whose archive is erased while it runs ends, and is not reported as complete', async () => {
    // More than one segment of an archive takes.
    const note = { type: 'Property', value: 'x'.repeat(100_000) };
    broker.entities.seed(100, (index) => ({ ...everyKind(index), note }));
    const purge = await purged(gateway, 'type=Car&archive=required');
    const taken = await sendJson(gateway.url, 'POST', `/api/v2/purges/${purge.id}/restore`, {
      maxPerSecond: 1,
    });
    const { id } = taken.json() as PurgeRecord;
    await untilTrue(async () => (await recordOf(gateway, id)).matched > 0);
    assert.equal((await gateway.send('DELETE', `/api/v2/purges/${purge.id}/archive`)).status, 204);
    await gateway.sendJson('PATCH', `/api/v2/purges/${id}`, { maxPerSecond: null });
    await ended(gateway, id);
    const { state, restored: done = 0 } = await recordOf(gateway, id);
    assert.equal(state, 'failed');
    assert.ok(done > 0 && done < 100, String(done));
  });

  it('an archive that is missing from its place is an error, not an empty archive', async () => {
    await withCars(3);
    const purge = await purged(gateway, 'type=Car&archive=required');
    await rm(join(folder, purge.id), { recursive: true });
    const answer = await gateway.send('GET', `/api/v2/purges/${purge.id}/archive`);
    assert.equal(answer.status, 409, answer.text);
    assert.match(answer.problem().detail ?? '', /ARCHIVE_URL has changed/);
    assert.equal((await restored(gateway, purge.id)).state, 'failed');
  });

  it('a restore says that a segment was not used which the list of its purge does not have', async () => {
    await withCars(3);
    const purge = await purged(gateway, 'type=Car&archive=required');
    const [name = ''] = (await readdir(join(folder, purge.id))).filter((file) => file.endsWith('.gz'));
    await copyFile(join(folder, purge.id, name), join(folder, purge.id, '900000-000000.ndjson.gz'));
    const restore = await restored(gateway, purge.id);
    assert.deepEqual([restore.restored, restore.state], [3, 'succeeded']);
    assert.match(restore.warnings.join(), /1 of the segments .* not in its list/);
  });

  it('a restore is refused while another one of the same archive is running, unless it is a dry run', async () => {
    await withCars(40);
    const purge = await purged(gateway, 'type=Car&archive=required');
    const ask = (body: object) => sendJson(gateway.url, 'POST', `/api/v2/purges/${purge.id}/restore`, body);
    const { id } = (await ask({ maxPerSecond: 1 })).json() as PurgeRecord;
    const second = await ask({});
    assert.deepEqual([second.status, second.problem()['purge']], [409, id], second.text);
    assert.equal((await ask({ dryRun: true })).status, 202);
    await gateway.send('POST', `/api/v2/purges/${id}/cancel`);
    await ended(gateway, id);
    assert.equal((await restored(gateway, purge.id)).state, 'succeeded');
  });

  it('a restore respects its rate, and can be cancelled', async () => {
    await withCars(40);
    const purge = await purged(gateway, 'type=Car&archive=required');
    const taken = await gateway.sendJson('POST', `/api/v2/purges/${purge.id}/restore`, { maxPerSecond: 1 });
    assert.equal(taken.status, 202, taken.text);
    const { id } = taken.json() as PurgeRecord;
    assert.equal(taken.headers.get('location'), `${gateway.url}/api/v2/purges/${id}`);
    assert.equal((await gateway.send('POST', `/api/v2/purges/${id}/cancel`)).status, 202);
    const events = await gateway.send('GET', `/api/v2/purges/${id}/events`);
    assert.match(events.text, /"state":"cancelled"/);
    const record = (await gateway.send('GET', `/api/v2/purges/${id}`)).json() as PurgeRecord;
    assert.equal(record.restored, (await entitiesOf(broker, 'type=Car')).length);
    const rest = await restored(gateway, purge.id);
    assert.equal((rest.restored ?? 0) + (rest.alreadyThere ?? 0), 40);
  });
});
