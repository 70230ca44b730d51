import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import type { ImportReport } from '../../sidecar/schemas/repository/transfer.js';
import { cli } from '../support/cli-process.js';
import { stopAll } from '../support/gateway-harness.js';
import { folderOf, put } from '../support/model-folders.js';
import { commonSchema, completeRepository, entitySchema } from '../support/repositories.js';
import { startAnswering } from '../support/stub-gateway.js';
import { makeModel, startApi } from './api-client.js';

after(stopAll);

const diff = (folder: string, url: string, ...words: readonly string[]) =>
  cli(['models', 'diff', folder, '--gateway', url, ...words]);

it('models diff shows the changes an import would make to each model, writes nothing, and exits with 3', async () => {
  const { url, api } = await startApi();
  const folder = folderOf(completeRepository());
  const first = await diff(folder, url);
  assert.equal(first.code, 3, first.stderr);
  assert.match(first.stdout, /^dataModel\.City\/Bench: new \(city\/Bench\/schema\.json\)$/m);
  assert.match(first.stdout, /^ {2}dataModel\.City-context: would be created \(city\/context\.jsonld\)$/m);
  assert.deepEqual((await api.get('/domains')).json(), []);

  await cli(['models', 'import', folder, '--gateway', url]);
  const same = await diff(folder, url);
  assert.equal(same.code, 0, same.stdout);
  assert.match(
    same.stdout,
    /^2 models in dataModel\.City: 0 would be created, .* 2 unchanged\. Files refused: 0\.$/m,
  );

  put(folder, {
    'Lamp/schema.json': { ...entitySchema('Lamp', 'power'), required: ['id', 'type', 'power'] },
  });
  const changed = await diff(folder, url);
  assert.equal(changed.code, 3);
  assert.match(
    changed.stdout,
    /^dataModel\.City\/Lamp: narrowing \(.*\n {2}narrowing.*: \S+: property "power" is required now/m,
  );
  assert.doesNotMatch(changed.stdout, /Bench/);
  const json = await diff(folder, url, '--json');
  const { summary, files } = JSON.parse(json.stdout) as ImportReport;
  assert.deepEqual([json.code, summary.dryRun, summary.updated], [3, true, 1]);
  assert.equal(files.find(({ status }) => status === 'updated')?.change, 'narrowing');
  const { version } = (await api.get('/domains/dataModel.City/models/Lamp')).json() as { version: number };
  assert.equal(version, 1);
});

it('models diff shows models of other domains that a changed document would change', async () => {
  const { url } = await startApi();
  const folder = folderOf(completeRepository());
  await cli(['models', 'import', folder, '--gateway', url, '--domain', 'Other']);
  const shared = folderOf({ 'common-schema.json': commonSchema('number') }, 'shared');
  const { code, stdout } = await diff(shared, url);
  assert.equal(code, 3, stdout);
  assert.match(stdout, /^Other\/Bench: breaking, by a changed document$/m);
  assert.match(stdout, /common-schema\.json: would be updated/);
});

it('models diff shows models that a changed context affects, though they keep their versions', async () => {
  const { url, api } = await startApi();
  const terms = (speed: string) => ({ '@context': { speed: `https://terms.example/${speed}` } });
  const schema = { type: 'object', properties: { speed: { type: 'number' } } };
  const folder = folderOf({ 'Car/schema.json': schema, 'context.jsonld': terms('speed') });
  await cli(['models', 'import', folder, '--gateway', url, '--domain', 'Traffic']);
  await makeModel(api, 'Other', 'Van', schema, { context: 'Traffic-context' });
  put(folder, { 'context.jsonld': terms('velocity') });
  const { code, stdout } = await diff(folder, url, '--domain', 'Traffic');
  assert.equal(code, 3, stdout);
  assert.match(stdout, /^Traffic\/Car: breaking, by a changed context \(city\/Car\/schema\.json\)$/m);
  assert.match(stdout, /^Other\/Van: breaking, by a changed context$/m);
  assert.match(stdout, /^ {2}breaking, meaning: \/properties\/speed: "speed" means \S+velocity, meant/m);
  assert.match(stdout, /0 would be updated, 0 unchanged, 1 changed by a context\./);
  const imported = await cli(['models', 'import', folder, '--gateway', url, '--domain', 'Traffic']);
  assert.match(imported.stdout, /^ {2}Other\/Van: breaking, by a changed context$/m);
});

it('models diff exits with 3 and gives the reason if files are refused', async () => {
  const { url } = await startApi();
  const folder = folderOf({ 'Lamp/schema.json': entitySchema('Lamp', 'power'), 'broken.json': '{"a":' });
  const { code, stdout } = await diff(folder, url, '--domain', 'D');
  assert.equal(code, 3);
  assert.match(stdout, /^D\/Lamp: refused.*\n {2}Documents that the schema refers to are missing/m);
  assert.match(stdout, /city\/broken\.json: refused\. It cannot be read as JSON/);
});

it("models diff, import and check fail with a clear message if the gateway's answer makes no sense", async () => {
  const folder = folderOf(completeRepository());
  for (const [command, nonsense] of [
    ['diff', '{}'],
    ['import', '[]'],
    ['check', 'null'],
    ['diff', '<html>'],
    ['import', ''],
    ['check', '{"summary":{},"files":[{}]}'],
    ['diff', '{"summary":null}'],
  ] as const) {
    const url = await startAnswering(() => ({ text: nonsense }));
    const { code, stdout, stderr } = await cli(['models', command, folder, '--gateway', url]);
    assert.deepEqual([code, stdout], [1, ''], stderr);
    assert.match(
      stderr,
      /^The gateway answered with something that is not (?:JSON: check its URL|the report of an import)\.\n$/,
    );
  }
  const closed = await startAnswering(() => ({ status: 401, text: '{"detail":"No."}' }));
  assert.equal((await diff(folder, closed)).code, 4);
});
