import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { send, sendJson, startTestBroker, stopAll } from '../support/gateway-harness.js';
import { GatewayProcess } from '../support/gateway-process.js';
import { entitiesOf, everyKind, type PurgeRecord, withoutSystemTimes } from '../support/undo.js';
import { temporaryFolder } from '../support/temporary-folder.js';

after(stopAll);

const ENTITIES = 50_000;

describe('a purge and its restore whose gateways are killed', () => {
  it('50,000 entities of every kind are restored unchanged, although the purge and the restore are each killed twice', async () => {
    const folder = temporaryFolder();
    const broker = await startTestBroker();
    broker.entities.seed(ENTITIES, everyKind);
    const before = withoutSystemTimes(await entitiesOf(broker, 'type=Car'));
    const env = {
      PORT: '0',
      BROKER_URL: broker.url,
      DATABASE_PATH: join(folder, 'gateway.db'),
      ARCHIVE_URL: pathToFileURL(join(folder, 'archive')).href,
      ARCHIVE_SECRET: 'a secret of sixteen or more',
    };

    /** Runs a job to its end, and kills the gateway whenever the next condition on the number of entities is met. */
    async function killedJob(
      start: (url: string) => Promise<PurgeRecord>,
      killAt: readonly ((there: number) => boolean)[],
    ): Promise<PurgeRecord> {
      let id: string | undefined;
      for (const isDue of killAt) {
        const gateway = await GatewayProcess.start(env);
        const url = await gateway.url();
        id ??= (await start(url)).id;
        while (!isDue(broker.entities.count())) await sleep(2);
        gateway.signal('SIGKILL');
        await gateway.ended;
      }
      const last = await GatewayProcess.start(env);
      const url = await last.url();
      await send(url, 'GET', `/api/v2/purges/${id ?? ''}/events`);
      const record = (await send(url, 'GET', `/api/v2/purges/${id ?? ''}`)).json() as PurgeRecord;
      last.signal('SIGKILL');
      await last.ended;
      return record;
    }

    const body = { target: 'entities', query: 'type=Car', archive: 'required' };
    const purge = await killedJob(
      async (url) => (await sendJson(url, 'POST', '/api/v2/purges', body)).json() as PurgeRecord,
      [(there) => there < 40_000, (there) => there < 20_000],
    );
    assert.equal(broker.entities.count(), 0);
    assert.equal(purge.archive?.entities, ENTITIES);
    assert.deepEqual([purge.failed, purge.unknown], [0, 0]);

    const restore = await killedJob(
      async (url) =>
        (await sendJson(url, 'POST', `/api/v2/purges/${purge.id}/restore`, {})).json() as PurgeRecord,
      [(there) => there > 10_000, (there) => there > 30_000],
    );
    const { state, matched, restored, alreadyThere, failed, unknown } = restore;
    assert.deepEqual(
      { state, matched, restored, alreadyThere, failed, unknown },
      { state: 'succeeded', matched: ENTITIES, restored: ENTITIES, alreadyThere: 0, failed: 0, unknown: 0 },
    );
    assert.deepEqual(withoutSystemTimes(await entitiesOf(broker, 'type=Car')), before);
  });
});
