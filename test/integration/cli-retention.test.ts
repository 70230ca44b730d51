import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { startTestBroker, startTestGateway, stopAll, type TestGateway } from '../support/gateway-harness.js';
import { cli, jsonLines } from '../support/cli-process.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const folder = temporaryFolder();
after(async () => {
  await stopAll();
});

const POLICY = {
  name: 'old-cars',
  target: 'entities',
  query: 'type=Car',
  olderThan: 'P90D',
  by: 'speed.observedAt',
  schedule: '0 3 * * *',
};

let broker: Awaited<ReturnType<typeof startTestBroker>>;
let gateway: TestGateway;
const retention = (...args: readonly string[]) =>
  cli(['retention', ...args], { NGSILD_GATEWAY_URL: gateway.url });
const fileOf = (name: string, content: unknown) => {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(content));
  return path;
};

before(async () => {
  broker = await startTestBroker();
  broker.entities.seed(4, (index) => ({
    id: `urn:ngsi-ld:Car:${String(index)}`,
    type: 'Car',
    speed: { type: 'Property', value: index, observedAt: '2020-01-01T00:00:00Z' },
  }));
  gateway = await startTestGateway({ BROKER_URL: broker.url });
});

it('the retention commands create, preview, run and enforce a policy', async () => {
  assert.deepEqual((await retention('list')).stderr, 'There are no retention policies.\n');
  const made = await retention('apply', fileOf('policy.json', POLICY));
  assert.deepEqual([made.code, made.stdout], [0, 'old-cars created\n']);
  const preview = await retention('preview', 'old-cars');
  assert.match(preview.stdout, /^4 entities are older than \d{4}-\S+Z:\n {2}urn:ngsi-ld:Car:/);
  assert.match((await retention('preview', 'old-cars', '-o', 'yaml')).stdout, /^matched: 4\n/);
  const [shown] = jsonLines((await retention('preview', 'old-cars', '--json')).stdout);
  assert.equal((shown as { readonly matched: number }).matched, 4);
  const report = await retention('run', 'old-cars');
  assert.deepEqual([report.code, report.stdout], [0, '4 entities would be deleted. Nothing was deleted.\n']);
  const [listed] = jsonLines((await retention('list', '--json')).stdout) as Record<string, unknown>[];
  const changed = await retention('apply', fileOf('listed.json', [{ ...listed, mode: 'enforce' }]));
  assert.deepEqual([changed.code, changed.stdout], [0, 'old-cars replaced\n']);
  assert.match(
    (await retention('list')).stdout,
    /^NAME +MODE .*\nold-cars +enforce +0 3 \* \* \* +UTC +P90D .* \d{4}-\S+Z succeeded \(only reported\) /,
  );
  const other = { ...POLICY, name: 'older-cars', description: 'two\nlines' };
  assert.equal((await retention('apply', fileOf('other.json', other))).code, 0);
  const all = join(folder, 'all.json');
  writeFileSync(all, (await retention('list', '--json')).stdout);
  const again = await retention('apply', all);
  assert.deepEqual([again.code, again.stdout], [0, 'old-cars replaced\nolder-cars replaced\n']);
  const done = await retention('run', 'old-cars', '--json');
  assert.equal(done.code, 0, done.stderr);
  const last = jsonLines(done.stdout).at(-1) as Record<string, unknown>;
  assert.deepEqual([last['state'], last['deleted'], last['retentionPolicy']], ['succeeded', 4, 'old-cars']);
  assert.equal(broker.entities.count(), 0);
});

it('retention delete deletes a policy, which can be applied again as it was printed', async () => {
  assert.equal((await retention('apply', fileOf('gone.json', { ...POLICY, name: 'gone' }))).code, 0);
  const unasked = await retention('delete', 'gone');
  assert.deepEqual([unasked.code, unasked.stdout], [2, '']);
  assert.match(unasked.stderr, /add --yes/);
  const deleted = await retention('delete', 'gone', '--yes', '--json');
  assert.equal(deleted.code, 0, deleted.stderr);
  assert.equal((await retention('delete', 'gone', '--yes')).code, 4);
  assert.doesNotMatch((await retention('list')).stdout, /gone/);
  const again = await retention('apply', fileOf('again.json', JSON.parse(deleted.stdout)));
  assert.deepEqual([again.code, again.stdout], [0, 'gone created\n']);
  assert.equal((await retention('delete', 'gone', '--yes')).stdout, 'gone deleted\n');
});
