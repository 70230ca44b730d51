import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, it } from 'node:test';
import type { ImportReport } from '../../sidecar/schemas/repository/transfer.js';
import { tarGz } from '../support/archives.js';
import { PATIENT, startTestGateway, stopAll } from '../support/gateway-harness.js';
import { GatewayProcess } from '../support/gateway-process.js';
import { completeRepository, entitySchema, entriesOf } from '../support/repositories.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { untilTrue } from '../support/waiting.js';

after(stopAll);

/** Enough models that an import runs long after it has stored the first ones. */
const MODELS = 14;

/** Returns models that refer to the documents of a repository and use its context. */
function largeRepository(): Readonly<Record<string, unknown>> {
  const models = Array.from({ length: MODELS - 2 }, (_, index) => `Thing${index}`);
  const files = models.map((name) => [`${name}/schema.json`, entitySchema(name, 'power')] as const);
  return { ...completeRepository(), ...Object.fromEntries(files) };
}

/** Settings of a gateway on a database. All have the same PUBLIC_URL, which exports contain. */
const on = (database: string) => ({
  ...PATIENT,
  BROKER_URL: 'http://127.0.0.1:9',
  PUBLIC_URL: 'https://gateway.example',
  DATABASE_PATH: database,
});

function transferAt(url: string) {
  const api = `${url}/api/v2`;
  return {
    import: async (body: Uint8Array<ArrayBuffer>): Promise<ImportReport> => {
      const headers = { 'content-type': 'application/gzip' };
      const answer = await fetch(`${api}/import`, { method: 'POST', headers, body });
      assert.equal(answer.status, 200);
      return (await answer.json()) as ImportReport;
    },
    countModels: async () => {
      const answer = await fetch(`${api}/models?limit=1`);
      await answer.arrayBuffer();
      return Number(answer.headers.get('x-total-count'));
    },
    export: async () => Buffer.from(await (await fetch(`${api}/export`)).arrayBuffer()),
  };
}

it('an import that is killed and repeated has the result of an uninterrupted import', async () => {
  const folder = temporaryFolder();
  const archive = new Uint8Array(await tarGz(entriesOf(largeRepository())));

  const gateway = await GatewayProcess.start({ PORT: '0', ...on(join(folder, 'killed.db')) });
  const killed = transferAt(await gateway.url());
  const run = { isOver: false };
  const importing = killed.import(archive).finally(() => (run.isOver = true));
  const cutOff = assert.rejects(importing, /fetch failed|terminated/);
  await untilTrue(async () => run.isOver || (await killed.countModels()) > 0);
  gateway.signal('SIGKILL');
  await cutOff;
  await gateway.ended;

  const again = transferAt((await startTestGateway(on(join(folder, 'killed.db')))).url);
  const stored = await again.countModels();
  assert.ok(stored > 0 && stored < MODELS, `${stored} models were stored before`);
  const report = await again.import(archive);
  const models = report.files.filter(({ model }) => model !== undefined);
  const count = (status: string) => models.filter((file) => file.status === status).length;
  assert.deepEqual([count('unchanged'), count('created')], [stored, MODELS - stored]);

  const unbroken = transferAt((await startTestGateway(on(':memory:'))).url);
  await unbroken.import(archive);
  assert.ok((await again.export()).equals(await unbroken.export()), 'the exports differ');
  assert.deepEqual((await again.import(archive)).summary, (await unbroken.import(archive)).summary);
});
