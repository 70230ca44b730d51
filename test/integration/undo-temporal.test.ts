import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { EmbeddedBroker } from '../../sidecar/embedded-broker/index.js';
import {
  send,
  startTestBroker,
  startTestGateway,
  stopAll,
  type TestGateway,
} from '../support/gateway-harness.js';
import { hour, seedSensors, TEMPORAL } from '../support/temporal-harness.js';
import { recordOf, restored } from '../support/undo.js';

type Instance = Readonly<Record<string, unknown>>;

describe('undo of temporal purges', () => {
  let folder: string;
  let broker: EmbeddedBroker;
  let gateway: TestGateway;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'undo-'));
    broker = await startTestBroker();
    gateway = await startTestGateway({ BROKER_URL: broker.url, ARCHIVE_URL: pathToFileURL(folder).href });
  });
  after(async () => {
    await stopAll();
    await rm(folder, { recursive: true, force: true });
  });

  /** All that was observed, without ids and times that the broker sets; in order. */
  async function histories(): Promise<readonly string[]> {
    const query = `type=Sensor&timerel=after&timeAt=1970-01-01T00:00:00Z&limit=1000`;
    const entities = (await send(broker.url, 'GET', `${TEMPORAL}?${query}`)).json() as Instance[];
    const all: string[] = [];
    for (const { id, type: _type, ...attributes } of entities)
      for (const [name, value] of Object.entries(attributes))
        for (const instance of [value].flat() as Instance[]) {
          const { instanceId: _id, createdAt: _created, modifiedAt: _modified, ...rest } = instance;
          all.push(JSON.stringify([id, name, Object.entries(rest).sort()]));
        }
    return all.sort();
  }

  async function purged(query: string) {
    const answer = await gateway.send('DELETE', `${TEMPORAL}?${query}`);
    assert.ok(answer.status < 300, answer.text);
    return recordOf(gateway, answer.headers.get('purge-id') ?? '');
  }

  it('gives instances back to their history, with their datasets and times, and none twice', async () => {
    seedSensors(broker, { entities: 6, instances: 130 });
    const before = await histories();
    const purge = await purged(`type=Sensor&timerel=before&timeAt=${hour(90)}&archive=required`);
    assert.ok(purge.deleted > 500);
    assert.equal(purge.archive?.entities, 6);
    const after = await histories();
    assert.equal(after.length, before.length - purge.deleted);
    const dry = await restored(gateway, purge.id, { dryRun: true });
    assert.deepEqual([dry.matched, dry.restored, dry.alreadyThere], [purge.deleted, purge.deleted, 0]);
    const restore = await restored(gateway, purge.id);
    assert.deepEqual(
      [restore.state, restore.restored, restore.alreadyThere, restore.failed, restore.unknown],
      ['succeeded', purge.deleted, 0, 0, 0],
    );
    assert.match(restore.warnings.join(), /ids of the instances are new/);
    assert.deepEqual(await histories(), before);
    const again = await restored(gateway, purge.id);
    assert.deepEqual([again.restored, again.alreadyThere], [0, purge.deleted]);
    assert.deepEqual(await histories(), before);
  });

  it('gives back a history that has lost all its instances', async () => {
    const before = await histories();
    const purge = await purged('type=Sensor&timerel=after&timeAt=1970-01-01T00:00:00Z&archive=required');
    assert.deepEqual(await histories(), []);
    const restore = await restored(gateway, purge.id);
    assert.equal(restore.restored, purge.deleted);
    assert.deepEqual(await histories(), before);
  });

  for (const query of ['type=Sensor', 'type=Sensor&attrs=temperature', 'type=Sensor&datasetId=urn:ds:b'])
    it(`refuses to archive ${query}, of which lists show only a part`, async () => {
      const before = await histories();
      const answer = await gateway.send('DELETE', `${TEMPORAL}?${query}&archive=required`);
      assert.equal(answer.status, 400);
      assert.match(answer.problem().detail ?? '', /Add a time filter/);
      assert.deepEqual(await histories(), before);
    });
});
