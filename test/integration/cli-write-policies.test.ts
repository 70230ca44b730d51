import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { cli, jsonLines } from '../support/cli-process.js';
import { startTestBroker, startTestGateway, stopAll, type TestGateway } from '../support/gateway-harness.js';
import { ApiClient, makeModel } from './api-client.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const folder = temporaryFolder();
after(async () => {
  await stopAll();
});

let gateway: TestGateway;
const policies = (...args: readonly string[]) =>
  cli(['write-policies', ...args], { NGSILD_GATEWAY_URL: gateway.url });

before(async () => {
  const broker = await startTestBroker();
  gateway = await startTestGateway({ BROKER_URL: broker.url, WORKBENCH_TIMEOUT_MS: '60000' });
  await makeModel(await ApiClient.of(gateway.url), 'D', 'Car');
});

it('the write-policies commands apply, list and show policies and their findings', async () => {
  assert.equal((await policies('list')).stderr, 'There are no write policies.\n');
  const file = join(folder, 'cars.yaml');
  writeFileSync(file, 'name: cars\nmode: report\ntypes: [Car]\n');
  const planned = await policies('apply', file, '--dry-run');
  assert.match(planned.stdout, /^cars:\n[^]*report/);
  const made = await policies('apply', file);
  assert.deepEqual([made.code, made.stdout], [0, 'cars created\n'], made.stderr);
  assert.match(made.stderr, /^Warning: cars: No write of an entity has come through this gateway/m);
  await gateway.sendJson('POST', '/ngsi-ld/v1/entities', { id: 'urn:ngsi-ld:Car:1', type: 'Car', speed: -1 });
  assert.match((await policies('list')).stdout, /^NAME +MODE .*\ncars +report +0 +- +Car /);
  const shown = await policies('show', 'cars');
  assert.match(
    shown.stdout,
    /1 entity, 1 invalid, 0 refused, 0 not judged\.\nENTITIES[^]*D\/Car +\/speed .*urn:ngsi-ld:Car:1/,
  );
  await gateway.send('POST', '/ngsi-ld/v1/entities', {
    headers: { 'content-type': 'application/ld+json' },
    body: JSON.stringify({ '@context': { Car: 'https://other.example/Car' }, id: 'urn:a:2', type: 'Car' }),
  });
  assert.match(
    (await policies('show', 'cars')).stdout,
    /, 1 not judged\.\nNot judged: most often, no published model/,
  );
  const listed = join(folder, 'listed.json');
  writeFileSync(listed, (await policies('list', '--json')).stdout);
  assert.equal((await policies('apply', listed)).stdout, 'cars replaced\n');
  const [json] = jsonLines((await policies('show', 'cars', '--json')).stdout) as {
    checks: { invalid: number };
  }[];
  assert.equal(json?.checks.invalid, 1);
  assert.equal((await policies('show', 'none')).code, 4);
});

it('write-policies delete deletes a policy', async () => {
  const file = join(folder, 'gone.json');
  writeFileSync(file, JSON.stringify({ name: 'gone', mode: 'report' }));
  assert.equal((await policies('apply', file)).code, 0);
  const deleted = await policies('delete', 'gone', '--yes');
  assert.deepEqual([deleted.code, deleted.stdout, deleted.stderr], [0, 'gone deleted\n', '']);
  assert.equal((await policies('show', 'gone')).code, 4);
});
