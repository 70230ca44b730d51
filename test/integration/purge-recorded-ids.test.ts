import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { PurgeRecord } from '../../sidecar/store/job-records.js';
import {
  startTestBroker,
  startTestGateway,
  stopAll,
  stopLater,
  type TestGateway,
} from '../support/gateway-harness.js';
import { createDatabase } from '../support/postgres.js';
import { Gate, isDelete, relayTo, startRecordingBroker } from '../support/recording-broker.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { untilTrue } from '../support/waiting.js';

after(stopAll);

const car = (index: number) => ({ id: `urn:ngsi-ld:Car:${String(index)}`, type: 'Car' });

async function linesOf(gateway: Pick<TestGateway, 'send'>, id: string): Promise<Record<string, string>[]> {
  const answer = await gateway.send('GET', `/api/v2/purges/${id}/ids`);
  assert.equal(answer.status, 200, answer.text);
  assert.match(answer.headers.get('content-type') ?? '', /^application\/x-ndjson/);
  assert.equal(answer.headers.get('content-encoding'), 'gzip', 'fetch accepts it');
  return answer.text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, string>);
}

const PATIENCE = { timeout: 300_000 };

it('record=ids stores a list of every deleted entity, which only callers who may purge can read, in a file with owner-only access', async () => {
  const folder = temporaryFolder();
  const broker = await startTestBroker();
  broker.entities.seed(2500, car);
  const gateway = await startTestGateway({
    BROKER_URL: broker.url,
    DATABASE_PATH: join(folder, 'schema.db'),
  });
  const answer = await gateway.purge('type=Car&record=ids');
  assert.equal(answer.status, 204, answer.text);
  const id = answer.headers.get('purge-id') ?? '';
  const lines = await linesOf(gateway, id);
  assert.equal(new Set(lines.map(({ entityId }) => entityId)).size, 2500);
  assert.ok(lines.every(({ outcome }) => outcome === 'deleted'));
  const [file = ''] = await readdir(join(folder, 'purge-ids'));
  assert.equal(file, `${id}.ndjson`);
  assert.equal((await stat(join(folder, 'purge-ids', file))).mode & 0o777, 0o600);
  assert.equal((await stat(join(folder, 'purge-ids'))).mode & 0o777, 0o700);
  assert.equal((await gateway.send('HEAD', `/api/v2/purges/${id}/ids`)).status, 200);
  assert.equal((await gateway.send('DELETE', `/api/v2/purges/${id}/ids`)).status, 204);
  assert.equal((await gateway.send('GET', `/api/v2/purges/${id}/ids`)).status, 404);
  assert.equal((await gateway.send('GET', `/api/v2/purges/${id}`)).status, 200);
  assert.deepEqual(await readdir(join(folder, 'purge-ids')), []);
});

it('POST /purges accepts record as a member, and the ids of the purge are listed', async () => {
  const broker = await startTestBroker();
  broker.entities.seed(3, car);
  const gateway = await startTestGateway({ BROKER_URL: broker.url });
  const post = (record: string) =>
    gateway.sendJson('POST', '/api/v2/purges', { target: 'entities', query: 'type=Car', record });
  assert.equal((await post('all')).status, 422);
  const { id } = (await post('ids')).json() as PurgeRecord;
  await gateway.send('GET', `/api/v2/purges/${id}/events`);
  const lines = await linesOf(gateway, id);
  assert.deepEqual(
    lines.map(({ entityId }) => entityId).toSorted(),
    [0, 1, 2].map((index) => car(index).id),
  );
});

it('record=ids lists the entities whose deletes had no clear answer', async () => {
  const broker = await startTestBroker();
  broker.entities.seed(6, car);
  const relay = relayTo(broker);
  const deaf = await startRecordingBroker(async (request) => {
    // The connection is closed.
    if (isDelete(request)) throw new Error('no answer');
    return relay(request);
  });
  const gateway = await startTestGateway({
    BROKER_URL: deaf.url,
    DATABASE_PATH: ':memory:',
    RETRY_MAX_ATTEMPTS: '1',
  });
  const answer = await gateway.purge('type=Car&record=ids');
  const lines = await linesOf(gateway, answer.headers.get('purge-id') ?? '');
  const last = new Map(lines.map(({ entityId, outcome }) => [entityId, outcome]));
  assert.equal(last.size, 6);
  assert.ok(
    [...last.values()].every((outcome) => outcome !== 'deleted'),
    JSON.stringify([...last]),
  );
});

it('record=ids lists the deleted attributes with their entities', async () => {
  const broker = await startTestBroker();
  broker.entities.seed(2, (index) => ({ ...car(index), speed: { type: 'Property', value: 1 } }));
  const gateway = await startTestGateway({ BROKER_URL: broker.url });
  const answer = await gateway.purge('type=Car&drop=speed&record=ids');
  const lines = await linesOf(gateway, answer.headers.get('purge-id') ?? '');
  assert.deepEqual(
    lines
      .map(({ entityId, attribute, outcome }) => `${entityId ?? ''} ${attribute ?? ''} ${outcome ?? ''}`)
      .sort(),
    [0, 1].map((index) => `${car(index).id} speed deleted`),
  );
});

it('ids are recorded only on request, and record=ids is refused if nothing could be recorded', async () => {
  const broker = await startTestBroker();
  broker.entities.seed(2, car);
  const gateway = await startTestGateway({ BROKER_URL: broker.url });
  for (const query of ['type=Car&record=all', 'type=Car&record=ids&dryRun=true', 'type=Car&record='])
    assert.equal((await gateway.purge(query)).status, 400, query);
  const native = await startTestGateway({ BROKER_URL: broker.url, PURGE_STRATEGY: 'native' });
  assert.equal((await native.purge('type=Car&record=ids')).status, 400);
  const answer = await gateway.purge('type=Car');
  const id = answer.headers.get('purge-id') ?? '';
  assert.equal((await gateway.send('GET', `/api/v2/purges/${id}/ids`)).status, 404);
  assert.equal((await gateway.send('DELETE', `/api/v2/purges/${id}/ids`)).status, 204);
  assert.equal((await gateway.send('GET', '/api/v2/purges/none/ids')).status, 404);
});

it('a start deletes old lists of recorded ids of purges without a record, and keeps those of gateways with another database', async () => {
  const folder = temporaryFolder();
  const broker = await startTestBroker();
  const start = (name: string) =>
    startTestGateway({
      BROKER_URL: broker.url,
      DATABASE_PATH: join(folder, name),
      PURGE_HISTORY_DAYS: '2',
    });
  const first = await start('first.db');
  const purged = async () => {
    broker.entities.seed(2, car);
    return (await first.purge('type=Car&record=ids')).headers.get('purge-id') ?? '';
  };
  const [old, recent] = [await purged(), await purged()];
  const threeDaysAgo = Date.now() / 1000 - 3 * 86_400;
  await utimes(join(folder, 'purge-ids', `${old}.ndjson`), threeDaysAgo, threeDaysAgo);
  const second = await start('second.db');
  await untilTrue(async () => !existsSync(join(folder, 'purge-ids', `${old}.ndjson`)));
  await second.purge('type=Car');
  assert.equal((await linesOf(first, recent)).length, 2);
});

it('a gateway without a stored database leaves no recorded ids behind, even if it is killed', async (t) => {
  const folder = temporaryFolder();
  const { TMPDIR } = process.env;
  process.env['TMPDIR'] = folder;
  t.after(() => {
    if (TMPDIR === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = TMPDIR;
  });
  const broker = await startTestBroker();
  broker.entities.seed(2, car);
  const gateway = await startTestGateway({ BROKER_URL: broker.url, DATABASE_PATH: ':memory:' });
  const id = (await gateway.purge('type=Car&record=ids')).headers.get('purge-id') ?? '';
  assert.equal((await linesOf(gateway, id)).length, 2);
  assert.deepEqual(await readdir(folder), [], 'what has no name is gone when the process ends');
  assert.equal((await gateway.send('DELETE', `/api/v2/purges/${id}/ids`)).status, 204);
  assert.equal((await gateway.send('GET', `/api/v2/purges/${id}/ids`)).status, 404);
});

it('a purge with record=ids succeeds with a warning if the list cannot be written', async () => {
  const folder = temporaryFolder();
  const broker = await startTestBroker();
  broker.entities.seed(2, car);
  const gateway = await startTestGateway({
    BROKER_URL: broker.url,
    DATABASE_PATH: join(folder, 'schema.db'),
  });
  await rm(join(folder, 'purge-ids'), { recursive: true, force: true });
  await writeFile(join(folder, 'purge-ids'), 'not a folder');
  const answer = await gateway.purge('type=Car&record=ids');
  assert.equal(answer.status, 204);
  const record = (
    await gateway.send('GET', `/api/v2/purges/${answer.headers.get('purge-id') ?? ''}`)
  ).json() as PurgeRecord;
  assert.match(record.warnings.join(), /recorded ids are incomplete: they could not be written/);
  assert.equal(broker.entities.count(), 0);
});

describe('a purge with record=ids that two gateways on one PostgreSQL worked on', PATIENCE, () => {
  /**
   * The first gateway is closed during its third delete, and the second one continues the purge.
   */
  async function handedOver(folders: readonly [string, string]) {
    const database = await createDatabase();
    stopLater(() => database.drop());
    const broker = await startTestBroker();
    broker.entities.seed(9, car);
    const [reached, gate] = [new Gate(), new Gate()];
    const relay = relayTo(broker);
    let deletes = 0;
    const recorder = await startRecordingBroker(async (request) => {
      if (isDelete(request)) deletes += 1;
      if (deletes === 3) {
        reached.open();
        await gate.passed;
      }
      return relay(request);
    });
    const start = (name: string, folder: string) =>
      startTestGateway({
        BROKER_URL: recorder.url,
        DATABASE_URL: database.url,
        DATABASE_PATH: join(folder, 'schema.db'),
        INSTANCE_NAME: name,
        PURGE_STRATEGY: 'single',
        PURGE_CONCURRENCY: '1',
      });
    const one = await start('one', folders[0]);
    const answer = await one.purge('type=Car&record=ids', { prefer: 'respond-async' });
    const id = answer.headers.get('purge-id') ?? '';
    await reached.passed;
    const closed = one.gateway.close();
    gate.open();
    await closed;
    const two = await start('two', folders[1]);
    await two.send('GET', `/api/v2/purges/${id}/events`);
    const record = (await two.send('GET', `/api/v2/purges/${id}`)).json() as PurgeRecord;
    assert.deepEqual([record.state, record.worker, record.deleted], ['succeeded', 'two', 9]);
    return { id, two, record, start };
  }

  it('a purge that two gateways worked on has a single list of ids if they share a folder', async () => {
    const folder = temporaryFolder();
    const { id, two, record } = await handedOver([folder, folder]);
    const deleted = (await linesOf(two, id)).filter(({ outcome }) => outcome === 'deleted');
    assert.equal(new Set(deleted.map(({ entityId }) => entityId)).size, 9);
    assert.deepEqual(record.warnings, []);
  });

  it('a purge that two gateways worked on has a list of ids in the folder of each, with a warning in its record', async () => {
    const folders = [temporaryFolder(), temporaryFolder()] as const;
    const { id, two, record } = await handedOver(folders);
    const deleted = (await linesOf(two, id)).filter(({ outcome }) => outcome === 'deleted');
    assert.ok(deleted.length < 9);
    assert.deepEqual(record.warnings, [
      'The ids that the gateway one recorded are not in the list of ids here.',
    ]);
    assert.deepEqual(await readdir(join(folders[0], 'purge-ids')), [`${id}.ndjson`]);
  });

  it('a gateway without the list of ids answers 404 and names the gateway that has it', async () => {
    const folders = [temporaryFolder(), temporaryFolder()] as const;
    const { id, two, start } = await handedOver(folders);
    const three = await start('three', temporaryFolder());
    for (const method of ['GET', 'DELETE']) {
      const answer = await three.send(method, `/api/v2/purges/${id}/ids`);
      assert.equal(answer.status, 404, method);
      assert.match(answer.text, /recorded here\..*\(two\)/);
    }
    assert.equal((await two.send('DELETE', `/api/v2/purges/${id}/ids`)).status, 204);
    assert.equal((await two.send('DELETE', `/api/v2/purges/${id}/ids`)).status, 204);
  });
});
