import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { send, sendJson, startTestBroker, stopAll } from '../support/gateway-harness.js';
import { GatewayProcess } from '../support/gateway-process.js';
import { ended, type PurgeRecord } from '../support/undo.js';
import { temporaryFolder } from '../support/temporary-folder.js';

after(stopAll);

const MB = 1024 * 1024;
const ENTITY = 5 * MB;

/** Text that gzip hardly compresses. */
const NOISE = Array.from({ length: ENTITY / 8 }, (_, n) =>
  ((n * 2_654_435_761) >>> 0).toString(36).padStart(8, 'x'),
);

it('entities of 5 MB are archived and restored in memory that does not grow with their number', async (t) => {
  const folder = temporaryFolder();
  const broker = await startTestBroker({ limits: { maxBodyBytes: 4 * ENTITY } });
  const gateway = await GatewayProcess.start({
    PORT: '0',
    BROKER_URL: broker.url,
    DATABASE_PATH: join(folder, 'gateway.db'),
    ARCHIVE_URL: pathToFileURL(join(folder, 'archive')).href,
  });
  const url = await gateway.url();

  /**
   * Purges that many entities, restores them, and removes them.
   * @returns the peak memory of the process
   */
  async function undone(count: number): Promise<number> {
    broker.entities.seed(count, (n) => {
      const value = NOISE.slice(n).concat(NOISE.slice(0, n)).join('');
      return { id: `urn:ngsi-ld:Large:${String(n)}`, type: 'Large', blob: { type: 'Property', value } };
    });
    const purge = await send(url, 'DELETE', '/ngsi-ld/v1/entities?type=Large&archive=required');
    assert.equal(purge.status, 204, purge.text);
    const of = purge.headers.get('purge-id') ?? '';
    const taken = await sendJson(url, 'POST', `/api/v2/purges/${of}/restore`, {});
    const { id } = taken.json() as PurgeRecord;
    const sender = { send: async (method: string, target: string) => send(url, method, target) };
    await ended(sender, id);
    const restore = (await sender.send('GET', `/api/v2/purges/${id}`)).json() as PurgeRecord;
    assert.deepEqual([restore.state, restore.restored, broker.entities.count()], ['succeeded', count, count]);
    await send(url, 'DELETE', '/ngsi-ld/v1/entities?type=Large');
    return gateway.peakMemoryBytes() ?? assert.fail('The system does not tell the memory of a process.');
  }

  const few = await undone(10);
  const many = await undone(40);
  t.diagnostic(
    `${String(Math.round(few / MB))} MB with 10 entities, ${String(Math.round(many / MB))} MB with 40`,
  );
  assert.ok(many - few < 100 * MB, `${String(few)} ${String(many)}`);
});
